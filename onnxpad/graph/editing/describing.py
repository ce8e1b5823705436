"""Edits as JSON data and as lines for people."""

from __future__ import annotations

from math import isfinite, prod
from typing import Any, TypeAlias

from onnxpad.expansion import AttributeValue
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
        case NewConstant() | GrownConstant() | ReshapedConstant():
            return f"{edit.before.label}: new constant '{edit.name}' = {_constant(edit)}"
        case InsertNode(before):
            return f"{before.label}: {_insertion(edit)}"
        case CloneFunction(scope, name, calls):
            users = ", ".join(call.label for call in calls)
            return f"function '{scope}': copy as '{name}' for {users}"
        case RemoveConstant(place) | ForgetType(place) | Resize(place):
            return f"{place.label}: {_tidying(edit)}"
        case _:
            return f"{edit.node.label}: {_change(edit)}"


Change: TypeAlias = (
    SetAttribute | RemoveAttribute | SetInput | SetOutput | RemoveNode | RemoveUnused
)


def _change(edit: Change) -> str:
    match edit:
        case SetAttribute(_, name, value):
            return f"set {name}={_text(value)}"
        case RemoveAttribute(_, name):
            return f"remove {name}"
        case SetInput(_, position, tensor):
            return f"input {position} reads '{tensor}'" if tensor else f"input {position} goes"
        case SetOutput(_, position, tensor):
            return f"output {position} is called '{tensor}'"
        case RemoveNode():
            return "remove"
        case RemoveUnused():
            return "remove if nothing reads it"


def _tidying(edit: RemoveConstant | ForgetType | Resize) -> str:
    if isinstance(edit, Resize):
        shape = ", ".join(str(size or "?") for size in edit.dims)
        return f"the shape of '{edit.tensor}' is [{shape}]"
    if isinstance(edit, ForgetType):
        return f"forget the type of '{edit.tensor}'"
    return f"remove constant '{edit.tensor}' if nothing reads it"


def _constant(edit: NewConstant | GrownConstant | ReshapedConstant) -> str:
    match edit:
        case NewConstant():
            size = prod(edit.dims)
            filled = f" in {list(edit.dims)}" if len(edit.values) == 1 < size else ""
            return f"{edit.dtype} {list(edit.values)}{filled}"
        case GrownConstant():
            by = f" holding '{edit.zero_point}'" if edit.zero_point else ""
            cells = f"{list(edit.begins)} cells before, {list(edit.ends)} behind"
            return f"'{edit.source}' with {cells}{by}"
        case ReshapedConstant():
            return f"'{edit.source}' as {list(edit.dims)}"


def _insertion(edit: InsertNode) -> str:
    shown = "".join(f" {key}={_text(value)}" for key, value in edit.attributes)
    op = f"{edit.domain}.{edit.op_type}" if edit.domain else edit.op_type
    place = "behind" if edit.behind else "in front"
    wires = f"{list(edit.inputs)} -> {list(edit.outputs)}"
    return f"new {op} '{edit.name}'{shown} {place}, {wires}"


def _text(value: AttributeValue) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)
