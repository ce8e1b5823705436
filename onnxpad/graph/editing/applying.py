"""Applies edit scripts to a ModelProto, in place."""

from __future__ import annotations

from collections.abc import Iterable

from onnx import AttributeProto, GraphProto, NodeProto, TensorProto, helper

from onnxpad.errors import InternalError
from onnxpad.graph.editing.attributes import remove_attribute, set_attribute
from onnxpad.graph.editing.cloning import clone_function
from onnxpad.graph.editing.constants import (
    AnyConstant,
    Derived,
    annotate_like,
    constant_proto,
    derived_array,
    derived_header,
    derived_proto,
)
from onnxpad.graph.editing.edits import (
    CloneFunction,
    Edit,
    ForgetType,
    GrownConstant,
    InsertNode,
    NewConstant,
    RemoveAttribute,
    RemoveConstant,
    RemoveNode,
    RemoveUnused,
    ReshapedConstant,
    Resize,
    SetAttribute,
    SetInput,
    SetOutput,
)
from onnxpad.graph.editing.rebuilding import drop, rebuild
from onnxpad.graph.editing.removing import Remover, count_use
from onnxpad.graph.editing.resizing import resize
from onnxpad.graph.editing.weights import Weights
from onnxpad.graph.reading.ordering import Address, Node
from onnxpad.graph.reading.scopes import Document, Scope


