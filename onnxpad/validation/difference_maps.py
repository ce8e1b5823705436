"""Where two arrays differ, small enough for a report: borders cell by cell, the inside in bands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.validation.agreement import element_distances

Array = NDArray[Any]
_BORDER, _BANDS, _CHANNELS = 8, 16, 64
_LARGEST, _AT_ONCE = 1 << 26, 1 << 18
"""Elements of an array of which a map is made, and of which distances are held at once."""


@dataclass(frozen=True, slots=True)
class DifferenceMap:
    """The largest difference in each part of a tensor.

    `cells` has a row for each part of the last axis but one, and in it a number for each part of
    the last axis; over all other axes it is the largest. `rows` and `columns` are the first cell of
    each part, and the size behind the last: parts at the borders are single cells. `channels` are
    parts of axis 1 that begin at `channel_starts`, empty where axis 1 is one of the last two;
    `items` are those of axis 0, the batch.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    cells: tuple[tuple[float, ...], ...]
    channel_starts: tuple[int, ...] = ()
    channels: tuple[float, ...] = ()
    items: tuple[float, ...] = ()


def difference_map(one: Array, other: Array) -> DifferenceMap | None:
    """Where they differ; None for other shapes, no numbers, or more than can be looked through."""
    if one.shape != other.shape or not 0 < one.size <= _LARGEST or not one.ndim:
        return None
    if "O" in (one.dtype.kind, other.dtype.kind):
        return None
    shape = (1,) * max(0, 2 - one.ndim) + one.shape
    plane, leading = _maxima(one.reshape(-1, *shape[-2:]), other.reshape(-1, *shape[-2:]))
    rows, columns = map(_parts, plane.shape)
    plane = np.maximum.reduceat(plane, rows[:-1], axis=0)
    plane = np.maximum.reduceat(plane, columns[:-1], axis=1)
    found = DifferenceMap(rows, columns, tuple(map(tuple, plane.tolist())))
    if one.ndim < 3:
        return found
    by_item = leading.reshape(one.shape[0], -1).max(axis=1)
    found = replace(found, items=tuple(by_item[:_CHANNELS].tolist()))
    if one.ndim < 4:
        return found
    by_channel = leading.reshape(*one.shape[:2], -1).max(axis=(0, 2))
    width = -(-len(by_channel) // _CHANNELS)
    starts = tuple(range(0, len(by_channel), width))
    channels = tuple(np.maximum.reduceat(by_channel, starts).tolist())
    return replace(found, channel_starts=starts, channels=channels)


def _maxima(one: Array, other: Array) -> tuple[Array, Array]:
    """The largest differences over the first axis, and in each item of it; a part at a time."""
    plane, leading = np.zeros(one.shape[1:]), np.zeros(len(one))
    many = max(1, _AT_ONCE // plane.size)
    for start in range(0, len(one), many):
        part = slice(start, start + many)
        distance = element_distances(one[part], other[part])
        plane = np.maximum(plane, distance.max(axis=0))
        leading[part] = distance.max(axis=(1, 2))
    return plane, leading


def _parts(size: int) -> tuple[int, ...]:
    """First cells of the parts of an axis, and its size."""
    if size <= 2 * _BORDER + _BANDS:
        return tuple(range(size + 1))
    inner = np.linspace(_BORDER, size - _BORDER, _BANDS + 1).astype(int).tolist()
    return (*range(_BORDER), *inner[:-1], *range(size - _BORDER, size + 1))
