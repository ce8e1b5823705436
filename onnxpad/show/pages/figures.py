"""What one window reads, as SVG: cells, the padding around them, what that holds, windows."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from typing import NamedTuple

from onnxpad.show.pages.drawings import NOT_COUNTED, Drawing, DrawnAxis, Frame, sentence
from onnxpad.show.pages.templates import rendered

_CELL = 16
"""The side of a cell in pixels."""
_FEW, _MOST, _MOST_TAPS = 12, 100, 500
"""Cells of the input up to which an axis is drawn whole; cells, and dots of a window, at most."""
_SIGNS = {
    "the lowest value": "\u2193",
    NOT_COUNTED: "\u00b7",
    "reflect": "\u2194",
    "edge": "\u2192",
    "wrap": "\u21bb",
    "the bias alone": "b",
}


class Strip(NamedTuple):
    """One axis, whose cells are numbered from the first one of the input.

    drawn: all cells.
    data: those of the input; a long axis is drawn whole strides shorter.
    frames: each frame reaches over all that is within it; the last one is what stays.
    windows: the cells that the first, the second and the last one read.
    unread: cells that stay and that none reads.
    """

    drawn: range
    data: range
    frames: tuple[range, ...]
    windows: tuple[range, ...]
    unread: tuple[int, ...]
    label: str

    def reach(self, cells: range) -> tuple[int, int]:
        """Where the first of the cells begins, and how far it is to the end of the last."""
        if not cells:
            return 0, 0
        return _CELL * (cells[0] - self.drawn.start), _CELL * (cells[-1] + 1 - cells[0])

    @property
    def length(self) -> int:
        """How long it is drawn."""
        return _CELL * len(self.drawn)

    @property
    def kept(self) -> range:
        """Cells that no frame cuts off."""
        return self.frames[-1] if self.frames else self.data


class _Panel(NamedTuple):
    """One or two axes; `cut` and `taps` are paths."""

    rows: Strip
    columns: Strip
    y: int
    windows: tuple[tuple[str, range, range], ...]
    cut: str
    taps: str


_ALONE = Strip(range(1), range(1), (range(1),) * 2, (range(1),) * 3, (), "")
"""The other axis of one that is drawn alone."""


def strip_of(axis: DrawnAxis, *, scatters: bool = False) -> Strip:
    """What is drawn of one axis of an operator."""
    span = axis.dilation * (axis.kernel - 1) + 1 if axis.kernel else 0
    left_out = max(0, (axis.cells - max(span + 2 * axis.stride, _FEW)) // axis.stride)
    left_out = min(left_out, max(0, axis.windows - 3)) if axis.kernel else left_out
    size, count = axis.cells - left_out * axis.stride, axis.windows - left_out
    low, high, frames = 0, size, list[range]()
    for begin, end in axis.pads:
        low, high = low - begin, max(low, high + end)
        frames.append(range(low, high))
    start = 0 if scatters else low
    taps = range(0, span, axis.dilation)
    numbers = sorted({0, min(1, count - 1), count - 1}) if span and count > 0 else ()
    firsts = [start + number * axis.stride for number in numbers]
    windows = tuple(range(first, first + span, axis.dilation) for first in firsts)
    marks = [0, size, low, high, *(cell for w in windows for cell in (w[0], w[-1] + 1))]
    unread: tuple[int, ...] = ()
    if span and high - low <= _MOST:
        read = {start + n * axis.stride + tap for n in range(count) for tap in taps}
        unread = tuple(cell for cell in range(low, high) if cell not in read)
    label = f"{axis.label}, here {size}" if axis.label and not scatters else axis.label or str(size)
    if left_out:
        label = f"{axis.label or axis.cells}, drawn as {size}"
    return Strip(range(min(marks), max(marks)), range(size), tuple(frames), windows, unread, label)


def window_figure(drawing: Drawing, *, title: str = "", anchor: str = "") -> str:
    """SVG of the cells, their padding, and the first, the second and the last window.

    Two axes are a grid, the last one across; one alone, or each of more than two, is a row. Empty
    where nothing is known that could be drawn. A page that has one figure twice gives each another
    `anchor`, so that names in them differ. Needs the extra `html`.
    """
    strips = [strip_of(axis, scatters=drawing.scatters) for axis in drawing.axes]
    if drawing.why or not strips or not all(0 < len(one.drawn) <= _MOST for one in strips):
        return ""
    key = sha256(repr((drawing, title, anchor)).encode()).hexdigest()[:8]
    panels = [_panel(_ALONE, strip, 3 * _CELL * n) for n, strip in enumerate(strips)]
    if len(strips) == 2:
        panels = [_panel(strips[0], strips[1])]
    return rendered(
        "window.svg",
        cell=_CELL,
        key=key,
        panels=panels,
        tiles=[_tile(frame, key) for frame in drawing.frames],
        width=max(*(panel.columns.length for panel in panels), 7 * _CELL),
        height=panels[-1].y + panels[-1].rows.length,
        title=f"{title}: {sentence(drawing)}" if title else sentence(drawing),
    )


def _tile(frame: Frame, key: str) -> tuple[str, str, str]:
    """A cell of padding: its name, its kind, and the sign for what it holds."""
    kind = "front" if frame.by == "Pad" else "own"
    text = _SIGNS.get(frame.holds, frame.holds if len(frame.holds) < 4 else "c")
    return f"{kind}-{key}-{''.join(f'{ord(one):x}' for one in text)}", kind, text


def _panel(rows: Strip, columns: Strip, y: int = 0) -> _Panel:
    """The first window, the one a stride behind it across, and the last, with their cells."""
    windows: list[tuple[str, range, range]] = []
    if rows.windows and columns.windows:
        windows.append(("first", rows.windows[0], columns.windows[0]))
        if len(columns.windows) > 1:
            windows.append(("second", rows.windows[0], columns.windows[1]))
        windows.append(("last", rows.windows[-1], columns.windows[-1]))
    cut = ""
    if any(one.kept.start > 0 or one.kept.stop < one.data.stop for one in (rows, columns)):
        (x, width), (top, height) = columns.reach(columns.kept), rows.reach(rows.kept)
        outside = f"M0 0h{columns.length}v{rows.length}h-{columns.length}z"
        cut = f"{outside}M{x} {top}v{height}h{width}v-{height}z"
    taps = "".join(_dots(rows, columns, windows))
    return _Panel(rows, columns, y, tuple(windows), cut, taps)


def _dots(rows: Strip, columns: Strip, windows: list[tuple[str, range, range]]) -> Iterator[str]:
    """A dot on each cell that the first and the last window read."""
    for kind, tall, wide in windows:
        if kind != "second" and len(tall) * len(wide) <= _MOST_TAPS:
            for top, left in product(tall, wide):
                x, y = left - columns.drawn.start, top - rows.drawn.start
                yield f"M{_CELL * x + _CELL // 2} {_CELL * (y + 1) - 3}h0"
