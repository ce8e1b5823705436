"""WebNN in browsers, through onnxruntime-web, which leaves to the CPU what it does not take."""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import ARITHMETIC, CROP, JOIN, LOOKUP, RANK
from onnxpad.runtimes.conditions.rows import (
    Condition,
    falls_back,
    miscomputes,
    read,
    reported,
    takes,
)
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
        falls_back("QLinearConv", by=_MAP),
        falls_back((*w.POOLS, "LpPool"), t.NOT_TWO_D, by=_POOL),
        falls_back("LpPool", _NOT_EUCLIDEAN, by=_POOL),
        falls_back("MaxPool", w.INDICES, by=_POOL),
        miscomputes("AveragePool", w.COUNTS, w.CUT_WINDOW, by=_POOL),
        falls_back(p.PAD, p.COMPUTED, by=_PAD),
        falls_back(p.PAD, p.LISTS_AXES, p.VALUE_LEFT_OUT, by=_PAD),
        falls_back(p.PAD, p.WRAP, by=_PAD),
        falls_back(
            p.PAD,
            p.EDGE,
            by=reported("webmachinelearning/webnn issue 877", "edge where TFLite is behind it"),
        ),
    ),
)
