"""What some targets stop at, or compute wrongly, wherever it stands in a model, padded or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from onnxpad.geometry.size import residue
from onnxpad.model.graph.context import Context, is_stored
from onnxpad.model.graph.inlined import as_written, inlined
from onnxpad.model.graph.model_inputs import is_model_input
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.operators import PLAIN_DOMAINS
from onnxpad.rewriting.for_target.constants import WITH_CONSTANTS, rectifies, said_of_constants
from onnxpad.rewriting.for_target.joined_sums import joins_sum
from onnxpad.rewriting.for_target.open_sizes import said_of_open_sizes
from onnxpad.rewriting.for_target.opencv_layers import OF_LAYERS, said_of_layers
from onnxpad.runtimes.conditions.companions import (
    ACTIVATED_TWICE,
    ANYWHERE,
    AXES_ALONE,
    BENT_VOLUMES,
    BLOCKED_NORMS,
    BRANCH,
    BYTES_BY_FOUR,
    BYTES_GIVEN,
    CALLS,
    COMPUTED_BRANCH,
    CONVERSIONS,
    DEQUANTISES,
    DISORDER,
    EVEN_INPUT,
    GLOBAL_VOLUMES,
    IR_VERSIONS,
    JOINED_SUMS,
    LINE_NORMS,
    LISTED_REDUCTIONS,
    LISTED_SCALES,
    MORE_ACTIVATED_TWICE,
    OUTSIDE,
    QUANTISED_BYTES,
    RECTIFIED_RESULT,
    SLICED_BYTES,
    STORED_BOOL,
    TRAINING,
    UNSHAPED,
    ZERO_OF_WORDS,
    ir_version,
)
from onnxpad.runtimes.conditions.windows import WINDOWS
from onnxpad.runtimes.judge import Judgement, judge_plain
from onnxpad.runtimes.pnnx import names_axes, shows_batch
from onnxpad.runtimes.targets import Target

_SIGNED = 128
"""How far a signed byte is below the unsigned one of the same place."""
_IMAGE = 4
_VOLUME = 3
"""The spatial axes of a volume."""
_OF_WHOLE_CHANNELS = (
    "BatchNormalization",
    "InstanceNormalization",
    "GlobalAveragePool",
    "GlobalMaxPool",
)
_OF_ONE_AXIS = ("Concat", "Gather", "Slice", "Split", "Transpose")
_BENT = ("Elu", "Gelu", "HardSigmoid", "HardSwish", "Mish", "Sigmoid", "Tanh")
_RECTIFIERS = ("Relu", "Clip")
_FUSED = ("Clip", "HardSigmoid", "LeakyRelu", "Relu", "Sigmoid", "Tanh")
_FUSED_MORE = (*_FUSED, "Elu", "Gelu", "HardSwish", "Softplus", "ThresholdedRelu")
"""What onnxruntime's WebGPU providers fuse with a Conv, the one in C++ all of them."""
_OF_SIZES = ("ConstantOfShape", "Expand", "Reshape", "Resize", "Upsample")
_FAR = 8
"""Operators that are looked at in front of a node."""
_WORD = 4
"""Bytes in a word."""


def met_anywhere(
    survey: Survey, target: Target, names: Iterable[str] = ANYWHERE
) -> Iterator[tuple[Context, Node, str, Judgement]]:
    """Nodes that the target fails for what they are, each with the name of what that is.

    `names` are those that are looked for. A target that puts the branches of constant Ifs in their
    places is asked about the graph as it is then: what stands in a branch and what stands around
    the If are neighbours there.
    """
    for see in (as_written, inlined):
        failing = _failing(survey, target, names, inlines=see is inlined)
        wanted = {name for name, _ in failing}
        seen = list(see(survey.contexts)) if failing else []
        batched = any(
            shows_batch(node.op_type) for context, _ in seen for node in context.scope.ordered()
        )
        for context, given in seen:
            nodes = list(context.scope.ordered())
            alone = None if batched else next(_along_axes(context, nodes), None)
            unnamed = unshaped(context)
            of_file = _of_file(context, wanted)
            for node in nodes:
                of_shapes = () if unnamed.isdisjoint((*node.inputs, *node.outputs)) else UNSHAPED
                of_axes = AXES_ALONE if node is alone else ()
                of_node = _names(context, node, wanted, batched=batched)
                first = tuple(of_file) if node is nodes[0] else ()
                for name in (*first, *of_shapes, *of_axes, *of_node):
                    if (name, context.scope.opset) in failing:
                        yield *given[node.key], name, failing[name, context.scope.opset]


def _along_axes(context: Context, nodes: Iterable[Node]) -> Iterator[Node]:
    """Operators that name axes of more than two, or of nobody knows how many."""
    for node in nodes:
        sizes = context.type_of(node.inputs[0]).dims if node.inputs else ()
        if names_axes(node.op_type, None if sizes is None else len(sizes)):
            yield node


