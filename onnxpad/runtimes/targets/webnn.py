"""WebNN in browsers, through onnxruntime-web."""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.companions import ARITHMETIC, CROP, JOIN, LOOKUP, RANK
from onnxpad.runtimes.conditions.rows import Condition, miscomputes, read, refuses, takes
from onnxpad.runtimes.targets import Target

_VERSION = "onnxruntime WebNN provider (source of 2026)"
_read = read("microsoft/onnxruntime, core/providers/webnn/builders")
_POOL = _read("impl/pool_op_builder.cc")
_PAD = _read("impl/pad_op_builder.cc")
_MAP = _read("helper.h at 035d40f, op_map")

_NOT_EUCLIDEAN = Condition("p is not 2", lambda c: c.attribute("p", 2) != 2)

TARGET = Target(
    _VERSION,
    (
        takes((*w.WINDOWS, "LpPool", "ConvInteger"), by=_MAP),
        takes(p.PAD, by=_PAD),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *RANK), by=_MAP),
        refuses("QLinearConv", by=_MAP),
        refuses((*w.POOLS, "LpPool"), t.NOT_TWO_D, by=_POOL),
        refuses("LpPool", _NOT_EUCLIDEAN, by=_POOL),
        refuses("MaxPool", w.INDICES, by=_POOL),
        miscomputes("AveragePool", w.COUNTS, w.CUT_WINDOW, by=_POOL),
        refuses(p.PAD, p.COMPUTED, by=_PAD),
        refuses(p.PAD, p.LISTS_AXES, p.VALUE_LEFT_OUT, by=_PAD),
        refuses(p.PAD, p.WRAP, by=_PAD),
    ),
)
