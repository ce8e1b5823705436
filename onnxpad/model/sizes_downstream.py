"""What follows downstream when a node's output gets another size: new sizes, and what breaks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from math import prod

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from onnxpad.model.editing.script import Resize
from onnxpad.model.graph.nodes import Address, Node, named_bodies
from onnxpad.model.graph.scopes import Document, Scope
from onnxpad.model.graph.types import open_negative_sizes
from onnxpad.model.shapes.native_inference import infer_shapes
from onnxpad.padding.operators import PLAIN_DOMAINS

_MOST_BYTES = 4096
_FINDING = re.compile(
    r"\(op_type:(?P<op>[^,)]*)(?:, node name: (?P<name>[^)]*))?\): (?P<why>[^(]*)"
)
Dims = tuple[int | str, ...]
Sizes = dict[str, dict[str, Dims]]


def resizings(
    document: Document, before: Sizes, changed: Address, *, agrees: Callable[[Dims | None], bool]
) -> list[Resize]:
    """Edits that correct stated sizes of tensors after the output of a node got another size.

    `before` is what `inferred_sizes` gave before the change. Sizes that inference does not find
    are stated no longer where the tensor depends on the node; nor are any sizes there where
    `agrees` says that inference misreads those of the node itself.
    """
    found = inferred_sizes(document)
    result = document.scopes[changed.scope].node(changed.key).outputs[0]
    misread = not agrees(found.get(changed.scope, {}).get(result))
    touched = _downstream(document.main, {changed.key}) if not changed.scope else None
    edits: list[Resize] = []
    for scope in document.scopes.values():
        for value in _stated(scope):
            own, name = _dims(value), value.name
            if own is None or name in scope.input_places or name in scope.initializers:
                continue
            behind = touched is None or name in touched
            now = None if misread and behind else found.get(scope.id, {}).get(name)
            if now == before.get(scope.id, {}).get(name) and (
                now is not None or (touched is not None and name not in touched)
            ):
                continue
            wanted = own if _fits(own, now) else now or ("",) * len(own)
            if wanted != own:
                edits.append(Resize(Address(scope.id, -1, value.name), value.name, wanted))
    return edits


def corrections(document: Document, edited: Sequence[Address]) -> list[Resize]:
    """Edits that correct stated sizes of what edited nodes make, and of what depends on it.

    Inference has the last word, as in the model checker; what it does not find stays as stated.
    """
    found = inferred_sizes(document)
    inside = any(address.scope for address in edited)
    touched = _downstream(document.main, {one.key for one in edited})
    edits = []
    for scope in document.scopes.values():
        for value in _stated(scope):
            own, now = _dims(value), found.get(scope.id, {}).get(value.name)
            if own is None or not now or not (inside or value.name in touched):
                continue
            if value.name not in scope.input_places and not _may_be(own, now):
                edits.append(Resize(Address(scope.id, -1, value.name), value.name, now))
    return edits


def _may_be(own: Dims, now: Dims) -> bool:
    """Whether stated sizes and those of inference can be those of one tensor."""
    return len(own) == len(now) and all(
        one == other or isinstance(one, str) or isinstance(other, str)
        for one, other in zip(own, now, strict=True)
    )


def breaks(document: Document) -> tuple[str, ...]:
    """Nodes whose inputs do not fit together, as strict shape inference finds them."""
    model = _skeleton(document)
    try:
        result = infer_shapes(model, strict_mode=True, data_prop=True)
    except onnx.shape_inference.InferenceError as error:
        return _findings(str(error))
    except Exception:  # noqa: BLE001  inference raises many kinds; then nothing is known
        return ()
    return tuple(_reshapes(result.graph))


def _findings(message: str) -> tuple[str, ...]:
    found = [
        f"{one['op']} '{one['name'] or ''}': {_plain(one['why'])}"
        for one in _FINDING.finditer(message)
    ]
    return tuple(dict.fromkeys(found)) or (_plain(message),)


def _plain(text: str) -> str:
    return re.sub(r"\[\w+\]\s*", "", text).strip().rstrip(",").strip()


def _reshapes(graph: GraphProto) -> Iterator[str]:
    """Reshapes to a fixed number of cells that their input does not have."""
    shapes = {v.name: _dims(v) for v in (*graph.input, *graph.value_info, *graph.output)}
    constants = {t.name: t for t in graph.initializer}
    for node in graph.node:
        if node.op_type != "Reshape" or node.domain not in PLAIN_DOMAINS or len(node.input) < 2:
            continue
        source, target = shapes.get(node.input[0]), constants.get(node.input[1])
        if target is None or source is None or not all(isinstance(n, int) for n in source):
            continue
        wanted = [int(n) for n in onnx.numpy_helper.to_array(target).reshape(-1)]
        cells = prod(n for n in source if isinstance(n, int))
        if all(n > 0 for n in wanted) and prod(wanted) != cells:
            yield f"Reshape '{node.name}': {cells} cells do not fit into {wanted}"


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


def _downstream(scope: Scope, keys: set[int]) -> set[str]:
    """Names of tensors that depend on nodes, those in the bodies of nodes included."""
    found: set[str] = set()
    for node in scope.ordered():
        children = [child for _, child in scope.children.get(node.key, ())]
        if (
            node.key in keys
            or not found.isdisjoint(node.inputs)
            or any(not found.isdisjoint(_read_in(child)) for child in children)
        ):
            found.update(node.outputs)
        else:
            continue
        for child in children:
            found.update(name for one in _all_nodes(child) for name in one.outputs)
    return found


def _read_in(scope: Scope) -> set[str]:
    return {name for node in _all_nodes(scope) for name in node.inputs}


def _all_nodes(scope: Scope) -> Iterator[Node]:
    for node in scope.ordered():
        yield node
        for _, child in scope.children.get(node.key, ()):
            yield from _all_nodes(child)


def inferred_sizes(document: Document) -> Sizes:
    """Sizes by scope and tensor, of the main graph and the bodies in it."""
    try:
        result = infer_shapes(_skeleton(document), data_prop=True)
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
    bare.functions.extend(model.functions)
    for function in bare.functions:
        del function.value_info[:]
    return bare


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
