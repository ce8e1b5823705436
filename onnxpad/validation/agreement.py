"""Comparing arrays: equal, apart by rounding, or different, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Bound = Array | float
UNTELLING = 1 / 8
_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class Gap:
    """How far two arrays are apart; `ratio` is difference/bound at its worst element.

    `bound` is the bound of that element.
    """

    max_abs: float
    ratio: float
    where: str
    bound: float = 0.0

    @property
    def within(self) -> bool:
        """Whether the bound covers every element."""
        return self.ratio <= 1


def same(a: Array, b: Array) -> bool:
    """Whether every element is equal; NaN equals NaN, and the lowest float equals -inf.

    onnxruntime's MaxPool gives either for a window without a real cell.
    """
    if a is b:
        return True
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype == object:
        return all(_same_items(x, y) for x, y in zip(a.flat, b.flat, strict=True))
    first, second = a.reshape(-1), b.reshape(-1)
    return all(_same_elements(first[part], second[part]) for part in _blocks(a.size))


def _same_elements(a: Array, b: Array) -> bool:
    if np.array_equal(a.view(np.uint8), b.view(np.uint8)):
        return True
    if not _is_float(a):
        return bool(np.array_equal(a, b))
    return bool(np.array_equal(_lowest_as_infinite(a), _lowest_as_infinite(b), equal_nan=True))


def gap(a: Array, b: Array, bound: Bound = 0.0) -> Gap:
    """The distance of two arrays; other shapes or kinds of elements are infinitely far apart."""
    if a.shape != b.shape:
        return Gap(np.inf, np.inf, f"shape {list(a.shape)} against {list(b.shape)}")
    if _nested(a, b):
        return Gap(0.0, 0.0, "") if same(a, b) else Gap(np.inf, np.inf, "elements")
    if a.size == 0:
        return Gap(0.0, 0.0, "")
    limit = np.broadcast_to(np.asarray(bound, np.float64), a.shape)
    if same(a, b):
        return Gap(0.0, 0.0, "", float(limit.flat[0]))
    beyond = np.zeros(a.shape, np.bool_)
    most, worst, allowed = 0.0, -np.inf, 0.0
    first, second = a.reshape(-1), b.reshape(-1)
    for part in _blocks(a.size):
        limits = limit.flat[part]
        distance = element_distances(first[part], second[part])
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(distance == 0, 0.0, distance / limits)
        ratio = np.where(np.isnan(ratio), np.where(np.isinf(limits), 0.0, np.inf), ratio)
        beyond.flat[part] = ratio > 1
        most = max(most, float(distance.max()))
        at = int(ratio.argmax())
        if ratio[at] > worst:
            worst, allowed = float(ratio[at]), float(limits[at])
    return Gap(most, worst, _where(beyond), allowed)


def element_distances(a: Array, b: Array) -> Array:
    """How far each element is from the other: 0 where they are equal, infinite beside a NaN."""
    first, second = _lowest_as_infinite(a), _lowest_as_infinite(b)
    with np.errstate(invalid="ignore"):
        distance = np.abs(first - second)
    equal = (first == second) | (np.isnan(first) & np.isnan(second))
    distance = np.where(equal, 0.0, np.where(np.isnan(distance), np.inf, distance))
    if a.dtype.kind in "iu" and b.dtype.kind in "iu":
        distance = np.where(a == b, 0.0, np.maximum(distance, 1.0))  # beyond 2^53 floats collapse
    return distance


def _blocks(size: int) -> Iterator[slice]:
    """The elements in order, so many at once that their float64 copies cost little."""
    return (slice(start, start + _BLOCK) for start in range(0, size, _BLOCK))


def largest(bound: Bound) -> float:
    """The widest of the bounds."""
    return float(np.max(bound, initial=0.0))


def relative_gap(a: Array, b: Array) -> float:
    """Largest difference over largest value; infinite where shapes differ."""
    if a.shape != b.shape or _nested(a, b):
        return 0.0 if a.shape == b.shape and same(a, b) else np.inf
    size = float(magnitudes(a).max(initial=0.0))
    return gap(a, b).max_abs / size if size else gap(a, b).max_abs


def untelling(value: Array, bound: float) -> bool:
    """Whether a bound is so large that it would excuse a padding error."""
    if value.dtype == object or value.size == 0:
        return False
    return bound > UNTELLING * float(magnitudes(value).max(initial=0.0))


def magnitudes(value: Array) -> NDArray[np.float64]:
    """How large the elements are; 0 for NaN, infinities, and the lowest float, which is -inf."""
    wide = _lowest_as_infinite(value)
    return np.where(np.isfinite(wide), np.abs(wide), 0.0)


def _where(beyond: NDArray[np.bool_]) -> str:
    """Which places of the spatial axes (2 and later) lie beyond their bound, and how many do.

    An axis of one or two cells has no inside that its borders could differ from.
    """
    if not beyond.any():
        return ""
    spatial = [axis for axis, size in enumerate(beyond.shape) if axis > 1 and size > 2]
    if not spatial:
        return f"{int(beyond.sum())} of {beyond.size} elements"
    others = tuple(axis for axis in range(beyond.ndim) if axis not in spatial)
    differing = np.asarray(beyond.any(axis=others))
    if differing.all():
        channels = beyond.any(axis=tuple(axis for axis in range(beyond.ndim) if axis != 1))
        many = int(channels.sum())
        return "everywhere" if channels.all() else f"in {many} of {channels.size} channels"
    borders, boxes = (_spans(differing, spatial, at_borders=one) for one in (True, False))
    text = f"borders: {', '.join(borders)}" if borders else " and ".join(boxes) or "scattered"
    return f"{text}; {int(differing.sum())} of {differing.size} places"


def _spans(differing: NDArray[np.bool_], names: Sequence[int], *, at_borders: bool) -> list[str]:
    """'the last 5 of 29 along axis 3', for each axis that is not touched from end to end.

    At borders only where the inside is equal: a border is at most a quarter of its axis, and how
    wide it is is seen beside the other borders.
    """
    inside = [slice(max(1, size // 4), size - max(1, size // 4)) for size in differing.shape]
    if at_borders and differing[tuple(inside)].any():
        return []
    found: list[str] = []
    for axis, (name, size) in enumerate(zip(names, differing.shape, strict=True)):
        lane = differing[(*inside[:axis], slice(None), *inside[axis + 1 :])]
        lane = lane if at_borders else differing
        at = np.flatnonzero(lane.any(axis=tuple(o for o in range(lane.ndim) if o != axis)))
        parts = [at]
        if at_borders:
            parts = [at[at < inside[axis].start], at[at >= inside[axis].stop]]
        for first, stop in ((int(one[0]), int(one[-1]) + 1) for one in parts if one.size):
            begin, end = (0, stop) if at_borders and first < inside[axis].start else (first, stop)
            end = size if at_borders and begin else end
            found += [_cells(begin, end, size, name)] * (end - begin < size)
    return found


def _cells(first: int, stop: int, size: int, axis: int) -> str:
    """Neighbouring cells of an axis, in words."""
    count = stop - first
    number = f" {count}" if count > 1 else ""
    if first == 0 or stop == size:
        which = f"the {'last' if first else 'first'}{number}"
    else:
        which = f"cells {first} to {stop - 1}" if count > 1 else f"cell {first}"
    return f"{which} of {size} along axis {axis}"


def _nested(*arrays: Array) -> bool:
    """Whether any of them holds Python objects: sequences of tensors, or texts."""
    return any(array.dtype == object for array in arrays)


def _is_float(array: Array) -> bool:
    return array.dtype.kind not in "iubOSU"


def _lowest_as_infinite(array: Array) -> NDArray[np.float64]:
    if array.dtype.kind in "iub":
        return array.astype(np.float64)
    wide: NDArray[np.float64] = array.astype(np.float64)
    if array.dtype in (np.float16, np.float32, np.float64):
        lowest = float(np.finfo(array.dtype).min)
        wide = np.where(wide <= lowest, -np.inf, wide)
    return wide


def _same_items(x: object, y: object) -> bool:
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return same(x, y)
    return bool(x == y)
