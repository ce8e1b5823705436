"""What some targets stop at, or compute wrongly, wherever it stands in a model, padded or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from onnxpad.model.graph.context import Context, is_stored
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.types import dtype_name
from onnxpad.model.reading.near_and_far_pads import quantised_at
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.operators import PLAIN_DOMAINS
from onnxpad.rewriting.for_target.joined_sums import joins_sum
from onnxpad.runtimes.conditions.companions import (
    ANYWHERE,
    BLOCKED_NORMS,
    BRANCH,
    BYTES_CHANGED,
    CALLS,
    CASTS_LEFT_OUT,
    CHANNELWISE,
    COMPUTED_CROP,
    CONVERSIONS,
    DEQUANTISES,
    DISORDER,
    GATE,
    GLOBAL_VOLUMES,
    JOINED_SUMS,
    LINE_NORMS,
    LISTED_SCALES,
    QUANTISED_BYTES,
    STORED_BOOL,
    SUMS,
    TRAINING,
)
from onnxpad.runtimes.conditions.windows import WINDOWS
from onnxpad.runtimes.judge import Judgement, judge_plain
from onnxpad.runtimes.targets import Target

_BETA, _NEAR = 0.5, 1e-6
_VOLUME = 3
"""The spatial axes of a volume."""
_OF_WHOLE_CHANNELS = (
    "BatchNormalization",
    "InstanceNormalization",
    "GlobalAveragePool",
    "GlobalMaxPool",
)
_WITH_CONSTANTS = ("Add", "Sub", "Mul", "Div")


def met_anywhere(survey: Survey, target: Target) -> Iterator[tuple[Context, Node, str, Judgement]]:
    """Nodes that the target fails for what they are, each with the name of what that is."""
    opsets = {context.scope.opset for context in survey.contexts}
    failing = {
        (name, opset): found
        for name in ANYWHERE
        for opset in opsets
        if (found := judge_plain(target, name, opset)).answer.fails
    }
    for context in survey.contexts if failing else ():
        for node in context.scope.ordered():
            for name in _names(context, node):
                if (name, context.scope.opset) in failing:
                    yield context, node, name, failing[name, context.scope.opset]


def _names(context: Context, node: Node) -> Iterator[str]:
    if context.scope.stands_early(node):
        yield DISORDER[0]
    if context.document.function(node) is not None:
        yield CALLS[0]
    elif node.domain in PLAIN_DOMAINS:
        yield from _plain_names(context, node)


def _plain_names(context: Context, node: Node) -> Iterator[str]:
    """What is said of an operator of ONNX."""
    if node.op_type in BRANCH:
        yield node.op_type
    if any(_is_listed_bool(context, name) for name in node.inputs):
        yield STORED_BOOL[0]
    if _changes_hands(context, node):
        yield QUANTISED_BYTES[0]
    if node.op_type in _WITH_CONSTANTS:
        yield from _arithmetic(context, node)
    if node.op_type in _OF_WHOLE_CHANNELS:
        yield from _of_whole_channels(context, node)
    if node.op_type in CONVERSIONS:
        yield from _conversion(context, node)
    name, holds = _OF_ONE_OPERATOR.get(node.op_type, ("", None))
    if holds is not None and holds(context, node):
        yield name


def _is_listed_bool(context: Context, name: str) -> bool:
    """Whether a tensor of bool is stored in int32_data; one of no elements is so in neither."""
    if context.type_of(name).dtype != "bool" or not is_stored(context, name):
        return False
    found = context.stored_tensor(name)
    return found is not None and len(found.int32_data) > 0


def _arithmetic(context: Context, node: Node) -> Iterator[str]:
    """What is said of sums and products."""
    if node.op_type == "Mul" and any(_gates(context, node, name) for name in node.inputs):
        yield GATE[0]
    if _fits_another_axis(context, node):
        yield CHANNELWISE[0]
    makers = [context.scope.producers.get(name) for name in _beside_constant(context, node)]
    if node.op_type in ("Add", "Sub") and any(
        maker is not None
        and maker.op_type == "Add"
        and _beside_constant(context, maker)
        and len(context.readers(maker.outputs[0])) == 1
        for maker in makers
    ):
        yield SUMS[0]


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
    maker = context.scope.producers.get(node.inputs[0])
    while maker is not None and maker.op_type not in WINDOWS and len(maker.inputs) == 1:
        maker = context.scope.producers.get(maker.inputs[0])
    return maker is not None and maker.op_type in WINDOWS


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


def _cuts_where_computed(context: Context, node: Node) -> bool:
    """Whether a Slice of cells, not of the numbers of a shape, is cut where the model computes."""
    shape = next((context.type_of(name).dims for name in node.inputs), None) or ()
    is_open = any(not isinstance(size, int) for size in shape[1:])
    return (
        len(shape) > 2
        and is_open
        and any(name and context.constant(name) is None for name in node.inputs[1:3])
    )


def _conversion(context: Context, node: Node) -> Iterator[str]:
    """What is said of a QuantizeLinear or DequantizeLinear."""
    if any(context.type_of(name).dims for name in node.inputs[1:] if name):
        yield LISTED_SCALES[0]
    computed = node.inputs[0] in context.scope.producers and not is_stored(context, node.inputs[0])
    if node.op_type == "DequantizeLinear" and computed:
        yield DEQUANTISES[0]


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


def _changes_bytes(context: Context, node: Node) -> bool:
    """Whether it stands alone between conversions from one type of bytes and to the other.

    Of the second conversion a DequantizeLinear reads the result.
    """
    front = context.scope.producers.get(node.inputs[0])
    behind = quantised_at(context, node, alone=True)
    if front is None or behind is None or front.op_type != "DequantizeLinear":
        return False
    if not front.inputs[2:] or context.scope.uses.get(front.outputs[0], 0) > 1:
        return False
    back = [one.op_type for one in context.readers(behind.outputs[0])]
    kinds = {context.type_of(name).dtype for name in (front.inputs[0], behind.inputs[2])}
    return "DequantizeLinear" in back and len(kinds - {""}) > 1


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


_OF_ONE_OPERATOR: Mapping[str, tuple[str, Callable[[Context, Node], bool]]] = {
    "Slice": (COMPUTED_CROP[0], _cuts_where_computed),
    "Cast": (CASTS_LEFT_OUT[0], _is_left_out),
    "Concat": (JOINED_SUMS[0], joins_sum),
    "Sigmoid": (BYTES_CHANGED[0], _changes_bytes),
}
