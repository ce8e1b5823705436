"""Qualcomm's QNN on the HTP, through onnxruntime without CPU fallback (x86 emulation, fp16)."""

from __future__ import annotations

from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import CROP, FACTOR, JOIN
from onnxpad.runtimes.conditions.rows import (
    Condition,
    measured,
    miscomputes,
    refuses,
    reported,
    takes,
    until,
)
from onnxpad.runtimes.onnxruntime.rows import fusion_rows, loader_rows
from onnxpad.runtimes.targets import Target

_VERSION = "onnxruntime-qnn 2.7.0, onnxruntime 1.31.1, HTP emulation on x86"
_seen = measured(_VERSION)
_ALL = (*w.WINDOWS, "LpPool", *p.PAD)

_WIDE_OUTPUT_PADDING = Condition(
    "output_padding is above 1", lambda c: any(more > 1 for more in c.output_padding)
)

TARGET = Target(
    _VERSION,
    (
        takes((*w.WINDOWS, "LpPool"), by=_seen("convolutions and pools of 1 and 2 axes")),
        takes(p.PAD, by=_seen("Pad of modes constant and reflect up to 4 axes")),
        takes("QLinearConv", by=_seen("QLinearConv, uint8 and int8")),
        takes((*CROP, *FACTOR, *JOIN), by=_seen("rewritten forms")),
        refuses("Gather", by=_seen("rewritten forms with Gather")),
        refuses("ConvInteger", by=_seen("ConvInteger")),
        refuses(_ALL, t.SIZES_LEFT_OPEN, by=_seen("models whose sizes are not fixed")),
        refuses((*w.CONVOLUTIONS, *w.TRANSPOSED), t.THREE_D, by=_seen("3-D convolutions")),
        refuses("AveragePool", t.THREE_D, w.SAME, by=_seen("3-D averages")),
        refuses(p.PAD, t.tensor_rank(5), by=_seen("Pad of 5 axes")),
        miscomputes(
            "MaxPool", w.PADDED, ~f.NEVER_NEGATIVE, by=_seen("padded MaxPool: the padding is 0")
        ),
        miscomputes(w.POOLS, w.CEIL_MODE, by=_seen("pools with ceil_mode")),
        refuses((*w.POOLS, "LpPool"), w.DILATED, by=_seen("pools with dilations")),
        refuses("MaxPool", w.INDICES, by=_seen("MaxPool with Indices")),
        refuses("MaxPool", t.EIGHT_BIT, by=_seen("MaxPool of int8 and uint8")),
        refuses("LpPool", w.CEIL_MODE, by=_seen("LpPool with ceil_mode")),
        miscomputes(w.TRANSPOSED, w.GROUPED, w.OUTPUT_PADDING, by=_seen("depthwise ConvTranspose")),
        refuses(w.TRANSPOSED, _WIDE_OUTPUT_PADDING, by=_seen("output_padding of 2")),
        refuses(w.TRANSPOSED, w.DILATED, by=_seen("ConvTranspose with dilations")),
        refuses(p.PAD, p.mode("edge", "wrap"), by=_seen("Pad in modes edge and wrap")),
        refuses("Conv", f.BEHIND_REFLECT, by=_seen("reflect in front of a convolution")),
        refuses(p.PAD, p.LISTS_AXES, by=_seen("Pad with axes")),
        refuses(p.PAD, p.COMPUTED, by=_seen("computed pads")),
        refuses(p.PAD, t.EIGHT_BIT, by=_seen("Pad of int8")),
        *until(
            "1.24",
            refuses(
                p.PAD,
                p.VALUE_GIVEN,
                t.element_type("float16"),
                by=reported("onnxruntime/onnxruntime-qnn pull request 52", "float16 values"),
            ),
        ),
        *loader_rows(_seen),
        *fusion_rows(_seen),
    ),
    also=("onnxruntime-qnn",),
    releases=("1.24", "2.7"),
)
