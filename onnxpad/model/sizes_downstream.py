"""What follows downstream when a node's output gets another size: new sizes, and what breaks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import prod

from onnx import GraphProto, ValueInfoProto

from onnxpad.geometry.size import Size, Symbol
from onnxpad.model.editing.script import Resize
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.flat_numbers import any_integers
from onnxpad.model.graph.nodes import Address, Node, NodeId
from onnxpad.model.graph.scopes import Document, Scope
from onnxpad.model.reading.by_the_text import objection
from onnxpad.model.reading.reader import read
from onnxpad.model.shapes.dimensions import Dimensions
from onnxpad.model.shapes.node_inference import inferred_results
from onnxpad.padding.operators import PLAIN_DOMAINS

Dims = tuple[int | str, ...]
Sizes = dict[str, dict[str, Dims]]


def stale_sizes(
    document: Document, edited: Sequence[Address], *, resized: bool = False
) -> list[Resize]:
    """Edits of stated sizes of what edited nodes make, and of what depends on it.

    Sizes that cannot be those of the edited model are stated anew, and all of them no longer where
    onnx's inference says otherwise of an edited node, as the model checker would refuse either. If
    results may be `resized`, what is not known to be so is stated no longer.
    """
    ids = {one.id for one in edited}
    contexts = _unstated(document)
    found = _sizes(contexts)
    disputed = any(_is_disputed(context, ids) for context in contexts.values())
    touched = _downstream(document, ids)
    edits = []
    for scope in document.scopes.values():
        for value in _stated(scope):
            own, name = _dims(value), value.name
            given = name in scope.input_places or name in scope.initializers
            if own is None or given or name not in touched:
                continue
            now = None if disputed else found.get(scope.id, {}).get(name)
            if resized or disputed:
                wanted = own if _fits(own, now) else now or ("",) * len(own)
            else:
                wanted = own if now is None or _may_be(own, now) else now
            if wanted != own:
                edits.append(Resize(Address(scope.id, -1, name), name, wanted))
    return edits


def _is_disputed(context: Context, ids: Collection[NodeId]) -> bool:
    """Whether onnx's inference of one of these nodes gives other numbers than the ONNX text."""
    return any(
        not _may_be(_names(mine.dims), _names(other.dims))
        for node in context.scope.ordered()
        if (context.scope.id, node.key) in ids
        for name, other in zip(node.outputs, inferred_results(context, node), strict=False)
        if other.dims is not None and (mine := context.type_of(name)).dims is not None
    )


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
    """Sizes by scope and tensor that follow from the inputs alone, not from what the file states.

    A size without a number has its name where an input states that name, and '' elsewhere.
    """
    return _sizes(_unstated(document))


def _unstated(document: Document) -> dict[str, Context]:
    """Readings by scope in which the file is not believed what it says of results."""
    spent = document.folded_cells
    contexts = read(document, Dimensions(), stated=False)
    document.folded_cells = spent
    return {context.scope.id: context for context in contexts}


def _sizes(contexts: Mapping[str, Context]) -> Sizes:
    return {
        scope: {
            name: _names(found.dims)
            for name, found in context.types.items()
            if found.dims is not None
        }
        for scope, context in contexts.items()
    }


def _names(dims: tuple[Size | None, ...] | None) -> Dims:
    return tuple(_name(size) for size in dims or ())


def _name(size: Size | None) -> int | str:
    if isinstance(size, Symbol):
        return size.name if size.root == size.name else ""
    return "" if size is None else size
