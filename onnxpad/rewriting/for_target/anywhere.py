"""What some targets stop at, or compute wrongly, wherever it stands in a model, padded or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from math import prod
from typing import Any

import numpy as np

from onnxpad.geometry.size import residue
from onnxpad.model.graph.context import Context, branches_giving, is_stored
from onnxpad.model.graph.inlined import as_written, inlined
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.types import dtype_name
from onnxpad.model.reading.asked import seen_from
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.operators import PLAIN_DOMAINS
from onnxpad.rewriting.for_target.joined_sums import joins_sum
from onnxpad.rewriting.for_target.on_bytes import (
    runs_on_bytes,
    said_of_bytes,
    stops_beside_bytes,
)
from onnxpad.runtimes.conditions.companions import (
    ACTIVATED_TWICE,
    ANYWHERE,
    BENT_VOLUMES,
    BESIDE_BYTES,
    BLOCKED_BRANCH,
    BLOCKED_NORMS,
    BRANCH,
    BYTES_BY_FOUR,
    BYTES_GIVEN,
    CALLS,
    CASTS_LEFT_OUT,
    CHANNELWISE,
    COMPUTED_BRANCH,
    COMPUTED_CROP,
    CONSTANTS_ALONE,
    CONVERSIONS,
    DEQUANTISES,
    DISORDER,
    GATE,
    GLOBAL_VOLUMES,
    JOINED_SUMS,
    LINE_NORMS,
    LISTED_REDUCTIONS,
    LISTED_SCALES,
    MORE_ACTIVATED_TWICE,
    QUANTISED_BYTES,
    RECTIFIED_RESULT,
    RECTIFIED_SUMS,
    SHARED_BLOCKS,
    SLICED_BYTES,
    STORED_BOOL,
    SUMS,
    TRAINING,
    UNSHAPED,
    UNWRITTEN_PARTS,
    ZERO_OF_WORDS,
)
from onnxpad.runtimes.conditions.windows import WINDOWS
from onnxpad.runtimes.judge import Judgement, judge_plain
from onnxpad.runtimes.targets import Target
from onnxpad.runtimes.tinygrad import joins_compared

_BETA, _NEAR = 0.5, 1e-6
_SIGNED = 128
"""How far a signed byte is below the unsigned one of the same place."""
_IMAGE = 4
_LINES_AND_IMAGES = (3, _IMAGE)
_VOLUME = 3
"""The spatial axes of a volume."""
_OF_WHOLE_CHANNELS = (
    "BatchNormalization",
    "InstanceNormalization",
    "GlobalAveragePool",
    "GlobalMaxPool",
)
_BENT = ("Elu", "Gelu", "HardSigmoid", "HardSwish", "Mish", "Sigmoid", "Tanh")
_RECTIFIERS = ("Relu", "Clip")
_SIX = [0, 6]
_FUSED = ("Clip", "HardSigmoid", "LeakyRelu", "Relu", "Sigmoid", "Tanh")
_FUSED_MORE = (*_FUSED, "Elu", "Gelu", "HardSwish", "Softplus", "ThresholdedRelu")
"""What onnxruntime's WebGPU providers fuse with a Conv, the one in C++ all of them."""
_FAR = 8
"""Operators that are looked at in front of a node."""
_WORD = 4
"""Bytes in a word."""
_BLOCKED = ("Conv", "ConvTranspose", "MaxPool", "AveragePool")
_KEEPS_LAYOUT = (
    *(*_BENT, *_RECTIFIERS, "Abs", "BatchNormalization", "Ceil", "Celu", "Cos", "Erf", "Exp"),
    *("Floor", "Identity", "LeakyRelu", "Log", "Neg", "PRelu", "Pad", "Reciprocal", "Round"),
    *("Selu", "Sign", "Sin", "Slice", "Softplus", "Softsign", "Sqrt", "Tan", "ThresholdedRelu"),
)
_JOINS_LAYOUT = ("Add", "Concat", "Div", "Max", "Mean", "Min", "Mul", "Pow", "Sub", "Sum")
_MAKES_LAYERS = (*_JOINS_LAYOUT, "Equal", "Greater", "Less", "Where")
_WANTS_LAYOUT = (
    *("Add", "Concat", "Div", "Flatten", "Max", "Min", "Mul", "Pow", "Reshape", "Squeeze", "Sub"),
    *("Transpose", "Unsqueeze"),
)
_WITH_CONSTANTS = ("Add", "Sub", "Mul", "Div")


