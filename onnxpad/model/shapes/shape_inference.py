"""Types from onnx's shape inference, run on skeletons, only where a size is needed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    defs,
)

from onnxpad.geometry.size import Size, Symbol
from onnxpad.model.graph.context import Context, tensor_type
from onnxpad.model.graph.nodes import Node, named_bodies
from onnxpad.model.graph.scopes import Scope
from onnxpad.model.graph.types import Type, dtype_name, value_info
from onnxpad.model.shapes.native_inference import infer_shapes
from onnxpad.model.shapes.result_types import is_settled
from onnxpad.padding.operators import PLAIN_DOMAINS

SMALL = 64
Bodies = Mapping[tuple[int, str], Context]
Inferred = Mapping[str, Mapping[str, Type]]
"""Types by the id of a scope and the name of a tensor."""


@dataclass
class Skeleton:
    """The reduced model, and where the bodies of its nodes came from.

    `contexts` maps a path of (node, attribute) steps through the skeleton to the context that was
    reduced there; `symbols` gives symbolic sizes back by name. `before` are the types that an
    inference before this one has found.
    """

    model: ModelProto
    before: Inferred
    believing: bool
    contexts: dict[tuple[tuple[int, str], ...], Context] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    inputs: dict[str, Type] = field(default_factory=dict)


def reduce_context(
    context: Context, bodies: Bodies, before: Inferred, *, believing: bool
) -> Skeleton:
    """The skeleton of the main graph.

    `bodies` finds the context of a body by the identity of the outer context and the scope id.
    Without `believing`, only results are declared that inference has no rule for.
    """
    document = context.document.model
    empty = ModelProto(ir_version=max(document.ir_version, 8))
    skeleton = Skeleton(empty, before, believing)
    skeleton.model.opset_import.extend(document.opset_import)
    skeleton.model.functions.extend(document.functions)
    skeleton.model.graph.name = "skeleton"
    for name in context.scope.inputs:
        if name not in context.scope.initializers:
            _pin(skeleton, name, context.type_of(name))
    _reduce(skeleton, context, skeleton.model.graph, (), bodies)
    for name, found in skeleton.inputs.items():
        skeleton.model.graph.input.append(_value_info(skeleton, name, found))
    return skeleton


def _reduce(
    skeleton: Skeleton,
    context: Context,
    target: GraphProto,
    path: tuple[tuple[int, str], ...],
    bodies: Bodies,
) -> None:
    skeleton.contexts[path] = context
    for tensor in context.scope.initializers.values():
        if _is_small(tensor):
            target.initializer.append(tensor)
        else:
            _pin(skeleton, tensor.name, tensor_type(tensor))
    for node in _leading(context, skeleton.before.get(context.scope.id, {})):
        if _is_cut(context, node):
            for name in node.outputs:
                if name:
                    _pin(skeleton, name, context.type_of(name))
            continue
        copy = target.node.add()
        _copy_node(node, copy)
        inside = dict(named_bodies(copy))
        for attribute, scope in context.scope.children.get(node.key, ()):
            body = bodies.get((id(context), scope.id))
            if body is not None and attribute in inside:
                graph = inside[attribute]
                _reduce_body(skeleton, body, scope, graph)
                step = (len(target.node) - 1, attribute)
                _reduce(skeleton, body, graph, (*path, step), bodies)
    _declare(skeleton, context, target)


def _reduce_body(skeleton: Skeleton, body: Context, scope: Scope, graph: GraphProto) -> None:
    source = scope.proto
    if isinstance(source, GraphProto):
        graph.name = source.name
        for value in source.input:
            graph.input.append(_value_info(skeleton, value.name, body.type_of(value.name)))
        graph.output.extend(source.output)


def _declare(skeleton: Skeleton, context: Context, target: GraphProto) -> None:
    """Types that the file declares, for results of nodes that inference does not know."""
    proto = context.scope.proto
    for value in proto.value_info:
        found = context.types.get(value.name)
        doubted = not skeleton.believing and _has_rule(context, value.name)
        if found is not None and value.name not in skeleton.inputs and not doubted:
            target.value_info.append(_value_info(skeleton, value.name, found))
    if isinstance(proto, GraphProto) and context.scope.parent is None:
        target.output.extend(ValueInfoProto(name=value.name) for value in proto.output)


def _has_rule(context: Context, name: str) -> bool:
    """Whether onnx's inference knows the operator that makes a tensor."""
    node = context.scope.producers.get(name)
    if node is None or node.domain not in PLAIN_DOMAINS:
        return False
    try:
        schema = defs.get_schema(node.op_type, max(context.scope.opset, 1))
    except defs.SchemaError:
        return False
    return bool(schema.has_type_and_shape_inference_function)


