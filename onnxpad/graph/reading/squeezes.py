"""Squeezes in front of an operator, also through operators that do not look at axes."""

from __future__ import annotations

from typing import NamedTuple

from onnxpad.graph.reading.attributes import Unbound
from onnxpad.graph.reading.context import Context, is_stored
from onnxpad.graph.reading.crossing import CONVERSIONS, MAX_STEPS, data_position
from onnxpad.graph.reading.elementwise import BINARY, RULES
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.quantisation import is_in_blocks
from onnxpad.graph.reading.scopes import PLAIN_DOMAINS

_CHANNELS = 1
_WITH_SCALARS = BINARY | CONVERSIONS | {"PRelu"}
_BY_CELL = RULES.keys() | CONVERSIONS | {"Softplus", "Reciprocal", "Log", "HardSwish", "Not"}


class Squeezed(NamedTuple):
    """A Squeeze, and what stands between it and a tensor: `way` from the Squeeze on."""

    squeeze: Node
    way: tuple[Node, ...] = ()


def squeezed_by(
    context: Context, name: str, axes: tuple[int, ...], *, far: bool
) -> Squeezed | None:
    """The Squeeze of `axes` of which tensor `name` holds the result.

    With `far` also where operators that give the same cells at any rank stand in between, and at
    most one of the tensors from the Squeeze on is read by others: a Squeeze more for each of
    these would undo what is won.
    """
    scope, way = context.scope, list[Node]()
    shared = 0
    while True:
        maker = scope.producers.get(name)
        if maker is None or len(maker.outputs) == 0:
            return None
        shared += scope.uses.get(name, 0) > 1
        if way and shared > 1:
            return None
        if maker.op_type == "Squeeze" and maker.domain in PLAIN_DOMAINS:
            found = Squeezed(maker, tuple(reversed(way)))
            return found if _axes(context, maker) == axes else None
        if not far or len(way) == MAX_STEPS or not _ignores(context, maker, axes):
            return None
        way.append(maker)
        name = maker.inputs[data_position(context, maker)]


def _axes(context: Context, node: Node) -> tuple[int, ...] | None:
    """The axes of a Squeeze counted from the front, where every call of a function has these."""
    if any(one.ref_attr_name for one in node.proto.attribute):
        return None
    axes: object = context.attributes(node).get("axes")
    if len(node.inputs) > 1:
        known = context.constant(node.inputs[1]) if is_stored(context, node.inputs[1]) else None
        axes = None if known is None else tuple(known.reshape(-1).tolist())
    if not isinstance(axes, tuple) or isinstance(axes, Unbound):
        return None
    dims = context.type_of(node.inputs[0]).dims
    if min(axes, default=0) < 0 and dims is None:
        return None
    return tuple(sorted(axis + len(dims or ()) * (axis < 0) for axis in axes))


def _ignores(context: Context, node: Node, axes: tuple[int, ...]) -> bool:
    """Whether an operator gives the same cells where its data has more `axes` of size 1."""
    known = node.op_type in _BY_CELL or _normalises_channels(context, node, axes)
    if not known or node.domain not in PLAIN_DOMAINS or not node.inputs:
        return False
    if any(context.scope.uses.get(name) for name in node.outputs[1:]):
        return False
    if node.op_type not in _WITH_SCALARS:
        return True
    if node.op_type in CONVERSIONS and is_in_blocks(context.attributes(node)):
        return False
    data = data_position(context, node)
    others = [name for place, name in enumerate(node.inputs) if place != data and name]
    return all(_is_scalar(context, name) for name in others)


def _normalises_channels(context: Context, node: Node, axes: tuple[int, ...]) -> bool:
    """Whether it is a BatchNormalization of channels: before opset 9 there is one of cells."""
    if node.op_type != "BatchNormalization" or min(axes) <= _CHANNELS:
        return False
    return context.attributes(node).get("spatial", 1) == 1


def _is_scalar(context: Context, name: str) -> bool:
    return is_stored(context, name) and context.type_of(name).dims in ((), (1,))
