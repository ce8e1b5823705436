"""QuantizeLinear and DequantizeLinear: what they make of padded cells; where new Pads go."""

from __future__ import annotations

import numpy as np

from onnxpad.model.graph.attributes import Value
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.padding.chain import Between, Conversion, Dequantised, PadStep
from onnxpad.padding.fills import Constant, Fill, Implicit, TensorValue
from onnxpad.padding.operators import MICROSOFT, PLAIN_DOMAINS, Since


def is_in_blocks(attributes: dict[str, Value]) -> bool:
    """Whether scales hold for blocks of cells."""
    return attributes.get("block_size", 0) != 0


def conversion_of(context: Context, node: Node) -> Conversion:
    """What it takes to write the node again."""
    attributes = context.attributes(node).items()
    return Conversion(
        node.inputs[0],
        context.type_of(node.inputs[0]).dtype,
        node.inputs[1],
        node.input(2),
        tuple((name, value) for name, value in attributes if not isinstance(value, tuple)),
        node.domain,
        node.op_type == "QuantizeLinear",
    )


def zero_fill(context: Context, name: str) -> Fill:
    """A zero point as a number, a tensor or one value per channel."""
    if not name:
        return Constant(0)
    value = context.constant(name)
    if value is None:
        dims = context.type_of(name).dims
        return TensorValue(name) if dims in ((), (1,)) else Implicit.PER_CHANNEL
    flat = value.reshape(-1)
    if not flat.size or (flat != flat[0]).any():
        return Implicit.PER_CHANNEL
    return Constant(int(flat[0]))


def fits_axis(
    context: Context, node: Node, attributes: dict[str, Value], spatial: slice, rank: int
) -> bool:
    """Whether scale and zero point are the same along the spatial axes."""
    dims = [context.type_of(name).dims for name in node.inputs[1:3] if name]
    if all(shape in ((), (1,)) for shape in dims):
        return True
    axis = attributes.get("axis", 1)
    if not isinstance(axis, int) or not -rank <= axis < rank:
        return False
    return not spatial.start <= axis % rank < spatial.stop


_PAD_TAKES = frozenset({"int8", "uint8", "int32"})
_DOMAINS = PLAIN_DOMAINS | {MICROSOFT}


def dequantised_input(
    context: Context, node: Node, spatial: slice, rank: int
) -> Dequantised | None:
    """The DequantizeLinear that makes the operator's data, as a place for new Pads."""
    scope = context.scope
    maker = scope.producers.get(node.input(0))
    if maker is None or not _is(maker, "DequantizeLinear") or len(maker.inputs) < 2:
        return None
    attributes = context.attributes(maker)
    what = f"its input comes from DequantizeLinear '{maker.name or maker.outputs[0]}'"
    if not _is_plain(context, maker):
        return Dequantised(refusal=f"{what}, which works in blocks or on attributes of a function")
    if not fits_axis(context, maker, attributes, spatial, rank):
        return Dequantised(refusal=f"{what}, which has scales along an axis that is padded")
    dtype = context.type_of(maker.inputs[0]).dtype
    zero = zero_fill(context, maker.input(2))
    takes = dtype in _PAD_TAKES and scope.opset >= Since.PAD_INTEGERS
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


_BYTES = ("int8", "uint8")
_LIMITS = (2.0**-100, 2.0**100)
"""Between them x * scale / scale rounds to a whole x that a byte holds."""


def between(context: Context, node: Node, step: PadStep) -> Between | None:
    """The DequantizeLinear before a Pad of floats, if each reader quantises again in the same way.

    None unless the quantised type has 8 bits and a single scale.
    """
    scope, maker = context.scope, context.scope.producers.get(node.input(0))
    if node.domain not in PLAIN_DOMAINS or step.unclear:
        return None
    if maker is None or not _is(maker, "DequantizeLinear"):
        return None
    name = node.outputs[0]
    readers = context.readers(name)
    alone = scope.uses.get(name, 0) == len(readers) and name not in scope.outputs
    dtype = context.type_of(maker.inputs[0]).dtype
    if not readers or not alone or dtype not in _BYTES or scope.opset < Since.PAD_INTEGERS:
        return None
    if not _is_plain(context, maker):
        return None
    for reader in readers:
        zero = reader.input(2)
        quantised = context.type_of(zero).dtype if zero else "uint8"
        if quantised != dtype or context.attributes(reader).get("output_dtype", 0) != 0:
            return None
        if not _is_pair(context, reader, maker) or reader.input(0) != name:
            return None
    fill = _fill_between(context, maker, step)
    return None if fill is None else Between(conversion_of(context, maker), fill)


def _fill_between(context: Context, maker: Node, step: PadStep) -> int | None:
    """What the cells of a Pad hold quantised: the zero point for 0 and for those of the data."""
    scale, zero = context.constant(maker.input(1)), zero_fill(context, maker.input(2))
    if scale is None or scale.size != 1 or scale.dtype != np.float32:
        return None
    if not _LIMITS[0] < float(scale.reshape(())) < _LIMITS[1] or not isinstance(zero, Constant):
        return None
    return int(zero.value) if step.mode != "constant" or step.fill == Constant(0) else None


def _is(node: Node, op_type: str) -> bool:
    return node.op_type == op_type and node.domain in _DOMAINS


def _is_plain(context: Context, node: Node) -> bool:
    """Whether its scales hold for no blocks of cells, and its attributes for no function."""
    given = any(one.ref_attr_name for one in node.proto.attribute)
    return not given and not is_in_blocks(context.attributes(node))


def _is_pair(context: Context, first: Node, second: Node) -> bool:
    """Whether QuantizeLinear and DequantizeLinear have the same scale and zero point."""
    quantises = _is(first, "QuantizeLinear") and first.domain == second.domain
    if not quantises or not _is_plain(context, first):
        return False
    axes = [context.attributes(node).get("axis", 1) for node in (first, second)]
    return axes[0] == axes[1] and all(
        _equal(context, first.input(one), second.input(one)) for one in (1, 2)
    )


def _equal(context: Context, first: str, second: str) -> bool:
    if first == second or not first or not second:
        return first == second
    one, other = context.constant(first), context.constant(second)
    return one is not None and other is not None and np.array_equal(one, other)