def _failing(
    survey: Survey, target: Target, names: Iterable[str], *, inlines: bool
) -> Mapping[tuple[str, int], Judgement]:
    """What the target, or a part of it that inlines or does not, fails in the model's opsets."""
    parts = [one for one in target.parts or (target,) if one.inlines is inlines]
    opsets = {context.scope.opset for context in survey.contexts} if parts else set()
    rows = (row for part in parts for one in part.parts or (part,) for row in one.rows)
    named = {name for row in rows for name in row.operators}
    return {
        (name, opset): judge_plain(target, name, opset)
        for name in names
        if name in named
        for opset in opsets
        if any(judge_plain(one, name, opset).answer.fails for one in parts)
    }


def _of_file(context: Context, wanted: set[str]) -> Iterator[str]:
    """What is said of the file as a whole, on its first node."""
    if context.scope.parent is None and not context.scope.is_function:
        name = ir_version(context.document.model.ir_version)
        if name in IR_VERSIONS:
            yield name
        if not wanted.isdisjoint(OUTSIDE) and context.document.has_data_outside:
            yield OUTSIDE[0]


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


def _names(context: Context, node: Node, wanted: set[str], *, batched: bool) -> Iterator[str]:
    """Names of what a node is, those `wanted` among them.

    `batched` says whether the model has an operator that shows which axis is the batch.
    """
    if context.scope.stands_early(node):
        yield DISORDER[0]
    if context.document.function(node) is not None:
        yield CALLS[0]
    elif node.domain in PLAIN_DOMAINS:
        yield from _plain_names(context, node, wanted, batched=batched)


def _plain_names(context: Context, node: Node, wanted: set[str], *, batched: bool) -> Iterator[str]:
    """What is said of an operator of ONNX."""
    if node.op_type in BRANCH:
        yield node.op_type
        if context.constant(node.inputs[0]) is None:
            yield COMPUTED_BRANCH[0]
    if any(_is_listed_bool(context, name) for name in node.inputs):
        yield STORED_BOOL[0]
    if not wanted.isdisjoint(OF_LAYERS):
        yield from said_of_layers(context, node)
    if _changes_hands(context, node):
        yield QUANTISED_BYTES[0]
    results = context.scope.outputs if context.scope.parent is None else ()
    if any(one in results and context.type_of(one).dtype == "uint8" for one in node.outputs):
        yield BYTES_GIVEN[0]
    yield from EVEN_INPUT if EVEN_INPUT[0] in wanted and _mixes_up_axes(context, node) else ()
    if node.op_type in WITH_CONSTANTS:
        yield from said_of_constants(context, node, batched=batched)
    if node.op_type in _FUSED_MORE:
        yield from _second_activation(context, node)
    if node.op_type in _SAID_OF and node.inputs and node.outputs:
        yield from _SAID_OF[node.op_type](context, node)


def _mixes_up_axes(context: Context, node: Node) -> bool:
    """Whether it works along an axis of an input of the model whose axes are all as long."""
    if node.op_type not in _OF_ONE_AXIS and not node.op_type.startswith("Reduce"):
        return False
    name = node.inputs[0] if node.inputs else ""
    for maker in context.makers(name):
        if maker.op_type in WINDOWS or not maker.inputs:
            return False
        name = maker.inputs[0]
    sizes = (context.type_of(name).dims or ())[1:]
    is_even = len(sizes) > 1 and len(set(sizes)) == 1 and sizes[0] not in (1, None)
    return is_even and is_model_input(context, name)


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
        if behind and rectifies(context, node):
            yield RECTIFIED_RESULT[0]
        return
    others = [one for one in context.readers(node.inputs[0]) if one.key != node.key]
    if node.inputs[0] not in results and {one.op_type for one in others} <= {"Mul"}:
        while maker is not None and maker.op_type == "BatchNormalization":
            maker = next(makers, None)
        if maker is not None and _is_depthwise(context, maker):
            yield BENT_VOLUMES[0]


def _is_depthwise(context: Context, node: Node) -> bool:
    """Whether it is a convolution with one output for each channel."""
    if node.op_type != "Conv":
        return False
    weight, group = context.type_of(node.inputs[1]).dims, context.attributes(node).get("group", 1)
    return weight is not None and weight[:2] == (group, 1)


def _slice(context: Context, node: Node) -> Iterator[str]:
    if context.type_of(node.inputs[0]).dtype in ("int8", "uint8"):
        yield SLICED_BYTES[0]
    yield from said_of_open_sizes(context, node)


def _concat(context: Context, node: Node) -> Iterator[str]:
    if joins_sum(context, node):
        yield JOINED_SUMS[0]


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
    folded = (*WITH_CONSTANTS, "BatchNormalization", "Identity")
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
    **dict.fromkeys(_OF_SIZES, said_of_open_sizes),
    "Slice": _slice,
    "Concat": _concat,
    **dict.fromkeys((*_BENT, *_RECTIFIERS), _bent),
}