def met_anywhere(survey: Survey, target: Target) -> Iterator[tuple[Context, Node, str, Judgement]]:
    """Nodes that the target fails for what they are, each with the name of what that is.

    One that puts the branches of constant Ifs in their places is asked about the graph as it is
    then: what stands in a branch and what stands around the If are neighbours there.
    """
    for see in (as_written, inlined):
        failing = _failing(survey, target, inlines=see is inlined)
        seen = list(see(survey.contexts)) if failing else []
        on_bytes = any(name in BESIDE_BYTES for name, _ in failing) and any(
            runs_on_bytes(context, node) for context, _ in seen for node in context.scope.ordered()
        )
        for context, given in seen:
            nodes = list(context.scope.ordered())
            slides = any(node.op_type in WINDOWS for node in nodes)
            unnamed = unshaped(context)
            for node in nodes:
                of_shapes = () if unnamed.isdisjoint((*node.inputs, *node.outputs)) else UNSHAPED
                of_bytes = BESIDE_BYTES if on_bytes and stops_beside_bytes(context, node) else ()
                for name in (*of_shapes, *of_bytes, *_names(context, node, slides=slides)):
                    if (name, context.scope.opset) in failing:
                        yield *given[node.key], name, failing[name, context.scope.opset]


def _failing(
    survey: Survey, target: Target, *, inlines: bool
) -> Mapping[tuple[str, int], Judgement]:
    """What the target, or a part of it that inlines or does not, fails in the model's opsets."""
    parts = [one for one in target.parts or (target,) if one.inlines is inlines]
    return {
        (name, opset): judge_plain(target, name, opset)
        for name in ANYWHERE
        for opset in {context.scope.opset for context in survey.contexts}
        if any(judge_plain(one, name, opset).answer.fails for one in parts)
    }


def unshaped(context: Context) -> frozenset[str]:
    """Inputs and results of a graph that are declared as tensors without a shape, or as nothing."""
    if context.scope.is_function:
        return frozenset()  # it declares names alone
    graph: Any = context.scope.proto
    return frozenset(
        value.name
        for value in (*graph.input, *graph.output)
        if (kind := value.type.WhichOneof("value")) is None
        or (kind == "tensor_type" and not value.type.tensor_type.HasField("shape"))
    )


def _names(context: Context, node: Node, *, slides: bool) -> Iterator[str]:
    """`slides` says whether the model has a convolution or a pool."""
    if context.scope.stands_early(node):
        yield DISORDER[0]
    if context.document.function(node) is not None:
        yield CALLS[0]
    elif node.domain in PLAIN_DOMAINS:
        yield from _plain_names(context, node, slides=slides)


def _plain_names(context: Context, node: Node, *, slides: bool) -> Iterator[str]:
    """What is said of an operator of ONNX."""
    if node.op_type in BRANCH:
        yield node.op_type
        if context.constant(node.inputs[0]) is None:
            yield COMPUTED_BRANCH[0]
    if any(_is_listed_bool(context, name) for name in node.inputs):
        yield STORED_BOOL[0]
    if _wants_layout(context, node) and any(_is_blocked(context, name) for name in node.inputs):
        yield BLOCKED_BRANCH[0]
    if _changes_hands(context, node):
        yield QUANTISED_BYTES[0]
    yield from said_of_bytes(context, node)
    results = context.scope.outputs if context.scope.parent is None else ()
    if any(one in results and context.type_of(one).dtype == "uint8" for one in node.outputs):
        yield BYTES_GIVEN[0]
    if node.op_type in _WITH_CONSTANTS:
        yield from _arithmetic(context, node, slides=slides)
    if node.op_type in _FUSED_MORE:
        yield from _second_activation(context, node)
    if node.op_type in _SAID_OF and node.inputs and node.outputs:
        yield from _SAID_OF[node.op_type](context, node)


def _wants_layout(context: Context, node: Node) -> bool:
    """Whether OpenCV runs it only on tensors as ONNX lays them out; a Pad of images on both."""
    return node.op_type in _WANTS_LAYOUT or (
        node.op_type == "Pad" and _axes(context, node) in (1, _VOLUME)
    )


