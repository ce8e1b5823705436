"""Operators of small constants that move cells and compute nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

import numpy as np
from onnx import AttributeProto

from onnxpad.geometry.cuts import cells_of_cut
from onnxpad.graph.reading.cells import Array, is_open, opened

Values: TypeAlias = Sequence[Array | None]
Attributes: TypeAlias = dict[str, AttributeProto]
Rule: TypeAlias = Callable[[Attributes, Values], Array | None]
LARGEST = 4096


def need(inputs: Values, position: int) -> Array:
    """An input that must be known; ValueError where it is not."""
    value = inputs[position]
    if value is None:
        raise ValueError(position)
    return value


def numbers(inputs: Values, position: int) -> list[int]:
    """Integers at an input, all of which must be known."""
    found = need(inputs, position)
    if is_open(found):
        raise ValueError(position)
    return [int(number) for number in found.reshape(-1)]


def axes_of(attributes: Attributes, inputs: Values) -> tuple[int, ...]:
    """The attribute axes, or the input of that name; ValueError where it is not known."""
    return tuple(attributes["axes"].ints if "axes" in attributes else numbers(inputs, 1))


def _concat(attributes: Attributes, inputs: Values) -> Array:
    rows = [need(inputs, position) for position in range(len(inputs))]
    if any(is_open(row) for row in rows):
        rows = [opened(row) for row in rows]
    return np.concatenate(rows, attributes["axis"].i)


def _reshape(attributes: Attributes, inputs: Values) -> Array:
    data = need(inputs, 0)
    shape = list(attributes["shape"].ints) if "shape" in attributes else numbers(inputs, 1)
    if "allowzero" not in attributes or not attributes["allowzero"].i:
        shape = [data.shape[i] if size == 0 else size for i, size in enumerate(shape)]
    return data.reshape(shape)


def _slice(attributes: Attributes, inputs: Values) -> Array:
    data = need(inputs, 0)
    if "starts" in attributes:
        starts, ends = list(attributes["starts"].ints), list(attributes["ends"].ints)
        axes = list(attributes["axes"].ints) if "axes" in attributes else None
        steps = [1] * len(starts)
    else:
        starts, ends = numbers(inputs, 1), numbers(inputs, 2)
        axes = numbers(inputs, 3) if len(inputs) > 3 and inputs[3] is not None else None
        given = numbers(inputs, 4) if len(inputs) > 4 and inputs[4] is not None else None
        steps = given or [1] * len(starts)
    for place, start, end, step in zip(
        axes or range(len(starts)), starts, ends, steps, strict=True
    ):
        cells = cells_of_cut(data.shape[place], start, end, step)
        if cells is None:
            raise ValueError(end)
        data = np.take(data, list(cells), place)
    return data


def _flatten(attributes: Attributes, inputs: Values) -> Array:
    data = need(inputs, 0)
    axis = attributes["axis"].i if "axis" in attributes else 1
    return data.reshape(prod(data.shape[: axis + data.ndim if axis < 0 else axis]), -1)


def _tile(_: Attributes, inputs: Values) -> Array | None:
    data, repeats = need(inputs, 0), numbers(inputs, 1)
    if len(inputs) != 2 or len(repeats) != data.ndim or data.size * prod(repeats) > LARGEST:
        return None  # Tile-1 has other inputs
    return np.tile(data, repeats)


def _transpose(attributes: Attributes, inputs: Values) -> Array:
    listed = list(attributes["perm"].ints) if "perm" in attributes else None
    return need(inputs, 0).transpose(listed)


def _unsqueeze(attributes: Attributes, inputs: Values) -> Array:
    return np.expand_dims(need(inputs, 0), axes_of(attributes, inputs))


def _squeeze(attributes: Attributes, inputs: Values) -> Array:
    listed = "axes" in attributes or len(inputs) > 1
    return np.squeeze(need(inputs, 0), axes_of(attributes, inputs) if listed else None)


def _gather(attributes: Attributes, inputs: Values) -> Array | None:
    data, index = need(inputs, 0), need(inputs, 1)
    if is_open(index):
        return None
    axis = (attributes["axis"].i if "axis" in attributes else 0) % data.ndim
    taken = np.take(data, index.reshape(-1), axis)  # a list of places: one alone is no array
    return taken.reshape(data.shape[:axis] + index.shape + data.shape[axis + 1 :])


def _expand(_: Attributes, inputs: Values) -> Array | None:
    data, shape = need(inputs, 0), tuple(numbers(inputs, 1))
    wide = np.broadcast_shapes(data.shape, shape)
    return None if np.prod(wide, dtype=np.int64) > LARGEST else np.broadcast_to(data, wide)


def _range(_: Attributes, inputs: Values) -> Array | None:
    start, limit, delta = (need(inputs, position) for position in range(3))
    if any(is_open(one) or one.dtype.kind not in "iu" for one in (start, limit, delta)):
        return None
    ends = start.item(), limit.item(), delta.item()
    return np.arange(*ends, dtype=start.dtype) if len(range(*ends)) <= LARGEST else None


def split(attributes: Attributes, inputs: Values, count: int) -> list[Array]:
    """The outputs of a Split that has `count` of them."""
    data = need(inputs, 0)
    axis = attributes["axis"].i if "axis" in attributes else 0
    if "split" in attributes:
        lengths = list(attributes["split"].ints)
    elif len(inputs) > 1:
        lengths = numbers(inputs, 1)
    else:  # Split-18 lets the last piece be shorter
        longest = -(-data.shape[axis] // count)
        lengths = [longest] * (count - 1) + [data.shape[axis] - longest * (count - 1)]
    if sum(lengths) != data.shape[axis] or min(lengths) < 0:
        raise ValueError(lengths)
    return np.split(data, np.cumsum(lengths)[:-1], axis)


def _scatter(attributes: Attributes, inputs: Values) -> Array | None:
    """ScatterND, the later of two updates to one cell held back as the text leaves them open."""
    data, index, updates = need(inputs, 0), need(inputs, 1), need(inputs, 2)
    reduction = attributes["reduction"].s if "reduction" in attributes else b"none"
    places = [tuple(int(i) for i in row) for row in index.reshape(-1, index.shape[-1])]
    if is_open(index) or reduction != b"none" or len(set(places)) < len(places):
        return None
    either = is_open(data) or is_open(updates)
    found = opened(data).copy() if either else data.copy()
    rows = (opened(updates) if either else updates).reshape(-1, *data.shape[index.shape[-1] :])
    for place, row in zip(places, rows, strict=True):
        found[place] = row
    return found


MOVES: dict[str, Rule] = {
    "Concat": _concat,
    "Reshape": _reshape,
    "Slice": _slice,
    "Flatten": _flatten,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Gather": _gather,
    "Expand": _expand,
    "Range": _range,
    "ScatterND": _scatter,
    "Identity": lambda _, inputs: need(inputs, 0),
}
