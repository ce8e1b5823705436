"""Pad nodes beside a padded operator."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.chain import Pads, PadStep
from onnxpad.fills import Constant
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.pads import read_pad
from onnxpad.ops import Kind, Operator, operator


def pad_in_front(context: Context, node: Node, rank: int) -> PadStep | None:
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


def _with_neighbours(context: Context, node: Node, maker: Node, rank: int) -> PadStep:
    """The Pad, and what of its surroundings onnxruntime's Pad fusion would act on."""
    step, scope = read_pad(context, maker, rank), context.scope
    before = scope.producers.get(maker.inputs[0]) if maker.inputs else None
    if before is not None and _is_pad(before):
        writes_zero = read_pad(context, before, rank).fill == Constant(0)
        step = replace(step, follows_zero=writes_zero)
    if step.fill == Constant(0) and scope.uses.get(maker.outputs[0], 0) > 1:
        others = [one for one in scope.readers(maker.outputs[0]) if one is not node]
        step = replace(
            step,
            feeds_max_pool=any(one.op_type == "MaxPool" for one in others),
            feeds_wide_average=any(_is_wide_average(context, one, step) for one in others),
        )
    return step


def _is_wide_average(context: Context, node: Node, step: PadStep) -> bool:
    """Whether onnxruntime would fuse the Pad into an average that cannot hold it.

    It leaves alone averages with auto_pad, and those that have pads and do not count them. With
    ceil_mode the last window may be lost, whether it is depends on sizes.
    """
    if node.op_type != "AveragePool" or node.domain not in ("", "ai.onnx"):
        return False
    found = context.attributes(node)
    kernel = found.get("kernel_shape")
    own = found.get("pads") or ()
    if found.get("auto_pad", "NOTSET") in ("VALID", "SAME_UPPER", "SAME_LOWER"):
        return False
    if not isinstance(kernel, tuple) or not isinstance(own, tuple):
        return True
    rank = len(kernel)
    own = own or (0,) * 2 * rank
    if any(own) and found.get("count_include_pad", 0) == 0:
        return False
    around = step.pads.begins[-rank:] + step.pads.ends[-rank:]
    total = [int(a) + b for a, b in zip(own, around, strict=False)]
    wide = any(pad >= size for pad, size in zip(total, kernel * 2, strict=False))
    return wide or step.follows_zero or found.get("ceil_mode", 0) != 0


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