def _is_blocked(context: Context, name: str, left: int = _FAR, *, behind: bool = False) -> bool:
    """Whether an If gives a tensor that OpenCV keeps as its convolutions and pools make it.

    By 230 models in OpenCV 5: it knows of them by their layer, which an If is not. Sums and the
    like of such tensors alone are such a one.
    """
    if not left:
        return False
    maker = context.scope.producers.get(name)
    if maker is None:
        outer = None if context.scope.is_function else context.outer
        return outer is not None and _is_blocked(outer, name, left - 1, behind=behind)
    if maker.op_type in BRANCH:
        given = branches_giving(context, maker, name)
        return any(_is_blocked(inside, one, left - 1, behind=True) for inside, one in given)
    if maker.op_type in _BLOCKED:
        return behind
    joins = behind and maker.op_type in _JOINS_LAYOUT
    if not joins and (
        maker.op_type not in _KEEPS_LAYOUT or (behind and maker.op_type == "Identity")
    ):
        return False
    read = maker.inputs if joins else maker.inputs[:1]
    return all(_is_blocked(context, one, left - 1, behind=behind) for one in read)


def _is_listed_bool(context: Context, name: str) -> bool:
    """Whether a tensor of bool is stored in int32_data; one of no elements is so in neither."""
    if context.type_of(name).dtype != "bool" or not is_stored(context, name):
        return False
    found = context.stored_tensor(name)
    return found is not None and len(found.int32_data) > 0


def _reduction(context: Context, node: Node) -> Iterator[str]:
    """Whether a reduction names every axis, and keeps none."""
    written = context.attributes(node)
    axes, shape = written.get("axes"), context.type_of(node.inputs[0]).dims
    whole = isinstance(axes, tuple) and shape is not None and len(axes) == len(shape)
    if whole and written.get("keepdims", 1) == 0:
        yield LISTED_REDUCTIONS[0]


def _arithmetic(context: Context, node: Node, *, slides: bool) -> Iterator[str]:
    """What is said of sums and products."""
    if node.op_type == "Mul" and any(_gates(context, node, name) for name in node.inputs):
        yield GATE[0]
    if _fits_another_axis(context, node):
        yield CHANNELWISE[0]
    if not slides and _has_several_numbers(context, node):
        yield CONSTANTS_ALONE[0]
    if node.op_type == "Add" and _adds_behind_relu(context, node):
        yield RECTIFIED_SUMS[0]
    if _is_second_sum(context, node):
        yield SUMS[0]


def _is_second_sum(context: Context, node: Node) -> bool:
    """Whether it adds a constant to a sum with another, or takes the sum from it.

    By 96 models through onnx2tf: behind a Sub of a constant neither a Sub nor a scalar is lost.
    """
    names = _beside_constant(context, node)
    maker = context.scope.producers.get(names[0]) if len(names) == 1 else None
    if node.op_type not in ("Add", "Sub") or maker is None or not _beside_constant(context, maker):
        return False
    if len(context.readers(maker.outputs[0])) > 1:
        return False
    if maker.op_type == "Sub":
        constant = next(name for name in node.inputs if name != names[0])
        kept = node.op_type == "Sub" and node.inputs[0] == names[0]
        scalar = context.type_of(constant).dims == ()
        return not (kept or scalar or is_stored(context, maker.inputs[0]))
    return maker.op_type == "Add"


def _beside_constant(context: Context, node: Node) -> list[str]:
    """The inputs that are computed, where the others are stored."""
    others = [name for name in node.inputs if not is_stored(context, name)]
    return others if len(others) < len(node.inputs) else []


def _of_whole_channels(context: Context, node: Node) -> Iterator[str]:
    """What is said of normalisations and of global pools."""
    axes = _axes(context, node)
    if node.op_type == "BatchNormalization":
        if context.attributes(node).get("training_mode"):
            yield TRAINING[0]
    elif node.op_type != "InstanceNormalization":
        if axes == _VOLUME:
            yield GLOBAL_VOLUMES[0]
    else:
        if axes == 1:
            yield LINE_NORMS[0]
        if axes in (1, _VOLUME) and _behind_window(context, node):
            yield BLOCKED_NORMS[0]


def _axes(context: Context, node: Node) -> int | None:
    """How many axes of what it reads are neither batch nor channels, where that is known."""
    shape = context.type_of(node.inputs[0]).dims if node.inputs else None
    return None if shape is None else len(shape) - 2


def _behind_window(context: Context, node: Node) -> bool:
    """Whether a convolution or a pool stands in front, or in front of operators of one input."""
    for maker in context.makers(node.inputs[0]):
        if maker.op_type in WINDOWS or len(maker.inputs) != 1:
            return maker.op_type in WINDOWS
    return False


