"""onnx's inference on one node alone: no function or body is entered, so the cost is bounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod

from onnx import TensorProto, TypeProto, defs, helper, numpy_helper, shape_inference

from onnxpad.geometry.size import Symbol
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.types import UNKNOWN, Type, dtype_name, value_info
from onnxpad.padding.operators import PLAIN_DOMAINS

_FEW = 64
"""Cells of an input whose value is told: axes, sizes, pads."""


def inferred_results(context: Context, node: Node) -> list[Type]:
    """The types of a node's outputs as onnx infers them; UNKNOWN where it finds none."""
    opset = context.scope.opset
    if node.domain not in PLAIN_DOMAINS:
        return []
    schema = _schema(node.op_type, opset)
    if schema is None:
        return []
    read = [name for name in dict.fromkeys(node.inputs) if name]
    types = {name: context.type_of(name) for name in read}
    protos = {name: value_info(name, found).type for name, found in types.items()}
    values = {name: held for name in read if (held := _value(context, name, types[name]))}
    try:
        found = shape_inference.infer_node_outputs(
            schema, node.proto, protos, values, opset_imports=[helper.make_opsetid("", opset)]
        )
    except Exception:  # noqa: BLE001  inference raises many kinds; unknown sizes are an answer
        return []
    sizes = [size for one in types.values() for size in one.dims or ()]
    symbols = {size.name: size for size in sizes if isinstance(size, Symbol)}
    return [_readable(found.get(name), symbols) for name in node.outputs]


@lru_cache(maxsize=512)
def _schema(op_type: str, opset: int) -> defs.OpSchema | None:
    try:
        schema = defs.get_schema(op_type, opset)
    except (defs.SchemaError, TypeError):  # an opset without it, or one that is no int32
        return None
    return schema if schema.has_type_and_shape_inference_function else None


def _value(context: Context, name: str, known: Type) -> TensorProto | None:
    sizes = [size for size in known.dims or () if isinstance(size, int)]
    if known.dims is None or len(sizes) < len(known.dims) or prod(sizes) > _FEW:
        return None
    array = context.constant(name)
    return None if array is None else numpy_helper.from_array(array, name)


def _readable(proto: TypeProto | None, symbols: Mapping[str, Symbol]) -> Type:
    if proto is None or not proto.HasField("tensor_type"):
        return UNKNOWN
    tensor = proto.tensor_type
    if not tensor.HasField("shape"):
        return Type(dtype_name(tensor.elem_type))
    dims = tuple(
        dim.dim_value
        if dim.HasField("dim_value") and dim.dim_value >= 0
        else symbols.get(dim.dim_param)
        for dim in tensor.shape.dim
    )
    return Type(dtype_name(tensor.elem_type), dims)


def are_open(results: Sequence[Type], count: int) -> bool:
    """Whether something is left to be inferred of a node's `count` outputs."""
    return len(results) < count or any(
        not one.dtype or one.dims is None or None in one.dims for one in results
    )
