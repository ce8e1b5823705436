"""PyTorch, models through onnx2torch."""

from __future__ import annotations

from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import (
    ARITHMETIC,
    BRANCH,
    CALLS,
    CROP,
    DEQUANTISES,
    DISORDER,
    INLINED,
    INPUT_CROP,
    JOIN,
    LIMIT,
    LOOKUP,
    SORTED,
)
from onnxpad.runtimes.conditions.rows import OTHER_SHAPE, measured, miscomputes, refuses, takes
from onnxpad.runtimes.targets import Target

_VERSION = "onnx2torch 1.5.15, torch 2.13.0"
_seen = measured(_VERSION)

TARGET = Target(
    _VERSION,
    (
        takes(w.WINDOWS, by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(p.PAD, by=_seen("Pad up to opset 13 without constant_value")),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *LIMIT), by=_seen("rewritten forms")),
        refuses(("Slice", *INPUT_CROP), t.opset_below(10), by=_seen("Slice of opset 9")),
        refuses("Identity", t.opset_above(18), by=_seen("Identity of opset 19 and newer")),
        refuses(w.WINDOWS, t.opset_above(21), by=_seen("operators of opset 22 and newer")),
        refuses(CALLS, INLINED, by=_seen("calls of local functions")),
        refuses(DISORDER, SORTED, by=_seen("nodes in front of what they read")),
        refuses(BRANCH, by=_seen("If")),
        takes(
            ("Conv", "MaxPool"),
            w.NEGATIVE_PADS,
            w.EXPLICIT_ASYMMETRIC,
            t.TWO_D,
            by=_seen("2-D negative pads that differ"),
        ),
        refuses(
            ("Conv", *w.POOLS),
            w.CUT_OFF,
            ~w.EXPLICIT_ASYMMETRIC,
            by=_seen("negative pads, equal at begin and end"),
        ),
        refuses(
            w.TRANSPOSED,
            w.NEGATIVE_PADS,
            ~w.EXPLICIT_ASYMMETRIC,
            by=_seen("negative pads of ConvTranspose"),
        ),
        refuses("LpPool", by=_seen("LpPool")),
        refuses("MaxPool", t.opset_below(8), by=_seen("MaxPool of opset 7")),
        refuses(w.QUANTISED, by=_seen("QLinearConv and ConvInteger")),
        refuses(DEQUANTISES, by=_seen("QuantizeLinear and DequantizeLinear alone")),
        refuses("Conv", f.DEQUANTISED, by=_seen("convolutions behind DequantizeLinear")),
        refuses(w.WINDOWS, w.SAME, by=_seen("SAME")),
        refuses("Conv", w.WEIGHT_COMPUTED, by=_seen("convolutions with computed weights")),
        refuses(w.TRANSPOSED, w.EXPLICIT_ASYMMETRIC, by=_seen("asymmetric ConvTranspose")),
        miscomputes(
            w.TRANSPOSED, w.OUTPUT_SHAPE, by=_seen("output_shape: ignored"), does=OTHER_SHAPE
        ),
        miscomputes("MaxPool", w.INDICES, by=_seen("MaxPool with Indices")),
        refuses("MaxPool", t.element_type("uint8"), by=_seen("MaxPool of uint8")),
        refuses("AveragePool", w.EXPLICIT_ASYMMETRIC, by=_seen("asymmetric averages")),
        refuses("AveragePool", t.opset_above(18), by=_seen("averages of opset 19 and newer")),
        refuses(
            w.POOLS,
            w.PADS_OVER_HALF,
            ~w.EXPLICIT_ASYMMETRIC,
            by=_seen("pads wider than half the kernel"),
        ),
        miscomputes(
            w.POOLS,
            w.DROPPED_WINDOW,
            w.EXPLICIT_ASYMMETRIC,
            by=_seen("asymmetric windows that start in the padding"),
        ),
        refuses(p.PAD, t.opset_above(17), by=_seen("Pad of opset 18 and newer")),
        miscomputes(
            p.PAD,
            t.opset_below(11),
            p.WRITES_VALUE,
            by=_seen("value of Pad, an attribute up to opset 10: ignored"),
        ),
        refuses(p.PAD, p.VALUE_LISTED, by=_seen("Pad with constant_value of shape [1]")),
        refuses(p.PAD, p.MIRRORS, p.OUTER_AXES, by=_seen("reflect and edge of channels")),
    ),
    frameworks=("pytorch",),
)
