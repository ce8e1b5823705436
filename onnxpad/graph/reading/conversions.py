"""QuantizeLinear and DequantizeLinear in front of an operator: where new Pads go."""

from __future__ import annotations

import numpy as np

from onnxpad.chain import Dequantised
from onnxpad.fills import Fill, Implicit
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.conversion_facts import conversion_of, fits_axis, zero_fill
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.quantisation import input_of, is_in_blocks
from onnxpad.graph.reading.scopes import PLAIN_DOMAINS
from onnxpad.ops import MICROSOFT

_PAD_TAKES = frozenset({"int8", "uint8", "int32"})
_INTEGER_PADS_SINCE = 11
_DOMAINS = PLAIN_DOMAINS | {MICROSOFT}


def dequantised_input(
    context: Context, node: Node, spatial: slice, rank: int
) -> Dequantised | None:
    """The DequantizeLinear that makes the operator's data, as a place for new Pads."""
    scope = context.scope
    maker = scope.producers.get(input_of(node, 0))
    if maker is None or not _is(maker, "DequantizeLinear") or len(maker.inputs) < 2:
        return None
    attributes = context.attributes(maker)
    what = f"its input comes from DequantizeLinear '{maker.name or maker.outputs[0]}'"
    if is_in_blocks(attributes) or any(one.ref_attr_name for one in maker.proto.attribute):
        return Dequantised(refusal=f"{what}, which works in blocks or on attributes of a function")
    if not fits_axis(context, maker, attributes, spatial, rank):
        return Dequantised(refusal=f"{what}, which has scales along an axis that is padded")
    dtype = context.type_of(maker.inputs[0]).dtype
    zero = zero_fill(context, maker)
    takes = dtype in _PAD_TAKES and scope.opset >= _INTEGER_PADS_SINCE
    dequantise = conversion_of(context, maker)
    before = scope.producers.get(maker.inputs[0])
    same = before is not None and _is_pair(context, before, maker)
    if before is not None and same and (not takes or _prefers_floats(context, before, dtype, zero)):
        return Dequantised((conversion_of(context, before), dequantise))
    if zero is Implicit.PER_CHANNEL:
        return Dequantised(
            refusal=f"{what}, whose zero point has one value per channel, a Pad writes one for all"
        )
    if not takes:
        kind = f"onnxruntime has no Pad of type '{dtype or 'unknown'}'"
        early = f"Pad of opset {scope.opset} takes no integers"
        return Dequantised(refusal=f"{what}; {early if dtype in _PAD_TAKES else kind}")
    return Dequantised((dequantise,), zero, int(np.iinfo(dtype).min))


def _prefers_floats(context: Context, quantise: Node, dtype: str, zero: Fill) -> bool:
    """Whether a Pad of floats in front of QuantizeLinear is the better place, or the only one.

    onnxruntime on x86 computes with signed bytes only where QuantizeLinear stands directly in
    front of DequantizeLinear (measured with 1.31.1); but a Pad must not part QuantizeLinear from
    a quantised operator either.
    """
    if zero is Implicit.PER_CHANNEL:
        return True
    maker = context.scope.producers.get(quantise.inputs[0])
    makers = [] if maker is None else [context.scope.producers.get(name) for name in maker.inputs]
    grouped = any(one is not None and _is(one, "DequantizeLinear") for one in makers)
    return dtype == "int8" and not grouped


def _is(node: Node, op_type: str) -> bool:
    return node.op_type == op_type and node.domain in _DOMAINS


def _is_pair(context: Context, first: Node, second: Node) -> bool:
    """Whether QuantizeLinear and DequantizeLinear have the same scale and zero point."""
    if not _is(first, "QuantizeLinear") or first.domain != second.domain:
        return False
    if is_in_blocks(context.attributes(first)) or any(
        one.ref_attr_name for one in first.proto.attribute
    ):
        return False
    axes = [context.attributes(node).get("axis", 1) for node in (first, second)]
    return axes[0] == axes[1] and all(
        _equal(context, input_of(first, place), input_of(second, place)) for place in (1, 2)
    )


def _equal(context: Context, first: str, second: str) -> bool:
    if first == second or not first or not second:
        return first == second
    one, other = context.constant(first), context.constant(second)
    return one is not None and other is not None and np.array_equal(one, other)
