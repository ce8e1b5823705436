"""Edit scripts: what a rewrite does to a model, as values that can be printed and applied."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple, TypeAlias

from onnxpad.graph.reading.ordering import Address

AttributeValue: TypeAlias = int | float | str | tuple[int, ...]


class SetAttribute(NamedTuple):
    """Write an attribute, in place of what it held."""

    node: Address
    name: str
    value: AttributeValue


class RemoveAttribute(NamedTuple):
    """Take an attribute away, so that its default holds."""

    node: Address
    name: str


class SetInput(NamedTuple):
    """Let a node read another tensor at one of its inputs."""

    node: Address
    position: int
    tensor: str


class NewConstant(NamedTuple):
    """A constant tensor.

    `as_node` writes a Constant node with `key` in front of `before`, not an initializer.
    """

    before: Address
    name: str
    dtype: str
    dims: tuple[int, ...]
    values: tuple[int | float, ...]
    as_node: bool
    key: int


class InsertNode(NamedTuple):
    """A new node in front of `before`; later edits address it by `key`."""

    before: Address
    key: int
    op_type: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[tuple[str, AttributeValue], ...] = ()


class RemoveUnused(NamedTuple):
    """Remove a node that nothing reads, with the constants that only it reads."""

    node: Address


class CloneFunction(NamedTuple):
    """A copy of a local function under another name, called by `calls` from now on."""

    scope: str
    name: str
    calls: tuple[Address, ...]


Edit: TypeAlias = (
    SetAttribute
    | RemoveAttribute
    | SetInput
    | NewConstant
    | InsertNode
    | RemoveUnused
    | CloneFunction
)


def edit_record(edit: Edit) -> dict[str, Any]:
    """An edit as plain JSON data; `edit` names its kind. Infinities are texts: JSON has none."""
    record: dict[str, Any] = {"edit": type(edit).__name__} | edit._asdict()
    for name, value in record.items():
        if isinstance(value, Address):
            record[name] = value._asdict()
        elif name == "calls":
            record[name] = [call._asdict() for call in value]
        elif name == "values":
            record[name] = [number if isfinite(number) else str(number) for number in value]
    return record


def describe_edit(edit: Edit) -> str:
    """An edit as one line for people."""
    match edit:
        case SetAttribute(node, name, value):
            return f"{node.label}: set {name}={_text(value)}"
        case RemoveAttribute(node, name):
            return f"{node.label}: remove {name}"
        case SetInput(node, position, tensor):
            return f"{node.label}: input {position} reads '{tensor}'"
        case NewConstant(before, name, dtype, _, values, _, _):
            return f"{before.label}: new constant '{name}' = {dtype} {list(values)}"
        case InsertNode(before, _, op_type, name, inputs, outputs, attributes):
            shown = "".join(f" {key}={_text(value)}" for key, value in attributes)
            return (
                f"{before.label}: new {op_type} '{name}'{shown} in front, "
                f"{list(inputs)} -> {list(outputs)}"
            )
        case RemoveUnused(node):
            return f"{node.label}: remove if nothing reads it"
        case CloneFunction(scope, name, calls):
            users = ", ".join(call.label for call in calls)
            return f"function '{scope}': copy as '{name}' for {users}"


def _text(value: AttributeValue) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)
