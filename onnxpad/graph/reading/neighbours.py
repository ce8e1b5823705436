"""Pad nodes beside a padded operator."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.chain import Pads, PadStep
from onnxpad.fills import Constant
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.optimised import is_narrow, made_by, readers_of
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.pads import read_pad
from onnxpad.ops import Kind, Operator, operator


def pads_in_front(
    context: Context, node: Node, op: Operator, rank: int
) -> tuple[PadStep | None, PadStep | None]:
    """The Pad that makes the operator's input, and else the one that a pool will be left with."""
    pad = _pad_in_front(context, node, rank)
    return pad, _hidden_pad(context, node, rank) if pad is None and op.is_pool else None


def _pad_in_front(context: Context, node: Node, rank: int) -> PadStep | None:
    """The Pad that makes the operator's input, which has `rank` axes in all."""
    if not node.inputs:
        return None
    scope, name = context.scope, node.inputs[0]
    maker = scope.producers.get(name)
    if maker is None:
        owner = scope.owner(name)
        maker = owner.producers.get(name) if owner is not None else None
        if maker is None or not _is_pad(maker):
            return None
        reason = f"the Pad '{maker.name or name}' stands in an enclosing graph"
        return PadStep(Pads.zero(rank), Constant(0), unclear=reason)
    return _with_neighbours(context, node, maker, rank) if _is_pad(maker) else None


def _hidden_pad(context: Context, node: Node, rank: int) -> PadStep | None:
    """A Pad that does not stand in front, but will where onnxruntime optimises.

    It takes out Identity and inlines functions before it fuses Pads.
    """
    if not node.inputs:
        return None
    found = made_by(context, node.inputs[0])
    if found is None or context.scope.producers.get(node.inputs[0]) is found[1]:
        return None
    return read_pad(*found, rank) if _is_pad(found[1]) else None


def _with_neighbours(context: Context, node: Node, maker: Node, rank: int) -> PadStep:
    """The Pad, and what of its surroundings onnxruntime's Pad fusion would act on."""
    step, scope = read_pad(context, maker, rank), context.scope
    before = made_by(context, maker.inputs[0]) if maker.inputs else None
    if before is not None and _is_pad(before[1]):
        writes_zero = read_pad(*before, rank).fill == Constant(0)
        step = replace(step, follows_zero=writes_zero)
    if step.fill == Constant(0) and scope.uses.get(maker.outputs[0], 0) > 1:
        others = [one for one in readers_of(scope, maker.outputs[0]) if one is not node]
        step = replace(
            step,
            feeds_max_pool=any(one.op_type == "MaxPool" for one in others),
            feeds_narrow_pool=any(is_narrow(context, one, step) for one in others),
        )
    return step


def weight_is_padded(context: Context, node: Node, op: Operator) -> bool:
    """Whether a Pad makes the operator's weight."""
    if op.weight is None or len(node.inputs) <= op.weight:
        return False
    maker = context.scope.producers.get(node.inputs[op.weight])
    return maker is not None and _is_pad(maker)


def _is_pad(node: Node) -> bool:
    if node.op_type != "Pad":
        return False
    op = operator(node.domain, node.op_type)
    return op is not None and op.kind is Kind.PAD
