"""auto_pad, where runtimes leave the ONNX text or contradict each other."""

from __future__ import annotations

from onnxpad.geometry.windows import same_totals
from onnxpad.padding.chain import AutoPad, Chain, is_same
from onnxpad.padding.operators import Kind
from onnxpad.runtimes.onnxruntime import kernels
from onnxpad.runtimes.traps import chain_rule

_MEASURED = "measured with onnxruntime 1.31.1 on the CPU"


auto_pad_with_pads = chain_rule(
    "auto-pad-with-pads",
    f"{_MEASURED} and onnx 1.23.2 (checker, shape inference)",
    target="onnxruntime",
)(kernels.auto_pad_with_pads)


same_with_dilation = chain_rule(
    "same-with-dilation", _MEASURED, passes=["explicit-pads", "runtime-pads"], target="onnxruntime"
)(kernels.same_with_dilation)


same_with_short_kernel = chain_rule(
    "same-with-short-kernel", _MEASURED, passes=["explicit-pads"], target="onnxruntime"
)(kernels.same_with_short_kernel)


@chain_rule(
    "valid-with-ceil-mode",
    f"{_MEASURED}; ONNX Operators.md, MaxPool-22 and AveragePool-22",
    passes=["explicit-pads", "floor-pool"],
)
def valid_with_ceil_mode(chain: Chain) -> str | None:
    """auto_pad is VALID and ceil_mode is 1.

    The formula in the ONNX text for VALID does not round up; onnxruntime and onnx's shape
    inference do. onnxpad follows them. They agree where the windows end at the border.
    """
    if chain.padding is not AutoPad.VALID or not chain.ceil_mode or chain.trouble:
        return None
    if not any(total % axis.stride for axis in chain.axes for total in same_totals(axis)):
        return None
    return (
        "VALID with ceil_mode: onnxruntime and shape inference round up, the formula of the "
        "ONNX text does not"
    )


@chain_rule(
    "transposed-same-short-kernel",
    f"{_MEASURED} and onnx 1.23.2 (shape inference)",
    passes=["plain-transpose"],
)
def transposed_same_short_kernel(chain: Chain) -> str | None:
    """A ConvTranspose with auto_pad SAME has a kernel shorter than its stride.

    The ONNX text wants an output of input*stride cells, which then needs a negative crop.
    onnxruntime and onnx's shape inference do not crop and give fewer cells; so does onnxpad.
    """
    if chain.op.kind is not Kind.TRANSPOSED or not is_same(chain.padding) or chain.output_shape:
        return None
    extra = chain.output_padding or (0,) * chain.rank
    if all(axis.span + more >= axis.stride for axis, more in zip(chain.axes, extra, strict=True)):
        return None
    return (
        "the kernel is shorter than the stride: the ONNX text gives input*stride cells, "
        "onnxruntime and shape inference give fewer"
    )
