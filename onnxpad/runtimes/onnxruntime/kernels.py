"""What onnxruntime's loader and CPU kernels refuse or compute in their own way, fusion aside.

Each fact stands here once: the traps take their sentences from here, `rows` the conditions of the
targets.
"""

from __future__ import annotations

from onnxpad.geometry.windows import Axis, same_totals
from onnxpad.padding.chain import AutoPad, Chain, Pads, is_same
from onnxpad.padding.effective_pads import effective_pads, output_sizes, short_axis
from onnxpad.padding.forms import mirrors_beyond, reaches_kernel
from onnxpad.padding.operators import Kind

_AVERAGE_SHIFTS_SINCE = 19
_OTHER_FLOATS = frozenset({"float64", "bfloat16"})
_NO_KERNEL = {
    Kind.CONVOLUTION: _OTHER_FLOATS,
    Kind.TRANSPOSED: _OTHER_FLOATS,
    Kind.AVERAGE: _OTHER_FLOATS,
    Kind.LP: _OTHER_FLOATS,
    Kind.MAX: frozenset({"bfloat16"}),
    Kind.PAD: frozenset({"bfloat16", "int16", "uint16"}),
}
_NO_KERNEL_BEFORE = {"AveragePool": 7, "LpPool": 2, "Pad": 2}


def auto_pad_with_pads(chain: Chain) -> str | None:
    """auto_pad and pads are both written on one node.

    The ONNX text forbids it and the checker does not notice. onnxruntime refuses convolutions
    and follows auto_pad in pools; onnx's shape inference follows pads. Settle it with
    --ambiguous auto_pad or --ambiguous pads.
    """
    auto_pad, pads = chain.attribute("auto_pad", ""), chain.attribute("pads", ())
    if not isinstance(pads, tuple) or not chain.op.auto_pad:
        return None
    if auto_pad in ("", "NOTSET") or "pads" not in dict(chain.attributes):
        return None
    both = f"auto_pad={auto_pad} and pads={[int(pad) for pad in pads]} are both written"
    if chain.op.is_pool:
        return f"{both}: onnxruntime follows auto_pad here, onnx's shape inference follows pads"
    return f"{both}: onnxruntime refuses to load it, onnx's shape inference follows pads"


def same_with_dilation(chain: Chain) -> str | None:
    """auto_pad is SAME_UPPER or SAME_LOWER and a dilation is not 1.

    The ONNX text pads for the dilated kernel. onnxruntime refuses to run such convolutions, and
    its pools leave the dilation out, so their output is too small wherever there is more than
    one window. explicit-pads repairs both.
    """
    if not is_same(chain.padding) or chain.trouble:
        return None
    if chain.op.kind is Kind.CONVOLUTION and any(axis.dilation != 1 for axis in chain.axes):
        return f"onnxruntime refuses to run {chain.padding} together with dilations"
    if chain.op.is_pool and any(axis.span != axis.kernel for axis in chain.axes):
        return (
            f"onnxruntime's pools leave the dilation out of {chain.padding}: other pads and output "
            "sizes than in the ONNX text"
        )
    return None


def same_with_short_kernel(chain: Chain) -> str | None:
    """auto_pad is SAME_UPPER or SAME_LOWER and the kernel is shorter than the stride.

    The ONNX text means no padding where the kernel does not reach the next window. onnxruntime
    computes a negative padding: it shifts the windows, or refuses to run MaxPool and (before
    opset 19) AveragePool. explicit-pads repairs it.
    """
    if not (same_is_refused(chain) or same_shifts(chain)):
        return None
    does = "refuses to run the pool" if same_is_refused(chain) else "shifts the windows"
    known = chain.has_fixed_sizes
    where = "" if known else " for some sizes"
    return f"the kernel is shorter than the stride: with {chain.padding} onnxruntime {does}{where}"


def pads_reach_kernel(chain: Chain) -> str | None:
    """A pool has a pad that is as wide as its kernel or wider.

    The ONNX text allows it; onnxruntime refuses to load the model. It compares with the kernel
    as written, not with the dilated one. split-pads moves such pads into a Pad node.
    """
    if not chain.op.is_pool or not isinstance(chain.padding, Pads):
        return None
    if not reaches_kernel(chain, chain.padding):
        return None
    return (
        f"pads={list(chain.padding.flat)} reach the kernel {[a.kernel for a in chain.axes]}: "
        "onnxruntime refuses to load such a pool"
    )


def negative_pads(chain: Chain) -> str | None:
    """The pads attribute of an operator holds a negative number.

    onnx's shape inference and onnxruntime refuse it. Only a Pad node may crop. tf2onnx writes
    such an end pad of ConvTranspose from TFLite; it means output_padding.
    """
    if chain.op.kind is Kind.PAD or not isinstance(chain.padding, Pads):
        return None
    if min(chain.padding.flat, default=0) >= 0:
        return None
    return f"pads={list(chain.padding.flat)} are negative: onnxruntime refuses to load it"


