"""Copies of operators that must do the same for another tensor."""

from __future__ import annotations

from onnxpad.expansion import AttributeValue
from onnxpad.graph.editing.edits import Edit, InsertNode
from onnxpad.graph.editing.naming import Names, next_key, stem
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.crossing import data_position
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.scopes import address_of


def copy_of(
    context: Context, one: Node, before: Node, node: Node, source: str, names: Names
) -> tuple[str, list[Edit]]:
    """The output of a copy of `one` that reads `source`, and the edit that makes it.

    A copy that was made before serves again where it stands somewhere in front of `before`.
    """
    scope = context.scope
    if known := copied(context, one, before, source, names):
        return known, []
    name = names.new(f"{stem(node)}/{stem(one)}")
    output = names.new(f"{name}_output")
    inputs = list(one.inputs)
    inputs[data_position(context, one)] = source
    attributes: list[tuple[str, AttributeValue]] = []
    for written, value in context.attributes(one).items():
        match value:
            case int() | float() | str():
                attributes.append((written, value))
            case tuple():
                attributes.append((written, tuple([int(number) for number in value])))
    names.copies[scope.id, one.key, source] = output
    insert = InsertNode(
        address_of(scope, before),
        next_key(scope),
        one.op_type,
        name,
        tuple(inputs),
        (output,),
        tuple(attributes),
        one.domain,
    )
    return output, [insert]


def copied(context: Context, one: Node, before: Node, source: str, names: Names) -> str:
    """The output of a copy of `one` that reads `source` in front of `before`, '' without one."""
    output = names.copies.get((context.scope.id, one.key, source), "")
    known = context.scope.producers.get(output)
    if known is None or source not in known.inputs:
        return ""
    return output if context.scope.stands_before(known, before) else ""
