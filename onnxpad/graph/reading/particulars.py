"""What expansions need to know of a node beyond its padding."""

from __future__ import annotations

from collections.abc import Mapping

from onnxpad.chain import Padding, Pads, Unclear, Weight
from onnxpad.expansion import Attributes, AttributeValue
from onnxpad.geometry.size import Size
from onnxpad.graph.reading.attributes import Value
from onnxpad.graph.reading.context import Context, is_stored
from onnxpad.graph.reading.model_inputs import has_value
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.pads import constant_integers
from onnxpad.ops import Operator

_WEIGHT_SCALE = 4
_SCALES_AND_ZERO_POINTS = (1, 2, 4, 5, 6, 7)


def weight_of(context: Context, node: Node, op: Operator) -> Weight:
    """What is known of the weight of a convolution."""
    if op.weight is None or len(node.inputs) <= op.weight or not node.inputs[op.weight]:
        return Weight()
    name = node.inputs[op.weight]
    found = context.type_of(name)
    place = op.weight_zero_point
    zero = node.inputs[place] if place is not None and len(node.inputs) > place else ""
    known = not zero or is_stored(context, zero)
    stored = is_stored(context, name)
    value = stored or has_value(context, name)
    return Weight(
        *(found.dims, found.dtype, stored, known, value),
        *(_scales(context, node, op), _listed(context, node, op)),
    )


def _scales(context: Context, node: Node, op: Operator) -> Size | None:
    """How many scales the weight of a QLinearConv has."""
    if op.name != "QLinearConv" or len(node.inputs) <= _WEIGHT_SCALE:
        return 1
    dims = context.type_of(node.inputs[_WEIGHT_SCALE]).dims
    return dims[0] if dims else None if dims is None else 1


def _listed(context: Context, node: Node, op: Operator) -> bool | None:
    """Whether a scale or zero point of a QLinearConv is no scalar."""
    if op.name != "QLinearConv":
        return False
    names = [node.inputs[place] for place in _SCALES_AND_ZERO_POINTS if place < len(node.inputs)]
    found = [context.type_of(name).dims for name in names if name]
    return None if None in found and not any(found) else any(found)


def places_of(context: Context, node: Node) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """Which inputs the node has, and which of its outputs something reads."""
    uses = context.scope.uses
    return (
        tuple([bool(name) for name in node.inputs]),
        tuple([bool(name) and bool(uses.get(name)) for name in node.outputs]),
    )


def pads_input(context: Context, node: Node, op: Operator, rank: int) -> Padding | None:
    """Pads that come as an input of the operator, which leaves `rank` axes to them."""
    place = op.pads_input
    if place is None or len(node.inputs) <= place or not node.inputs[place]:
        return None
    numbers = constant_integers(context, node.inputs[place])
    if numbers is None:
        from onnxpad.graph.reading.runtime_sizes import why_unknown

        found, hints = why_unknown(context, node.inputs[place])
        sizes = f", {found}" if found else ""
        return Unclear(f"its pads are computed while the model runs{sizes}", hints)
    if len(numbers) != 2 * rank:
        return Unclear(f"its pads are {list(numbers)} for {rank} axes")
    mode = context.attributes(node).get("auto_pad", "NOTSET")
    if mode not in ("NOTSET", ""):
        return Unclear(f"it has auto_pad={mode} and pads as an input, which contradict each other")
    return Pads(numbers[:rank], numbers[rank:])


def plain_attributes(attributes: Mapping[str, Value]) -> Attributes:
    """Numbers, texts and lists of integers, which steps of an expansion can write again."""
    found: list[tuple[str, AttributeValue]] = []
    for name, value in attributes.items():
        match value:
            case int() | float() | str():
                found.append((name, value))
            case tuple() if all(isinstance(one, int) for one in value):
                found.append((name, tuple([int(one) for one in value])))
    return tuple(found)
