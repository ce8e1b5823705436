"""What converters make of constants beside what a model computes, wherever these stand."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.model.graph.context import Context, is_stored
from onnxpad.model.graph.nodes import Node
from onnxpad.runtimes.conditions.companions import (
    CHANNELWISE,
    CONSTANTS_ALONE,
    GATE,
    RECTIFIED_SUMS,
    SUMS,
)

_BETA, _NEAR = 0.5, 1e-6
_IMAGE = 4
_LINES_AND_IMAGES = (3, _IMAGE)
_VOLUME = 3
"""The spatial axes of a volume."""
_SIX = [0, 6]
WITH_CONSTANTS = ("Add", "Sub", "Mul", "Div")


def said_of_constants(context: Context, node: Node, *, batched: bool) -> Iterator[str]:
    """What is said of sums and products; `batched`: the graph shows which axis is the batch."""
    if node.op_type == "Mul" and any(_gates(context, node, name) for name in node.inputs):
        yield GATE[0]
    if _fits_another_axis(context, node):
        yield CHANNELWISE[0]
    if not batched and _has_several_numbers(context, node):
        yield CONSTANTS_ALONE[0]
    if node.op_type == "Add" and _adds_behind_relu(context, node):
        yield RECTIFIED_SUMS[0]
    if _is_second_sum(context, node):
        yield SUMS[0]


def _is_second_sum(context: Context, node: Node) -> bool:
    """Whether it adds a constant to a sum with another, or takes the sum from it.

    By 96 models through onnx2tf: behind a Sub of a constant neither a Sub nor a scalar is lost.
    """
    names = beside_constant(context, node)
    maker = context.scope.producers.get(names[0]) if len(names) == 1 else None
    if node.op_type not in ("Add", "Sub") or maker is None or not beside_constant(context, maker):
        return False
    if len(context.readers(maker.outputs[0])) > 1:
        return False
    if maker.op_type == "Sub":
        constant = next(name for name in node.inputs if name != names[0])
        kept = node.op_type == "Sub" and node.inputs[0] == names[0]
        scalar = context.type_of(constant).dims == ()
        return not (kept or scalar or is_stored(context, maker.inputs[0]))
    return maker.op_type == "Add"


def beside_constant(context: Context, node: Node) -> list[str]:
    """The inputs that are computed, where the others are stored."""
    others = [name for name in node.inputs if not is_stored(context, name)]
    return others if len(others) < len(node.inputs) else []


def rectifies(context: Context, node: Node) -> bool:
    """Whether it is a Relu, or a Clip to 0 and 6."""
    if node.op_type != "Clip":
        return node.op_type == "Relu"
    limits = [context.constant(name) for name in node.inputs[1:]]
    return [None if one is None else one.tolist() for one in limits] == _SIX


def _adds_behind_relu(context: Context, node: Node) -> bool:
    """Whether it adds a constant for each channel, as its second input, to such a convolution."""
    first, second = node.inputs[:2]
    sizes, constant = context.type_of(first).dims or (), context.type_of(second).dims or ()
    if len(sizes) != _IMAGE or sizes[1] == 1 or not is_stored(context, second):
        return False
    if constant[-_IMAGE + 1 :] != (sizes[1], 1, 1):
        return False
    rectified, maker = False, context.scope.producers.get(first)
    while maker is not None and (
        maker.op_type == "Identity"
        or rectifies(context, maker)
        or (rectified and maker.op_type == "Add" and beside_constant(context, maker))
    ):
        if first in context.scope.outputs or len(context.readers(first)) > 1:
            return False
        rectified |= rectifies(context, maker)
        first = maker.inputs[0]
        maker = context.scope.producers.get(first)
    return rectified and maker is not None and maker.op_type in ("Conv", "ConvTranspose")


def _gates(context: Context, node: Node, name: str) -> bool:
    """Whether one factor is a HardSigmoid, its beta written, of what is not the other."""
    maker = context.scope.producers.get(name)
    if maker is None or maker.op_type != "HardSigmoid" or set(maker.inputs[:1]) & set(node.inputs):
        return False
    written = context.attributes(maker)
    alpha, beta = written.get("alpha", 0.2), written.get("beta")
    return isinstance(alpha, float) and abs(alpha - 1 / 6) < _NEAR and beta == _BETA


def _fits_another_axis(context: Context, node: Node) -> bool:
    """Whether a converter to channels last takes a constant of the channels for another axis's.

    By 124 models through onnx2tf: it may where a spatial axis is as long as the channels. Which
    one depends on the operator, and on whether the constant has an axis for the batch.
    """
    stored = [name for name in node.inputs if is_stored(context, name)]
    others = [name for name in node.inputs if name not in stored]
    if len(stored) != 1 or len(others) != 1:
        return False
    shape, constant = (context.type_of(name).dims or () for name in (*others, *stored))
    channels, spatial = shape[1:2], shape[2:]
    if (
        not spatial
        or channels == (1,)
        or constant[-len(shape) + 1 :] != (*channels, *[1] * len(spatial))
    ):
        return False
    batch = len(constant) == len(shape)
    first, last = 0, len(spatial) - 1
    if node.op_type != "Add":
        taken: tuple[int, ...] = (last,) if batch else (first,)
    elif len(spatial) == _VOLUME:
        taken = (1, 2)
    else:
        taken = (first,) if batch else (last,)
    return any(spatial[axis] == channels[0] for axis in taken)


def _has_several_numbers(context: Context, node: Node) -> bool:
    """Whether a constant beside a tensor of one or two spatial axes has more than one."""
    others = beside_constant(context, node)
    stored = [context.type_of(name).dims or () for name in node.inputs if name not in others]
    beside = [context.type_of(name).dims or () for name in others]
    return any(len(shape) in _LINES_AND_IMAGES for shape in beside) and any(
        size != 1 for shape in stored for size in shape
    )
