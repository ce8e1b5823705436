"""Which cells of two resolved layers differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

from onnxpad.errors import RequestError
from onnxpad.frameworks.layer import Slide
from onnxpad.geometry.windows import cells_within
from onnxpad.reports import Report, reported
from onnxpad.resolving import Resolution

_MOST = 1_000_000


@reported("starts as first_windows_start", "outputs", "ranges as differing")
@dataclass(frozen=True, slots=True)
class AxisDifference:
    """One axis: where the first windows start, how many there are, and which of them differ.

    `ranges` are (first, last) positions of the output at which the two differ on this axis.
    """

    starts: tuple[int, int]
    outputs: tuple[int, int]
    ranges: tuple[tuple[int, int], ...]


@reported(
    "first", "second", "same_size", "cells as differing_cells", "total as shared_cells", "axes"
)
@dataclass(frozen=True, slots=True, repr=False)
class Difference(Report):
    """`cells` of the `total` cells of one channel differ, over the part that both outputs have."""

    first: Resolution
    second: Resolution
    axes: tuple[AxisDifference, ...]
    cells: int
    total: int

    schema = 1

    @property
    def same_size(self) -> bool:
        """Whether both outputs have the same size."""
        return all(one == other for one, other in (axis.outputs for axis in self.axes))

    @property
    def is_none(self) -> bool:
        """Whether both layers are the same for every input."""
        return self.same_size and self.cells == 0


def compare(first: Resolution, second: Resolution) -> Difference:
    """Which cells differ for some input; RequestError for layers that cannot be compared."""
    if first.plan.op != second.plan.op or first.input_shape != second.input_shape:
        raise RequestError(
            f"{first.framework} {first.op} over {list(first.input_shape)} and {second.framework} "
            f"{second.op} over {list(second.input_shape)} are different layers: compare the same "
            "operator over the same input"
        )
    axes, counts = list[AxisDifference](), list[Counter[tuple[bool, int, int]]]()
    for one, other in zip(first.plan.slides, second.plan.slides, strict=True):
        outputs = one.output, other.output
        if min(outputs) > _MOST:
            raise RequestError("the layers have more windows than can be compared")
        places, count = list[int](), Counter[tuple[bool, int, int]]()
        for index in range(min(outputs)):
            mine, theirs = _window(first, one, index), _window(second, other, index)
            count[mine.reads != theirs.reads, mine.divisor, theirs.divisor] += 1
            places += [index] if mine != theirs else []
        if one.output != other.output:
            places += range(min(outputs), max(outputs))
        sign = 1 if first.plan.is_transposed else -1
        axes.append(
            AxisDifference((sign * one.begin, sign * other.begin), outputs, _joined(places))
        )
        counts.append(count)
    cells = 0
    for keys in product(*counts):
        apart, mine_by_axis, their_by_axis = zip(*keys, strict=True)
        scaled = first.plan.scale * prod(their_by_axis), second.plan.scale * prod(mine_by_axis)
        if any(apart) or scaled[0] != scaled[1]:
            cells += prod(count[key] for count, key in zip(counts, keys, strict=True))
    return Difference(first, second, tuple(axes), cells, prod(map(Counter.total, counts)))


class _Window(NamedTuple):
    """One axis of a window: what it reads, and the cells that an average divides by."""

    reads: tuple[object, ...]
    divisor: int = 1


def _window(layer: Resolution, slide: Slide, index: int) -> _Window:
    plan, start = layer.plan, index * slide.stride - slide.begin
    if plan.is_transposed:
        return _Window((slide.begin, slide.kernel, slide.stride, slide.dilation))
    cells = range(start, start + slide.span, slide.dilation)
    if plan.op == "conv":
        reaches = start < 0 or cells[-1] >= slide.size
        return _Window((cells, plan.fill if reaches else None))
    before, behind = slide.counted
    counted = len(cells_within(cells, -before, slide.size + behind))
    is_average = plan.op == "avg_pool"
    is_empty = not cells_within(cells, 0, slide.size)
    outside = plan.outside if is_empty and not (is_average and counted) else None
    return _Window((cells, outside), max(counted, 1) if is_average else 1)


def _joined(places: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Ranges of the places that follow each other, first and last."""
    inside = {*places}
    firsts = (place for place in places if place - 1 not in inside)
    lasts = (place for place in places if place + 1 not in inside)
    return tuple(zip(firsts, lasts, strict=True))
