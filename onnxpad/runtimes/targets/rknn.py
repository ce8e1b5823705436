"""Rockchip's RKNN toolkit (rk3588 simulator, fp16, without quantisation)."""

from __future__ import annotations

from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import CROP, FACTOR
from onnxpad.runtimes.conditions.rows import (
    falls_back,
    measured,
    miscomputes,
    refuses,
    reported,
    takes,
)
from onnxpad.runtimes.onnxruntime.rows import fusion_rows, loader_rows
from onnxpad.runtimes.targets import Target

_VERSION = "rknn-toolkit2 2.5.0, rk3588 fp16 simulator"
_seen = measured(_VERSION)
_ALL = (*w.WINDOWS, "LpPool", *p.PAD)

TARGET = Target(
    _VERSION,
    (
        takes((*w.WINDOWS, "LpPool"), by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(p.PAD, by=_seen("Pad of every mode, opsets 9 to 19")),
        takes((*CROP, *FACTOR), by=_seen("rewritten forms with Slice and Mul")),
        refuses(w.QUANTISED, by=_seen("QLinearConv and ConvInteger")),
        refuses(_ALL, t.opset_above(19), by=_seen("models of opset 21")),
        refuses("Conv", w.SAME, t.ONE_D, by=_seen("1-D SAME convolutions")),
        miscomputes("Conv", w.SAME, w.SAME_NEGATIVE, by=_seen("kernels below the stride")),
        miscomputes("Conv", w.SAME_LOWER, t.THREE_D, by=_seen("3-D SAME_LOWER convolutions")),
        refuses(w.TRANSPOSED, w.SAME, ~w.OUTPUT_SHAPE, by=_seen("SAME ConvTranspose")),
        miscomputes(
            w.TRANSPOSED, w.OUTPUT_SHAPE, ~w.SAME_UPPER, w.ASYMMETRIC, by=_seen("output_shape")
        ),
        refuses(w.TRANSPOSED, w.PADS_LIKE_KERNEL, by=_seen("ConvTranspose with wide pads")),
        refuses(w.TRANSPOSED, t.THREE_D, w.OUTPUT_PADDING, by=_seen("3-D ConvTranspose")),
        refuses("MaxPool", t.THREE_D, by=_seen("3-D MaxPool")),
        refuses("MaxPool", t.EIGHT_BIT, by=_seen("MaxPool of int8 and uint8")),
        miscomputes("AveragePool", t.THREE_D, w.PADDED, by=_seen("3-D averages")),
        refuses(p.PAD, p.PADS_FED, by=_seen("pads that are an input")),
        refuses(p.PAD, t.EIGHT_BIT, by=_seen("Pad of int8")),
        refuses(("Conv", "AveragePool"), f.BEHIND_ZEROS, by=_seen("Pad in front of Conv")),
        falls_back(
            "AveragePool",
            ~w.COUNTS,
            w.PADDED,
            by=reported("airockchip/rknn-toolkit2 issue 217", "averages on the RV1106's NPU"),
        ),
        falls_back(
            p.PAD,
            p.CONSTANT,
            by=reported("airockchip/rknn-toolkit2 issue 328", "Pad of 0 on the CPU"),
        ),
        *loader_rows(_seen),
        *fusion_rows(_seen),
    ),
)
