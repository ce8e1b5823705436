"""onnxruntime's WebGPU provider in C++: onnxruntime-web/webgpu, and onnxruntime-webgpu from PyPI.

`import 'onnxruntime-web/webgpu'` gives it since 1.23; the PyPI package onnxruntime-webgpu has
nothing else. `import 'onnxruntime-web'` and its /all bundle give the target webgpu-jsep up to 1.30.
In the log its nodes are placed on WebGpu, those of the other on Js. The rows were measured with a
software Vulkan driver: what a GPU's own driver does wrong is not among them.
"""

from __future__ import annotations

from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import EVERYTHING
from onnxpad.runtimes.conditions.rows import (
    falls_back,
    measured,
    miscomputes,
    refuses,
    takes,
    until,
)
from onnxpad.runtimes.onnxruntime.rows import (
    fusion_rows,
    loader_rows,
    older_rows,
    product_rows,
    rows_of_1_23,
    wrap_rows,
)
from onnxpad.runtimes.targets import Target

_VERSION = "onnxruntime-web 1.30.0, /webgpu, Chromium 156, SwiftShader"
_RELEASES = ("1.23", "1.25", "1.27", "1.30")
_seen = measured(_VERSION)
_in_1_23 = measured("onnxruntime-web 1.23.2, /webgpu")
_native = measured("onnxruntime-webgpu 1.27.0, SwiftShader")

TARGET = Target(
    _VERSION,
    (
        takes(w.WINDOWS, by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(p.PAD, by=_seen("Pad of every mode, opsets 9 to 21")),
        takes(EVERYTHING, by=_seen("rewritten forms with Slice, Concat, Gather and arithmetic")),
        falls_back(("LpPool", *w.QUANTISED), by=_seen("operators that the CPU ran")),
        falls_back(
            "Conv",
            f.DEQUANTISED,
            by=_seen("convolutions between QuantizeLinear and DequantizeLinear"),
            says="the QuantizeLinear in front stays on the CPU",
        ),
        falls_back(("MaxPool", *p.PAD), t.EIGHT_BIT, by=_seen("MaxPool and Pad of int8 and uint8")),
        falls_back(
            p.PAD,
            p.AT_RUN_TIME,
            by=_seen("Pad by computed pads"),
            says="what computes its pads stays on the CPU",
        ),
        refuses(
            p.PAD,
            p.LISTS_AXES,
            by=_seen("Pad with axes behind convolutions and pools"),
        ),
        refuses(w.TRANSPOSED, t.THREE_D, by=_seen("3-D ConvTranspose")),
        refuses("Conv", t.THREE_D, w.GROUPED, by=_seen("3-D convolutions with groups")),
        refuses("MaxPool", w.INDICES, by=_seen("MaxPool with Indices")),
        refuses(w.POOLS, w.DROPPED_WINDOW, by=_seen("ceil_mode windows that start in padding")),
        miscomputes(
            w.POOLS, w.SAME, w.SAME_SHIFTS, by=_seen("SAME pools, kernels far below the stride")
        ),
        *loader_rows(_seen, checks_pads=False),
        *fusion_rows(_seen),
        *product_rows(_seen),
        miscomputes(
            p.PAD,
            p.WRAPS_PARTLY,
            by=_seen("Pad in mode wrap with a negative pad on the other side"),
            unshown=p.PLAIN_WRAPS,
        ),
        *until(
            "1.27",
            *wrap_rows(_native),
            falls_back(
                "AveragePool", t.opset_above(18), by=_native("averages of opset 19 and newer")
            ),
        ),
        *until(
            "1.23",
            refuses("Conv", t.THREE_D, by=_in_1_23("3-D convolutions")),
            refuses(
                "Conv",
                f.DEQUANTISED,
                by=_in_1_23("convolutions between QuantizeLinear and DequantizeLinear"),
            ),
        ),
        *rows_of_1_23("onnxruntime-web"),
        *older_rows("onnxruntime-web", _RELEASES),
    ),
    also=("web-gpu", "ort-webgpu", "onnxruntime-webgpu"),
    releases=_RELEASES,
)
