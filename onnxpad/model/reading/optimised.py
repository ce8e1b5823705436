"""The graph as onnxruntime's optimiser sees it: idle operators gone, functions inlined."""

from __future__ import annotations

from onnxpad.geometry.budgets import IN_A_ROW
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.crossing import IDLE, data_position, hands_on
from onnxpad.padding.operators import PLAIN_DOMAINS

_LAST = 2**63 - 1
_MOVES = frozenset({"Cast", "Transpose", "Expand"})
_NEUTRAL = {"Mul": 1, "Div": 1, "Add": 0, "Sub": 0}
MAY_VANISH = _MOVES | _NEUTRAL.keys() | IDLE | {"Slice"}


def vanishes(context: Context, node: Node) -> bool:
    """Whether onnxruntime's default optimiser may see what is behind a node in front of it.

    That is so for operators that hand on what they read, arithmetic with 0 or 1, Expand and Slice
    to the same size, which it removes; for Cast, over which it fuses a Pad; and for Transpose,
    which it moves until it meets its inverse (measured with 1.31.1: with each of them behind it, a
    Pad that writes 0 was fused into a MaxPool).
    """
    if node.op_type not in MAY_VANISH or node.domain not in PLAIN_DOMAINS:
        return False
    if not node.inputs or not node.outputs:
        return False
    if node.op_type in _MOVES:
        return True
    return _is_neutral(context, node) or _takes_all(context, node) or hands_on(context, node)


def _is_neutral(context: Context, node: Node) -> bool:
    """Whether the node multiplies by 1, divides by 1, adds 0 or subtracts 0."""
    wanted = _NEUTRAL.get(node.op_type)
    if wanted is None or len(node.inputs) != 2:
        return False
    value = context.constant(node.inputs[1 - data_position(context, node)])
    return value is not None and bool((value == wanted).all())


def _takes_all(context: Context, node: Node) -> bool:
    """Whether a Slice is written from the first cell to the last integer that there is."""
    if node.op_type != "Slice":
        return False
    return all(_listed(context, node, at) == {wanted} for at, wanted in enumerate((0, _LAST), 1))


def _listed(context: Context, node: Node, position: int) -> set[int]:
    """The numbers that a Slice has as starts (1) or ends (2)."""
    written = context.attributes(node).get(("starts", "ends")[position - 1])
    if isinstance(written, tuple):
        return {int(one) for one in written}
    value = context.constant(node.inputs[position]) if len(node.inputs) > position else None
    return set() if value is None else {int(one) for one in value.reshape(-1)}


def made_by(context: Context | None, name: str) -> tuple[Context, Node] | None:
    """What makes a tensor in the eyes of the optimiser, with the context that it stands in.

    For what a function is given that is at its call; a body of If is read as if inlined, which
    happens where its condition is constant. So is what such an If gives, its branch's result.
    """
    for _ in range(IN_A_ROW):
        if context is None:
            return None
        maker = context.scope.producers.get(name)
        if maker is None:
            context, name = _around(context, name)
        elif vanishes(context, maker):
            name = maker.inputs[data_position(context, maker)]
        elif (inside := context.in_branch(maker, name)) is not None:
            context, name = inside
        else:
            return context, maker
    return None


def _around(context: Context, name: str) -> tuple[Context | None, str]:
    """Where a tensor comes from that no node of the scope makes."""
    scope, call = context.scope, context.call
    if name in scope.initializers:
        return None, ""
    if name not in scope.input_places:
        return context.outer, name
    if call is None or not scope.is_function:
        return None, ""
    found = call.input(scope.input_places[name])
    return (context.caller if found else None), found
