"""onnxruntime-web with WebAssembly."""

from __future__ import annotations

from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.pads import PAD
from onnxpad.runtimes.conditions.plain_facts import EVERYTHING
from onnxpad.runtimes.conditions.rows import measured, refuses, takes
from onnxpad.runtimes.onnxruntime.rows import (
    fusion_rows,
    loader_rows,
    older_rows,
    rows_of_1_23,
    wrap_rows,
)
from onnxpad.runtimes.targets import Target

_VERSION = "onnxruntime-web 1.30.0, wasm, Node 20.20.2"
_RELEASES = ("1.20", "1.23", "1.27", "1.30")
_seen = measured(_VERSION)

TARGET = Target(
    _VERSION,
    (
        takes((*w.WINDOWS, "LpPool"), by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(PAD, by=_seen("Pad of every mode, opsets 9 to 21")),
        takes(w.QUANTISED, by=_seen("QLinearConv and ConvInteger, uint8 and int8")),
        takes(EVERYTHING, by=_seen("rewritten forms with Slice, Concat, Gather and arithmetic")),
        refuses(w.POOLS, w.DROPPED_WINDOW, by=_seen("ceil_mode windows that start in padding")),
        *loader_rows(_seen),
        *fusion_rows(_seen),
        *wrap_rows(_seen),
        *rows_of_1_23("onnxruntime-web"),
        *older_rows("onnxruntime-web", _RELEASES),
    ),
    also=("ort-web",),
    releases=_RELEASES,
)
