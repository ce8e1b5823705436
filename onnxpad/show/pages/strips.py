"""One axis of a figure: which cells are drawn where, what adds them, which windows read them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from onnxpad.geometry.windows import Axis
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
        """Where a cell begins."""
        x = 0
        for number, one in enumerate(self.drawn):
            if number and one > self.drawn[number - 1] + 1:
                if cell < one:
                    return x
                x += CELL
            if cell <= one:
                return x
            x += CELL
        return x

    def reach(self, cells: range) -> tuple[int, int]:
        """Where the first of the cells begins, and how far it is to the end of the last."""
        if not cells:
            return 0, 0
        begin = self.at(cells[0])
        return begin, self.at(cells[-1] + 1) - begin

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
    windows, count, begin = _windows(drawing, axis, 0 if drawing.scatters else low)
    marks = [0, low, high, size, *(cell for w in windows for cell in (w[0], w[-1] + 1))]
    drawn = _drawn_cells(marks)
    unread: tuple[range, ...] = ()
    if drawing.kernel and drawing.kernel[axis] <= _MOST_TAPS:
        one = Axis(None, drawing.kernel[axis], drawing.strides[axis], drawing.dilations[axis])
        unread = _unread([p for p in drawn if low <= p < high], begin, count, one)
    return Strip(data, tuple(frames), range(low, high), windows, unread, drawn)


def _windows(drawing: Drawing, axis: int, begin: int) -> tuple[tuple[range, ...], int, int]:
    """The cells of the first, the second and the last window; their number, and the first cell."""
    if not drawing.kernel:
        return (), 0, begin
    stride, dilation = drawing.strides[axis], drawing.dilations[axis]
    span = dilation * (drawing.kernel[axis] - 1) + 1
    count = drawing.windows[axis]
    numbers = sorted({0, min(1, count - 1), count - 1}) if count else ()
    starts = (begin + number * stride for number in numbers)
    return tuple(range(start, start + span, dilation) for start in starts), count, begin


def _drawn_cells(marks: Sequence[int]) -> tuple[int, ...]:
    """Cells to draw: all of a few, else those near what happens; no single one is left out."""
    first, last = min(marks), max(marks)
    if last - first <= _FEW:
        return tuple(range(first, last))
    near = {mark + i for mark in marks for i in range(-_AROUND, _AROUND)}
    shown = sorted(cell for cell in near if first <= cell < last)
    between = [one + 1 for one, other in pairwise(shown) if other == one + 2]
    return tuple(sorted([*shown, *between]))


def _unread(drawn: Sequence[int], begin: int, count: int, axis: Axis) -> tuple[range, ...]:
    """Drawn cells that none of the windows reads, in runs."""
    found: list[range] = []
    for cell in drawn:
        starts = (cell - begin - tap * axis.dilation for tap in range(axis.kernel))
        if any(s % axis.stride == 0 and 0 <= s // axis.stride < count for s in starts):
            continue
        joins = found and found[-1].stop == cell
        found[-1:] = (
            [range(found[-1].start, cell + 1)] if joins else [*found[-1:], range(cell, cell + 1)]
        )
    return tuple(found)
