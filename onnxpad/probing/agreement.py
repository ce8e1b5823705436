"""Comparing arrays: equal, within a bound, or different, and where.

`gap` holds two arrays against a bound that was measured (`validate`), `difference` holds what a
runtime gave against what is right by a share of its size (`--live`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Bound = Array | float
NEAR = 1e-3
"""Of the largest right number of a tensor: kernels by transformed tiles pass, a shifted pad does
not."""
RELATIVE = {"float16": 1e-2, "bfloat16": 5e-2}
"""The same for half precision, which loses more in sums."""
QUANTISED = 5e-2
"""The same for a whole model that quantises: what a step of the last place grows to in layers."""
STEPS, BYTES = 5, 255
"""Steps that 8-bit numbers of what quantises may be apart: runtimes round in other places, and
leave out pairs of conversions; what is padded otherwise is further off in random bytes."""
UNTELLING = 1 / 8
"""A bound beyond this share of a tensor would excuse wrong padding."""
_LEAST = 1e-2
"""Of the largest number of the tensor: kernels round by that, however small a channel is."""
_ROUNDING = 1e-6
"""Of the largest input, where every right number is 0: what sums of numbers that cancel end at."""
_FILL = 1e30
"""Beyond it a number is a fill, such as the lowest float for minus infinity."""
_BLOCK = 1 << 18
"""Elements that are looked at together, so that their float64 copies cost little."""
_BORDER, _BANDS = 8, 16
"""Single cells at each end of an axis of a map, and bands between them."""
_MAPPED = 1 << 24
"""Cells of the last two axes beyond which there is no map."""


class Gap(NamedTuple):
    """How far two arrays are apart.

    max_abs: the largest difference; infinite for other shapes or kinds, and beside a NaN.
    ratio: difference / bound of the element that is furthest beyond its `bound`.
    where: the places beyond their bounds, or what stands at the worst one, in words.
    """

    max_abs: float
    ratio: float
    where: str
    bound: float = 0.0

    @property
    def within(self) -> bool:
        """Whether every element differs by no more than its bound."""
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
        return all(_is_equal_item(x, y) for x, y in zip(a.flat, b.flat, strict=True))
    if np.array_equal(a, b):
        return True
    return _is_float(a) and not gap(a, b).max_abs


def _is_equal_item(x: object, y: object) -> bool:
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return same(x, y)
    return bool(x == y)


def gap(a: Array, b: Array, bound: Bound = 0.0) -> Gap:
    """The distance of two arrays; `bound` broadcasts against them."""
    if a.shape != b.shape:
        return Gap(np.inf, np.inf, f"shape {list(a.shape)} against {list(b.shape)}")
    if not (_is_number(a) and _is_number(b)):
        return Gap(0.0, 0.0, "") if same(a, b) else Gap(np.inf, np.inf, "elements")
    limits = np.broadcast_to(np.asarray(bound, np.float64), a.shape)
    beyond = np.zeros(a.size, np.bool_)
    most, worst, allowed = 0.0, 0.0, float(limits.flat[0]) if a.size else 0.0
    first, second = a.reshape(-1), b.reshape(-1)
    for start in range(0, a.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        limit, distance = limits.flat[part], element_distances(first[part], second[part])
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(distance == 0, 0.0, distance / limit)
        ratio = np.where(np.isnan(ratio), np.where(np.isinf(limit), 0.0, np.inf), ratio)
        beyond[part] = ratio > 1
        most = max(most, float(distance.max()))
        at = int(ratio.argmax())
        if ratio[at] > worst:
            worst, allowed = float(ratio[at]), float(limit[at])
    return Gap(most, worst, _where(beyond.reshape(a.shape)), allowed)


def element_distances(a: Array, b: Array) -> Array:
    """How far each element is from the other: 0 where they are equal, infinite beside a NaN."""
    first, second = _wide(a), _wide(b)
    with np.errstate(invalid="ignore"):
        distance = np.abs(first - second)
    equal = (first == second) | (np.isnan(first) & np.isnan(second))
    distance = np.where(equal, 0.0, np.where(np.isnan(distance), np.inf, distance))
    if a.dtype.kind in "iu" and b.dtype.kind in "iu":
        distance = np.where(a == b, 0.0, np.maximum(distance, 1.0))  # beyond 2^53 floats collapse
    return distance


def largest(bound: Bound) -> float:
    """The widest of the bounds."""
    return float(np.max(bound, initial=0.0))


def relative_gap(a: Array, b: Array) -> float:
    """Largest difference over largest value; infinite where shapes differ."""
    size = largest(magnitudes(a)) if a.shape == b.shape and _is_number(a) else 0.0
    return gap(a, b).max_abs / (size or 1.0)


def untelling(value: Array, bound: float) -> bool:
    """Whether a bound is so large that it would excuse a padding error."""
    if not _is_number(value) or value.size == 0:
        return False
    return bound > UNTELLING * largest(magnitudes(value))


def magnitudes(value: Array) -> NDArray[np.float64]:
    """How large the elements are; 0 for NaN, infinities, and the lowest float, which is -inf."""
    wide = _wide(value)
    return np.where(np.isfinite(wide), np.abs(wide), 0.0)


def _where(beyond: NDArray[np.bool_]) -> str:
    """Which places of the spatial axes (2 and later) lie beyond their bound, and how many do.

    An axis of one or two cells has no inside that its borders could differ from.
    """
    spatial = [axis for axis in range(2, beyond.ndim) if beyond.shape[axis] > 2]
    if not beyond.any():
        return ""
    if not spatial:
        return f"{int(beyond.sum())} of {beyond.size} elements"
    places = np.asarray(beyond.any(axis=tuple(set(range(beyond.ndim)) - {*spatial})))
    if places.all():
        channels = beyond.any(axis=tuple(set(range(beyond.ndim)) - {1}))
        many = int(channels.sum())
        return "everywhere" if channels.all() else f"in {many} of {channels.size} channels"
    inside = [slice(max(1, size // 4), size - max(1, size // 4)) for size in places.shape]
    at_borders = not places[tuple(inside)].any()
    parts = []
    for at, (axis, size) in enumerate(zip(spatial, places.shape, strict=True)):
        lanes = places[(*inside[:at], slice(None), *inside[at + 1 :])] if at_borders else places
        cells = np.flatnonzero(lanes.any(axis=tuple(set(range(places.ndim)) - {at})))
        begins, ends = cells[cells < size // 2], cells[cells >= size // 2]
        if at_borders and begins.size:
            parts.append(_border("first", int(begins[-1]) + 1, size, axis))
        if at_borders and ends.size:
            parts.append(_border("last", size - int(ends[0]), size, axis))
        if not at_borders and cells[-1] - cells[0] + 1 < size:
            parts.append(f"cells {cells[0]} to {cells[-1]} of {size} along axis {axis}")
    text = f"borders: {', '.join(parts)}" if at_borders and parts else " and ".join(parts)
    return f"{text or 'scattered'}; {int(places.sum())} of {places.size} places"


def _border(side: str, count: int, size: int, axis: int) -> str:
    return f"the {side}{f' {count}' if count > 1 else ''} of {size} along axis {axis}"


@dataclass(frozen=True, slots=True)
class DifferenceMap:
    """Where two tensors differ, in the last two axes.

    rows: the first cell of each part of the last axis but one, and the size of the axis. Cells near
        the ends are parts of their own, others are in bands.
    columns: the same of the last axis.
    cells: the largest difference in each part, over all other axes, row by row.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    cells: tuple[tuple[float, ...], ...]


