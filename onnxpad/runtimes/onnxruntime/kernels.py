"""What onnxruntime's loader and CPU kernels refuse or compute in their own way, fusion aside.

One predicate a fact: `rows` makes rows of the targets of them, `traps` says them of a model.
"""

from __future__ import annotations

from onnxpad.geometry.windows import Axis, same_totals
from onnxpad.padding.chain import AutoPad, Chain, Pads, is_same
from onnxpad.padding.effective_pads import effective_pads, output_sizes, short_axis
from onnxpad.padding.forms import reaches_kernel
from onnxpad.padding.operators import Kind

_AVERAGE_SHIFTS_SINCE = 19
_OTHER_FLOATS = frozenset({"float64", "bfloat16"})
_NO_KERNEL = {
    Kind.CONVOLUTION: _OTHER_FLOATS,
    Kind.TRANSPOSED: _OTHER_FLOATS,
    Kind.AVERAGE: _OTHER_FLOATS,
    Kind.LP: _OTHER_FLOATS,
    Kind.MAX: frozenset({"bfloat16"}),
    Kind.PAD: frozenset({"bfloat16", "int16", "uint16", "string"}),
}
_NO_KERNEL_BEFORE = {"AveragePool": 7, "LpPool": 2, "Pad": 2}


def writes_auto_pad_and_pads(chain: Chain) -> bool:
    """Whether auto_pad and pads are both written: convolutions are refused, pools take auto_pad."""
    written = dict(chain.attributes)
    mode = written.get("auto_pad", "")
    return chain.op.auto_pad and mode not in ("", "NOTSET") and "pads" in written


def same_with_dilation(chain: Chain) -> bool:
    """Whether SAME meets a dilation: convolutions are refused, pools leave the dilation out."""
    if not is_same(chain.padding) or chain.trouble:
        return False
    if chain.op.kind is Kind.CONVOLUTION:
        return any(axis.dilation != 1 for axis in chain.axes)
    return chain.op.is_pool and any(axis.span != axis.kernel for axis in chain.axes)


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


def pads_reach_kernel(chain: Chain) -> bool:
    """Whether a pool has a pad as wide as its undilated kernel."""
    padding = chain.padding
    return chain.op.is_pool and isinstance(padding, Pads) and reaches_kernel(chain, padding)


def has_negative_pads(chain: Chain) -> bool:
    """Whether an operator, which is no Pad node, has a negative pad."""
    if chain.op.kind is Kind.PAD or not isinstance(chain.padding, Pads):
        return False
    return min(chain.padding.flat, default=0) < 0


def is_shorter_than_window(chain: Chain) -> bool:
    """Whether the padded input is shorter than one window.

    Convolutions stop. Pools round the number of windows towards 0: where less than a stride is
    missing they give one window, which the ONNX text has with ceil_mode alone.
    """
    if chain.op.kind in (Kind.PAD, Kind.TRANSPOSED, Kind.FOLD, Kind.OTHER):
        return False
    pads = effective_pads(chain)
    return isinstance(pads, Pads) and short_axis(chain, pads) is not None


def average_overhangs(chain: Chain) -> bool:
    """Whether a QLinearAveragePool that counts padding has a window that ceil_mode hangs over.

    onnxruntime divides it by the whole kernel.
    """
    counts = chain.op.quantised and chain.op.kind is Kind.AVERAGE and chain.counts_padding
    pads, windows = effective_pads(chain), output_sizes(chain)
    if not counts or not chain.ceil_mode or isinstance(chain.padding, AutoPad):
        return False
    if not isinstance(pads, Pads):
        return False
    for (axis, begin, end), count in zip(chain.sides(pads), windows, strict=True):
        if not isinstance(count, int) or not isinstance(axis.size, int):
            return True
        if (count - 1) * axis.stride + axis.span > axis.size + begin + end:
            return True
    return False


def has_output_padding_beyond_stride(chain: Chain) -> bool:
    """Whether an output_padding is not smaller than the stride: onnxruntime stops."""
    pairs = zip(chain.axes, chain.output_padding, strict=False)
    return chain.op.kind is Kind.TRANSPOSED and any(more >= axis.stride for axis, more in pairs)


def has_no_cpu_kernel(chain: Chain) -> bool:
    """Whether there is no CPU kernel for the element type or the opset."""
    name, kind = chain.op.name, chain.op.kind
    if chain.op.domain == "" and chain.opset < _NO_KERNEL_BEFORE.get(name, 0):
        return True
    if (name == "DeformConv" and chain.dtype == "float64") or chain.op.quantised:
        return False
    if kind is Kind.PAD and chain.op.domain:
        return False
    return chain.dtype in _NO_KERNEL.get(kind, ())


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
