"""Pads, windows and sizes that a runtime refuses or fills in its own way."""

from __future__ import annotations

from onnxpad.padding.chain import Chain, Pads, is_same
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.forms import pools_padding_alone
from onnxpad.padding.operators import Kind, Since
from onnxpad.runtimes.onnxruntime import kernels
from onnxpad.runtimes.traps import chain_rule

_MEASURED = "measured with onnxruntime 1.31.1 on the CPU"


pads_reach_kernel = chain_rule(
    "pads-reach-kernel",
    f"{_MEASURED}; onnxruntime core/providers/cpu/nn/pool_attributes.h",
    passes=["split-pads"],
    target="onnxruntime",
)(kernels.pads_reach_kernel)


negative_pads = chain_rule(
    "negative-pads",
    f"{_MEASURED} and onnx 1.23.2 (shape inference)",
    passes=["plain-transpose", "output-padding-by-pad"],
    helped=Kind.TRANSPOSED,
    target="onnxruntime",
)(kernels.negative_pads)


@chain_rule("window-of-padding", _MEASURED)
def window_of_padding(chain: Chain) -> str | None:
    """A pool has a window that holds padding alone.

    Nothing is there to pool: onnxruntime's MaxPool gives the lowest finite float instead of -inf,
    an AveragePool that does not count padding divides 0 by 0 and gives 0 there, others NaN.
    """
    axes = pools_padding_alone(chain)
    if not axes:
        return None
    gives = "the lowest finite float or -inf" if chain.is_max else "0 or NaN"
    return f"a window along axis {axes[0]} holds padding alone, and runtimes differ there ({gives})"


input_shorter_than_window = chain_rule(
    "input-shorter-than-window",
    f"{_MEASURED} and onnx 1.23.2 (shape inference)",
    target="onnxruntime",
)(kernels.input_shorter_than_window)


quantised_average_overhang = chain_rule(
    "quantised-average-overhang", _MEASURED, passes=["counted-padding"], target="onnxruntime"
)(kernels.quantised_average_overhang)


output_padding_beyond_stride = chain_rule(
    "output-padding-beyond-stride",
    _MEASURED,
    passes=["output-padding-by-kernel", "output-padding-by-pad"],
    target="onnxruntime",
)(kernels.output_padding_beyond_stride)


@chain_rule(
    "transposed-split-before-11",
    "ONNX Operators, ConvTranspose-1 against ConvTranspose-11",
    passes=["plain-transpose", "slice-transpose"],
)
def transposed_split_before_11(chain: Chain) -> str | None:
    """A ConvTranspose of opset 1 to 10 crops an odd number of cells by auto_pad or output_shape.

    The text of that time puts the odd cell on the other side than the text since opset 11.
    onnxruntime 1.16 to 1.31 follow today's text for every opset; so does onnxpad.
    """
    if chain.op.kind is not Kind.TRANSPOSED or chain.opset >= Since.CROP_AS_PADS_SPLIT:
        return None
    pads = effective_pads(chain)
    derived = chain.output_shape or is_same(chain.padding)
    if not derived or not isinstance(pads, Pads) or pads.begins == pads.ends:
        return None
    return (
        f"opset {chain.opset} puts the odd cell of the crop on the other side than opset 11; "
        "onnxruntime follows opset 11"
    )


reflect_beyond_input = chain_rule(
    "reflect-beyond-input",
    f"{_MEASURED}; ONNX Operators.md, Pad-25",
    passes=["repeated-mirrors"],
    target="onnxruntime",
)(kernels.reflect_beyond_input)
