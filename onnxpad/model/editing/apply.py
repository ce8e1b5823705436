"""Apply edit scripts to a ModelProto in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableSequence
from math import prod
from typing import Any

import numpy as np
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    NodeProto,
    TensorProto,
    helper,
    numpy_helper,
)

from onnxpad.errors import InternalError
from onnxpad.model.editing.script import (
    Edit,
    FixSize,
    ForgetType,
    InsertNode,
    MoveOpset,
    NewConstant,
    RemoveAttribute,
    RemoveConstant,
    RemoveUnused,
    Resize,
    SetAttribute,
    SetInput,
    SetMetadata,
    SetOutput,
)
from onnxpad.model.files.onnx_file import Source
from onnxpad.model.graph.constant_folding import FOLDABLE
from onnxpad.model.graph.context import MAX_CONSTANT
from onnxpad.model.graph.nodes import Address, Node
from onnxpad.model.graph.scopes import Document, Scope, address_of
from onnxpad.model.graph.types import dtype_code, write_sizes
from onnxpad.padding.operators import PLAIN_DOMAINS


def constant_array(edit: NewConstant, read: Callable[[str], np.ndarray]) -> np.ndarray:
    """The values of a new constant; `read` gives those of others. 0 is the empty text."""
    if edit.dtype == "string":
        return np.full(edit.dims, "", object)
    if not edit.source:
        dtype = helper.tensor_dtype_to_np_dtype(dtype_code(edit.dtype))
        values = np.array(edit.values).astype(dtype)
        return np.full(edit.dims, values[0]) if len(values) == 1 else values.reshape(edit.dims)
    source = read(edit.source)
    if not edit.begins:
        return (_turned(source, edit.groups) if edit.groups else source).reshape(edit.dims)
    grown = np.zeros(edit.dims, source.dtype)
    if edit.zero_point:
        along_first = (-1,) + (1,) * (source.ndim - 1)
        grown[:] = read(edit.zero_point).astype(source.dtype).reshape(along_first)
    axes = zip(edit.begins, source.shape, edit.steps, strict=True)
    grown[tuple(slice(begin, begin + size * step, step) for begin, size, step in axes)] = source
    return grown


def _turned(weight: np.ndarray, groups: int) -> np.ndarray:
    """The weight of a transposed convolution as that of a convolution."""
    channels, *rest = weight.shape
    parts = weight.reshape(groups, channels // groups, *rest).swapaxes(1, 2)
    joined = parts.reshape(-1, channels // groups, *rest[1:])
    return np.flip(joined, tuple(range(2, joined.ndim)))


class ProtoApplier:
    """Applies edits one by one; `finish` puts new nodes into the model once for all.

    `weights` reads what derived constants are made of; without it they, and new ones that are
    too large to be read as numbers, get a type only.
    """

    def __init__(self, document: Document, weights: Source | None = None) -> None:
        self._document = document
        self._weights = weights
        self._nodes: dict[str, dict[int, Node]] = {}
        self._freed: list[tuple[Scope, str | Node, Address | None]] = []

    def apply(self, edits: Iterable[Edit]) -> list[Edit]:
        """Apply a script; nodes that it inserts can be addressed by later edits.

        The result is the script with the removal of what it left unread.
        """
        script = list(edits)
        for edit in script:
            about = edit[0]
            if isinstance(about, Address):
                self._apply(edit, self._document.scopes[about.scope])
            else:
                self._apply_to_all(edit)
        return [*script, *self._removals()]

    def finish(self) -> None:
        """Write what came and went into every scope, where new nodes stand at their anchors.

        Bodies come before the graphs that hold them, whose nodes are copied with their bodies.
        """
        for scope in reversed(self._document.scopes.values()):
            if scope.rearranged:
                in_file = sorted(scope.nodes, key=lambda node: node.key)
                ordered = [one.proto for node in in_file for one in scope.row(node)]
                del scope.proto.node[:]
                scope.proto.node.extend(ordered)
            if scope.dropped or scope.forgotten:
                _drop(scope)

    def _apply(self, edit: Edit, scope: Scope) -> None:
        match edit:
            case SetAttribute() | RemoveAttribute():
                _write_attribute(self._find(edit.node).proto, edit)
            case SetInput(address, position, tensor):
                name = _set_input(scope, self._find(address), position, tensor)
                self._freed.append((scope.owner(name) or scope, name, address))
            case SetOutput(address, position, tensor):
                _set_output(scope, self._find(address), position, tensor)
            case NewConstant():
                self._new_constant(edit, scope)
            case InsertNode():
                self._insert(edit, scope)
            case Resize():
                _resize(scope.proto, edit)
            case ForgetType(_, tensor):
                scope.forgotten.add(tensor)

    def _apply_to_all(self, edit: Edit) -> None:
        """Edits of the whole model; functions are written out from the start."""
        model = self._document.model
        match edit:
            case FixSize():
                _fix_size(model.graph, edit)
            case SetMetadata(key, value):
                written = next((one for one in model.metadata_props if one.key == key), None)
                (model.metadata_props.add(key=key) if written is None else written).value = value
            case MoveOpset(opset):
                for entry in model.opset_import:
                    if entry.domain in PLAIN_DOMAINS:
                        entry.version = opset
                for scope in self._document.scopes.values():
                    scope.opset = opset

    def _find(self, address: Address) -> Node:
        nodes = self._nodes_of(self._document.scopes[address.scope])
        if address.key not in nodes:
            raise InternalError(f"the script edits {address.label}, which is not there")
        return nodes[address.key]

    def _nodes_of(self, scope: Scope) -> dict[int, Node]:
        if scope.id not in self._nodes:
            self._nodes[scope.id] = {node.key: node for node in scope.ordered()}
        return self._nodes[scope.id]

    def _new_constant(self, edit: NewConstant, scope: Scope) -> None:
        tensor = self._tensor(edit, scope)
        if not edit.as_node and isinstance(scope.proto, GraphProto):
            scope.next_key = max(scope.next_key, edit.key + 1)
            scope.proto.initializer.append(tensor)
            scope.initializers[edit.name] = scope.proto.initializer[-1]
            return
        tensor.ClearField("name")
        proto = helper.make_node("Constant", [], [edit.name], value=tensor)
        self._place(scope, edit.before.key, Node(edit.key, proto), behind=False)

    def _tensor(self, edit: NewConstant, scope: Scope) -> TensorProto:
        """The constant; of one that nothing reads as numbers its type, shape and a fingerprint."""
        code = stored_constant(scope, edit.source).data_type if edit.source else 0
        code = code or dtype_code(edit.dtype)
        if self._weights is None and (edit.source or prod(edit.dims) > MAX_CONSTANT):
            mark = str(hash(edit.values))
            header = TensorProto(name=edit.name, dims=edit.dims, data_type=code, doc_string=mark)
            header.data_location = TensorProto.EXTERNAL
            return header
        weights = self._weights or Source(None, None)
        values = constant_array(edit, lambda name: weights.array(stored_constant(scope, name)))
        made = numpy_helper.from_array(values, edit.name)
        made.data_type = code
        return made

    def _insert(self, edit: InsertNode, scope: Scope) -> None:
        proto = NodeProto(
            op_type=edit.op_type,
            name=edit.name,
            domain=edit.domain,
            input=edit.inputs,
            output=edit.outputs,
        )
        for name, value in edit.attributes:
            _write_attribute(proto, SetAttribute(edit.address, name, value))
        self._place(scope, edit.before.key, Node(edit.key, proto), behind=edit.behind)

    def _place(self, scope: Scope, near: int, node: Node, *, behind: bool) -> None:
        self._nodes_of(scope)[node.key] = node
        scope.next_key = max(scope.next_key, node.key + 1)
        scope.insert(node, near, behind=behind)
        for name in node.outputs:
            if name in scope.producers:
                self._freed.append((scope, scope.producers[name], None))
            scope.producers[name] = node
        for name in node.inputs:
            _count_use(scope, name, 1)

    def _removals(self) -> Iterator[Edit]:
        """Remove nodes and constants that nothing reads any more, and what they alone read."""
        while self._freed:
            scope, part, reader = self._freed.pop()
            node = scope.producers.get(part) if isinstance(part, str) else part
            if node is None and isinstance(part, str):
                is_own = part in scope.initializers and part not in scope.input_places
                if is_own and not scope.uses.get(part):
                    scope.initializers.pop(part)
                    scope.dropped.add(part)
                    if reader:
                        yield RemoveConstant(reader, part)
            elif node is not None and _is_unread(scope, node):
                _take_out(scope, node)
                self._freed += [(scope.owner(name) or scope, name, None) for name in node.inputs]
                if not _is_arithmetic(node):
                    yield RemoveUnused(address_of(scope, node))
                elif reader and isinstance(part, str):
                    yield RemoveConstant(reader, part)


def stored_constant(scope: Scope, name: str) -> TensorProto:
    """The initializer or the tensor of a Constant called `name`, in a scope or one around it."""
    owner = scope.owner(name)
    if owner is not None and name in owner.initializers:
        return owner.initializers[name]
    maker = owner.producers.get(name) if owner else None
    for attribute in maker.proto.attribute if maker else ():
        if attribute.name == "value":
            tensor: TensorProto = attribute.t
            return tensor
    raise InternalError(f"'{name}' is no constant of the model")


def _write_attribute(node: NodeProto, edit: SetAttribute | RemoveAttribute) -> None:
    """Write an attribute where it stands, or behind the others; or take it away."""
    if isinstance(edit, RemoveAttribute):
        _take(node.attribute, {edit.name})
        return
    kind = AttributeProto.INTS if isinstance(edit.value, tuple) else None
    made = helper.make_attribute(edit.name, edit.value, attr_type=kind)
    written = next((one for one in node.attribute if one.name == edit.name), None)
    (node.attribute.add() if written is None else written).CopyFrom(made)


def _set_input(scope: Scope, node: Node, position: int, tensor: str) -> str:
    """Let the node read another tensor; the result is the old one."""
    missing = position + 1 - len(node.inputs)
    node.inputs += [""] * missing
    node.proto.input.extend([""] * missing)
    old = node.inputs[position]
    _count_use(scope, old, -1)
    _count_use(scope, tensor, 1)
    node.inputs[position] = tensor
    node.proto.input[position] = tensor
    while not tensor and node.inputs and not node.inputs[-1]:
        node.inputs.pop()
        node.proto.input.pop()
    return old


def _set_output(scope: Scope, node: Node, position: int, tensor: str) -> None:
    if scope.producers.get(node.outputs[position]) is node:
        scope.producers.pop(node.outputs[position])
    node.outputs[position] = tensor
    node.proto.output[position] = tensor
    scope.producers[tensor] = node


def _count_use(scope: Scope, name: str, change: int) -> None:
    """Keep the count of readers of a tensor, wherever it is defined."""
    if name:
        owner = scope.owner(name) or scope
        owner.uses[name] = owner.uses.get(name, 0) + change


def _is_unread(scope: Scope, node: Node) -> bool:
    """Whether nothing reads what the node writes, or others write it by now."""
    own = [name for name in node.outputs if name and scope.producers.get(name) is node]
    goes = node.key not in scope.removed and node.key not in scope.children
    return goes and not any(scope.uses.get(name) for name in own)


def _take_out(scope: Scope, node: Node) -> None:
    scope.removed.add(node.key)
    for name in node.outputs:
        if scope.producers.get(name) is node:
            scope.producers.pop(name)
            scope.dropped.add(name)
    for name in node.inputs:
        _count_use(scope, name, -1)


def _is_arithmetic(node: Node) -> bool:
    known = node.op_type == "Constant" or node.op_type in FOLDABLE
    return known and node.domain in PLAIN_DOMAINS


def _drop(scope: Scope) -> None:
    """Take constants, types and notes of removed tensors out of the file's lists.

    The types of `forgotten` tensors go, whether these are still there or not.
    """
    gone = scope.dropped - scope.producers.keys()
    if isinstance(scope.proto, GraphProto):
        constants = scope.dropped - scope.initializers.keys()
        _take(scope.proto.initializer, constants)
        notes = scope.proto.quantization_annotation
        _take(notes, gone & constants, lambda entry: entry.tensor_name)
    _take(scope.proto.value_info, gone | scope.forgotten)


def _take(
    entries: MutableSequence[Any],
    names: set[str],
    name_of: Callable[[Any], str] = lambda entry: str(entry.name),
) -> None:
    """Take entries out of a list, keeping the order of the others."""
    for index in reversed([at for at, entry in enumerate(entries) if name_of(entry) in names]):
        del entries[index]


def _resize(container: GraphProto | FunctionProto, edit: Resize) -> None:
    """Write the dims of `edit` wherever the container states the tensor's type."""
    outputs = container.output if isinstance(container, GraphProto) else ()
    for value in (*container.value_info, *outputs):
        if value.name == edit.tensor and value.type.HasField("tensor_type"):
            write_sizes(value, edit.dims)


def _fix_size(graph: GraphProto, edit: FixSize) -> None:
    """Write the size into the types of inputs.

    What exporters call by the same name elsewhere need not be of the same size: there the name
    stays, which says nothing.
    """
    for value in graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            called = (dim.dim_param, f"{value.name}[{axis}]")
            if edit.dimension in called and not dim.HasField("dim_value"):
                dim.dim_value = edit.size
