"""What stands around a Pad that onnxruntime's Pad fusion would act on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onnxpad.model.reading.context import Context
from onnxpad.model.reading.nodes import Node
from onnxpad.model.reading.optimised import made_by
from onnxpad.model.reading.pads import is_pad, read_pad
from onnxpad.model.reading.reach import fed_by
from onnxpad.padding.chain import Constant, Pads, PadStep
from onnxpad.padding.operators import Operator


def pad_behind(context: Context, name: str) -> tuple[Node | None, str]:
    """The Pad that makes a tensor; or why it is out of reach."""
    scope = context.scope
    maker = scope.producers.get(name)
    if maker is not None:
        return (maker if is_pad(maker) else None), ""
    owner = scope.owner(name)
    maker = owner.producers.get(name) if owner is not None else None
    if maker is None or not is_pad(maker):
        return None, ""
    return None, f"the Pad '{maker.name or name}' stands in an enclosing graph"


def with_neighbours(context: Context, step: PadStep, maker: Node, way: Sequence[Node]) -> PadStep:
    """The Pad, and what of its surroundings onnxruntime's Pad fusion would act on.

    `way` is what stands between the Pad and the operator, which comes last.
    """
    before = made_by(context, maker.inputs[0]) if maker.inputs else None
    if before is not None and is_pad(before[1]):
        other = read_pad(*before, len(step.pads.begins))
        zero = other.fill == Constant(0) and other.mode == "constant"
        step = replace(step, follows_zero=zero)
    if step.fill != Constant(0):
        return step
    fed = fed_by(context, maker, step, way)
    return replace(
        step,
        feeds_max_pool=fed.max_pool,
        feeds_wide_pool=fed.wide_pool,
        feeds_weight=fed.weight,
    )


def out_of_reach(context: Context, name: str, reason: str, rank: int) -> PadStep:
    """A Pad that cannot be worked on because of `reason`, but that may be fused all the same."""
    found = made_by(context, name)
    if found is None or not is_pad(found[1]):
        return PadStep(Pads.zero(rank), Constant(0), unclear=reason)
    step = read_pad(*found, rank)
    fused = step.still_fused or not step.unclear
    return replace(step, unclear=reason, still_fused=fused)


def weight_is_padded(context: Context, node: Node, op: Operator) -> bool:
    """Whether a Pad makes the operator's weight, in the eyes of onnxruntime's optimiser."""
    if op.weight is None or len(node.inputs) <= op.weight:
        return False
    found = made_by(context, node.inputs[op.weight])
    return found is not None and is_pad(found[1])
