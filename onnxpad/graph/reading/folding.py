"""Small constants that a model computes: the pads arithmetic of exporters.

TorchScript writes the pads of ZeroPad2d as ConstantOfShape, Concat, Reshape, Slice, Transpose,
Reshape, Cast; others take sizes from Shape. The operators follow the ONNX text for small tensors
of numbers, some cells of which may be open (cells.py); whatever is missing here stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

import numpy as np
from onnx import NodeProto, helper, numpy_helper

from onnxpad.geometry.size import Size
from onnxpad.graph.reading.cell_rules import cell_as
from onnxpad.graph.reading.cells import (
    MOST_OPEN,
    Array,
    by_cells,
    is_open,
    of_sizes,
    settled,
)
from onnxpad.graph.reading.elementary import ELEMENTARY, applied
from onnxpad.graph.reading.moving import (
    LARGEST,
    MOVES,
    Attributes,
    Rule,
    Values,
    axes_of,
    need,
    numbers,
    split,
)


def fold(node: NodeProto, inputs: Values, output: int = 0) -> Array | None:
    """An output of a node with known inputs, or None where there is no rule for it.

    An input that is None is left out.
    """
    rule = _RULES.get(node.op_type)
    if rule is None or not inputs or inputs[0] is None:
        return None
    attributes = {entry.name: entry for entry in node.attribute}
    try:
        if node.op_type == "Split":
            found: Array | None = split(attributes, inputs, len(node.output))[output]
        else:
            found = None if output else rule(attributes, inputs)
    except (ValueError, IndexError, KeyError, TypeError, OverflowError, ZeroDivisionError):
        return None
    if found is None:
        return None
    found = settled(found)
    return found if found.size <= (MOST_OPEN if is_open(found) else LARGEST) else None


def shape_of(node: NodeProto, dims: Sequence[Size | None]) -> Array:
    """The output of Shape for sizes as they are known."""
    marks = {entry.name: entry.i for entry in node.attribute}
    return of_sizes(dims[marks.get("start", 0) : marks.get("end", len(dims))])


def _constant_of_shape(attributes: Attributes, inputs: Values) -> Array | None:
    shape = tuple(numbers(inputs, 0))
    if np.prod(shape, dtype=np.int64) > LARGEST:
        return None
    value = numpy_helper.to_array(attributes["value"].t) if "value" in attributes else None
    if value is None:
        return np.zeros(shape, np.float32)
    return np.full(shape, value.reshape(-1)[0], value.dtype)


def _cast(attributes: Attributes, inputs: Values) -> Array | None:
    return _as(need(inputs, 0), np.dtype(helper.tensor_dtype_to_np_dtype(attributes["to"].i)))


def _cast_like(_: Attributes, inputs: Values) -> Array | None:
    wanted = need(inputs, 1)
    return None if is_open(wanted) else _as(need(inputs, 0), wanted.dtype)


def _as(data: Array, dtype: np.dtype) -> Array | None:
    if dtype.kind == "O":  # texts
        return None
    if is_open(data):
        return by_cells(partial(cell_as, dtype=dtype), lambda one: one.astype(dtype), [data])
    if data.dtype.kind == "f" and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not ((data > limits.min) & (data < limits.max)).all():
            return None
    return data.astype(dtype)


def _reduced(reduce: Callable[..., Array], attributes: Attributes, inputs: Values) -> Array | None:
    data = need(inputs, 0)
    if is_open(data):
        return None
    given = "axes" in attributes or (len(inputs) > 1 and inputs[1] is not None)
    axes = axes_of(attributes, inputs) if given else ()
    if not axes and "noop_with_empty_axes" in attributes and attributes["noop_with_empty_axes"].i:
        return data
    kept = "keepdims" not in attributes or attributes["keepdims"].i == 1
    return np.asarray(reduce(data, axis=axes or None, keepdims=kept), data.dtype)


def _elementary(name: str, attributes: Attributes, inputs: Values) -> Array | None:
    c_modulo = name == "Mod" and "fmod" in attributes and attributes["fmod"].i == 1
    values = [need(inputs, position) for position in range(len(inputs))]
    if prod(np.broadcast_shapes(*(one.shape for one in values))) > LARGEST:
        return None
    return applied(name, values, c_modulo=c_modulo)


def _clip(attributes: Attributes, inputs: Values) -> Array | None:
    """Clip-11 and newer, whose bounds are inputs."""
    found: Array | None = need(inputs, 0)
    for name, bound in zip(("Max", "Min"), inputs[1:], strict=False):
        if found is not None and bound is not None:
            found = applied(name, [found, bound])
    return None if attributes else found


def _relu(_: Attributes, inputs: Values) -> Array | None:
    data = need(inputs, 0)
    zero = applied("Sub", [data, data]) if is_open(data) else np.zeros((), data.dtype)
    return None if zero is None else applied("Max", [data, zero])


_RULES: dict[str, Rule] = {
    "ConstantOfShape": _constant_of_shape,
    "Cast": _cast,
    "CastLike": _cast_like,
    "Split": lambda _, inputs: need(inputs, 0),
    "Size": lambda _, inputs: np.asarray(need(inputs, 0).size, np.int64),
    "Clip": _clip,
    "Relu": _relu,
    "ReduceSum": partial(_reduced, np.sum),
    "ReduceProd": partial(_reduced, np.prod),
    "ReduceMax": partial(_reduced, np.max),
    "ReduceMin": partial(_reduced, np.min),
}
_RULES |= MOVES | {name: partial(_elementary, name) for name in ELEMENTARY}

FOLDABLE = frozenset(_RULES) | {"Shape"}
