"""IREE for processors."""

from __future__ import annotations

from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain import ARITHMETIC, CROP, JOIN, LOOKUP, RANK
from onnxpad.runtimes.conditions.rows import measured, miscomputes, refuses, takes, untried
from onnxpad.runtimes.conditions.tensors import (
    ONE_D,
    SPATIAL_SIZES_LEFT_OPEN,
    THREE_D,
    element_type,
    opset_below,
)
from onnxpad.runtimes.conditions.weights import ONE_TO_ONE, SCALED_WITH_BIAS
from onnxpad.runtimes.targets import Target

_VERSION = "iree-base-compiler 3.13.0, llvm-cpu"
_seen = measured(_VERSION)

TARGET = Target(
    _VERSION,
    (
        takes((*w.WINDOWS, "LpPool"), by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(p.PAD, by=_seen("Pad of modes constant and edge")),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *RANK), by=_seen("rewritten forms")),
        refuses(w.QUANTISED, ONE_D, by=_seen("QLinearConv and ConvInteger along one axis")),
        takes("QLinearConv", by=_seen("QLinearConv with symmetric pads and zero point 128")),
        refuses(w.TRANSPOSED, w.ASYMMETRIC, by=_seen("asymmetric ConvTranspose")),
        refuses(w.TRANSPOSED, w.SAME, w.ASYMMETRIC, by=_seen("SAME ConvTranspose")),
        refuses(w.TRANSPOSED, w.OUTPUT_SHAPE, by=_seen("output_shape")),
        refuses(w.TRANSPOSED, ONE_TO_ONE, by=_seen("depthwise ConvTranspose, padded or not")),
        miscomputes(w.POOLS, w.SAME, SPATIAL_SIZES_LEFT_OPEN, by=_seen("SAME with unknown sizes")),
        refuses("MaxPool", opset_below(12), by=_seen("MaxPool of opset 11")),
        miscomputes("MaxPool", w.INDICES, by=_seen("MaxPool with Indices")),
        miscomputes("AveragePool", w.COUNTS, w.CUT_WINDOW, by=_seen("averages with ceil_mode")),
        refuses(
            "MaxPool",
            f.BEHIND_FINITE,
            w.PADDED,
            by=_seen("padded pools behind another operator and a Pad of another value"),
        ),
        refuses(
            "AveragePool",
            f.BEHIND_OTHER_VALUE,
            w.PADDED,
            by=_seen("padded pools behind another operator and a Pad of another value"),
        ),
        refuses("LpPool", opset_below(18), by=_seen("LpPool of opset 11")),
        refuses("LpPool", w.SAME, by=_seen("SAME LpPool")),
        refuses(
            "Conv",
            w.THREE_D_GROUPED,
            w.DILATED,
            by=_seen("grouped 3-D convolutions with dilations"),
        ),
        refuses("Conv", THREE_D, ONE_TO_ONE, by=_seen("3-D depthwise convolutions, unpadded too")),
        refuses(CROP, opset_below(13), by=_seen("Slice of opset 11")),
        refuses("LpPool", w.ASYMMETRIC, ~w.CEIL_MODE, by=_seen("LpPool")),
        refuses(p.PAD, p.CROPS, by=_seen("negative pads")),
        refuses(p.PAD, p.REFLECT, by=_seen("Pad in mode reflect")),
        refuses(p.PAD, p.EDGE, p.ON_FOUR_AXES, by=_seen("edge on 4 axes: compiles for minutes")),
        refuses(p.PAD, p.WRAP, by=_seen("Pad in mode wrap: the compiler does not end")),
        untried(p.PAD, p.COMPUTED, by=_seen("computed pads: one of three fails")),
        miscomputes("QLinearConv", f.BEHIND_PAD, by=_seen("Pad in front of QLinearConv")),
        miscomputes("QLinearConv", w.PADDED, w.ASYMMETRIC, by=_seen("asymmetric QLinearConv")),
        miscomputes(
            "QLinearConv", SCALED_WITH_BIAS, by=_seen("scales per channel and a bias, unpadded too")
        ),
        takes("ConvInteger", by=_seen("ConvInteger with symmetric pads")),
        refuses("ConvInteger", w.ASYMMETRIC, by=_seen("asymmetric ConvInteger")),
        untried(("MaxPool", "AveragePool"), element_type("int8", "uint8"), by=_seen("int8 pools")),
    ),
)
