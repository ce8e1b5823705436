"""auto_pad, where runtimes leave the ONNX text or contradict each other."""

from __future__ import annotations

from onnxpad.geometry.size import residues
from onnxpad.padding.around import Surroundings
from onnxpad.padding.chain import AutoPad, Chain
from onnxpad.padding.operators import Kind
from onnxpad.runtimes.onnxruntime import kernels
from onnxpad.runtimes.traps import rule

_SAME = (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER)
_MEASURED = "measured with onnxruntime 1.31.1 on the CPU"


@rule("auto-pad-with-pads", f"{_MEASURED} and onnx 1.23.2 (checker, shape inference)")
def auto_pad_with_pads(chain: Chain, around: Surroundings) -> str | None:
    """auto_pad and pads are both written on one node.

    The ONNX text forbids it and the checker does not notice. onnxruntime refuses convolutions
    and follows auto_pad in pools; onnx's shape inference follows pads. Settle it with
    --ambiguous auto_pad or --ambiguous pads.
    """
    del around
    return kernels.auto_pad_with_pads(chain)


@rule("same-with-dilation", _MEASURED, passes=["explicit-pads", "runtime-pads"])
def same_with_dilation(chain: Chain, around: Surroundings) -> str | None:
    """auto_pad is SAME_UPPER or SAME_LOWER and a dilation is not 1.

    The ONNX text pads for the dilated kernel. onnxruntime refuses to run such convolutions, and
    its pools leave the dilation out, so their output is too small wherever there is more than
    one window. explicit-pads repairs both.
    """
    del around
    return kernels.same_with_dilation(chain)


@rule("same-with-short-kernel", _MEASURED, passes=["explicit-pads"])
def same_with_short_kernel(chain: Chain, around: Surroundings) -> str | None:
    """auto_pad is SAME_UPPER or SAME_LOWER and the kernel is shorter than the stride.

    The ONNX text means no padding where the kernel does not reach the next window. onnxruntime
    computes a negative padding: it shifts the windows, or refuses to run MaxPool and (before
    opset 19) AveragePool. explicit-pads repairs it.
    """
    del around
    return kernels.same_with_short_kernel(chain)


@rule(
    "valid-with-ceil-mode",
    f"{_MEASURED}; ONNX Operators.md, MaxPool-22 and AveragePool-22",
    passes=["explicit-pads", "floor-pool"],
)
def valid_with_ceil_mode(chain: Chain, around: Surroundings) -> str | None:
    """auto_pad is VALID and ceil_mode is 1.

    The formula in the ONNX text for VALID does not round up; onnxruntime and onnx's shape
    inference do. onnxpad follows them. They agree where the windows end at the border.
    """
    del around
    if chain.padding is not AutoPad.VALID or not chain.ceil_mode or chain.trouble:
        return None
    rests = [
        (rest - axis.span) % axis.stride
        for axis in chain.axes
        for rest in (range(axis.stride) if axis.size is None else residues(axis.size, axis.stride))
    ]
    if not any(rests):
        return None
    return (
        "VALID with ceil_mode: onnxruntime and shape inference round up, the formula of the "
        "ONNX text does not"
    )


@rule(
    "transposed-same-short-kernel",
    f"{_MEASURED} and onnx 1.23.2 (shape inference)",
    passes=["plain-transpose"],
)
def transposed_same_short_kernel(chain: Chain, around: Surroundings) -> str | None:
    """A ConvTranspose with auto_pad SAME has a kernel shorter than its stride.

    The ONNX text wants an output of input*stride cells, which then needs a negative crop.
    onnxruntime and onnx's shape inference do not crop and give fewer cells; so does onnxpad.
    """
    del around
    if chain.op.kind is not Kind.TRANSPOSED or chain.padding not in _SAME or chain.output_shape:
        return None
    extra = chain.output_padding or (0,) * chain.rank
    if all(axis.span + more >= axis.stride for axis, more in zip(chain.axes, extra, strict=True)):
        return None
    return (
        "the kernel is shorter than the stride: the ONNX text gives input*stride cells, "
        "onnxruntime and shape inference give fewer"
    )
