"""tinygrad's ONNX frontend."""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.companions import (
    ARITHMETIC,
    CROP,
    PADDED_ACTIVATION,
    RANK,
)
from onnxpad.runtimes.conditions.rows import measured, miscomputes, refuses, takes
from onnxpad.runtimes.conditions.tensors import ONE_D
from onnxpad.runtimes.targets import Target

_VERSION = "tinygrad 0.14.0, CPU, clang 14"
_seen = measured(_VERSION)

_LOSES_VALUE = "the kernel that tinygrad makes of them may write another value into the padding"

TARGET = Target(
    _VERSION,
    (
        takes(w.WINDOWS, by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(p.PAD, by=_seen("Pad of every mode, computed pads too")),
        takes(w.QUANTISED, by=_seen("QLinearConv and ConvInteger, uint8 and int8")),
        takes((*CROP, *ARITHMETIC, *RANK), by=_seen("rewritten forms")),
        refuses("QLinearConv", ONE_D, by=_seen("QLinearConv along one axis")),
        refuses("LpPool", by=_seen("LpPool")),
        miscomputes(("Conv", *w.POOLS), w.SAME, w.SPREAD, by=_seen("SAME with dilations")),
        miscomputes(
            w.TRANSPOSED,
            w.NOTHING_TO_CROP,
            by=_seen("SAME ConvTranspose, kernels below the stride"),
        ),
        miscomputes(
            ("Conv", *w.POOLS), w.SAME_CUTS_BEGIN, by=_seen("SAME with kernels below the stride")
        ),
        miscomputes(w.TRANSPOSED, w.VALID, by=_seen("ConvTranspose with VALID")),
        miscomputes(
            PADDED_ACTIVATION,
            by=_seen("Pads behind averages and activations"),
            says=_LOSES_VALUE,
        ),
        miscomputes("MaxPool", w.INDICES, by=_seen("MaxPool with Indices")),
    ),
)
