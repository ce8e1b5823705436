"""XNNPACK through onnxruntime, which leaves to its own CPU kernels what it does not take."""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.rows import falls_back, miscomputes, read, takes
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
        falls_back(("LpPool", "ConvInteger", *p.PAD), by=_read("xnnpack_execution_provider.cc")),
        falls_back(("Conv", *w.TRANSPOSED, *w.POOLS), w.SAME_LOWER, by=_PADDING),
        falls_back("Conv", t.opset_below(11), by=_CONV),
        falls_back(("Conv", *w.TRANSPOSED), t.NOT_TWO_D, by=_CONV),
        falls_back(("Conv", *w.TRANSPOSED), w.WEIGHT_COMPUTED, by=_CONV),
        falls_back(("Conv", *w.TRANSPOSED, *w.POOLS), _UNKNOWN_FEATURE_SIZES, by=_CONV),
        falls_back(w.POOLS, t.NOT_TWO_D, by=_POOLS),
        falls_back(w.POOLS, w.CEIL_MODE, by=_POOLS),
        falls_back("MaxPool", w.INDICES, by=_POOLS),
        falls_back(w.POOLS, w.KERNEL_OF_ONE, by=_POOLS),
        falls_back("AveragePool", w.COUNTS, by=_POOLS),
        miscomputes("MaxPool", w.UNEQUAL_STEPS, w.DILATED, by=_read("nn/max_pool.cc")),
    ),
)
