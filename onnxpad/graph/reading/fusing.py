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
from onnxpad.ops import Kind, operator

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
        pools = any(one.op_type == "MaxPool" for one in _readers_in_reach(context, maker, way))
        step = replace(step, feeds_max_pool=pools)
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


def is_pad(node: Node) -> bool:
    """Whether a node is a Pad of any domain."""
    if node.op_type != "Pad":
        return False
    op = operator(node.domain, node.op_type)
    return op is not None and op.kind is Kind.PAD
