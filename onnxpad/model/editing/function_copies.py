"""Copies of local functions, for calls that need another body than the rest."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import FunctionProto, NodeProto

from onnxpad.errors import InternalError
from onnxpad.model.editing.script import CloneFunction
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Address, Node
from onnxpad.model.graph.scopes import Document, Scope, address_of
from onnxpad.padding.chain import Chain
from onnxpad.padding.fills import Constant


def grouped(wishes: Sequence[object]) -> list[int]:
    """A number for each wish, by which equal ones share a copy of their function."""
    seen: list[object] = []
    groups = []
    for wish in wishes:
        if wish not in seen:
            seen.append(wish)
        groups.append(seen.index(wish))
    return groups


def written(chain: Chain) -> tuple[object, ...]:
    """What of a chain ends up in the file: sizes do not."""
    fill = None if chain.pad is None else chain.pad.fill
    dtype = chain.dtype if isinstance(fill, Constant) and fill.value else ""
    numbers = (chain.padding, chain.ceil_mode, chain.counts_padding)
    return (*numbers, chain.output_padding, chain.output_shape, chain.pad, dtype)


def calls_by_group(
    contexts: Sequence[Context], groups: Sequence[int]
) -> dict[int, list[Address]] | None:
    """The calls that belong to each group of readings of one function.

    None where the readings cannot be told apart by their calls: a call inside another function
    that itself is read in several ways.
    """
    owner: dict[tuple[str, int], int] = {}
    found: dict[int, list[Address]] = {}
    for context, group in zip(contexts, groups, strict=True):
        for caller, node in context.calls:
            key = (caller.scope.id, node.key)
            if owner.setdefault(key, group) != group:
                return None
            address = address_of(caller.scope, node)
            if address not in found.setdefault(group, []):
                found[group].append(address)
    return found


def clone_function(document: Document, edit: CloneFunction) -> Scope:
    """Add the copy of a function, with the edits made to it so far, and redirect the calls."""
    original = document.scopes[edit.scope]
    if not isinstance(original.proto, FunctionProto):
        raise InternalError(f"'{edit.scope}' is no function")
    proto = document.model.functions.add()
    proto.CopyFrom(original.proto)
    proto.name = edit.name
    id_ = edit.scope.replace(f":{original.proto.name}", f":{edit.name}", 1)
    copy = Scope(id_, id_, proto, None, original.opset)
    copy.inputs, copy.outputs = original.inputs, original.outputs
    copy.next_key, copy.removed = original.next_key, set(original.removed)
    copy.anchors = dict(original.anchors)
    twins = {node.key: Node(node.key, proto.node[node.key]) for node in original.nodes}
    copy.nodes = [twins[node.key] for node in original.nodes]
    for anchor, row in original.before.items():
        copy.before[anchor] = [_twin(node) for node in row]
    for anchor, row in original.behind.items():
        copy.behind[anchor] = [_twin(node) for node in row]
    for node in copy.ordered():
        for name in node.outputs:
            copy.producers[name] = node
    copy.uses, copy.forgotten = dict(original.uses), set(original.forgotten)
    document.scopes[id_] = copy
    document.functions[proto.domain, proto.name, proto.overload] = copy
    _redirect(document, edit.calls, edit.name)
    return copy


def can_be_cloned(scope: Scope) -> bool:
    """Bodies of If and Loop inside a function are not followed."""
    return scope.is_function and not scope.children


def free_function_name(document: Document, scope: Scope) -> str:
    """A name that no function of that domain has."""
    proto = scope.proto
    assert isinstance(proto, FunctionProto)  # noqa: S101  narrows the type
    taken = {name for domain, name, _ in document.functions if domain == proto.domain}
    number = 2
    while f"{proto.name}_{number}" in taken:
        number += 1
    return f"{proto.name}_{number}"


def _twin(node: Node) -> Node:
    proto = NodeProto()
    proto.CopyFrom(node.proto)
    return Node(node.key, proto)


def _redirect(document: Document, calls: Sequence[Address], name: str) -> None:
    for address in calls:
        for node in document.scopes[address.scope].ordered():
            if node.key == address.key:
                node.op_type = name
                node.proto.op_type = name
