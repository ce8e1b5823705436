"""Types of what padded operators, com.microsoft operators, branches and constants give."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from onnx import GraphProto

from onnxpad.geometry.budgets import LARGEST_SIZE
from onnxpad.geometry.size import Size, plus, times
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.flat_numbers import constant_integers
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.types import UNKNOWN, Type
from onnxpad.model.shapes.shape_rules import (
    NodeFacts,
    ShapeRule,
    broadcast,
    dequantize,
    keep,
    quantize,
    scales_of,
    slice_lists,
)
from onnxpad.padding.chain import Chain, PadStep
from onnxpad.padding.effective_pads import output_sizes
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind, Operator

_SETTLING = ("Slice", "Resize", "Upsample")
_NO_SHAPES = 2
"""Tensors of this rank and more are no shapes, whose values inference follows."""


def merge(declared: Type, found: Type) -> Type:
    """What a rule found, completed by what the file or shape inference says."""
    if found.dims is None:
        return Type(found.dtype or declared.dtype, declared.dims)
    if declared.dims is None or len(declared.dims) != len(found.dims):
        return Type(found.dtype or declared.dtype, found.dims)
    pairs = zip(found.dims, declared.dims, strict=True)
    dims = tuple(said if own is None else own for own, said in pairs)
    return Type(found.dtype or declared.dtype, dims)


def completed(own: Sequence[Type], inferred: Sequence[Type]) -> list[Type]:
    """What rules say of outputs, with what inference says where they say nothing."""
    pairs = zip_longest(own, inferred, fillvalue=UNKNOWN)
    return [merge(said, found) for found, said in pairs]


def padded_type(step: PadStep | None, source: Type) -> Type:
    """Output type of a Pad node whose pads are known."""
    if step is None or source.dims is None:
        return Type(source.dtype)
    sizes = zip(source.dims, step.pads.begins, step.pads.ends, strict=True)
    return Type(
        source.dtype,
        tuple(_possible(None if size is None else plus(size, b + e), 0) for size, b, e in sizes),
    )


def window_type(chain: Chain) -> Type:
    """Output type of a convolution or pool, with the element type of its input."""
    sizes = [_possible(size, 1) for size in output_sizes(chain)]
    batch = chain.shape[0] if chain.shape else None
    channels = _channels(chain)
    last = chain.first_axis == 1
    dims = (batch, *sizes, channels) if last else (batch, channels, *sizes)
    return Type(chain.dtype, dims)


def quantised_result(context: Context, node: Node, op: Operator) -> str:
    """The element type that an operator on quantised tensors writes, '' where it is its input's."""
    if op.name == "ConvInteger":
        return "int32"
    zero = 7 if op.name == "QLinearConv" else 4
    return context.type_of(node.inputs[zero]).dtype if len(node.inputs) > zero else ""


def _possible(size: Size | None, least: int) -> Size | None:
    """A size that can be: a Pad may crop all, onnxruntime makes one cell where no window fits."""
    return None if isinstance(size, int) and not least <= size <= LARGEST_SIZE else size


def _channels(chain: Chain) -> Size | None:
    if chain.op.weight is None:
        return chain.shape[1] if chain.shape else None
    dims = chain.weight.shape
    if not dims:
        return None
    if chain.op.kind is not Kind.TRANSPOSED:
        return dims[0]
    group = chain.attribute("group", 1)
    return times(dims[1], group) if dims[1] is not None and isinstance(group, int) else None


def branch_types(bodies: Sequence[Context]) -> list[Type]:
    """Outputs of an If: what both branches agree on."""
    return [_agreed(pair) for pair in zip(*map(_results, bodies), strict=False)]


def _results(body: Context) -> list[Type]:
    graph = body.scope.proto
    values = graph.output if isinstance(graph, GraphProto) else ()
    return [body.type_of(value.name) for value in values]


