"""Types from onnx's shape inference, run on skeletons, only where a size is needed."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
from onnx import GraphProto, ValueInfoProto

from onnxpad.geometry.size import Size
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.forward import Reading, context_address
from onnxpad.graph.reading.skeleton import Skeleton, reduce_context
from onnxpad.graph.reading.types import Type, dtype_name


def infer(reading: Reading, *, believing: bool = True) -> dict[str, dict[str, Type]]:
    """Types of every scope that inference finds, by address of the context and tensor.

    Without `believing`, what the file declares of results that inference can find is left out.
    A model that inference cannot digest gives nothing: the sizes stay unknown.
    """
    bodies = {
        (id(context.outer), context.scope.id): context
        for context in reading.contexts
        if context.outer is not None
    }
    found: dict[str, dict[str, Type]] = {}
    for context in reading.contexts:
        if context.outer is None and (context.caller is not None or not context.scope.is_function):
            for address, name, inferred in _infer_context(
                reduce_context(context, bodies, believing=believing)
            ):
                found.setdefault(address, {})[name] = inferred
    return found


def _infer_context(skeleton: Skeleton) -> Iterator[tuple[str, str, Type]]:
    try:
        result = onnx.shape_inference.infer_shapes(skeleton.model, data_prop=True)
    except Exception:  # noqa: BLE001  inference raises many kinds; unknown sizes are an answer
        return
    for path, context in skeleton.places.items():
        graph = _follow(result.graph, path)
        for value in (*graph.value_info, *graph.output):
            yield from _readable(skeleton, context, value)


def _follow(graph: GraphProto, path: tuple[tuple[int, str], ...]) -> GraphProto:
    for index, name in path:
        plain, _, position = name.partition("[")
        attribute = next(a for a in graph.node[index].attribute if a.name == plain)
        graph = attribute.graphs[int(position[:-1])] if position else attribute.g
    return graph


def _readable(
    skeleton: Skeleton, context: Context, value: ValueInfoProto
) -> Iterator[tuple[str, str, Type]]:
    tensor = value.type.tensor_type
    if not value.type.HasField("tensor_type"):
        return
    dims: tuple[Size | None, ...] | None = None
    if tensor.HasField("shape"):
        dims = tuple(
            dim.dim_value
            if dim.HasField("dim_value") and dim.dim_value >= 0
            else skeleton.symbols.get(dim.dim_param)
            for dim in tensor.shape.dim
        )
    yield context_address(context), value.name, Type(dtype_name(tensor.elem_type), dims)
