"""auto_pad, where runtimes leave the ONNX text or contradict each other."""

from __future__ import annotations

from onnxpad.geometry.size import residues
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import AutoPad, Chain
from onnxpad.padding.operators import Kind
from onnxpad.runtimes.traps import Surroundings, rule

_SAME = (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER)
_MEASURED = "measured with onnxruntime 1.31.1 on the CPU"
_AVERAGE_SHIFTS_SINCE = 19


@rule("auto-pad-with-pads", f"{_MEASURED} and onnx 1.23.2 (checker, shape inference)")
def auto_pad_with_pads(chain: Chain, around: Surroundings) -> str | None:
    """auto_pad and pads are both written on one node.

    The ONNX text forbids it and the checker does not notice. onnxruntime refuses convolutions
    and follows auto_pad in pools; onnx's shape inference follows pads. Settle it with
    --ambiguous auto_pad or --ambiguous pads.
    """
    if around.pads is None or around.auto_pad in ("", "NOTSET") or not chain.op.auto_pad:
        return None
    both = f"auto_pad={around.auto_pad} and pads={list(around.pads)} are both written"
    if chain.op.is_pool:
        return f"{both}: onnxruntime follows auto_pad here, onnx's shape inference follows pads"
    return f"{both}: onnxruntime refuses to load it, onnx's shape inference follows pads"


@rule("same-with-dilation", _MEASURED, passes=["explicit-pads", "runtime-pads"])
def same_with_dilation(chain: Chain, around: Surroundings) -> str | None:
    """auto_pad is SAME_UPPER or SAME_LOWER and a dilation is not 1.

    The ONNX text pads for the dilated kernel. onnxruntime refuses to run such convolutions, and
    its pools leave the dilation out, so their output is too small wherever there is more than
    one window. explicit-pads repairs both.
    """
    del around
    if chain.padding not in _SAME or chain.trouble:
        return None
    if chain.op.kind is Kind.CONVOLUTION and any(axis.dilation != 1 for axis in chain.axes):
        return f"onnxruntime refuses to run {chain.padding} together with dilations"
    if chain.op.is_pool and any(axis.span != axis.kernel for axis in chain.axes):
        return (
            f"onnxruntime's pools leave the dilation out of {chain.padding}: other pads and output "
            "sizes than in the ONNX text"
        )
    return None


@rule("same-with-short-kernel", _MEASURED, passes=["explicit-pads"])
def same_with_short_kernel(chain: Chain, around: Surroundings) -> str | None:
    """auto_pad is SAME_UPPER or SAME_LOWER and the kernel is shorter than the stride.

    The ONNX text means no padding where the kernel does not reach the next window. onnxruntime
    computes a negative padding: it shifts the windows, or refuses to run MaxPool and (before
    opset 19) AveragePool. explicit-pads repairs it.
    """
    del around
    if chain.padding not in _SAME or chain.trouble:
        return None
    lower, plain = chain.padding is AutoPad.SAME_LOWER, all(a.dilation == 1 for a in chain.axes)
    totals = [axis.kernel - end for axis in chain.axes for end in _ends(axis)]
    if chain.op.is_pool and plain and _checks_pads(chain):
        wrong, does = min(totals) < 0, "refuses to run the pool"
    elif chain.op.is_pool:
        wrong, does = any(_begin(total, lower=lower) < 0 for total in totals), "shifts the windows"
    elif chain.op.kind is Kind.CONVOLUTION and plain:
        wrong = any(_shifts(axis, lower=lower) for axis in chain.axes)
        does = "shifts the windows"
    else:
        return None
    if not wrong:
        return None
    known = all(isinstance(axis.size, int) for axis in chain.axes)
    where = "" if known else " for some sizes"
    return f"the kernel is shorter than the stride: with {chain.padding} onnxruntime {does}{where}"


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


def _ends(axis: Axis) -> tuple[int, ...]:
    """The distances of the input's end from the last window's start that the size allows."""
    if axis.size is None:
        return tuple(range(1, axis.stride + 1))
    return tuple((rest - 1) % axis.stride + 1 for rest in residues(axis.size, axis.stride))


def _begin(total: int, *, lower: bool) -> int:
    """The begin pad that onnxruntime makes of a total, which may be negative: it rounds to 0."""
    return int((total + lower) / 2)


def _checks_pads(chain: Chain) -> bool:
    """Whether onnxruntime's kernel refuses negative pads, rather than shifting the windows."""
    return chain.op.kind is Kind.MAX or (
        chain.op.kind is Kind.AVERAGE and chain.opset < _AVERAGE_SHIFTS_SINCE
    )


def _shifts(axis: Axis, *, lower: bool) -> bool:
    """Whether onnxruntime starts the first window of a SAME convolution inside the data."""
    totals = [axis.kernel - end for end in _ends(axis)]
    if isinstance(axis.size, int):
        windows = -(-axis.size // axis.stride)
        more = int((axis.size + 2 * totals[0] - axis.kernel) / axis.stride + 1) < windows
        totals = [totals[0] + more]
    return any(_begin(total, lower=lower) < 0 for total in totals)
