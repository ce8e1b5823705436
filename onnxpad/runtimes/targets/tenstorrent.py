"""Tenstorrent's accelerators, models through tt-forge-onnx."""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import ARITHMETIC, CROP, JOIN, RANK
from onnxpad.runtimes.conditions.rows import read, refuses, takes, untried
from onnxpad.runtimes.targets import Target

_VERSION = "tt-forge-fe 4ab17ae and tt-mlir (source of 2025)"
_read = read("tenstorrent/tt-forge-fe 4ab17ae and 13f2de7, forge/csrc/ops")
_MAX, _AVERAGE = _read("op_max_pool_2d.cpp"), _read("op_avg_pool_2d.cpp")
_PAD = _read("op_pad.cpp")
_CONV = read("tenstorrent/tt-mlir, test/ttmlir")("EmitC/TTNN/conv/conv2d_assymetric_padding.mlir")

TARGET = Target(
    _VERSION,
    (
        takes("Conv", by=_CONV),
        takes("MaxPool", by=_MAX),
        takes("AveragePool", by=_AVERAGE),
        takes(p.PAD, by=_PAD),
        takes((*CROP, *JOIN, *ARITHMETIC, *RANK), by=_read("op_index.cpp, op_concatenate.cpp")),
        untried((*w.TRANSPOSED, "LpPool", *w.QUANTISED), by=_read("op_conv_2d_transpose.cpp")),
        untried(("Conv", *w.POOLS), t.NOT_TWO_D, by=_read("op_max_pool_1d.cpp")),
        untried("MaxPool", w.INDICES, by=_MAX),
        refuses("MaxPool", w.ASYMMETRIC, by=_MAX),
        refuses("MaxPool", w.DILATED, by=_MAX),
        refuses("AveragePool", w.ASYMMETRIC, by=_AVERAGE),
        refuses(p.PAD, p.WRAP, by=_PAD),
        refuses(p.PAD, p.BEYOND_LAST_TWO, by=_PAD),
        refuses(p.PAD, p.COMPUTED, by=_PAD),
        untried(p.PAD, p.CROPS, by=_PAD),
    ),
    also=("tt-forge", "tt-forge-onnx"),
)
