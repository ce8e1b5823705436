"""Pads, windows and sizes that a runtime refuses or fills in its own way."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.geometry.windows import Axis, holds_padding_alone
from onnxpad.padding.chain import AutoPad, Chain, Pads
from onnxpad.padding.effective_pads import effective_pads, output_sizes, short_axis
from onnxpad.padding.forms import reaches_kernel
from onnxpad.padding.operators import Kind, Since
from onnxpad.runtimes.traps import Surroundings, rule

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
    if not chain.op.is_pool or not isinstance(chain.padding, Pads):
        return None
    if not reaches_kernel(chain, chain.padding):
        return None
    return (
        f"pads={list(chain.padding.flat)} reach the kernel {[a.kernel for a in chain.axes]}: "
        "onnxruntime refuses to load such a pool"
    )


@rule("negative-pads", f"{_MEASURED} and onnx 1.23.2 (shape inference)")
def negative_pads(chain: Chain, around: Surroundings) -> str | None:
    """The pads attribute of an operator holds a negative number.

    onnx's shape inference and onnxruntime refuse it. Only a Pad node may crop.
    """
    del around
    if chain.op.kind is Kind.PAD or not isinstance(chain.padding, Pads):
        return None
    if min(chain.padding.flat, default=0) >= 0:
        return None
    return f"pads={list(chain.padding.flat)} are negative: onnxruntime refuses to load it"


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
    if chain.op.kind in (Kind.PAD, Kind.TRANSPOSED, Kind.FOLD, Kind.OTHER):
        return None
    pads = effective_pads(chain)
    short = short_axis(replace(chain, ceil_mode=False), pads) if isinstance(pads, Pads) else None
    if short is None or not isinstance(pads, Pads):
        return None
    return f"{short.reason}: {_what_happens(chain, pads)}"


@rule("quantised-average-overhang", _MEASURED, passes=["counted-padding"])
def quantised_average_overhang(chain: Chain, around: Surroundings) -> str | None:
    """QLinearAveragePool has ceil_mode=1 and count_include_pad=1, and a window hangs over.

    Its divisor should leave out what lies behind the padding; onnxruntime divides by the whole
    kernel, and the last row or column comes out too small.
    """
    del around
    counts = chain.op.quantised and chain.op.kind is Kind.AVERAGE and chain.counts_padding
    if not counts or not chain.ceil_mode:
        return None
    pads, windows = effective_pads(chain), output_sizes(chain)
    if not isinstance(pads, Pads) or isinstance(chain.padding, AutoPad):
        return None
    sides = list(zip(chain.axes, windows, pads.begins, pads.ends, strict=True))
    known = all(isinstance(axis.size, int) and isinstance(count, int) for axis, count, *_ in sides)
    if known and not any(_hangs_over(*side) for side in sides):
        return None
    return (
        "ceil_mode with count_include_pad: onnxruntime divides windows that hang over by the "
        f"whole kernel{'' if known else ', if there are any'}"
    )


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
    pairs = zip(chain.axes, chain.output_padding, strict=False)
    if chain.op.kind is not Kind.TRANSPOSED or all(more < axis.stride for axis, more in pairs):
        return None
    return (
        f"output_padding={list(chain.output_padding)} is not smaller than the stride: onnxruntime "
        "fails when it runs"
    )


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
    step = chain.pad
    if chain.op.kind is not Kind.PAD or step is None or step.mode != "reflect" or step.unclear:
        return None
    sides = zip(around.input_shape or (), step.pads.begins, step.pads.ends, strict=False)
    if not any(
        isinstance(size, int) and max(begin, end) >= size + min(begin, end, 0)
        for size, begin, end in sides
    ):
        return None
    return "the Pad mirrors more cells than the input has: onnxruntime fails when it runs"


def _what_happens(chain: Chain, pads: Pads) -> str:
    """What onnxruntime does with an input that is shorter than the window."""
    if not chain.op.is_pool:
        return "onnxruntime fails when it runs"
    sides = zip(chain.axes, pads.begins, pads.ends, strict=True)
    counts = [
        int((axis.size + begin + end - axis.span) / axis.stride) + 1
        for axis, begin, end in sides
        if isinstance(axis.size, int)
    ]
    if min(counts) < 0:
        return "onnxruntime fails when it runs"
    if min(counts) == 0:
        return "onnxruntime gives an output without cells"
    cells = "the cells that are there, or of none (a MaxPool then gives the lowest finite float)"
    if chain.ceil_mode:
        return f"with ceil_mode there is one window all the same, of {cells}"
    return f"the ONNX text gives no window, onnxruntime one, of {cells}"


def _hangs_over(axis: Axis, windows: object, begin: int, end: int) -> bool:
    if not isinstance(windows, int) or not isinstance(axis.size, int):
        return True
    return (windows - 1) * axis.stride + axis.span > axis.size + begin + end
