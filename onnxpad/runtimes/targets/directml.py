"""DirectML through onnxruntime."""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import ARITHMETIC, CROP, JOIN, LOOKUP, RANK
from onnxpad.runtimes.conditions.rows import miscomputes, read, refuses, takes, untried
from onnxpad.runtimes.targets import Target

_VERSION = "onnxruntime DirectML provider (source of 2024)"
_read = read("microsoft/onnxruntime, core/providers/dml/DmlExecutionProvider/src/Operators")
_PAD = _read("DmlOperatorPadding.cpp")
_POOL = _read("DmlOperatorPooling.cpp")

TARGET = Target(
    _VERSION,
    (
        takes((*w.WINDOWS, "LpPool"), by=_POOL),
        takes(p.PAD, by=_PAD),
        untried("AveragePool", w.DILATED, by=_POOL),
        refuses("MaxPool", w.COLUMNS_FIRST, by=_POOL),
        refuses(p.PAD, p.LISTS_AXES, by=_PAD),
        refuses(p.PAD, p.COMPUTED, by=_PAD),
        refuses(p.PAD, p.WRAP, by=_PAD),
        miscomputes(p.PAD, p.CROPS, ~t.opset_below(11), by=_PAD),
        miscomputes(p.PAD, p.CONSTANT, p.MODE_UNWRITTEN, by=_PAD),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *RANK), by=_read("OperatorRegistration.cpp")),
    ),
    also=("dml",),
)
