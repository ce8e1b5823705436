"""onnxruntime's OpenVINO provider on its own; with CPU fallback it runs what is refused here."""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import ARITHMETIC, CROP, INPUT_CROP, JOIN, LOOKUP
from onnxpad.runtimes.conditions.rows import measured, miscomputes, refuses, takes
from onnxpad.runtimes.onnxruntime.rows import fusion_rows, loader_rows
from onnxpad.runtimes.targets import Target

_VERSION = "onnxruntime-openvino 1.24.1, CPU, no fallback"
_seen = measured(_VERSION)
_OWN_WINDOWS = (*w.TRANSPOSED, *w.POOLS)

TARGET = Target(
    _VERSION,
    (
        takes(w.WINDOWS, by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(p.PAD, by=_seen("Pad behind other operators, of modes constant, reflect and edge")),
        refuses(INPUT_CROP, by=_seen("Slice of an input")),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC), by=_seen("rewritten forms")),
        takes("ConvInteger", by=_seen("ConvInteger with zero points")),
        refuses("LpPool", by=_seen("LpPool")),
        refuses("Conv", w.CUT_OFF, by=_seen("negative pads of Conv")),
        refuses("QLinearConv", by=_seen("QLinearConv, padded or not")),
        refuses(
            p.PAD,
            p.READS_INPUT,
            ~p.AT_RUN_TIME,
            by=_seen("Pad of an input in a model of fewer than four operators"),
        ),
        refuses(p.PAD, p.WRAP, by=_seen("Pad in mode wrap")),
        refuses(p.PAD, p.LISTS_AXES, by=_seen("Pad with axes")),
        miscomputes(
            p.PAD,
            p.NO_BYTE,
            by=_seen("values of Pad behind DequantizeLinear: cut off, or refused, 46 models"),
            says="behind DequantizeLinear OpenVINO writes the value of a Pad of one axis as a "
            "byte: it cuts fractions off, and stops at what a byte does not hold",
        ),
        miscomputes(
            "Conv",
            w.KERNEL_OF_ONE,
            w.STRIDED,
            w.PADDED,
            ~t.SPATIAL_SIZES_LEFT_OPEN,
            by=_seen("padded convolutions with strides and a kernel of 1"),
            says="OpenVINO moves its strides past its pads to the operator in front",
            unshown="in small models nothing that takes strides stands in front",
        ),
        miscomputes(
            "AveragePool", w.COUNTS, w.CUT_WINDOW, w.PADDED, by=_seen("averages with ceil_mode")
        ),
        miscomputes(w.POOLS, w.DROPPED_WINDOW, by=_seen("windows that start in the padding")),
        miscomputes(w.TRANSPOSED, w.OUTPUT_SHAPE, by=_seen("output_shape")),
        miscomputes(
            w.TRANSPOSED, w.SAME, t.SPATIAL_SIZES_LEFT_OPEN, by=_seen("SAME with unknown sizes")
        ),
        *loader_rows(_seen, _OWN_WINDOWS),
        *fusion_rows(_seen, _OWN_WINDOWS),
    ),
    also=("ort-openvino",),
)
