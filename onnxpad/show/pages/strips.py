"""One axis of a figure: which cells are drawn where, what adds them, which windows read them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from onnxpad.show.pages.drawings import Drawing

CELL = 16
"""The side of a cell; what is left out is as wide."""
_AROUND, _FEW, _MOST_TAPS = 2, 13, 500
"""Cells drawn on both sides of what happens; how many of an axis are all drawn; taps drawn."""


class Strip(NamedTuple):
    """`frames` reach over all that is within them, `kept` are the cells that no frame cuts off.

    `windows` are the cells that the first, the second and the last one read; `unread` are drawn
    cells that none reads. `drawn` are all that are drawn.
    """

    data: range
    frames: tuple[range, ...]
    kept: range
    windows: tuple[range, ...]
    unread: tuple[range, ...]
    drawn: tuple[int, ...]

    def at(self, cell: int) -> int:
        """Where a cell begins: behind the cells in front of it, and the gaps between those."""
        before = [one for one in self.drawn if one < cell]
        gaps = sum(one > other + 1 for other, one in pairwise(before))
        after_gap = bool(before) and cell > before[-1] + 1 and cell in self.drawn
        return CELL * (len(before) + gaps + after_gap)

    def reach(self, cells: range) -> tuple[int, int]:
        """Where the first of the cells begins, and how far it is to the end of the last."""
        begin = self.at(cells[0]) if cells else 0
        return begin, self.at(cells[-1] + 1) - begin if cells else 0

    @property
    def gaps(self) -> list[int]:
        """Where cells are left out."""
        return [self.at(one + 1) for one, other in pairwise(self.drawn) if other > one + 1]

    @property
    def length(self) -> int:
        """How long it is drawn."""
        return self.at(self.drawn[-1] + 1)


def strip_of(drawing: Drawing, axis: int) -> Strip:
    """What is drawn of one axis of an operator."""
    size = drawing.cells[axis]
    data, low, high, frames = range(size), 0, size, []
    for frame in drawing.frames:
        low, high = low - frame.begins[axis], max(low, high + frame.ends[axis])
        frames.append(range(low, high))
        if frame.is_cut and frame is not drawing.frames[-1]:
            data = range(max(low, data.start), min(high, data.stop))
    kernel = drawing.kernel[axis] if drawing.kernel else 0
    stride, dilation, count = 1, 1, 0
    if kernel:
        stride, dilation = drawing.strides[axis], drawing.dilations[axis]
        count = drawing.windows[axis]
    begin, span = 0 if drawing.scatters else low, dilation * (kernel - 1) + 1
    numbers = sorted({0, min(1, count - 1), count - 1}) if count else ()
    starts = [begin + number * stride for number in numbers]
    windows = tuple(range(start, start + span, dilation) for start in starts)
    marks = [0, low, high, size, *(cell for w in windows for cell in (w[0], w[-1] + 1))]
    drawn = _drawn_cells(marks)

    def is_read(cell: int) -> bool:
        firsts = (cell - begin - tap * dilation for tap in range(kernel))
        return any(one % stride == 0 and 0 <= one // stride < count for one in firsts)

    told = 0 < kernel <= _MOST_TAPS
    unread = [cell for cell in drawn if told and low <= cell < high and not is_read(cell)]
    return Strip(data, tuple(frames), range(low, high), windows, _runs(unread), drawn)


def _drawn_cells(marks: Sequence[int]) -> tuple[int, ...]:
    """Cells to draw: all of a few, else those near what happens; no single one is left out."""
    first, last = min(marks), max(marks)
    if last - first <= _FEW:
        return tuple(range(first, last))
    near = {mark + i for mark in marks for i in range(-_AROUND, _AROUND)}
    shown = sorted(cell for cell in near if first <= cell < last)
    between = [one + 1 for one, other in pairwise(shown) if other == one + 2]
    return tuple(sorted([*shown, *between]))


def _runs(cells: Sequence[int]) -> tuple[range, ...]:
    """Cells in a row as ranges."""
    found: list[range] = []
    for cell in cells:
        joins = bool(found) and found[-1].stop == cell
        begin = found.pop().start if joins else cell
        found.append(range(begin, cell + 1))
    return tuple(found)
