"""burn, models through burn-onnx."""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import ARITHMETIC, CROP, JOIN, LOOKUP, RANK
from onnxpad.runtimes.conditions.rows import read, refuses, takes, until, untried
from onnxpad.runtimes.targets import Target

_VERSION = "burn-onnx 7db1e20 (0.21)"
_read = read("tracel-ai/burn-onnx 7db1e20, crates")
_PADDING = _read("onnx-ir/src/node/padding.rs")
_TRANSPOSED = _read("onnx-ir/src/node/conv_transpose2d.rs")
_PAD = _read("onnx-ir/src/node/pad.rs")
_CODE = _read("burn-onnx/src/burn/codegen.rs")
_in_0_19 = read("tracel-ai/burn 00ea265 and 014c449 (0.19), crates/onnx-ir/src/node")
_OLD_PADDING, _OLD_PAD = _in_0_19("padding.rs"), _in_0_19("pad.rs")

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
        *until(
            "0.19",
            refuses(("Conv", *w.POOLS), w.ASYMMETRIC, by=_OLD_PADDING),
            refuses(("Conv", *w.POOLS), w.SAME, by=_OLD_PADDING),
            refuses(p.PAD, ~p.CONSTANT, by=_OLD_PAD),
            refuses(p.PAD, p.CROPS | p.LISTS_AXES | p.BEYOND_LAST_TWO, by=_OLD_PAD),
        ),
    ),
    also=("burn-onnx",),
    releases=("0.19", "0.21"),
)
