"""JAX, models through jaxonnxruntime."""

from __future__ import annotations

from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import BRANCH, CALLS, DEQUANTISES, INLINED
from onnxpad.runtimes.conditions.rows import measured, refuses, takes
from onnxpad.runtimes.targets import Target

_VERSION = "jaxonnxruntime 0.3.0, jax 0.10.2"
_seen = measured(_VERSION)

TARGET = Target(
    _VERSION,
    (
        takes(("Conv", *w.POOLS), by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(("Conv", *w.POOLS), w.NEGATIVE_PADS, t.TWO_D, by=_seen("2-D negative pads")),
        takes(p.PAD, by=_seen("Pad of every mode")),
        refuses(CALLS, INLINED, by=_seen("calls of local functions")),
        refuses((*w.TRANSPOSED, "LpPool"), by=_seen("operators that it has")),
        refuses(BRANCH, by=_seen("If")),
        refuses(DEQUANTISES, by=_seen("QuantizeLinear and DequantizeLinear alone")),
        refuses(w.QUANTISED, by=_seen("QLinearConv and ConvInteger")),
        refuses("Conv", f.DEQUANTISED, by=_seen("convolutions behind DequantizeLinear")),
        refuses(w.POOLS, w.CEIL_MODE, by=_seen("pools with ceil_mode")),
        refuses("MaxPool", w.INDICES, by=_seen("MaxPool with Indices")),
        refuses("AveragePool", w.DILATED, by=_seen("averages with dilations")),
        refuses(p.PAD, p.CROPS, by=_seen("negative pads")),
        refuses(p.PAD, t.opset_is(11, 12), by=_seen("Pad of opset 11")),
        refuses(p.PAD, t.opset_above(20), by=_seen("Pad of opset 21")),
        refuses(p.PAD, p.COMPUTED, ~p.PADS_FED, by=_seen("pads computed with Mod")),
    ),
    frameworks=("jax",),
)