def _agreed(pair: tuple[Type, ...]) -> Type:
    first, second = pair[0], pair[-1]
    dtype = first.dtype if first.dtype == second.dtype else ""
    if first.dims is None or second.dims is None or len(first.dims) != len(second.dims):
        return Type(dtype)
    both = zip(first.dims, second.dims, strict=True)
    return Type(dtype, tuple(one if one == other else None for one, other in both))


def _q_binary(inputs: Sequence[Type], facts: NodeFacts) -> Type:
    return Type(inputs[0].dtype, broadcast([inputs[0], inputs[3]], facts).dims)


def _q_global(inputs: Sequence[Type], facts: NodeFacts) -> Type:
    dtype, dims = inputs[0]
    if dims is None:
        return Type(dtype)
    ones: tuple[Size | None, ...] = (1,) * (len(dims) - 2)
    last = facts.attributes().get("channels_last", 0)
    return Type(dtype, (dims[0], *ones, dims[-1]) if last else dims[:2] + ones)


MICROSOFT_RULES: dict[str, ShapeRule] = {
    **dict.fromkeys(("QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax"), keep),
    **dict.fromkeys(("QLinearAdd", "QLinearMul"), _q_binary),
    "QLinearGlobalAveragePool": _q_global,
    "QuantizeLinear": quantize,
    "DequantizeLinear": dequantize,
    **dict.fromkeys(("Gelu", "QuickGelu", "FastGelu", "BiasGelu"), keep),
}


def sizes_behind(
    context: Context, node: Node, dims: Sequence[Size | None]
) -> tuple[Size | None, ...]:
    """Sizes of all axes of what the Pad writes; None where they hang on what is not known.

    Axes that the Pad does not list keep their size, and so do those that it pads by 0 for sure.
    """
    padded = _padded_axes(context, node, len(dims))
    if padded is None:
        return (None,) * len(dims)
    found, value = list(dims), context.value(node.inputs[1])
    cells = [] if value is None else value.reshape(-1).tolist()
    for index, axis in enumerate(padded):
        sides = cells[index :: len(padded)]
        found[axis] = dims[axis] if sides == [0, 0] else None
    return tuple(found)


def _padded_axes(context: Context, node: Node, rank: int) -> list[int] | None:
    """The axes that the Pad pads, where they are known."""
    if len(node.inputs) < 2 or not node.inputs[1]:
        return None
    if len(node.inputs) < 4 or not node.inputs[3]:
        return list(range(rank))
    axes = constant_integers(context, node.inputs[3])
    if axes is None or any(not -rank <= axis < rank for axis in axes):
        return None
    positive = [axis % rank for axis in axes]
    return positive if len(set(positive)) == len(positive) else None


def is_settled(context: Context, node: Node) -> bool:
    """Whether a Slice, Resize or Upsample reads from constants what it makes of sizes."""
    if node.op_type not in _SETTLING or node.domain not in PLAIN_DOMAINS or not node.inputs:
        return False
    source = context.type_of(node.inputs[0])
    if source.dims is None or len(source.dims) < _NO_SHAPES:
        return False
    facts = NodeFacts(context, node)
    if node.op_type == "Slice":
        bounds = slice_lists(facts)[:2]
        return all(isinstance(n, int) for one in bounds for n in one or (None,))
    return bool(scales_of(len(node.inputs), facts))


def joined(context: Context, node: Node, declared: Type, found: Type) -> Type:
    """What is known of a result that a rule found and the file or inference declares.

    Of a settled one, what is declared counts only on axes whose size in front is not known.
    """
    whole = merge(declared, found)
    if not is_settled(context, node) or whole.dims is None or found.dims is None:
        return whole
    source = context.type_of(node.inputs[0]).dims or (None,) * len(whole.dims)
    if len(source) != len(whole.dims):
        return whole
    sides = zip(whole.dims, found.dims, source, strict=True)
    return Type(whole.dtype, tuple(own if read is not None else said for said, own, read in sides))
