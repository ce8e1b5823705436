"""One axis of a figure: what adds its cells, and which windows read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from onnxpad.show.pages.drawings import Drawing

CELL = 16
"""The side of a cell in pixels."""
_FEW, MOST = 12, 100
"""Cells of the input up to which an axis is drawn whole; cells that are drawn at most."""


class Strip(NamedTuple):
    """One axis, whose cells are numbered from the first one of the input.

    size: cells of the input that are drawn: a long axis is drawn whole strides shorter.
    drawn: all cells.
    data: those of the input that no earlier frame cuts off.
    frames: each frame reaches over all that is within it.
    kept: cells that no frame cuts off.
    windows: the cells that the first, the second and the last one read.
    unread: runs of cells that none reads.
    """

    size: int
    drawn: range
    data: range
    frames: tuple[range, ...]
    kept: range
    windows: tuple[range, ...]
    unread: tuple[range, ...]

    def reach(self, cells: range) -> tuple[int, int]:
        """Where the first of the cells begins, and how far it is to the end of the last."""
        if not cells:
            return 0, 0
        return CELL * (cells[0] - self.drawn.start), CELL * (cells[-1] + 1 - cells[0])

    @property
    def length(self) -> int:
        """How long it is drawn."""
        return CELL * len(self.drawn)


def strip_of(drawing: Drawing, axis: int) -> Strip:
    """What is drawn of one axis of an operator."""
    kernel = drawing.kernel[axis] if drawing.kernel else 0
    stride, dilation, count, span = 1, 1, 0, 0
    if kernel:
        stride, dilation = drawing.strides[axis], drawing.dilations[axis]
        count, span = drawing.windows[axis], dilation * (kernel - 1) + 1
    size = drawing.cells[axis]
    left_out = max(0, (size - max(span + 2 * stride, _FEW)) // stride)
    left_out = min(left_out, max(0, count - 3)) if kernel else left_out
    size, count = size - left_out * stride, count - left_out * bool(kernel)
    data, low, high, frames = range(size), 0, size, []
    for frame in drawing.frames:
        low, high = low - frame.begins[axis], max(low, high + frame.ends[axis])
        frames.append(range(low, high))
        if frame.is_cut and frame is not drawing.frames[-1]:
            data = range(max(low, data.start), min(high, data.stop))
    begin = 0 if drawing.scatters else low
    numbers = sorted({0, min(1, count - 1), count - 1}) if count else ()
    windows = tuple(range(begin + n * stride, begin + n * stride + span, dilation) for n in numbers)
    marks = [0, low, high, size, *(cell for w in windows for cell in (w[0], w[-1] + 1))]
    drawn, kept, unread = range(min(marks), max(marks)), range(low, high), list[int]()
    if kernel and len(drawn) <= MOST:
        read = {begin + n * stride + dilation * tap for n in range(count) for tap in range(kernel)}
        unread = [cell for cell in kept if cell not in read]
    return Strip(size, drawn, data, tuple(frames), kept, windows, tuple(_runs(unread)))


def _runs(cells: Sequence[int]) -> Iterator[range]:
    """Cells in a row as ranges."""
    for _, group in groupby(enumerate(cells), lambda one: one[1] - one[0]):
        run = [cell for _, cell in group]
        yield range(run[0], run[-1] + 1)
