"""XNNPACK through onnxruntime."""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.rows import miscomputes, read, refuses, takes
from onnxpad.runtimes.targets import Target

_VERSION = "onnxruntime XNNPACK provider (source of 2026)"
_read = read("microsoft/onnxruntime, core/providers/xnnpack")
_PADDING = _read("detail/utils.cc, IsPaddingTypeSupported")
_CONV = _read("nn/conv_base.cc")
_POOLS = _read("nn/max_pool.cc and nn/average_pool.cc")

_UNKNOWN_FEATURE_SIZES = t.left_open(
    1, "a size other than the batch is open, or known from --dim only"
)

TARGET = Target(
    _VERSION,
    (
        takes(("Conv", "QLinearConv", *w.TRANSPOSED), by=_CONV),
        takes(w.POOLS, by=_POOLS),
        refuses(("LpPool", "ConvInteger", *p.PAD), by=_read("xnnpack_execution_provider.cc")),
        refuses(("Conv", *w.TRANSPOSED, *w.POOLS), w.SAME_LOWER, by=_PADDING),
        refuses("Conv", t.opset_below(11), by=_CONV),
        refuses(("Conv", *w.TRANSPOSED), t.NOT_TWO_D, by=_CONV),
        refuses(("Conv", *w.TRANSPOSED), w.WEIGHT_COMPUTED, by=_CONV),
        refuses(("Conv", *w.TRANSPOSED, *w.POOLS), _UNKNOWN_FEATURE_SIZES, by=_CONV),
        refuses(w.POOLS, t.NOT_TWO_D, by=_POOLS),
        refuses(w.POOLS, w.CEIL_MODE, by=_POOLS),
        refuses("MaxPool", w.INDICES, by=_POOLS),
        refuses(w.POOLS, w.KERNEL_OF_ONE, by=_POOLS),
        refuses("AveragePool", w.COUNTS, by=_POOLS),
        miscomputes("MaxPool", w.UNEQUAL_STEPS, w.DILATED, by=_read("nn/max_pool.cc")),
    ),
)
