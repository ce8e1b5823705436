"""What OpenCV loses of a model's layers and layouts, wherever it stands."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from onnxpad.model.graph.context import Context, branches_giving, is_stored
from onnxpad.model.graph.model_inputs import is_model_input
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.types import dtype_name
from onnxpad.runtimes.conditions.companions import (
    BLOCKED_BRANCH,
    BRANCH,
    CASTS_LEFT_OUT,
    CONSTANT_WINDOWS,
    OPEN_BATCH_RANKS,
    RANK,
    SHARED_BLOCKS,
    SPREAD_BLOCKS,
    THREE_AXES,
)

_BLOCKED = ("Conv", "ConvTranspose", "MaxPool", "AveragePool")
_KEEPS_LAYOUT = (
    *("Abs", "BatchNormalization", "Ceil", "Celu", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu"),
    *("HardSigmoid", "HardSwish", "InstanceNormalization", "LeakyRelu", "Log", "Mish", "Neg"),
    *("PRelu", "Pad", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Softplus"),
    *("Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu"),
)
_PASSES_ON = ("Clip", "Identity", "Slice")
"""What hands on what an If gives; of what it knows the layout of it makes one as ONNX has it."""
_SPREADS = (
    *("Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max"),
    *("Mean", "Min", "Mod", "Mul", "Or", "Pow", "Sub", "Sum", "Where", "Xor"),
)
_JOINS_LAYOUT = (*_SPREADS, "Concat")
_MAKES_LAYERS = (
    *("Add", "Concat", "Div", "Equal", "Greater", "Less", "Max", "Mean", "Min", "Mul", "Pow"),
    *("Sub", "Sum", "Where"),
)
_LINES = 3
_NO_IMAGES = (_LINES, 5)
"""The ranks of lines and of volumes."""
_CHANNELS = 1
_AXES = 3
"""Where a Slice reads them."""
_FAR, _NEAR = 1000, 24
"""Tensors that are looked at in front of a node, and in front of what may be constant."""
_WANTS_LAYOUT = (
    *("Add", "Concat", "Div", "Flatten", "Max", "Min", "Mul", "Pow", "Reshape", "Squeeze", "Sub"),
    *("Transpose", "Unsqueeze"),
)


OF_LAYERS = (
    *BLOCKED_BRANCH,
    *SPREAD_BLOCKS,
    *CONSTANT_WINDOWS,
    *CASTS_LEFT_OUT,
    *SHARED_BLOCKS,
    *OPEN_BATCH_RANKS,
    *THREE_AXES,
)


def said_of_layers(context: Context, node: Node) -> Iterator[str]:
    """What is said of layouts, of a Cast, of ranks, and of what reads constants."""
    if _wants_layout(context, node) and any(_is_blocked(context, name) for name in node.inputs):
        yield BLOCKED_BRANCH[0]
    elif one_channel(context, node) is not None and all(
        _is_blocked(context, name, made=True) for name in node.inputs
    ):
        yield SPREAD_BLOCKS[0]
    if node.op_type in _BLOCKED and _is_constant(context, node.inputs[0]):
        yield CONSTANT_WINDOWS[0]
    if node.op_type == "Cast" and _is_left_out(context, node):
        yield CASTS_LEFT_OUT[0]
    if node.op_type == "Concat" and any(_has_layer(context, node, name) for name in node.inputs):
        yield SHARED_BLOCKS[0]
    if node.op_type in RANK and reads_open_batch(context, node):
        yield OPEN_BATCH_RANKS[0]
    shapes = [context.type_of(name).dims for name in node.inputs if is_model_input(context, name)]
    if any(shape is not None and len(shape) == _LINES for shape in shapes):
        yield THREE_AXES[0]


def reads_open_batch(context: Context, node: Node) -> bool:
    """Whether the first axis of what a node reads has no number, where the axes are known."""
    sizes = context.type_of(node.inputs[0]).dims if node.inputs else None
    return sizes is not None and not isinstance(next(iter(sizes), 0), int)


def _wants_layout(context: Context, node: Node) -> bool:
    """Whether OpenCV runs it only on tensors as ONNX lays them out; a Pad of images on both."""
    sizes = context.type_of(node.inputs[0]).dims if node.op_type == "Pad" else None
    return node.op_type in _WANTS_LAYOUT or (sizes is not None and len(sizes) in _NO_IMAGES)


def one_channel(context: Context, node: Node) -> int | None:
    """Which input of a node has one channel, where it is spread over more of another; or None."""
    if node.op_type not in _SPREADS:
        return None
    shapes = [context.type_of(name).dims or () for name in node.inputs]
    channels = [sizes[_CHANNELS] if len(sizes) >= _LINES else None for sizes in shapes]
    if None in channels or all(size == 1 for size in channels):
        return None
    return channels.index(1) if 1 in channels else None


def _is_blocked(context: Context, name: str, *, made: bool = False) -> bool:
    """Whether an If gives a tensor that OpenCV keeps as its convolutions and pools make it.

    By 380 models in OpenCV 5: it knows of them by their layer, which an If is not. Sums and the
    like of such tensors alone are such a one. `made` asks of what no If gives, too.
    """
    pending, seen = [(context, name, made)], set[tuple[str, str, bool]]()
    while pending:
        at, one, behind = pending.pop()
        place = at.scope.id, one, behind
        if place in seen:
            continue
        seen.add(place)
        maker = at.scope.producers.get(one)
        outer = None if at.scope.is_function else at.outer
        if maker is None and outer is not None:
            pending.append((outer, one, behind))
        elif maker is None or len(seen) > _FAR:
            return False
        elif maker.op_type in BRANCH:
            given = branches_giving(at, maker, one)
            if not any(_is_blocked(inside, result, made=True) for inside, result in given):
                return False
        elif maker.op_type not in _BLOCKED or not behind:
            read = _laid_out_as(at, maker, behind=behind)
            if not read:
                return False
            pending += [(at, source, behind) for source in read]
    return True


def _laid_out_as(context: Context, node: Node, *, behind: bool) -> list[str]:
    """What has the layout of a node's result, and gives it to it; nothing where none does.

    `behind` says that OpenCV knows its layout, since no If has given it yet.
    """
    if behind and node.op_type in _JOINS_LAYOUT:
        return node.inputs
    if behind and node.op_type == "Slice":
        return node.inputs[:1] if _leaves_channels(context, node) else []
    keeps = node.op_type in _KEEPS_LAYOUT or (not behind and node.op_type in _PASSES_ON)
    return node.inputs[:1] if keeps else []


def _leaves_channels(context: Context, node: Node) -> bool:
    """Whether OpenCV cuts the blocks of a tensor as they are: the axes are named, none below 0."""
    axes = context.constant(node.inputs[_AXES]) if len(node.inputs) > _AXES else None
    return axes is not None and all(axis >= 0 and axis != _CHANNELS for axis in axes.tolist())


def _is_constant(context: Context, name: str) -> bool:
    """Whether a tensor is stored, or is computed of stored ones alone."""
    pending = [name]
    for one in pending:
        if not one or is_stored(context, one):
            continue
        maker = context.scope.producers.get(one)
        if maker is None or not maker.inputs or maker.op_type in BRANCH or len(pending) > _NEAR:
            return False
        pending += (given for given in maker.inputs if given not in pending)
    return True


def _is_left_out(context: Context, node: Node) -> bool:
    """Whether OpenCV's importer drops a Cast between integers and floats.

    GatherCastSubgraph and MulCastSubgraph of modules/dnn/src/onnx/onnx_graph_simplifier.cpp. A Mul
    behind the Cast may belong to an Upsample, which it takes as a whole.
    """
    maker = context.scope.producers.get(node.inputs[0])
    if maker is None or maker.op_type not in ("Mul", "Gather"):
        return False
    factors = maker.inputs if maker.op_type == "Mul" else maker.inputs[1:]
    makers = map(context.scope.producers.get, factors)
    if not any(one is not None and one.op_type == "Constant" for one in makers):
        return False
    if maker.op_type == "Gather" and (
        len(context.readers(maker.outputs[0])) > 1
        or any(one.op_type == "Mul" for one in context.readers(node.outputs[0]))
    ):
        return False
    read = (*node.inputs, *(maker.inputs if maker.op_type == "Mul" else maker.inputs[:1]))
    kinds = [context.type_of(name).dtype for name in read]
    to = context.attributes(node).get("to")
    kinds.append(dtype_name(to) if isinstance(to, int) else "")
    return {kind.startswith("float") for kind in kinds if kind} == {True, False}


def _is_computed(context: Context, node: Node) -> bool:
    return not all(is_stored(context, name) for name in node.inputs)


def _has_layer(context: Context, node: Node, name: str) -> bool:
    """Whether OpenCV's importer has made a layer of a stored tensor that a Concat reads.

    By 29 models: such a Concat adds it once more, under the same name; one of stored tensors alone
    is folded.
    """
    if not (is_stored(context, name) and _is_computed(context, node)):
        return False
    earlier = takewhile(lambda one: one.key != node.key, context.readers(name))
    return node.inputs.count(name) > 1 or any(
        one.op_type in _MAKES_LAYERS and _is_computed(context, one) for one in earlier
    )
