"""What stands around a Pad that onnxruntime's Pad fusion would act on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onnxpad.chain import PadStep
from onnxpad.fills import Constant
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.crossing import hands_on
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.pads import read_pad
from onnxpad.ops import Kind, Operator, operator

_IDLE_STEPS = 8


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
    before = _maker_in_reach(context, maker)
    if before is not None and is_pad(before):
        other = read_pad(context, before, len(step.pads.begins))
        zero = other.fill == Constant(0) and other.mode == "constant"
        step = replace(step, follows_zero=zero)
    if step.fill == Constant(0):
        others = _readers_in_reach(context, maker, way)
        step = replace(
            step,
            feeds_max_pool=any(one.op_type == "MaxPool" for one in others),
            feeds_wide_average=any(_is_wide_average(context, one, step) for one in others),
        )
    return step


def _maker_in_reach(context: Context, node: Node) -> Node | None:
    """What makes the data of a node, once operators are gone that hand on what they read."""
    maker = context.scope.producers.get(node.inputs[0]) if node.inputs else None
    for _ in range(_IDLE_STEPS):
        if maker is None or not hands_on(context, maker):
            break
        maker = context.scope.producers.get(maker.inputs[0])
    return maker


def _readers_in_reach(context: Context, node: Node, way: Sequence[Node]) -> list[Node]:
    """What else reads the output of a node, or reads it from operators that hand it on."""
    found, pending = [], [node]
    keys = {one.key for one in way}
    for one in pending:
        if context.scope.uses.get(one.outputs[0], 0) == 1 and one is node and len(way) == 1:
            break
        for reader in context.readers(one.outputs[0]):
            if hands_on(context, reader) and len(pending) < _IDLE_STEPS:
                pending.append(reader)
            elif reader.key not in keys:
                found.append(reader)
    return found


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
    return maker is not None and is_pad(maker)


def is_pad(node: Node) -> bool:
    """Whether a node is a Pad of any domain."""
    if node.op_type != "Pad":
        return False
    op = operator(node.domain, node.op_type)
    return op is not None and op.kind is Kind.PAD
