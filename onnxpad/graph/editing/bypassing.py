"""The edits that lead an operator past the Pad in front of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnxpad.chain import Chain
from onnxpad.expansion import AttributeValue
from onnxpad.graph.editing.edits import Edit, ForgetType, InsertNode, RemoveUnused, SetInput
from onnxpad.graph.editing.naming import Names, next_key, stem
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.crossing import data_position, path_to
from onnxpad.graph.reading.neighbours import pads_in_a_row
from onnxpad.graph.reading.ordering import Address, Node
from onnxpad.graph.reading.scopes import address_of


def bypass(context: Context, node: Node, chain: Chain, names: Names, *, far: bool) -> list[Edit]:
    """Edits after which `node`, read as `chain`, reads what its Pad read.

    `far` is about `chain.far_pad`: the operators on the way are led past the Pad where only
    this node reads them, and copied where others do.
    """
    scope = context.scope
    place = address_of(scope, node)
    if far and chain.pad is None:
        return _through(context, node, names)
    makers = [scope.producers[node.inputs[0]]]
    if far:
        makers, _ = pads_in_a_row(context, node, chain.tensor_rank)
    gone = [RemoveUnused(address_of(scope, maker)) for maker in makers]
    return [SetInput(place, 0, makers[-1].inputs[0]), *gone]


def _through(context: Context, node: Node, names: Names) -> list[Edit]:
    scope, way = context.scope, path_to(context, node.inputs[0])
    pad = scope.producers[way.source]
    _, led = route(context, way.nodes, node, names)
    return [*led(pad.inputs[0]), RemoveUnused(address_of(scope, pad))]


def route(
    context: Context, way: Sequence[Node], node: Node, names: Names
) -> tuple[Address, Callable[[str], list[Edit]]]:
    """How `node` gets its input through the operators of `way` from another tensor.

    Operators that others read too are copied, the others change in place. The first result is
    where that tensor must stand in front of; the second gives the edits for its name.
    """
    scope = context.scope
    shared = [index for index, one in enumerate(way) if scope.uses[one.outputs[0]] > 1]
    count = shared[-1] + 1 if shared else 0
    anchor = address_of(scope, [*way, node][count])

    def led(source: str) -> list[Edit]:
        copied = len(way) if way and _copied(context, way[0], node, source, names) else count
        edits: list[Edit] = []
        kept = [*way[copied:], node]
        for one in way[:copied]:
            source, made = _copy(context, one, kept[0], node, source, names)
            edits += made
        position = data_position(context, kept[0]) if len(kept) > 1 else 0
        edits.append(SetInput(address_of(scope, kept[0]), position, source))
        edits += [ForgetType(address_of(scope, one), one.outputs[0]) for one in kept[:-1]]
        return edits + [RemoveUnused(address_of(scope, one)) for one in reversed(way[:copied])]

    return anchor, led


def _copy(
    context: Context, one: Node, before: Node, node: Node, source: str, names: Names
) -> tuple[str, list[Edit]]:
    """The output of a copy of `one` that reads `source`, and the edit that makes it.

    A copy that was made before serves again where it stands in front of `before`.
    """
    scope = context.scope
    if known := _copied(context, one, before, source, names):
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
    names.copies[scope.id, one.key, source] = (output, before.key)
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


def _copied(context: Context, one: Node, before: Node, source: str, names: Names) -> str:
    """The output of a copy of `one` that reads `source` in front of `before`, '' without one."""
    output, place = names.copies.get((context.scope.id, one.key, source), ("", 0))
    known = context.scope.producers.get(output)
    fits = known is not None and source in known.inputs and place <= before.key
    return output if fits else ""
