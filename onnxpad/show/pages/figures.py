"""What one window reads, as SVG: cells, the padding around them, what that holds, windows.

window_figure(drawing_of(chain))    for a page
sentence(drawing_of(chain))         the same in words
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from typing import NamedTuple, TypeAlias

from onnxpad.show.pages.drawings import NOT_COUNTED, Drawing, Frame, sentence
from onnxpad.show.pages.strips import CELL, MOST, Strip, strip_of
from onnxpad.show.pages.templates import rendered
from onnxpad.show.wording import visible

_Windows: TypeAlias = list[tuple[str, range, range]]
"""What each window is, and its cells down and across."""
_MOST_TAPS, _DOT = 500, (CELL // 2, CELL - 3)
_ALONE = Strip(1, range(1), range(1), (range(1),) * 9, range(1), (range(1),) * 3, ())
"""The other axis of one that is drawn alone."""
_SIGNS = {
    "the lowest value": "\u2193",
    NOT_COUNTED: "\u00b7",
    "reflect": "\u2194",
    "edge": "\u2192",
    "wrap": "\u21bb",
    "the bias alone": "b",
}


class Tile(NamedTuple):
    """A cell of padding with what it holds."""

    name: str
    kind: str
    text: str


class _Panel(NamedTuple):
    """One or two axes; `cut` and `taps` are paths, the labels stand above and at the left."""

    rows: Strip
    columns: Strip
    above: str
    beside: str
    y: int
    windows: _Windows
    cut: str
    taps: str


def window_figure(drawing: Drawing, *, title: str = "", anchor: str = "") -> str:
    """SVG of the cells, their padding, and the first, the second and the last window.

    Two axes are a grid, the last one across; one alone, or each of more than two, is a row. Empty
    where nothing is known that could be drawn. A page that has one figure twice gives each another
    `anchor`, so that names in them differ. Needs the extra `html`.
    """
    if drawing.why or not drawing.cells or min(drawing.cells) < 0:
        return ""
    strips = [strip_of(drawing, axis) for axis in range(len(drawing.cells))]
    if not all(0 < len(strip.drawn) <= MOST for strip in strips):
        return ""
    key = sha256(repr((drawing, title, anchor)).encode()).hexdigest()[:8]
    labels = [_label(drawing, axis, strip) for axis, strip in enumerate(strips)]
    if len(strips) == 2:
        rows, columns = strips
        panels = [_panel(rows, columns, labels[1], labels[0])]
    else:
        panels = [_panel(_ALONE, s, labels[n], "", 3 * CELL * n) for n, s in enumerate(strips)]
    said = f"{title}: {sentence(drawing)}" if title else sentence(drawing)
    return rendered(
        "window.svg",
        cell=CELL,
        key=key,
        panels=panels,
        tiles=[_tile(frame, key) for frame in drawing.frames],
        width=max(*(panel.columns.length for panel in panels), 7 * CELL),
        height=panels[-1].y + panels[-1].rows.length,
        title=visible(said),
    )


def legend(*drawings: Drawing) -> str:
    """HTML of what the signs in figures stand for."""
    frames = [frame for drawing in drawings for frame in drawing.frames if frame.holds]
    entries = dict.fromkeys((_tile(frame), frame.by, frame.holds) for frame in frames)
    return rendered("legend.html", entries=entries, cell=CELL)


def _label(drawing: Drawing, axis: int, strip: Strip) -> str:
    label, cells = drawing.labels[axis] if drawing.labels else "", drawing.cells[axis]
    if strip.size < cells:
        return visible(f"{label or cells}, drawn as {strip.size}")
    return visible(f"{label}, here {cells}" if label and not drawing.scatters else str(cells))


def _tile(frame: Frame, key: str = "") -> Tile:
    kind = "front" if frame.by == "Pad" else "own"
    text = _SIGNS.get(frame.holds, frame.holds if len(frame.holds) < 4 else "c")
    return Tile(f"{kind}-{key}-{''.join(f'{ord(one):x}' for one in text)}", kind, text)


def _panel(rows: Strip, columns: Strip, above: str, beside: str, y: int = 0) -> _Panel:
    windows = _windows(rows, columns)
    taps = "".join(_taps(rows, columns, windows))
    return _Panel(rows, columns, above, beside, y, windows, _cut(rows, columns), taps)


def _windows(rows: Strip, columns: Strip) -> _Windows:
    """The first window, the one a stride behind it, and the last."""
    if not rows.windows or not columns.windows:
        return []
    found: _Windows = [("first", rows.windows[0], columns.windows[0])]
    if len(columns.windows) > 1:
        found.append(("second", rows.windows[0], columns.windows[1]))
    last = rows.windows[-1], columns.windows[-1]
    return found if last == found[0][1:] else [*found, ("last", *last)]


def _taps(rows: Strip, columns: Strip, windows: _Windows) -> Iterator[str]:
    """A dot on each cell that the first and the last window read."""
    for kind, tall, wide in windows:
        if kind != "second" and len(tall) * len(wide) <= _MOST_TAPS:
            for top, left in product(tall, wide):
                x, y = CELL * (left - columns.drawn.start), CELL * (top - rows.drawn.start)
                yield f"M{x + _DOT[0]} {y + _DOT[1]}h0"


def _cut(rows: Strip, columns: Strip) -> str:
    """All that is drawn but what stays, where a frame cuts cells off."""
    both = (rows, columns)
    if all(one.kept.start <= one.data.start and one.data.stop <= one.kept.stop for one in both):
        return ""
    (x, width), (y, height) = columns.reach(columns.kept), rows.reach(rows.kept)
    outside = f"M0 0h{columns.length}v{rows.length}h-{columns.length}z"
    return f"{outside}M{x} {y}v{height}h{width}v-{height}z"