def input_shorter_than_window(chain: Chain) -> str | None:
    """The padded input is shorter than one window.

    The ONNX text gives an output of 0 or fewer cells: the model wants a larger input, or lost a
    Pad. onnx's shape inference gives that size, onnxruntime fails when a convolution runs. Its
    pools round the number of windows towards 0: where less than a stride is missing they give one
    window, of the cells that are there, which the ONNX text has with ceil_mode alone. Measured
    elsewhere: OpenVINO, tinygrad and TVM refuse such a convolution, OpenCV ends the process, IREE
    gives 0 cells where that is the size; of pools, MNN and OpenCV make one window up, TVM gives 0
    cells.
    """
    if chain.op.kind in (Kind.PAD, Kind.TRANSPOSED, Kind.FOLD, Kind.OTHER):
        return None
    pads = effective_pads(chain)
    short = short_axis(chain, pads) if isinstance(pads, Pads) else None
    if short is None or not isinstance(pads, Pads):
        return None
    return f"{short.reason}: {_what_happens(chain, pads)}"


def quantised_average_overhang(chain: Chain) -> str | None:
    """QLinearAveragePool has ceil_mode=1 and count_include_pad=1, and a window hangs over.

    Its divisor should leave out what lies behind the padding; onnxruntime divides by the whole
    kernel, and the last row or column comes out too small.
    """
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


def output_padding_beyond_stride(chain: Chain) -> str | None:
    """output_padding of a ConvTranspose is not smaller than the stride.

    The ONNX text allows it below max(stride, dilation); onnxruntime fails when it runs.
    """
    pairs = zip(chain.axes, chain.output_padding, strict=False)
    if chain.op.kind is not Kind.TRANSPOSED or all(more < axis.stride for axis, more in pairs):
        return None
    return (
        f"output_padding={list(chain.output_padding)} is not smaller than the stride: onnxruntime "
        "fails when it runs"
    )


def reflect_beyond_input(chain: Chain) -> str | None:
    """A Pad in mode reflect mirrors more cells than the input has beside its border.

    onnxruntime fails when it runs; numpy and onnx's reference evaluator go on mirroring.
    """
    if not mirrors_beyond(chain):
        return None
    return "the Pad mirrors more cells than the input has: onnxruntime fails when it runs"


def no_cpu_kernel(chain: Chain) -> str | None:
    """onnxruntime has no CPU kernel for the operator with this element type or opset.

    float64 and bfloat16 convolutions and averages, Pad of 16-bit integers, AveragePool before
    opset 7, LpPool and Pad before opset 2. validate uses onnxpad's own evaluator for them.
    """
    name, kind = chain.op.name, chain.op.kind
    if chain.op.domain == "" and chain.opset < _NO_KERNEL_BEFORE.get(name, 0):
        return f"onnxruntime has no kernel for {name} of opset {chain.opset}"
    if name == "DeformConv" and chain.dtype == "float64":
        return None
    if kind is Kind.PAD and chain.op.domain:
        return None
    if not chain.op.quantised and chain.dtype in _NO_KERNEL.get(kind, ()):
        return f"onnxruntime has no CPU kernel for {chain.op.title} in {chain.dtype}"
    return None


def same_is_refused(chain: Chain) -> bool:
    """Whether a kernel checks the negative padding that onnxruntime counts for SAME."""
    if not _is_plain_same(chain) or not chain.op.is_pool or not _checks_pads(chain):
        return False
    return min(_totals(chain)) < 0


def same_shifts(chain: Chain) -> bool:
    """Whether windows begin inside the data by the negative padding counted for SAME."""
    if not is_same(chain.padding) or chain.trouble or same_is_refused(chain):
        return False
    lower = chain.padding is AutoPad.SAME_LOWER
    if chain.op.is_pool and not (_is_plain_same(chain) and _checks_pads(chain)):
        return any(_begin(total, lower=lower) < 0 for total in _totals(chain))
    if chain.op.kind is Kind.CONVOLUTION and _is_plain_same(chain):
        return any(_shifts(axis, lower=lower) for axis in chain.axes)
    return False


def _is_plain_same(chain: Chain) -> bool:
    plain = all(axis.dilation == 1 for axis in chain.axes)
    return is_same(chain.padding) and not chain.trouble and plain


def _totals(chain: Chain) -> list[int]:
    """Cells, perhaps negative, that pools add for SAME: they leave the dilation out."""
    undilated = (axis._replace(dilation=1) for axis in chain.axes)
    return [total for axis in undilated for total in same_totals(axis)] or [0]


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
    totals = list(same_totals(axis))
    if isinstance(axis.size, int):
        windows = -(-axis.size // axis.stride)
        more = int((axis.size + 2 * totals[0] - axis.kernel) / axis.stride + 1) < windows
        totals = [totals[0] + more]
    return any(_begin(total, lower=lower) < 0 for total in totals)


def _what_happens(chain: Chain, pads: Pads) -> str:
    """What onnxruntime does with an input that is shorter than the window."""
    if not chain.op.is_pool:
        return "onnxruntime fails when it runs"
    sides = chain.sides(pads)
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
    return f"the ONNX text gives no window, onnxruntime one, of {cells}"


def _hangs_over(axis: Axis, windows: object, begin: int, end: int) -> bool:
    if not isinstance(windows, int) or not isinstance(axis.size, int):
        return True
    return (windows - 1) * axis.stride + axis.span > axis.size + begin + end