def difference_map(a: Array, b: Array) -> DifferenceMap | None:
    """The map of two tensors; None for other shapes, no numbers, one cell, or too many."""
    height, width = (1, 1, *a.shape)[-2:]
    if a.shape != b.shape or a.size < 2 or height * width > _MAPPED:
        return None
    if not (_is_number(a) and _is_number(b)):
        return None
    first, second = (tensor.reshape(-1, height, width) for tensor in (a, b))
    plane, many = np.zeros((height, width)), max(1, _BLOCK // (height * width))
    for start in range(0, len(first), many):
        part = slice(start, start + many)
        plane = np.maximum(plane, element_distances(first[part], second[part]).max(axis=0))
    rows, columns = _parts(height), _parts(width)
    plane = np.maximum.reduceat(plane, rows[:-1], axis=0)
    plane = np.maximum.reduceat(plane, columns[:-1], axis=1)
    return DifferenceMap(rows, columns, tuple(map(tuple, plane.tolist())))


def _parts(size: int) -> tuple[int, ...]:
    """The first cell of each part of an axis, and its size."""
    if size <= 2 * _BORDER + _BANDS:
        return tuple(range(size + 1))
    bands = np.linspace(_BORDER, size - _BORDER, _BANDS + 1).astype(int).tolist()
    return (*range(_BORDER), *bands[:-1], *range(size - _BORDER, size + 1))


def _is_float(array: Array) -> bool:
    return array.dtype.kind not in "iubOSU"


def _is_number(value: Array) -> bool:
    """Whether it holds real numbers or truth values; numpy calls bfloat16 and its kin 'V'."""
    kind = value.dtype.kind
    return kind in "fiub" or (kind == "V" and value.dtype.name.startswith(("bfloat", "float")))


def _wide(array: Array) -> NDArray[np.float64]:
    """The numbers in float64; the lowest float of a type is minus infinity."""
    wide: NDArray[np.float64] = array.astype(np.float64)
    if array.dtype.kind == "f":
        return np.where(wide <= float(np.finfo(array.dtype).min), -np.inf, wide)
    return wide


# What a runtime gave, against what is right.


def difference(got: Array, right: Array, near: float = NEAR, scale: float = 1.0) -> Gap:
    """How far what a runtime gave is from what is right, and the two numbers furthest apart.

    `near` is what is allowed of the largest right number, half precision is allowed more; `scale`
    is the largest input, where every right number is 0.
    """
    if got.shape != right.shape:
        return Gap(np.inf, np.inf, f"shape {list(got.shape)} instead of {list(right.shape)}")
    if not (_is_number(right) and _is_number(got)):
        equal = bool(np.array_equal(got, right))
        return Gap(0.0, 0.0, "") if equal else Gap(np.inf, np.inf, "other values")
    clipped = (np.clip(value.astype(np.float64), -_FILL, _FILL) for value in (got, right))
    apart = element_distances(*clipped)
    if not apart.any():
        return Gap(0.0, 0.0, "")
    allowed = _allowed(right, near, scale)
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = np.where(apart > 0, apart / allowed, 0.0)
    farthest = beyond if beyond.max() > 1 else apart
    place = tuple(int(index) for index in np.unravel_index(int(farthest.argmax()), apart.shape))
    words = f"{float(got[place]):g} instead of {float(right[place]):g} at {list(place)}"
    return Gap(float(apart[place]), float(beyond[place]), words, float(allowed[place]))


def worst(
    got: Mapping[str, Array],
    right: Mapping[str, Array],
    feeds: Mapping[str, Array],
    near: float = NEAR,
) -> tuple[str, Gap]:
    """The output that is furthest beyond what is allowed for these inputs, and how far it is off.

    An output that is missing is infinitely far off.
    """
    sizes = [largest(magnitudes(fed)) for fed in feeds.values() if _is_float(fed)]
    differences = {
        name: difference(np.asarray(got[name]), value, near, max(sizes, default=1.0))
        if name in got
        else Gap(np.inf, np.inf, f"no output '{name}'")
        for name, value in right.items()
    }
    return max(differences.items(), key=lambda pair: (not pair[1].within, pair[1].max_abs))


def _allowed(right: Array, near: float, scale: float) -> Array:
    """How large the difference of each cell may be.

    Floats of one channel, or of one column, are held against the largest of these: a tensor may
    hold boxes in pixels beside scores. Steps of quantised models are those of the whole tensor.
    """
    if right.dtype.kind in "biu":
        steps = right.dtype.kind != "b" and right.dtype.itemsize == 1 and near > NEAR
        return np.full(right.shape, float(STEPS * steps))  # labels and masks are no steps
    sizes = np.abs(right.astype(np.float64))
    sizes = np.where(sizes < _FILL, sizes, 0.0)
    whole = local = sizes.max(initial=0.0)
    for axis in {1, right.ndim - 1} if right.ndim > 1 and near <= NEAR else ():
        others = tuple(number for number in range(right.ndim) if number != axis)
        local = np.minimum(local, sizes.max(axis=others, keepdims=True))
    if not whole:
        return np.full(right.shape, _ROUNDING * scale)
    share = np.broadcast_to(np.maximum(local, _LEAST * whole), right.shape)
    return np.asarray(max(near, RELATIVE.get(str(right.dtype), 0.0)) * share)
