"""tract."""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import ARITHMETIC, CROP, JOIN, LOOKUP, RANK
from onnxpad.runtimes.conditions.rows import miscomputes, read, refuses, takes, untried
from onnxpad.runtimes.targets import Target

_VERSION = "tract 38b383f"
_read = read("sonos/tract 38b383f, onnx/src/ops")
_NN = _read("nn/mod.rs")
_PAD = _read("array/pad.rs")

TARGET = Target(
    _VERSION,
    (
        takes(("Conv", *w.POOLS), by=_NN),
        takes(w.TRANSPOSED, by=_read("nn/conv_transpose.rs")),
        takes(w.QUANTISED, by=_read("nn/conv.rs")),
        takes(p.PAD, by=_PAD),
        takes(
            (*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *RANK), by=_read("array/mod.rs and math/mod.rs")
        ),
        untried("LpPool", by=_NN),
        refuses(p.PAD, p.COMPUTED, by=_PAD),
        refuses(p.PAD, p.WRAP, by=_PAD),
        miscomputes(p.PAD, p.CROPS, by=_PAD),
    ),
)