def _leading(context: Context, before: Collection[str]) -> list[Node]:
    """The nodes from which a type follows that is not known whole without inference."""
    scope = context.scope
    if scope.children:  # whose graphs may read any tensor
        return list(scope.ordered())
    asked = {name for name, found in context.types.items() if _is_open(found)}
    asked |= {name for name in scope.producers if name not in context.types}
    asked |= context.declared_only.union(before)
    if scope.parent is not None:  # the node that the body belongs to asks for its results
        asked |= {value.name for value in scope.proto.output}
    pending = [scope.producers[name] for name in asked if name in scope.producers]
    leading: set[int] = set()
    while pending:
        node = pending.pop()
        if node.key not in leading:
            leading.add(node.key)
            if not _is_cut(context, node):
                makers = (scope.producers.get(name) for name in node.inputs)
                pending += [maker for maker in makers if maker is not None]
    return [node for node in scope.ordered() if node.key in leading]


def _is_open(found: Type) -> bool:
    return not found.dtype or found.dims is None or None in found.dims


def _is_cut(context: Context, node: Node) -> bool:
    if node.key in context.chains or is_settled(context, node):
        return True
    if node.op_type != "Constant" or not node.outputs:
        return False
    found = context.constant_tensor(node.outputs[0])
    return isinstance(found, TensorProto) and not _is_small(found)


def _is_small(tensor: TensorProto) -> bool:
    count = 1
    for size in tensor.dims:
        count *= size
    return count <= SMALL and tensor.data_location != TensorProto.EXTERNAL


def _copy_node(node: Node, copy: NodeProto) -> None:
    copy.op_type, copy.domain, copy.name = node.op_type, node.domain, node.name
    copy.input.extend(node.inputs)
    copy.output.extend(node.outputs)
    for attribute in node.proto.attribute:
        if attribute.type == AttributeProto.GRAPH:
            copy.attribute.add(name=attribute.name, type=AttributeProto.GRAPH, g=GraphProto())
        elif attribute.type == AttributeProto.GRAPHS:
            empty = [GraphProto() for _ in attribute.graphs]
            copy.attribute.add(name=attribute.name, type=AttributeProto.GRAPHS, graphs=empty)
        else:
            copy.attribute.append(attribute)


def _pin(skeleton: Skeleton, name: str, found: Type) -> None:
    """Make a tensor an input; two bodies that disagree about a name leave it open."""
    known = skeleton.inputs.get(name)
    skeleton.inputs[name] = found if known in (None, found) else Type()


def _value_info(skeleton: Skeleton, name: str, found: Type) -> ValueInfoProto:
    skeleton.symbols |= {one.name: one for one in found.dims or () if isinstance(one, Symbol)}
    return value_info(name, found)


def infer(
    contexts: Sequence[Context], before: Inferred, *, believing: bool = True
) -> dict[str, dict[str, Type]]:
    """Types that inference finds, by the id of a scope and tensor; the main context comes first.

    They are those of which the contexts do not know all without inference: what leads to no such
    type is left out. `before` is what an inference before this one has found. Without
    `believing`, what the file declares of results that inference can find is left out.
    A model that inference cannot digest gives nothing: the sizes stay unknown.
    """
    bodies = {
        (id(context.outer), context.scope.id): context
        for context in contexts
        if context.outer is not None
    }
    found: dict[str, dict[str, Type]] = {}
    skeleton = reduce_context(contexts[0], bodies, before, believing=believing)
    for scope, name, inferred in _infer_context(skeleton):
        found.setdefault(scope, {})[name] = inferred
    return found


def _infer_context(skeleton: Skeleton) -> Iterator[tuple[str, str, Type]]:
    try:
        result = infer_shapes(skeleton.model, data_prop=True)
    except Exception:  # noqa: BLE001  inference raises many kinds; unknown sizes are an answer
        return
    for path, context in skeleton.contexts.items():
        graph = result.graph
        for index, name in path:
            graph = dict(named_bodies(graph.node[index]))[name]
        for value in (*graph.value_info, *graph.output):
            yield from _readable(skeleton, context, value)


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
    yield context.scope.id, value.name, Type(dtype_name(tensor.elem_type), dims)
