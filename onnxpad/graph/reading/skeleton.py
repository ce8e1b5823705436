"""A model reduced to what shape inference needs: no weights, no padded nodes, no calls.

What the reader knows of a padded node's result goes in as an input of the skeleton, because
onnx's inference (1.23.2) is wrong for several of them: ceil_mode before opset 22 keeps windows
that start in the end padding, pads beat auto_pad, ConvTranspose adds output_padding to SAME and
loses axes for a small output_shape; and it knows nothing of com.microsoft. The same for results
that `settling` names.
"""

from __future__ import annotations

from collections.abc import Mapping
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

from onnxpad.geometry.size import Symbol
from onnxpad.graph.reading.context import Context, tensor_type
from onnxpad.graph.reading.document import GRAPH, GRAPHS
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.scopes import PLAIN_DOMAINS, Scope
from onnxpad.graph.reading.settling import is_settled
from onnxpad.graph.reading.types import Type, dtype_code

SMALL = 64
Bodies = Mapping[tuple[int, str], Context]


@dataclass
class Skeleton:
    """The reduced model, and where the bodies of its nodes came from.

    `places` maps a path of (node, attribute) steps through the skeleton to the context that was
    reduced there; `symbols` gives symbolic sizes back by name.
    """

    model: ModelProto
    places: dict[tuple[tuple[int, str], ...], Context] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    inputs: dict[str, Type] = field(default_factory=dict)
    believing: bool = True


def reduce_context(context: Context, bodies: Bodies, *, believing: bool = True) -> Skeleton:
    """The skeleton of the main graph or of one function body as it is called.

    `bodies` finds the context of a body by the identity of the outer context and the scope id.
    Without `believing`, only results are declared that inference has no rule for.
    """
    document = context.document.model
    skeleton = Skeleton(ModelProto(ir_version=max(document.ir_version, 8)), believing=believing)
    proto = context.scope.proto
    imports = document.opset_import if isinstance(proto, GraphProto) else proto.opset_import
    skeleton.model.opset_import.extend(imports)
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
    skeleton.places[path] = context
    for tensor in context.scope.initializers.values():
        if _is_small(tensor):
            target.initializer.append(tensor)
        else:
            _pin(skeleton, tensor.name, tensor_type(tensor))
    for node in context.scope.ordered():
        if _is_cut(context, node):
            for name in node.outputs:
                if name:
                    _pin(skeleton, name, context.type_of(name))
            continue
        copy = target.node.add()
        _copy_node(context, node, copy)
        for attribute, scope in context.scope.children.get(node.key, ()):
            body = bodies.get((id(context), scope.id))
            graph = _body_of(copy, attribute)
            if body is not None and graph is not None:
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


def _is_cut(context: Context, node: Node) -> bool:
    if node.key in context.chains or context.document.function(node) or not context.bound(node):
        return True
    if is_settled(context, node):
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


def _copy_node(context: Context, node: Node, copy: NodeProto) -> None:
    copy.op_type, copy.domain, copy.name = node.op_type, node.domain, node.name
    copy.input.extend(node.inputs)
    copy.output.extend(node.outputs)
    proto = context.bound(node)
    for attribute in proto.attribute if proto else ():
        if attribute.type == GRAPH:
            copy.attribute.add(name=attribute.name, type=AttributeProto.GRAPH, g=GraphProto())
        elif attribute.type == GRAPHS:
            empty = [GraphProto() for _ in attribute.graphs]
            copy.attribute.add(name=attribute.name, type=AttributeProto.GRAPHS, graphs=empty)
        else:
            copy.attribute.append(attribute)


def _body_of(node: NodeProto, name: str) -> GraphProto | None:
    plain, _, index = name.partition("[")
    for attribute in node.attribute:
        if attribute.name == plain:
            body: GraphProto = attribute.graphs[int(index[:-1])] if index else attribute.g
            return body
    return None


def _pin(skeleton: Skeleton, name: str, found: Type) -> None:
    """Make a tensor an input; two bodies that disagree about a name leave it open."""
    known = skeleton.inputs.get(name)
    skeleton.inputs[name] = found if known in (None, found) else Type()


def _value_info(skeleton: Skeleton, name: str, found: Type) -> ValueInfoProto:
    value = ValueInfoProto(name=name)
    if not found.dtype and found.dims is None:
        return value
    tensor = value.type.tensor_type
    if found.dtype:
        tensor.elem_type = dtype_code(found.dtype)
    if found.dims is not None:
        tensor.shape.SetInParent()
        for size in found.dims:
            dim = tensor.shape.dim.add()
            if isinstance(size, int):
                dim.dim_value = size
            elif size is not None:
                dim.dim_param = size.name
                skeleton.symbols[size.name] = size
    return value
