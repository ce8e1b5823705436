"""What is known of the values of small tensors before a run: numbers, and sizes without one."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np
from onnx import GraphProto, NodeProto, helper

from onnxpad.graph.reading.cells import MOST_OPEN, Array, is_open
from onnxpad.graph.reading.folding import FOLDABLE, fold, shape_of
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.scopes import PLAIN_DOMAINS
from onnxpad.graph.reading.types import dtype_code

if TYPE_CHECKING:
    from onnxpad.graph.reading.context import Context


def computed(context: Context, name: str) -> Array | None:
    """The value of a tensor that a node writes, as far as arithmetic on sizes tells it."""
    inside: Context | None = context
    while inside is not None and name not in inside.scope.producers:
        inside = inside.outer
    if inside is None:
        return None
    node = inside.scope.producers[name]
    if node.domain not in PLAIN_DOMAINS:
        return None
    try:
        if node.op_type == "If":
            return _of_branch(inside, node, node.outputs.index(name))
        proto = inside.bound(node)
        if node.op_type not in FOLDABLE or not node.inputs or proto is None:
            return None
        if node.op_type == "Shape":
            return _shape(inside, node, proto)
        inputs = _operands(inside, node)
        if any(name and one is None for name, one in zip(node.inputs, inputs, strict=True)):
            return None
        return fold(proto, inputs, node.outputs.index(name))
    except RecursionError:
        return None


def _shape(context: Context, node: Node, proto: NodeProto) -> Array | None:
    """Sizes of the input's type; of an input whose value is known, those of the value."""
    dims = context.type_of(node.inputs[0]).dims
    if dims is None or None in dims:
        value = context.value(node.inputs[0])
        dims = dims if value is None else value.shape
    return None if dims is None else shape_of(proto, dims)


def valued_inputs(node: Node) -> tuple[str, ...]:
    """Inputs whose values a node reads; of what CastLike is like it reads the type alone."""
    return tuple(node.inputs[: 1 if node.op_type == "CastLike" else None])


def _operands(context: Context, node: Node) -> list[Array | None]:
    """The values of the inputs; None for one that is left out or not known."""
    found = [_operand(context, name) if name else None for name in node.inputs]
    if node.op_type == "CastLike" and len(found) > 1:
        dtype = context.type_of(node.inputs[1]).dtype
        if dtype:  # it is all that a CastLike takes of this input
            found[1] = np.empty(0, helper.tensor_dtype_to_np_dtype(dtype_code(dtype)))
    return found


def _operand(context: Context, name: str) -> Array | None:
    """The value of an input; a small one of which only the shape is known has open cells."""
    value = context.value(name)
    if value is not None:
        return value
    dims = context.type_of(name).dims
    sizes = [size for size in dims or () if isinstance(size, int)]
    if dims is None or len(sizes) < len(dims) or prod(sizes) > MOST_OPEN:
        return None
    return np.full(sizes, None, object)


def _of_branch(context: Context, node: Node, output: int) -> Array | None:
    """What an If gives where its condition is known."""
    body = context.branch(node)
    return None if body is None else body.value(given_by(body, output))


def given_by(body: Context, output: int) -> str:
    """The name of an output of a graph inside a node, '' where it has fewer."""
    proto = body.scope.proto
    known = isinstance(proto, GraphProto) and output < len(proto.output)
    return str(proto.output[output].name) if known else ""


def condition(context: Context, node: Node) -> bool | None:
    """The condition of an If, where it is known."""
    found = context.value(node.inputs[0]) if node.inputs else None
    if found is None or is_open(found) or found.size != 1:
        return None
    return bool(found.reshape(-1)[0])
