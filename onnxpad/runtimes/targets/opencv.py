"""OpenCV's dnn module with its new engine, the default since 5.0."""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.companions import ARITHMETIC, CROP, JOIN, LOOKUP
from onnxpad.runtimes.conditions.rows import Condition, measured, miscomputes, refuses, takes
from onnxpad.runtimes.targets import Target

_VERSION = "opencv-python-headless 5.0.0.93, ENGINE_NEW"
_seen = measured(_VERSION)

_BEGIN_UNLIKE_CENTRED = Condition(
    "SAME with stride 1 and no dilation would have other begin pads",
    w.of_pads(
        lambda c, pads: any(
            begin != (axis.kernel - 1) // 2 for axis, begin in zip(c.axes, pads.begins, strict=True)
        )
    ),
)

TARGET = Target(
    _VERSION,
    (
        takes(w.WINDOWS, by=_seen("convolutions and pools of 1 to 3 axes")),
        takes("QLinearConv", by=_seen("QLinearConv, uint8 and int8")),
        takes(p.PAD, by=_seen("Pad of every mode, computed pads too")),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC), by=_seen("rewritten forms")),
        refuses("LpPool", by=_seen("LpPool")),
        refuses("ConvInteger", by=_seen("ConvInteger")),
        miscomputes(
            ("Conv", "QLinearConv", *w.POOLS),
            w.SAME,
            _BEGIN_UNLIKE_CENTRED,
            by=_seen("SAME: pads as with stride 1 and without dilation"),
            says="OpenCV computes SAME as if the stride were 1, so this output is wrong",
        ),
        miscomputes(("Conv", *w.POOLS), w.SAME, w.DILATED, by=_seen("SAME with dilations")),
        miscomputes("Conv", w.KERNEL_OF_ONE, w.PADDED, by=_seen("1x1 convolutions with pads")),
        miscomputes(w.TRANSPOSED, w.SAME, w.STRIDED | w.ASYMMETRIC, by=_seen("SAME ConvTranspose")),
        miscomputes(w.TRANSPOSED, w.OUTPUT_SHAPE, by=_seen("output_shape")),
        miscomputes(w.POOLS, w.DROPPED_WINDOW, by=_seen("windows that start in the padding")),
        miscomputes("AveragePool", w.COUNTS, w.CUT_WINDOW, by=_seen("averages with ceil_mode")),
        refuses(
            "MaxPool",
            t.EIGHT_BIT,
            ~t.BEHIND_QUANTISED,
            by=_seen("MaxPool of an int8 or uint8 input"),
        ),
        miscomputes(p.PAD, t.EIGHT_BIT, p.WRITES_VALUE, by=_seen("Pad of int8: writes 0")),
    ),
    also=("cv2", "opencv-dnn"),
)
