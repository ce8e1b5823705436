"""What onnxruntime's loader and CPU kernels refuse or compute in their own way, as predicates.

`FACTS` are what the rules of `tables.toml` and traps ask besides the shared vocabulary.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from onnxpad.geometry.windows import Axis, same_totals
from onnxpad.padding.chain import AutoPad, Chain, Pads, Skip, is_same
from onnxpad.padding.effective_pads import (
    axes_in_front,
    effective_pads,
    short_axis,
)
from onnxpad.padding.forms import reaches_kernel
from onnxpad.padding.operators import Kind
from onnxpad.runtimes.conditions.rows import Condition
from onnxpad.runtimes.conditions.words import AGAINST_TEXT, WORDS
from onnxpad.runtimes.onnxruntime.pad_fusion import Way, fused_pads, harms, loses_count

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
_MOST_AXES = 2
"""Of a convolution that WebGPU makes a matrix product of."""
_NO_KERNEL_BEFORE = {"AveragePool": 7, "LpPool": 2, "Pad": 2}


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
    if chain.op.is_pool:
        return any(_begin(total, lower=lower) < 0 for total in _totals(chain))
    is_plain = chain.op.kind is Kind.CONVOLUTION and _is_plain_same(chain)
    return is_plain and any(_shifts(axis, lower=lower) for axis in chain.axes)


def pads_reach_kernel(chain: Chain) -> bool:
    """Whether a pool has a pad as wide as its undilated kernel."""
    padding = chain.padding
    return chain.op.is_pool and isinstance(padding, Pads) and reaches_kernel(chain, padding)


def is_shorter_than_window(chain: Chain) -> bool:
    """Whether the padded input is shorter than one window.

    Convolutions stop. Pools round the number of windows towards 0: where less than a stride is
    missing they give one window, which the ONNX text has with ceil_mode alone.
    """
    if chain.op.kind in (Kind.PAD, Kind.TRANSPOSED, Kind.OTHER):
        return False
    pads = effective_pads(chain)
    return isinstance(pads, Pads) and short_axis(chain, pads) is not None


def average_overhangs(chain: Chain) -> bool:
    """Whether a QLinearAveragePool that counts padding may have a window that ceil_mode hangs over.

    onnxruntime divides it by the whole kernel.
    """
    counts = chain.op.quantised and chain.op.kind is Kind.AVERAGE and chain.counts_padding
    return counts and WORDS["last_window_cut"].holds(chain) is not False


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


def _is_product(chain: Chain) -> bool:
    """Whether WebGPU makes a matrix product of a convolution that pads at its ends alone.

    Where the kernel is one cell, or as large as the input, it looks at the begin pads alone
    (core/providers/webgpu/nn/conv.cc, and conv.ts of js/web). A Pad that onnxruntime folds counts;
    sizes that the file leaves open are taken to be no kernel's.
    """
    own, front = effective_pads(chain), fused_pads(chain) or Pads.zero(chain.rank)
    if isinstance(own, Skip) or chain.rank > _MOST_AXES or chain.attribute("group", 1) != 1:
        return False
    pads, axes = own + front, axes_in_front(chain, front)
    if any(pads.begins) or not any(pads.ends):
        return False
    single = all(axis.kernel == axis.stride == 1 for axis in axes)
    return single or all(axis.kernel == axis.size for axis in axes)


def _harmed(way: Way, chain: Chain) -> bool:
    return way in harms(chain)


_TESTS: Mapping[str, Callable[[Chain], bool]] = {
    "same_with_dilation": same_with_dilation,
    "same_shifts": same_shifts,
    "same_is_refused": same_is_refused,
    "pads_written_reach_kernel": pads_reach_kernel,
    "shorter_than_window": is_shorter_than_window,
    "output_padding_beyond_stride": has_output_padding_beyond_stride,
    "average_overhangs": average_overhangs,
    "no_cpu_kernel": has_no_cpu_kernel,
    "int8_weight": lambda chain: chain.weight.dtype == "int8",
    "matrix_product": _is_product,
    "fused_weight": partial(_harmed, Way.WEIGHT),
    "fused_value": partial(_harmed, Way.VALUE),
    "fused_window": partial(_harmed, Way.WINDOW),
    "fused_beyond_kernel": partial(_harmed, Way.LOAD),
    "fused_beside_identity": partial(_harmed, Way.COPY),
    "fused_uncounted": loses_count,
}
TABLES: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("tables.toml").read_text("utf-8")
)
"""The shared rules, each with the name of its table, and a sentence for each fact."""
FACTS: Mapping[str, Condition] = {
    "against_text": AGAINST_TEXT,
    **{name: Condition(text, _TESTS[name]) for name, text in TABLES["facts"].items()},
}
