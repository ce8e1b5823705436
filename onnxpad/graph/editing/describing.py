"""Edits as JSON data and as lines for people."""

from __future__ import annotations

from math import isfinite
from typing import Any

from onnxpad.graph.editing.edits import (
    AttributeValue,
    CloneFunction,
    Edit,
    InsertNode,
    NewConstant,
    RemoveAttribute,
    RemoveUnused,
    SetAttribute,
    SetInput,
)
from onnxpad.graph.reading.ordering import Address


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
