"""NVIDIA TensorRT through onnx-tensorrt."""

from __future__ import annotations

from onnxpad.padding.chain import AutoPad
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import ARITHMETIC, CROP, JOIN, LOOKUP, RANK
from onnxpad.runtimes.conditions.rows import Condition, miscomputes, read, refuses, takes
from onnxpad.runtimes.targets import Target

_VERSION = "onnx-tensorrt 96e7811 (TensorRT 10.0)"
_read = read(_VERSION)
_IMPORTERS = _read("onnxOpImporters.cpp")
_CHECKERS = _read("onnxOpCheckers.cpp")
_PADDING = _read("importerUtils.cpp, generatePadding")

_AMBIGUOUS = Condition(
    "auto_pad and pads are both written",
    lambda c: c.padding in AutoPad.__members__.values() and w.writes(c, "pads"),
)

TARGET = Target(
    _VERSION,
    (
        takes(w.WINDOWS, by=_read("onnxOpImporters.cpp, asymmetric pads as pre and post padding")),
        takes(p.PAD, by=_IMPORTERS),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *RANK), by=_read("docs/operators.md")),
        refuses(w.QUANTISED, by=_read("docs/operators.md")),
        refuses("MaxPool", w.INDICES, by=_CHECKERS),
        refuses((*w.POOLS, "LpPool"), w.DILATED, by=_CHECKERS),
        refuses(w.WINDOWS, _AMBIGUOUS, by=_read("importerUtils.cpp, getKernelParams")),
        miscomputes(w.TRANSPOSED, w.ODD_OUTPUT_SHAPE, by=_PADDING),
        miscomputes(w.TRANSPOSED, w.AUTO_PAD, w.OUTPUT_PADDING, by=_IMPORTERS),
        refuses(w.TRANSPOSED, w.NEGATIVE_BEGIN, by=_IMPORTERS),
    ),
    also=("trt",),
)
