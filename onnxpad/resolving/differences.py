"""Which cells of two resolved layers differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from math import prod

from onnxpad.errors import RequestError
from onnxpad.frameworks.layer import Slide
from onnxpad.reports import Report, reported
from onnxpad.resolving import Resolution

_MOST = 1_000_000
_Key = tuple[bool, tuple[int, int]]


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
    one, other = first.plan, second.plan
    if one.op != other.op or first.input_shape != second.input_shape:
        raise RequestError(
            f"{first.framework} {first.op} over {list(first.input_shape)} and {second.framework} "
            f"{second.op} over {list(second.input_shape)} are different layers: compare the same "
            "operator over the same input"
        )
    pairs = zip(one.slides, other.slides, strict=True)
    axes, counts = zip(*(_axis(first, second, *pair) for pair in pairs), strict=True)
    cells = 0
    for keys in product(*(count.items() for count in counts)):
        number = prod(times for _, times in keys)
        divides = [prod(key[1][side] for key, _ in keys) for side in (0, 1)]
        scaled = one.scale * divides[1] != other.scale * divides[0]
        cells += number if scaled or any(key[0] for key, _ in keys) else 0
    return Difference(first, second, axes, cells, prod(count.total() for count in counts))


def _axis(
    first: Resolution, second: Resolution, one: Slide, other: Slide
) -> tuple[AxisDifference, Counter[_Key]]:
    """Windows of one axis that both layers have, sorted by whether and how they differ."""
    shared, most = min(one.output, other.output), max(one.output, other.output)
    if shared > _MOST:
        raise RequestError("the layers have more windows than can be compared")
    transposed, moved = first.plan.is_transposed, one.stride != other.stride
    same = (one.begin, one.kernel, one.dilation) == (other.begin, other.kernel, other.dilation)
    counts, ranges = Counter[_Key](), list[tuple[int, int]]()
    for index in range(shared):
        # With different strides both share the first window alone.
        differs = not same or (moved and (transposed or index > 0))
        key = _key(first, second, one, other, index)
        counts[differs or key[0], key[1]] += 1
        if differs or key[0] or key[1][0] != key[1][1]:
            ranges.append((index, index))
    if most > shared:
        ranges.append((shared, most - 1))
    sign = 1 if transposed else -1
    starts = (sign * one.begin, sign * other.begin)
    return AxisDifference(starts, (one.output, other.output), tuple(_joined(ranges))), counts


def _key(first: Resolution, second: Resolution, one: Slide, other: Slide, index: int) -> _Key:
    """Whether a window differs in what it reads, and the cells that each of both divides by."""
    start = index * one.stride - one.begin
    if first.plan.is_transposed:
        return False, (1, 1)
    if first.plan.op == "conv":
        reaches = start < 0 or start + one.span > one.size
        return reaches and first.plan.fill is not second.plan.fill, (1, 1)
    empty = _cells(one, start, 0, 0) == 0
    odd = empty and first.plan.outside is not second.plan.outside
    if first.plan.op == "max_pool":
        return odd, (1, 1)
    mine, theirs = (_cells(slide, start, *slide.counted) for slide in (one, other))
    return odd and 0 in {mine, theirs}, (max(mine, 1), max(theirs, 1))


def _cells(slide: Slide, start: int, before: int, after: int) -> int:
    """Cells of a window that lie in the input or in `before` and `after` cells around it."""
    low, high = -before - start, slide.size + after - start
    first = max(0, -(-low // slide.dilation))
    last = min(slide.kernel, -(-high // slide.dilation))
    return max(0, last - first)


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges, those that follow each other as one."""
    found: list[tuple[int, int]] = []
    for low, high in ranges:
        follows = found and found[-1][1] + 1 == low
        found.append((found.pop()[0] if follows else low, high))
    return found
