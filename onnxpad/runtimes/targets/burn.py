"""burn, models through burn-onnx."""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.companions import ARITHMETIC, CROP, JOIN, LOOKUP, RANK
from onnxpad.runtimes.conditions.rows import read, refuses, takes, untried
from onnxpad.runtimes.targets import Target

_VERSION = "burn-onnx 7db1e20"
_read = read("tracel-ai/burn-onnx 7db1e20, crates")
_PADDING = _read("onnx-ir/src/node/padding.rs")
_TRANSPOSED = _read("onnx-ir/src/node/conv_transpose2d.rs")
_PAD = _read("onnx-ir/src/node/pad.rs")
_CODE = _read("burn-onnx/src/burn/codegen.rs")

TARGET = Target(
    _VERSION,
    (
        takes(("Conv", *w.POOLS), by=_PADDING),
        takes(w.TRANSPOSED, by=_TRANSPOSED),
        takes(p.PAD, by=_PAD),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *RANK), by=_read("onnx-ir/src/node")),
        untried(("LpPool", *w.QUANTISED), by=_PADDING),
        refuses(w.TRANSPOSED, w.AUTO_PAD, by=_TRANSPOSED),
        refuses(w.TRANSPOSED, w.EXPLICIT_ASYMMETRIC, by=_TRANSPOSED),
        refuses(w.WINDOWS, w.NEGATIVE_PADS, by=_PADDING),
        refuses(("Conv", *w.POOLS), t.THREE_D, w.ASYMMETRIC, by=_CODE),
        refuses(("Conv", *w.POOLS), w.SAME, t.UNKNOWN_SPATIAL_SIZES, by=_CODE),
        refuses(p.PAD, p.COMPUTED, by=_PAD),
    ),
    also=("burn-onnx",),
)
