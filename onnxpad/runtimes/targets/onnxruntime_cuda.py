"""onnxruntime's CUDA provider: what it does not take runs on the CPU, so little is refused.

Of a ConvTranspose with asymmetric pads on several axes it says no; such nodes move to the CPU.
"""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import EVERYTHING
from onnxpad.runtimes.conditions.rows import falls_back, measured, reported, takes
from onnxpad.runtimes.onnxruntime.rows import (
    OWN_OPERATORS,
    fusion_rows,
    loader_rows,
)
from onnxpad.runtimes.targets import Target

_VERSION = "onnxruntime 1.31.1, CUDA provider"
_shared = measured("onnxruntime 1.31.1, CPU, ORT_ENABLE_ALL")
_ASYMMETRIC = reported("microsoft/onnxruntime issue 11312", "asymmetric ConvTranspose on CUDA")
_OPSETS = reported("microsoft/onnxruntime issue 26393", "no CUDA kernels for opsets 19 to 23")

TARGET = Target(
    _VERSION,
    (
        takes((*w.WINDOWS, "LpPool"), by=_shared("convolutions and pools, by fallback")),
        takes(p.PAD, by=_shared("Pad of every mode, by fallback")),
        takes(w.QUANTISED, by=_shared("QLinearConv and ConvInteger, by fallback")),
        takes(OWN_OPERATORS, by=_shared("operators of com.microsoft, and rare ones")),
        takes(EVERYTHING, by=_shared("rewritten forms with Slice, Concat, Gather and arithmetic")),
        falls_back(w.TRANSPOSED, w.ASYMMETRIC, by=_ASYMMETRIC),
        falls_back((*p.PAD, "MaxPool", *w.TRANSPOSED), t.opset_above(18), by=_OPSETS),
        *loader_rows(_shared),
        *fusion_rows(_shared),
    ),
    also=("ort-cuda", "cuda"),
)