class ProtoApplier:
    """Applies edits one by one; `finish` puts new nodes into the model once for all.

    `weights` reads what derived constants are made of; without it they get a type only.
    """

    def __init__(self, document: Document, weights: Weights | None = None) -> None:
        self._document = document
        self._weights = weights
        self._nodes: dict[str, dict[int, Node]] = {}
        self._removers: dict[str, Remover] = {}

    def apply(self, edits: Iterable[Edit]) -> None:
        """Apply a script; nodes that it inserts can be addressed by later edits."""
        for edit in edits:
            self._apply(edit)

    def finish(self) -> None:
        """Write the new order of nodes into every scope that gained or lost some.

        Bodies come before the graphs that hold them, whose nodes are copied with their bodies.
        """
        for scope in reversed(self._document.scopes.values()):
            if scope.rearranged:
                rebuild(scope)
            remover = self._removers.get(scope.id)
            dropped = remover.dropped if remover else set()
            if dropped or scope.forgotten:
                drop(scope, dropped, scope.forgotten)

    def _apply(self, edit: Edit) -> None:
        match edit:
            case SetAttribute(place, name, value):
                set_attribute(self._find(place).proto, name, value)
            case RemoveAttribute(place, name):
                remove_attribute(self._find(place).proto, name)
            case SetInput(place, position, tensor):
                self._set_input(place, position, tensor)
            case SetOutput(place, position, tensor):
                self._set_output(place, position, tensor)
            case NewConstant() | GrownConstant() | ReshapedConstant():
                self._new_constant(edit)
            case InsertNode():
                self._insert(edit)
            case CloneFunction():
                self._clone(edit)
            case Resize():
                resize(self._document.scopes[edit.maker.scope].proto, edit)
            case _:
                self._remove(edit)

    def _remove(self, edit: RemoveNode | RemoveUnused | RemoveConstant | ForgetType) -> None:
        match edit:
            case RemoveNode(place):
                self._remover(place.scope).remove(self._find(place))
            case RemoveUnused(place):
                self._remover(place.scope).remove_unused(self._find(place))
            case RemoveConstant(place, tensor):
                scope = self._document.scopes[place.scope]
                self._remover((scope.owner(tensor) or scope).id).remove_constant(tensor)
            case ForgetType(place, tensor):
                self._document.scopes[place.scope].forgotten.add(tensor)

    def _clone(self, edit: CloneFunction) -> None:
        copy = clone_function(self._document, edit)
        original = self._remover(edit.scope)
        self._removers[copy.id] = Remover(copy, set(original.dropped))

    def _remover(self, scope: str) -> Remover:
        if scope not in self._removers:
            self._removers[scope] = Remover(self._document.scopes[scope])
        return self._removers[scope]

    def _find(self, place: Address) -> Node:
        nodes = self._known(self._document.scopes[place.scope])
        if place.key not in nodes:
            raise InternalError(f"the script edits {place.label}, which is not there")
        return nodes[place.key]

    def _known(self, scope: Scope) -> dict[int, Node]:
        if scope.id not in self._nodes:
            self._nodes[scope.id] = {node.key: node for node in scope.ordered()}
        return self._nodes[scope.id]

    def _set_input(self, place: Address, position: int, tensor: str) -> None:
        scope, node = self._document.scopes[place.scope], self._find(place)
        missing = position + 1 - len(node.inputs)
        node.inputs += [""] * missing
        node.proto.input.extend([""] * missing)
        count_use(scope, node.inputs[position], -1)
        count_use(scope, tensor, 1)
        node.inputs[position] = tensor
        node.proto.input[position] = tensor
        while not tensor and node.inputs and not node.inputs[-1]:
            node.inputs.pop()
            node.proto.input.pop()

    def _set_output(self, place: Address, position: int, tensor: str) -> None:
        scope, node = self._document.scopes[place.scope], self._find(place)
        if scope.producers.get(node.outputs[position]) is node:
            scope.producers.pop(node.outputs[position])
        node.outputs[position] = tensor
        node.proto.output[position] = tensor
        scope.producers[tensor] = node

    def _new_constant(self, edit: AnyConstant) -> None:
        scope = self._document.scopes[edit.before.scope]
        tensor = constant_proto(edit) if isinstance(edit, NewConstant) else self._derived(edit)
        if not edit.as_node and isinstance(scope.proto, GraphProto):
            scope.next_key = max(scope.next_key, edit.key + 1)
            scope.proto.initializer.append(tensor)
            scope.initializers[edit.name] = scope.proto.initializer[-1]
            if not isinstance(edit, NewConstant):
                annotate_like(scope, edit)
            return
        tensor.ClearField("name")
        proto = helper.make_node("Constant", [], [edit.name], value=tensor)
        self._place(scope, edit.before.key, Node(edit.key, proto), behind=False)

    def _derived(self, edit: Derived) -> TensorProto:
        source = self._constant(edit.before, edit.source)
        if self._weights is None:
            return derived_header(edit, source)
        zero_point = None
        if isinstance(edit, GrownConstant) and edit.zero_point:
            zero_point = self._weights.array(self._constant(edit.before, edit.zero_point))
        values = derived_array(edit, self._weights.array(source), zero_point)
        return derived_proto(edit, source, values)

    def _constant(self, place: Address, name: str) -> TensorProto:
        scope: Scope | None = self._document.scopes[place.scope]
        while scope is not None:
            if name in scope.initializers:
                return scope.initializers[name]
            if name in scope.producers:
                attributes: list[AttributeProto] = list(scope.producers[name].proto.attribute)
                for attribute in attributes:
                    if attribute.name == "value":
                        tensor: TensorProto = attribute.t
                        return tensor
                break
            scope = scope.parent
        raise InternalError(f"{place.label}: '{name}' is no constant of the model")

    def _insert(self, edit: InsertNode) -> None:
        scope = self._document.scopes[edit.before.scope]
        proto = NodeProto(op_type=edit.op_type, name=edit.name, domain=edit.domain)
        proto.input.extend(edit.inputs)
        proto.output.extend(edit.outputs)
        for name, value in edit.attributes:
            set_attribute(proto, name, value)
        self._place(scope, edit.before.key, Node(edit.key, proto), behind=edit.behind)

    def _place(self, scope: Scope, near: int, node: Node, *, behind: bool) -> None:
        self._known(scope)[node.key] = node
        scope.next_key = max(scope.next_key, node.key + 1)
        anchor = scope.anchors.get(near, near)
        rows = scope.before, scope.behind
        row = next((r[anchor] for r in rows if _index(r.get(anchor), near) is not None), None)
        if row is None:
            row = rows[behind].setdefault(anchor, [])
            row.insert(0 if behind else len(row), node)
        else:
            row.insert((_index(row, near) or 0) + behind, node)
        scope.anchors[node.key] = anchor
        for name in node.outputs:
            scope.producers[name] = node
        for name in node.inputs:
            count_use(scope, name, 1)


def _index(row: list[Node] | None, key: int) -> int | None:
    return next((index for index, node in enumerate(row or ()) if node.key == key), None)
