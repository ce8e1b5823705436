"""What follows downstream when a node's output gets another size: new sizes, and what breaks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from math import prod

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from onnxpad.model.editing.script import Resize
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.flat_numbers import any_integers
from onnxpad.model.graph.nodes import Address, Node, NodeId, named_bodies
from onnxpad.model.graph.scopes import Document, Scope
from onnxpad.model.graph.types import open_negative_sizes
from onnxpad.model.reading.by_the_text import objection
from onnxpad.model.shapes.native_inference import infer_shapes
from onnxpad.padding.operators import PLAIN_DOMAINS

_MOST_BYTES = 4096
Dims = tuple[int | str, ...]
Sizes = dict[str, dict[str, Dims]]


def stale_sizes(
    document: Document,
    edited: Sequence[Address],
    agrees: Callable[[Dims | None], bool] | None = None,
) -> list[Resize]:
    """Edits of stated sizes of what edited nodes make, and of what depends on it.

    Inference has the last word, as in the model checker; what it does not find stays as stated. But
    where `agrees` is given, results may have other sizes than before: what inference does not find
    is stated no longer, and nothing is where `agrees` says that it misreads the first edited node.
    """
    found = inferred_sizes(document)
    misread = False
    if agrees is not None:
        first = edited[0]
        result = document.scopes[first.scope].node(first.key).outputs[0]
        misread = not agrees(found.get(first.scope, {}).get(result))
    touched = _downstream(document, {one.id for one in edited})
    edits = []
    for scope in document.scopes.values():
        for value in _stated(scope):
            own, name = _dims(value), value.name
            given = name in scope.input_places or name in scope.initializers
            if own is None or given or name not in touched:
                continue
            now = None if misread else found.get(scope.id, {}).get(name)
            if agrees is None:
                wanted = own if now is None or _may_be(own, now) else now
            else:
                wanted = own if _fits(own, now) else now or ("",) * len(own)
            if wanted != own:
                edits.append(Resize(Address(scope.id, -1, name), name, wanted))
    return edits


def _may_be(own: Dims, now: Dims) -> bool:
    """Whether stated sizes and those of inference can be those of one tensor."""
    return len(own) == len(now) and all(
        one == other or isinstance(one, str) or isinstance(other, str)
        for one, other in zip(own, now, strict=True)
    )


def breaks(contexts: Sequence[Context]) -> tuple[str, ...]:
    """Nodes whose inputs do not fit together, as onnx says of each alone."""
    found = (
        f"{node.op_type} '{node.name}': {why}"
        for context in contexts
        for node in context.scope.ordered()
        if (why := objection(context, node) or _lost_cells(context, node))
    )
    return tuple(dict.fromkeys(found))


def _lost_cells(context: Context, node: Node) -> str:
    """What is wrong with a Reshape to a fixed number of cells that its input does not have."""
    if node.op_type != "Reshape" or node.domain not in PLAIN_DOMAINS or len(node.inputs) < 2:
        return ""
    wanted = any_integers(context, node.inputs[1]) or ()
    sizes = context.type_of(node.inputs[0]).dims or ()
    cells = [size for size in sizes if isinstance(size, int)]
    if len(cells) < len(sizes) or not sizes or min(wanted, default=0) <= 0:
        return ""
    if prod(cells) == prod(wanted):
        return ""
    return f"{prod(cells)} cells do not fit into {list(wanted)}"


def _stated(scope: Scope) -> Iterator[ValueInfoProto]:
    yield from scope.proto.value_info
    if isinstance(scope.proto, GraphProto):
        yield from scope.proto.output


def _fits(own: Dims, now: Dims | None) -> bool:
    """Whether what the file states can be true where inference finds `now`."""
    if now is None or len(own) != len(now):
        return False
    return all(
        one == other or (isinstance(one, str) and isinstance(other, str))
        for one, other in zip(own, now, strict=True)
    )


def _dims(value: ValueInfoProto) -> Dims | None:
    tensor = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    return tuple(
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param for dim in tensor.shape.dim
    )


def _downstream(document: Document, edited: Collection[NodeId]) -> set[str]:
    """Names of tensors that depend on edited nodes, those in bodies and functions included."""
    found: set[str] = set()
    changed: set[str] = set()
    known = -1
    while known < len(found):
        known = len(found)
        for scope in (*document.functions.values(), document.main):
            _follow(document, scope, edited, found, changed)
    return found


def _follow(
    document: Document,
    scope: Scope,
    edited: Collection[NodeId],
    found: set[str],
    changed: set[str],
) -> bool:
    """Add to `found` what is touched in a graph, and to `changed` the graph where anything is."""
    for node in scope.ordered():
        inner = [child for _, child in scope.children.get(node.key, ())]
        inside = [_follow(document, child, edited, found, changed) for child in inner]
        called = document.function(node)
        if (scope.id, node.key) in edited or not found.isdisjoint(node.inputs):
            touched = [node, *(one for child in inner for one in _all_nodes(child))]
            touched += _all_nodes(called) if called else ()
        elif any(inside) or (called is not None and called.id in changed):
            touched = [node]
        else:
            continue
        changed.add(scope.id)
        found.update(name for one in touched for name in one.outputs if name)
    return scope.id in changed


def _all_nodes(scope: Scope) -> Iterator[Node]:
    for node in scope.ordered():
        yield node
        for _, child in scope.children.get(node.key, ()):
            yield from _all_nodes(child)


def inferred_sizes(document: Document) -> Sizes:
    """Sizes by scope and tensor, of the main graph and the bodies in it."""
    try:
        result = infer_shapes(_skeleton(document))
    except Exception:  # noqa: BLE001  inference raises many kinds; unknown sizes are an answer
        return {}
    found: Sizes = {}
    _gather(document.main, result.graph, found)
    return found


def _gather(scope: Scope, graph: GraphProto, found: Sizes) -> None:
    rows = ((value.name, _dims(value)) for value in (*graph.value_info, *graph.output))
    found[scope.id] = {name: dims for name, dims in rows if dims is not None}
    for index, node in enumerate(scope.ordered()):
        inside = dict(named_bodies(graph.node[index]))
        for name, child in scope.children.get(node.key, ()):
            _gather(child, inside[name], found)


def _skeleton(document: Document) -> ModelProto:
    """The model as it is edited so far, without stated sizes of results and large constants."""
    model = document.model
    bare = ModelProto(ir_version=model.ir_version)
    bare.opset_import.extend(model.opset_import)
    _fill(bare.graph, document.main)
    for scope in document.functions.values():
        if isinstance(scope.proto, FunctionProto):
            bare.functions.append(_function(scope, scope.proto))
    return bare


def _function(scope: Scope, proto: FunctionProto) -> FunctionProto:
    copy = FunctionProto()
    copy.CopyFrom(proto)
    del copy.value_info[:]
    del copy.node[:]
    copy.node.extend(_nodes(scope))
    return copy


def _fill(graph: GraphProto, scope: Scope) -> None:
    proto = scope.proto
    if not isinstance(proto, GraphProto):
        return
    graph.name = proto.name or "main"
    graph.input.extend(proto.input)
    open_negative_sizes(graph.input)
    for value in proto.output:
        kept = graph.output.add()
        kept.name = value.name
        if value.type.HasField("tensor_type"):
            kept.type.tensor_type.elem_type = value.type.tensor_type.elem_type
        else:
            kept.type.CopyFrom(value.type)
    graph.initializer.extend(_light(tensor) for tensor in scope.initializers.values())
    graph.node.extend(_nodes(scope))


def _nodes(scope: Scope) -> Iterator[NodeProto]:
    for node in scope.ordered():
        children = scope.children.get(node.key, ())
        if not children:
            yield node.proto
            continue
        copy = NodeProto()
        copy.CopyFrom(node.proto)
        inside = dict(named_bodies(copy))
        for name, child in children:
            inside[name].Clear()
            _fill(inside[name], child)
        yield copy


def _light(tensor: TensorProto) -> TensorProto:
    if tensor.ByteSize() <= _MOST_BYTES:
        return tensor
    bare = TensorProto(name=tensor.name, data_type=tensor.data_type)
    bare.dims.extend(tensor.dims)
    return bare
