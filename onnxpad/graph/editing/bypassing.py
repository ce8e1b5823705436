"""The edits that lead an operator past the Pad in front of it."""

from __future__ import annotations

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
        return _through(context, node, place, names)
    makers = [scope.producers[node.inputs[0]]]
    if far:
        makers, _ = pads_in_a_row(context, node, chain.tensor_rank)
    gone = [RemoveUnused(address_of(scope, maker)) for maker in makers]
    return [SetInput(place, 0, makers[-1].inputs[0]), *gone]


def _through(context: Context, node: Node, place: Address, names: Names) -> list[Edit]:
    scope, way = context.scope, path_to(context, node.inputs[0])
    pad = scope.producers[way.source]
    source, removed = pad.inputs[0], RemoveUnused(address_of(scope, pad))
    shared = [index for index, one in enumerate(way.nodes) if scope.uses[one.outputs[0]] > 1]
    count = shared[-1] + 1 if shared else 0
    edits: list[Edit] = []
    for index, one in enumerate(way.nodes):
        if index >= count and not _copied(context, one, source, names):
            break
        count = max(count, index + 1)
        source, made = copy_of(context, one, place, node, source, names)
        edits += made
    readers = [*way.nodes[count:], node]
    position = data_position(context, readers[0]) if len(readers) > 1 else 0
    edits.append(SetInput(address_of(scope, readers[0]), position, source))
    edits += [ForgetType(address_of(scope, one), one.outputs[0]) for one in readers[:-1]]
    edits += [RemoveUnused(address_of(scope, one)) for one in reversed(way.nodes[:count])]
    return [*edits, removed]


def copy_of(
    context: Context, one: Node, place: Address, node: Node, source: str, names: Names
) -> tuple[str, list[Edit]]:
    """The output of a copy of `one` that reads `source`, and the edit that makes it.

    A copy that was made before and still stands serves again.
    """
    scope = context.scope
    if known := _copied(context, one, source, names):
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
        place,
        next_key(scope),
        one.op_type,
        name,
        tuple(inputs),
        (output,),
        tuple(attributes),
        one.domain,
    )
    return output, [insert]


def _copied(context: Context, one: Node, source: str, names: Names) -> str:
    """The output of a copy of `one` that reads `source`, '' where there is none."""
    output = names.copies.get((context.scope.id, one.key, source), "")
    known = context.scope.producers.get(output)
    return output if known is not None and source in known.inputs else ""
