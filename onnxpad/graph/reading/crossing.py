"""Operators between a Pad and the operator that could pad in its place: the way through them."""

from __future__ import annotations

from typing import NamedTuple

from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.elementwise import BINARY, IDLE, LEFT_OUT, RULES, Facts, is_inference
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.scopes import PLAIN_DOMAINS

MAX_STEPS = 16
CONVERSIONS = frozenset({"QuantizeLinear", "DequantizeLinear"})
_LAYOUT = frozenset({"Transpose", "Unsqueeze", "Squeeze"})
_EITHER_WAY = frozenset({"Mul", "Add", "Max", "Min"})
_WITH_ITS_OWN_SCALE = "DynamicQuantizeLinear"
CROSSABLE = _LAYOUT | CONVERSIONS | RULES.keys() | {_WITH_ITS_OWN_SCALE}


class Path(NamedTuple):
    """What stands in front of an operator: `nodes` from the far end on, behind tensor `source`."""

    nodes: tuple[Node, ...]
    source: str


def path_to(context: Context, name: str) -> Path:
    """The operators, one after the other, that a Pad in front of tensor `name` could cross.

    What others read as well is copied for this reader: DynamicQuantizeLinear is not, a copy would
    leave the Pad to the scale and the zero point of the original.
    """
    found: list[Node] = []
    is_shared = False
    while len(found) < MAX_STEPS:
        maker = context.scope.producers.get(name)
        if maker is None or not _is_crossable(context, maker):
            break
        is_shared |= context.scope.uses.get(name, 0) > 1
        if is_shared and maker.op_type == _WITH_ITS_OWN_SCALE:
            break
        found.append(maker)
        name = maker.inputs[data_position(context, maker)]
    return Path(tuple(reversed(found)), name)


def data_position(context: Context, node: Node) -> int:
    """Which input of a crossable operator is the data."""
    swapped = node.op_type in _EITHER_WAY and len(node.inputs) > 1
    return 1 if swapped and context.constant_tensor(node.inputs[0]) is not None else 0


def _is_crossable(context: Context, node: Node) -> bool:
    if node.op_type not in CROSSABLE or node.domain not in PLAIN_DOMAINS or not node.inputs:
        return False
    if node.op_type != _WITH_ITS_OWN_SCALE and any(
        context.scope.uses.get(name) for name in node.outputs[1:]
    ):
        return False
    if node.op_type in BINARY:
        other = node.inputs[1 - data_position(context, node)] if len(node.inputs) == 2 else ""
        if not other or context.constant_tensor(other) is None:
            return False
    return bool(node.outputs) and not any(one.ref_attr_name for one in node.proto.attribute)


def hands_on(context: Context, node: Node) -> bool:
    """Whether an operator gives what it reads, so that onnxruntime's optimiser removes it."""
    if node.domain not in PLAIN_DOMAINS or not node.inputs or not node.outputs:
        return False
    if node.op_type == "Cast":
        given = context.type_of(node.inputs[0]).dtype
        return bool(given) and given == context.type_of(node.outputs[0]).dtype
    if node.op_type not in IDLE:
        return False
    if node.op_type == "Identity":
        return True
    return is_inference(facts_of(context, node))


def facts_of(context: Context, node: Node) -> Facts:
    """The other inputs where they are small constants; one that is left out is empty."""
    position = data_position(context, node)
    names = [name for place, name in enumerate(node.inputs) if place != position]
    others = [context.constant(name) if name else LEFT_OUT for name in names]
    return Facts(context.attributes(node), others, context.scope.opset)
