"""Pads, windows and sizes that a runtime refuses or fills in its own way."""

from __future__ import annotations

from onnxpad.geometry.windows import holds_padding_alone
from onnxpad.padding.around import Surroundings
from onnxpad.padding.chain import AutoPad, Chain, Pads
from onnxpad.padding.effective_pads import effective_pads, output_sizes
from onnxpad.padding.operators import Kind, Since
from onnxpad.runtimes.onnxruntime import kernels
from onnxpad.runtimes.traps import rule

_MEASURED = "measured with onnxruntime 1.31.1 on the CPU"


@rule(
    "pads-reach-kernel",
    f"{_MEASURED}; onnxruntime core/providers/cpu/nn/pool_attributes.h",
    passes=["split-pads"],
)
def pads_reach_kernel(chain: Chain, around: Surroundings) -> str | None:
    """A pool has a pad that is as wide as its kernel or wider.

    The ONNX text allows it; onnxruntime refuses to load the model. It compares with the kernel
    as written, not with the dilated one. split-pads moves such pads into a Pad node.
    """
    del around
    return kernels.pads_reach_kernel(chain)


@rule(
    "negative-pads",
    f"{_MEASURED} and onnx 1.23.2 (shape inference)",
    passes=["plain-transpose", "output-padding-by-pad"],
    helped=Kind.TRANSPOSED,
)
def negative_pads(chain: Chain, around: Surroundings) -> str | None:
    """The pads attribute of an operator holds a negative number.

    onnx's shape inference and onnxruntime refuse it. Only a Pad node may crop. tf2onnx writes
    such an end pad of ConvTranspose from TFLite; it means output_padding.
    """
    del around
    return kernels.negative_pads(chain)


@rule("window-of-padding", _MEASURED)
def window_of_padding(chain: Chain, around: Surroundings) -> str | None:
    """A pool has a window that holds padding alone.

    Nothing is there to pool: onnxruntime's MaxPool gives the lowest finite float instead of -inf,
    an AveragePool that does not count padding divides 0 by 0 and gives 0 there, others NaN.
    """
    del around
    if chain.op.kind not in (Kind.MAX, Kind.AVERAGE):
        return None
    pads, windows = effective_pads(chain), output_sizes(chain)
    if not isinstance(pads, Pads) or (chain.op.kind is Kind.AVERAGE and chain.counts_padding):
        return None
    for index, axis in enumerate(chain.axes):
        count = windows[index]
        if isinstance(count, int) and holds_padding_alone(axis, pads.begins[index], count):
            gives = "the lowest finite float or -inf" if chain.is_max else "0 or NaN"
            return (
                f"a window along axis {chain.first_axis + index} holds padding alone, and "
                f"runtimes differ there ({gives})"
            )
    return None


@rule("input-shorter-than-window", f"{_MEASURED} and onnx 1.23.2 (shape inference)")
def input_shorter_than_window(chain: Chain, around: Surroundings) -> str | None:
    """The padded input is shorter than one window.

    onnx's shape inference gives a size that is 0 or negative, onnxruntime fails when a convolution
    runs. Its pools round the number of windows towards 0: where less than a stride is missing they
    give one window, with ceil_mode and without, of the cells that are there.
    """
    del around
    return kernels.input_shorter_than_window(chain)


@rule("quantised-average-overhang", _MEASURED, passes=["counted-padding"])
def quantised_average_overhang(chain: Chain, around: Surroundings) -> str | None:
    """QLinearAveragePool has ceil_mode=1 and count_include_pad=1, and a window hangs over.

    Its divisor should leave out what lies behind the padding; onnxruntime divides by the whole
    kernel, and the last row or column comes out too small.
    """
    del around
    return kernels.quantised_average_overhang(chain)


@rule(
    "output-padding-beyond-stride",
    _MEASURED,
    passes=["output-padding-by-kernel", "output-padding-by-pad"],
)
def output_padding_beyond_stride(chain: Chain, around: Surroundings) -> str | None:
    """output_padding of a ConvTranspose is not smaller than the stride.

    The ONNX text allows it below max(stride, dilation); onnxruntime fails when it runs.
    """
    del around
    return kernels.output_padding_beyond_stride(chain)


@rule(
    "transposed-split-before-11",
    "ONNX Operators, ConvTranspose-1 against ConvTranspose-11",
    passes=["plain-transpose", "slice-transpose"],
)
def transposed_split_before_11(chain: Chain, around: Surroundings) -> str | None:
    """A ConvTranspose of opset 1 to 10 crops an odd number of cells by auto_pad or output_shape.

    The text of that time puts the odd cell on the other side than the text since opset 11.
    onnxruntime 1.16 to 1.31 follow today's text for every opset; so does onnxpad.
    """
    del around
    if chain.op.kind is not Kind.TRANSPOSED or chain.opset >= Since.CROP_AS_PADS_SPLIT:
        return None
    pads = effective_pads(chain)
    derived = chain.output_shape or chain.padding in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER)
    if not derived or not isinstance(pads, Pads) or pads.begins == pads.ends:
        return None
    return (
        f"opset {chain.opset} puts the odd cell of the crop on the other side than opset 11; "
        "onnxruntime follows opset 11"
    )


@rule("reflect-beyond-input", f"{_MEASURED}; ONNX Operators.md, Pad-25")
def reflect_beyond_input(chain: Chain, around: Surroundings) -> str | None:
    """A Pad in mode reflect mirrors more cells than the input has beside its border.

    onnxruntime fails when it runs; numpy and onnx's reference evaluator go on mirroring.
    """
    del around
    return kernels.reflect_beyond_input(chain)
