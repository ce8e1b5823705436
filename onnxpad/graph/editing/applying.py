"""Applies edit scripts to a ModelProto, in place."""

from __future__ import annotations

from collections.abc import Iterable

from onnx import GraphProto, NodeProto, helper

from onnxpad.errors import InternalError
from onnxpad.graph.editing.attributes import remove_attribute, set_attribute
from onnxpad.graph.editing.cloning import clone_function
from onnxpad.graph.editing.constants import constant_proto
from onnxpad.graph.editing.edits import (
    CloneFunction,
    Edit,
    InsertNode,
    NewConstant,
    RemoveAttribute,
    RemoveUnused,
    SetAttribute,
    SetInput,
)
from onnxpad.graph.editing.rebuilding import drop, rebuild
from onnxpad.graph.reading.context import FOLDABLE
from onnxpad.graph.reading.document import PLAIN_DOMAINS, Document, Scope
from onnxpad.graph.reading.ordering import Address, Node


class ProtoApplier:
    """Applies edits one by one; `finish` puts new nodes into the model once for all."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._nodes: dict[str, dict[int, Node]] = {}
        self._dropped: dict[str, set[str]] = {}
        self._anchors: dict[tuple[str, int], int] = {}

    def apply(self, edits: Iterable[Edit]) -> None:
        """Apply a script; nodes that it inserts can be addressed by later edits."""
        for edit in edits:
            self._apply(edit)

    def finish(self) -> None:
        """Write the new order of nodes into every scope that gained or lost some.

        Bodies come before the graphs that hold them, whose nodes are copied with their bodies.
        """
        for scope in reversed(self._document.scopes.values()):
            if scope.before or scope.removed:
                rebuild(scope)
            if dropped := self._dropped.get(scope.id):
                drop(scope, dropped)

    def _apply(self, edit: Edit) -> None:
        match edit:
            case SetAttribute(place, name, value):
                set_attribute(self._find(place).proto, name, value)
            case RemoveAttribute(place, name):
                remove_attribute(self._find(place).proto, name)
            case SetInput(place, position, tensor):
                self._set_input(place, position, tensor)
            case NewConstant():
                self._new_constant(edit)
            case InsertNode():
                self._insert(edit)
            case RemoveUnused(place):
                self._remove_unused(self._document.scopes[place.scope], self._find(place))
            case CloneFunction():
                copy = clone_function(self._document, edit)
                for new, anchor in list(self._anchors.items()):
                    if new[0] == edit.scope:
                        self._anchors[copy.id, new[1]] = anchor
                self._dropped[copy.id] = set(self._dropped.get(edit.scope, ()))

    def _find(self, place: Address) -> Node:
        scope = self._document.scopes[place.scope]
        nodes = self._nodes.get(place.scope)
        if nodes is None:
            nodes = self._nodes[place.scope] = {node.key: node for node in scope.ordered()}
        if place.key not in nodes:
            raise InternalError(f"the script edits {place.label}, which is not there")
        return nodes[place.key]

    def _set_input(self, place: Address, position: int, tensor: str) -> None:
        scope, node = self._document.scopes[place.scope], self._find(place)
        count_use(scope, node.inputs[position], -1)
        count_use(scope, tensor, 1)
        node.inputs[position] = tensor
        node.proto.input[position] = tensor

    def _new_constant(self, edit: NewConstant) -> None:
        scope = self._document.scopes[edit.before.scope]
        scope.next_key = max(scope.next_key, edit.key + 1)
        tensor = constant_proto(edit)
        if not edit.as_node and isinstance(scope.proto, GraphProto):
            scope.proto.initializer.append(tensor)
            scope.initializers[edit.name] = scope.proto.initializer[-1]
            return
        tensor.ClearField("name")
        proto = helper.make_node("Constant", [], [edit.name], value=tensor)
        self._place(scope, edit.before.key, Node(edit.key, proto))

    def _insert(self, edit: InsertNode) -> None:
        scope = self._document.scopes[edit.before.scope]
        proto = NodeProto(op_type=edit.op_type, name=edit.name)
        proto.input.extend(edit.inputs)
        proto.output.extend(edit.outputs)
        for name, value in edit.attributes:
            set_attribute(proto, name, value)
        scope.next_key = max(scope.next_key, edit.key + 1)
        self._place(scope, edit.before.key, Node(edit.key, proto))

    def _place(self, scope: Scope, before: int, node: Node) -> None:
        if scope.id not in self._nodes:
            self._nodes[scope.id] = {other.key: other for other in scope.ordered()}
        self._nodes[scope.id][node.key] = node
        anchor = self._anchors.get((scope.id, before), before)
        row = scope.before.setdefault(anchor, [])
        places = [index for index, other in enumerate(row) if other.key == before]
        row.insert(places[0] if places else len(row), node)
        self._anchors[scope.id, node.key] = anchor
        for name in node.outputs:
            scope.producers[name] = node
        for name in node.inputs:
            count_use(scope, name, 1)

    def _remove_unused(self, scope: Scope, node: Node) -> None:
        if any(scope.uses.get(name) for name in node.outputs if name):
            return
        scope.removed.add(node.key)
        dropped = self._dropped.setdefault(scope.id, set())
        dropped.update(node.outputs)
        for name in node.outputs:
            scope.producers.pop(name, None)
        for name in node.inputs:
            count_use(scope, name, -1)
        for name in node.inputs[1:]:
            self._remove_constant(scope, name, dropped)

    def _remove_constant(self, scope: Scope, name: str, dropped: set[str]) -> None:
        """Remove what nothing reads any more: a constant, or the arithmetic that made one."""
        pending = [name]
        while pending:
            name = pending.pop()
            if not name or scope.uses.get(name):
                continue
            maker = scope.producers.get(name)
            if maker is not None and _is_arithmetic(maker):
                scope.removed.add(maker.key)
                scope.producers.pop(name)
                dropped.add(name)
                for used in maker.inputs:
                    count_use(scope, used, -1)
                pending += maker.inputs
            elif name in scope.initializers and name not in scope.inputs:
                scope.initializers.pop(name)
                dropped.add(name)


def _is_arithmetic(node: Node) -> bool:
    known = node.op_type == "Constant" or node.op_type in FOLDABLE
    return known and node.domain in PLAIN_DOMAINS and len(node.outputs) == 1


def count_use(scope: Scope, name: str, change: int) -> None:
    """Keep the count of readers of a tensor, wherever it is defined."""
    if name:
        owner = scope.owner(name) or scope
        owner.uses[name] = owner.uses.get(name, 0) + change