def _bent(context: Context, node: Node) -> Iterator[str]:
    """What is said of activations, by what they read, alone or with a product (Swish)."""
    makers = context.makers(node.inputs[0])
    maker = next(makers, None)
    if maker is None or _axes(context, maker) != _VOLUME:
        return
    results = context.scope.outputs if context.scope.parent is None else ()
    if node.op_type in _RECTIFIERS:
        behind = maker.op_type in ("Conv", "ConvTranspose") and node.outputs[0] in results
        if behind and _rectifies(context, node):
            yield RECTIFIED_RESULT[0]
        return
    others = [one for one in context.readers(node.inputs[0]) if one.key != node.key]
    if node.inputs[0] not in results and {one.op_type for one in others} <= {"Mul"}:
        while maker is not None and maker.op_type == "BatchNormalization":
            maker = next(makers, None)
        if maker is not None and _is_depthwise(context, maker):
            yield BENT_VOLUMES[0]


def _rectifies(context: Context, node: Node) -> bool:
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
        or _rectifies(context, maker)
        or (rectified and maker.op_type == "Add" and _beside_constant(context, maker))
    ):
        if first in context.scope.outputs or len(context.readers(first)) > 1:
            return False
        rectified |= _rectifies(context, maker)
        first = maker.inputs[0]
        maker = context.scope.producers.get(first)
    return rectified and maker is not None and maker.op_type in ("Conv", "ConvTranspose")


def _is_depthwise(context: Context, node: Node) -> bool:
    """Whether it is a convolution with one output for each channel."""
    if node.op_type != "Conv":
        return False
    weight, group = context.type_of(node.inputs[1]).dims, context.attributes(node).get("group", 1)
    return weight is not None and weight[:2] == (group, 1)


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
    others = _beside_constant(context, node)
    stored = [context.type_of(name).dims or () for name in node.inputs if name not in others]
    beside = [context.type_of(name).dims or () for name in others]
    return any(len(shape) in _LINES_AND_IMAGES for shape in beside) and any(
        size != 1 for shape in stored for size in shape
    )


def _cuts_where_computed(context: Context, node: Node) -> bool:
    """Whether a Slice of cells, not of the numbers of a shape, is cut where the model computes."""
    shape = next((context.type_of(name).dims for name in node.inputs), None) or ()
    is_open = any(not isinstance(size, int) for size in shape[1:])
    return (
        len(shape) > 2
        and is_open
        and any(name and context.constant(name) is None for name in node.inputs[1:3])
    )


def _slice(context: Context, node: Node) -> Iterator[str]:
    if context.type_of(node.inputs[0]).dtype in ("int8", "uint8"):
        yield SLICED_BYTES[0]
    if _cuts_where_computed(context, node):
        yield COMPUTED_CROP[0]


def _cast(context: Context, node: Node) -> Iterator[str]:
    if _is_left_out(context, node):
        yield CASTS_LEFT_OUT[0]


def _concat(context: Context, node: Node) -> Iterator[str]:
    if joins_sum(context, node):
        yield JOINED_SUMS[0]
    if joins_compared(seen_from(context), node):
        yield UNWRITTEN_PARTS[0]
    if _is_computed(context, node) and any(_has_layer(context, node, x) for x in node.inputs):
        yield SHARED_BLOCKS[0]


def _is_computed(context: Context, node: Node) -> bool:
    return not all(is_stored(context, name) for name in node.inputs)


def _has_layer(context: Context, node: Node, name: str) -> bool:
    """Whether OpenCV's importer has made a layer of a stored tensor that a Concat reads.

    By 29 models: such a Concat adds it once more, under the same name.
    """
    if not is_stored(context, name):
        return False
    earlier = takewhile(lambda one: one.key != node.key, context.readers(name))
    return node.inputs.count(name) > 1 or any(
        one.op_type in _MAKES_LAYERS and _is_computed(context, one) for one in earlier
    )


def _conversion(context: Context, node: Node) -> Iterator[str]:
    """What is said of a QuantizeLinear or DequantizeLinear."""
    if any(context.type_of(name).dims for name in node.inputs[1:] if name):
        yield LISTED_SCALES[0]
    if node.op_type != "DequantizeLinear":
        return
    if node.inputs[0] in context.scope.producers and not is_stored(context, node.inputs[0]):
        yield DEQUANTISES[0]
    if context.type_of(node.inputs[0]).dtype == "int32":
        if node.input(2):
            yield ZERO_OF_WORDS[0]
    elif _is_off_in_uint8(context, node) or _is_read_by_fours(context, node):
        yield BYTES_BY_FOUR[0]


