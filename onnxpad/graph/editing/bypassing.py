"""The edits that lead an operator past the Pad in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from onnxpad.chain import Chain
from onnxpad.graph.editing.copying import copied, copy_of
from onnxpad.graph.editing.edits import Edit, ForgetType, RemoveUnused, SetInput
from onnxpad.graph.editing.naming import Names
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
        copies = max(count, len(list(_copied(context, way, node, source, names))))
        edits: list[Edit] = []
        kept = [*way[copies:], node]
        for one in way[:copies]:
            source, made = copy_of(context, one, kept[0], node, source, names)
            edits += made
        position = data_position(context, kept[0]) if len(kept) > 1 else 0
        edits.append(SetInput(address_of(scope, kept[0]), position, source))
        edits += [ForgetType(address_of(scope, one), one.outputs[0]) for one in kept[:-1]]
        return edits + [RemoveUnused(address_of(scope, one)) for one in reversed(way[:copies])]

    return anchor, led


def _copied(
    context: Context, way: Sequence[Node], node: Node, source: str, names: Names
) -> Iterator[str]:
    """The outputs of copies of the first operators of `way` that there are already."""
    for one in way:
        source = copied(context, one, node, source, names)
        if not source:
            return
        yield source
