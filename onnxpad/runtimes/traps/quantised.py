"""Pads that part what runtimes compute as one quantised operator."""

from __future__ import annotations

from onnxpad.padding.as_written import AsWritten
from onnxpad.padding.chain import Chain
from onnxpad.padding.operators import Kind
from onnxpad.runtimes.onnxruntime.pad_fusion import fused_pads
from onnxpad.runtimes.traps import chain_rule, rule

_GROUPED = ("Conv", "AveragePool", "MaxPool")


@rule(
    "pad-in-quantised-group",
    "measured with onnxruntime 1.31.1 on the CPU, unsigned bytes",
    passes=["absorb-pad"],
)
def pad_in_quantised_group(chain: Chain, written: AsWritten) -> str | None:
    """A Pad stands between DequantizeLinear and a convolution or pool.

    Runtimes compute DequantizeLinear, the operator and QuantizeLinear as one quantised operator
    where nothing stands between them; with the Pad it is computed in floating point. Harmless in
    onnxruntime where its default optimisations fold the Pad into the operator first. absorb-pad
    takes such a Pad away where its value allows it.

    A Pad with a QuantizeLinear and a DequantizeLinear of its own behind it, as exporters write
    it, is no such trap: the operator is computed quantised, and only the Pad in floating point
    (absorb-pad takes it away as well).
    """
    if not written.pad_reads or chain.op.title not in _GROUPED or chain.op.kind is Kind.PAD:
        return None
    if not chain.is_max and fused_pads(chain) is not None:
        return None
    return (
        f"the Pad stands between {written.pad_reads} and the {chain.op.name}, which is then "
        "computed in floating point"
    )


@chain_rule(
    "pad-of-floats-between-bytes",
    "measured with onnxruntime 1.31.1 on the CPU: the Pad runs in float32, between two conversions",
    passes=["quantised-pad"],
    helped=Kind.PAD,
)
def pad_of_floats_between_bytes(chain: Chain) -> str | None:
    """A Pad of floats stands between a DequantizeLinear and a QuantizeLinear with its numbers.

    Quantisers write it so. Runtimes convert to floating point and back for the Pad alone, and
    devices of int8 leave it to the CPU or refuse the model. quantised-pad pads the bytes; where the
    operator behind can pad itself, absorb-pad takes the Pad away.
    """
    if chain.op.kind is not Kind.PAD or chain.around.between is None:
        return None
    return "it pads floats between two conversions that take each other back"