def _is_off_in_uint8(context: Context, node: Node) -> bool:
    """Whether bytes below a zero point become unsigned differences, which are huge.

    onnxruntime makes uint8 of an int8 that goes from a QuantizeLinear to a DequantizeLinear alone,
    128 higher: core/optimizer/qdq_transformer/qdq_s8_to_u8.cc, where the processor is not ARM.
    """
    if not node.input(2):
        return False
    higher = 0
    if context.type_of(node.inputs[0]).dtype == "int8":
        maker = _maker_alone(context, node, ("Identity",))
        if maker is None or maker.op_type != "QuantizeLinear":
            return False
        higher = _SIGNED
    zero = context.constant(node.inputs[2])
    return zero is None or bool(np.any(zero.astype(np.int64) + higher != 0))


def _is_read_by_fours(context: Context, node: Node) -> bool:
    """Whether four cells at a time are made of every fourth of the words that hold the bytes."""
    scales, sizes = (context.type_of(name).dims for name in node.inputs[1::-1])
    if scales not in (None, (), (1,)):
        return False
    return sizes is None or prod(residue(one or 0, _WORD) or 0 for one in sizes) % _WORD == 0


def _second_activation(context: Context, node: Node) -> Iterator[str]:
    """What is said of an activation behind another one, of a Conv that nothing else reads.

    Of two Relu, or a Relu and a Clip from 0 up, the second alone is right.
    """
    first = _maker_alone(context, node, ("Identity",))
    if first is None or first.op_type not in _FUSED_MORE:
        return
    folded = (*_WITH_CONSTANTS, "BatchNormalization", "Identity")
    maker = _maker_alone(context, first, folded)
    if maker is None or maker.op_type != "Conv":
        return
    low = context.constant(node.inputs[1]) if node.op_type == "Clip" and node.inputs[1:] else None
    from_zero = node.op_type == "Relu" or (low is not None and low.size == 1 and low.item() >= 0)
    if first.op_type == "Relu" and from_zero:
        return
    of_both = first.op_type in _FUSED and node.op_type in _FUSED
    yield (ACTIVATED_TWICE if of_both else MORE_ACTIVATED_TWICE)[0]


def _maker_alone(context: Context, node: Node, passed: tuple[str, ...]) -> Node | None:
    """What makes the computed input of a node that nothing else reads; `passed` are gone past."""
    for _ in range(_FAR):
        computed = [name for name in node.inputs if name and not is_stored(context, name)]
        if len(computed) != 1 or len(context.readers(computed[0])) > 1:
            return None
        if computed[0] in context.scope.outputs:
            return None
        maker = context.scope.producers.get(computed[0])
        if maker is None or maker.op_type not in passed:
            return maker
        node = maker
    return None


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


def _changes_hands(context: Context, node: Node) -> bool:
    """Whether uint8 goes from a quantised operator to another, a result, or the other way."""
    results = context.scope.outputs if context.scope.parent is None else ()
    for name in results and node.outputs:
        if name in results and context.type_of(name).dtype == "uint8" and _quantised(context, node):
            return True
    if not node.inputs or context.type_of(node.inputs[0]).dtype != "uint8":
        return False
    maker = context.scope.producers.get(node.inputs[0])
    if node.op_type == "Cast":
        return maker is not None and _quantised(context, maker)
    reads = node.op_type == "DequantizeLinear" or node.op_type.startswith("QLinear")
    return reads and not is_stored(context, node.inputs[0]) and not _quantised(context, maker)


def _quantised(context: Context, node: Node | None) -> bool:
    """Whether a node, or what hands its bytes on to it, quantises or is a quantised operator."""
    pending = [node] if node is not None else []
    seen = {one.key for one in pending}
    for one in pending:
        if one.op_type == "QuantizeLinear" or one.op_type.startswith("QLinear"):
            return True
        bytes_read = [name for name in one.inputs if context.type_of(name).dtype == "uint8"]
        makers = map(context.scope.producers.get, bytes_read)
        more = [maker for maker in makers if maker is not None and maker.key not in seen]
        seen.update(maker.key for maker in more)
        pending += more
    return False


_SAID_OF: Mapping[str, Callable[[Context, Node], Iterator[str]]] = {
    **dict.fromkeys(_OF_WHOLE_CHANNELS, _of_whole_channels),
    **dict.fromkeys(CONVERSIONS, _conversion),
    **dict.fromkeys(("ReduceMean", "ReduceMax"), _reduction),
    "Slice": _slice,
    "Cast": _cast,
    "Concat": _concat,
    **dict.fromkeys((*_BENT, *_RECTIFIERS), _bent),
}
