"""Which cells of two resolved layers differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from onnxpad.errors import RequestError
from onnxpad.frameworks.layer import Slide
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
    one, other = first.plan, second.plan
    if one.op != other.op or first.input_shape != second.input_shape:
        raise RequestError(
            f"{first.framework} {first.op} over {list(first.input_shape)} and {second.framework} "
            f"{second.op} over {list(second.input_shape)} are different layers: compare the same "
            "operator over the same input"
        )
    tables = [
        _AxisDifferences(first, second, *pair)
        for pair in zip(one.slides, other.slides, strict=True)
    ]
    cells = 0
    for keys in product(*(table.counts.items() for table in tables)):
        number = prod(times for _, times in keys)
        divides = [prod(key[1][side] for key, _ in keys) for side in (0, 1)]
        scaled = one.scale * divides[1] != other.scale * divides[0]
        cells += number if scaled or any(key[0] for key, _ in keys) else 0
    return Difference(
        first,
        second,
        tuple(table.difference for table in tables),
        cells,
        prod(sum(table.counts.values()) for table in tables),
    )


class _AxisDifferences:
    """Windows of one axis that both layers have, sorted by whether and how they differ."""

    def __init__(self, first: Resolution, second: Resolution, one: Slide, other: Slide) -> None:
        self._plans = (first.plan, second.plan)
        self._slides = (one, other)
        self._shared = min(one.output, other.output)
        window = (one.begin, one.kernel, one.dilation)
        moved = one.stride != other.stride
        transposed = first.plan.is_transposed
        self._all = window != (other.begin, other.kernel, other.dilation) or (moved and transposed)
        self._moved = moved and not self._all
        self.counts: Counter[tuple[bool, tuple[int, int]]] = Counter()
        indices = []
        for index, key in () if self._all or transposed else self._odd():
            self.counts[key] += 1
            if key[0] or key[1][0] != key[1][1]:
                indices.append(index)
        rest = self._shared - self.counts.total()
        cells = (one.kernel, other.kernel) if first.op == "avg_pool" else (1, 1)
        if rest:
            self.counts[moved or self._all, cells] += rest
        plain = [(int(self._moved), self._shared - 1)] if rest and (moved or self._all) else []
        ranges = [*_ranges(indices), *plain]
        most = max(one.output, other.output)
        if most > self._shared:
            ranges = list(_joined(ranges, (self._shared, most - 1)))
        sign = 1 if transposed else -1
        self.difference = AxisDifference(
            (sign * one.begin, sign * other.begin), (one.output, other.output), tuple(ranges)
        )

    def _odd(self) -> Iterator[tuple[int, tuple[bool, tuple[int, int]]]]:
        """Windows that reach over a border; with different strides the first, which both share."""
        one = self._slides[0]
        if self._moved:
            yield 0, self._key(0)
            return
        before = min(self._shared, max(0, -(-one.begin // one.stride)))
        inside = one.size - one.span + one.begin
        after = max(before, min(self._shared, inside // one.stride + 1))
        if before + self._shared - after > _MOST:
            raise RequestError("more windows reach over the border than can be compared")
        for index in (*range(before), *range(after, self._shared)):
            yield index, self._key(index)

    def _key(self, index: int) -> tuple[bool, tuple[int, int]]:
        one, other = self._plans
        start = index * self._slides[0].stride - self._slides[0].begin
        if one.op == "conv":
            return one.fill is not other.fill, (1, 1)
        empty = _cells(self._slides[0], start, 0, 0) == 0
        odd = empty and one.outside is not other.outside
        if one.op == "max_pool":
            return odd, (1, 1)
        mine, theirs = (_cells(slide, start, *slide.counted) for slide in self._slides)
        return odd and 0 in {mine, theirs}, (max(mine, 1), max(theirs, 1))


def _cells(slide: Slide, start: int, before: int, after: int) -> int:
    """Cells of a window that lie in the input or in `before` and `after` cells around it."""
    low, high = -before - start, slide.size + after - start
    first = max(0, -(-low // slide.dilation))
    last = min(slide.kernel, -(-high // slide.dilation))
    return max(0, last - first)


def _ranges(indices: list[int]) -> Iterator[tuple[int, int]]:
    begin = last = None
    for index in indices:
        if begin is None or last is None or index != last + 1:
            if begin is not None and last is not None:
                yield begin, last
            begin = index
        last = index
    if begin is not None and last is not None:
        yield begin, last


def _joined(ranges: list[tuple[int, int]], more: tuple[int, int]) -> Iterator[tuple[int, int]]:
    if ranges and ranges[-1][1] + 1 == more[0]:
        yield from ranges[:-1]
        yield ranges[-1][0], more[1]
    else:
        yield from ranges
        yield more
