"""Small constants that a model computes: the pads arithmetic of exporters.

TorchScript writes the pads of ZeroPad2d as ConstantOfShape, Concat, Reshape, Slice, Transpose,
Reshape, Cast; others take sizes from Shape. The operators follow the ONNX text for small tensors
of numbers; whatever is missing here stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from onnx import AttributeProto, NodeProto, helper, numpy_helper

from onnxpad.geometry.size import Size

Array: TypeAlias = np.ndarray
Values: TypeAlias = Sequence[Array | None]
LARGEST = 4096


def fold(node: NodeProto, inputs: Values) -> Array | None:
    """The output of a node with constant inputs, or None where there is no rule for it."""
    rule = _RULES.get(node.op_type)
    if rule is None or not inputs or inputs[0] is None:
        return None
    try:
        found = rule({entry.name: entry for entry in node.attribute}, inputs)
    except (ValueError, IndexError, KeyError, TypeError, OverflowError, ZeroDivisionError):
        return None
    return found if found is not None and found.size <= LARGEST else None


def shape_of(node: NodeProto, dims: Sequence[Size | None] | None) -> Array | None:
    """The output of Shape with sizes as they are known, in an array of objects."""
    if dims is None:
        return None
    marks = {entry.name: entry.i for entry in node.attribute}
    sizes = np.empty(len(dims), object)
    sizes[:] = dims
    return sizes[marks.get("start", 0) : marks.get("end", len(dims))]


def only_numbers(sizes: Array | None) -> Array | None:
    """Sizes as integers; None where one of them is no number."""
    if sizes is None or not all(isinstance(size, int) for size in sizes.reshape(-1)):
        return None
    return sizes.astype(np.int64)


Attributes: TypeAlias = dict[str, AttributeProto]
Rule: TypeAlias = Callable[[Attributes, Values], Array | None]


def _need(inputs: Values, position: int) -> Array:
    value = inputs[position]
    if value is None:
        raise ValueError(position)
    return value


def _axes(attributes: Attributes, inputs: Values) -> tuple[int, ...]:
    if "axes" in attributes:
        return tuple(attributes["axes"].ints)
    return tuple(int(axis) for axis in _need(inputs, 1).reshape(-1))


def _constant_of_shape(attributes: Attributes, inputs: Values) -> Array | None:
    shape = tuple(int(size) for size in _need(inputs, 0).reshape(-1))
    if np.prod(shape, dtype=np.int64) > LARGEST:
        return None
    value = numpy_helper.to_array(attributes["value"].t) if "value" in attributes else None
    if value is None:
        return np.zeros(shape, np.float32)
    return np.full(shape, value.reshape(-1)[0], value.dtype)


def _cast(attributes: Attributes, inputs: Values) -> Array:
    return _need(inputs, 0).astype(helper.tensor_dtype_to_np_dtype(attributes["to"].i))


def _concat(attributes: Attributes, inputs: Values) -> Array:
    rows = [_need(inputs, position) for position in range(len(inputs))]
    return np.concatenate(rows, attributes["axis"].i)


def _reshape(attributes: Attributes, inputs: Values) -> Array:
    data = _need(inputs, 0)
    shape = [int(size) for size in _need(inputs, 1).reshape(-1)]
    if "allowzero" not in attributes or not attributes["allowzero"].i:
        shape = [data.shape[i] if size == 0 else size for i, size in enumerate(shape)]
    return data.reshape(shape)


def _slice(attributes: Attributes, inputs: Values) -> Array:
    data = _need(inputs, 0)
    if "starts" in attributes:
        starts, ends = list(attributes["starts"].ints), list(attributes["ends"].ints)
        axes = list(attributes["axes"].ints) if "axes" in attributes else None
        steps = [1] * len(starts)
    else:
        starts, ends = (_need(inputs, position).tolist() for position in (1, 2))
        axes = _need(inputs, 3).tolist() if len(inputs) > 3 and inputs[3] is not None else None
        given = _need(inputs, 4).tolist() if len(inputs) > 4 and inputs[4] is not None else None
        steps = given or [1] * len(starts)
    found = [slice(None)] * data.ndim
    for place, start, end, step in zip(
        axes or range(len(starts)), starts, ends, steps, strict=True
    ):
        size = data.shape[place]
        stop = None if step < 0 and end < -size else end
        found[place] = slice(start, stop, step)
    return np.asarray(data[tuple(found)])


def _transpose(attributes: Attributes, inputs: Values) -> Array:
    return _need(inputs, 0).transpose(list(attributes["perm"].ints) if attributes else None)


def _unsqueeze(attributes: Attributes, inputs: Values) -> Array:
    return np.expand_dims(_need(inputs, 0), _axes(attributes, inputs))


def _squeeze(attributes: Attributes, inputs: Values) -> Array:
    listed = "axes" in attributes or len(inputs) > 1
    return np.squeeze(_need(inputs, 0), _axes(attributes, inputs) if listed else None)


def _gather(attributes: Attributes, inputs: Values) -> Array:
    data, index = _need(inputs, 0), _need(inputs, 1)
    axis = (attributes["axis"].i if "axis" in attributes else 0) % data.ndim
    taken = np.take(data, index.reshape(-1), axis)  # a list of places: one alone is no array
    return taken.reshape(data.shape[:axis] + index.shape + data.shape[axis + 1 :])


def _divide(_: Attributes, inputs: Values) -> Array:
    first, second = _need(inputs, 0), _need(inputs, 1)
    if first.dtype.kind == "f":
        return np.asarray(first / second)
    quotient = np.abs(first) // np.abs(second)  # ONNX truncates integers towards zero
    return np.asarray(quotient * np.sign(first) * np.sign(second), first.dtype)


def _modulo(attributes: Attributes, inputs: Values) -> Array:
    first, second = _need(inputs, 0), _need(inputs, 1)
    as_c = "fmod" in attributes and attributes["fmod"].i == 1
    return np.asarray(np.fmod(first, second) if as_c else np.mod(first, second))


def _binary(operation: Callable[[Array, Array], Array]) -> Rule:
    return lambda _, inputs: np.asarray(operation(_need(inputs, 0), _need(inputs, 1)))


_RULES: dict[str, Rule] = {
    "ConstantOfShape": _constant_of_shape,
    "Cast": _cast,
    "Concat": _concat,
    "Reshape": _reshape,
    "Slice": _slice,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Gather": _gather,
    "Identity": lambda _, inputs: _need(inputs, 0),
    "Neg": lambda _, inputs: np.asarray(-_need(inputs, 0)),
    "Div": _divide,
    "Mod": _modulo,
    "Add": _binary(lambda a, b: a + b),
    "Sub": _binary(lambda a, b: a - b),
    "Mul": _binary(lambda a, b: a * b),
}
