"""candle, models through candle-onnx."""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import ARITHMETIC, CROP, JOIN, LOOKUP, RANK
from onnxpad.runtimes.conditions.rows import read, refuses, takes
from onnxpad.runtimes.targets import Target

_VERSION = "candle-onnx 2a13b0f"
_EVAL = read("huggingface/candle 2a13b0f")("candle-onnx/src/eval.rs")

TARGET = Target(
    _VERSION,
    (
        takes(("Conv", *w.POOLS), by=_EVAL),
        takes(p.PAD, by=_EVAL),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *RANK), by=_EVAL),
        refuses((*w.TRANSPOSED, "LpPool", *w.QUANTISED), by=_EVAL),
        refuses("Conv", w.AUTO_PAD, by=_EVAL),
        refuses("Conv", w.UNEQUAL_STEPS, by=_EVAL),
        refuses("Conv", t.THREE_D, by=_EVAL),
        refuses(w.POOLS, w.AUTO_PAD, by=_EVAL),
        refuses(w.POOLS, w.PADDED, by=_EVAL),
        refuses(w.POOLS, w.DILATED, by=_EVAL),
        refuses(w.POOLS, t.NOT_TWO_D, by=_EVAL),
        refuses(p.PAD, ~p.REFLECT, by=_EVAL),
        refuses(p.PAD, p.VALUE_GIVEN | p.LISTS_AXES, by=_EVAL),
    ),
)
