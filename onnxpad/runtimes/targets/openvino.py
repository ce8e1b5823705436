"""OpenVINO on the CPU."""

from __future__ import annotations

from onnxpad.padding.chain import Chain, Pads
from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import (
    ARITHMETIC,
    CALLS,
    CROP,
    INLINED,
    JOIN,
    LIMIT,
    LOOKUP,
)
from onnxpad.runtimes.conditions.rows import (
    Condition,
    measured,
    miscomputes,
    refuses,
    takes,
    until,
)
from onnxpad.runtimes.targets import Target

_VERSION = "openvino 2026.4.1, CPU, f32"
_seen = measured(_VERSION)
_in_2024, _in_2025, _in_2025_4, _in_2026_0 = (
    measured(f"openvino {one}, CPU, f32")
    for one in ("2024.6", "2025.3", "2025.3 and 2025.4.1", "2025.3, 2025.4.1 and 2026.0.0")
)
_in_all = measured("openvino 2023.3, 2024.6, 2025.3 and 2026.4.1, CPU, f32")

_LISTED_SCALES = Condition(
    "a scale or zero point is a list, even if of one element",
    lambda c: c.weight.listed,
    "all scales and zero points are scalars",
    "quantise per tensor, and write scales and zero points as scalars (shape [])",
)


def _crops_as_much(chain: Chain) -> bool:
    """Whether the own pads hold those of the Pad in front, and that has some where a stride is."""
    step, own = chain.pad, chain.padding
    if step is None or not isinstance(own, Pads) or len(step.pads.begins) != chain.rank + 2:
        return False
    begins, ends = step.pads.begins[2:], step.pads.ends[2:]
    held = all(a <= b for a, b in zip((*begins, *ends), own.flat, strict=True))
    outer = any((*step.pads.begins[:2], *step.pads.ends[:2]))
    sides = zip(chain.axes, begins, ends, strict=True)
    return held and not outer and any(axis.stride > 1 and (b or e) for axis, b, e in sides)


_CROPS_AS_MUCH = Condition(
    "its pads are at least those of the Pad, along an axis with strides: OpenVINO takes these off",
    _crops_as_much,
)


TARGET = Target(
    _VERSION,
    (
        takes((*w.WINDOWS, "LpPool"), by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(p.PAD, by=_seen("Pad of modes constant, reflect and edge")),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *LIMIT), by=_seen("rewritten forms")),
        takes("ConvInteger", by=_seen("ConvInteger with zero points")),
        takes("QLinearConv", by=_seen("QLinearConv, at times 1 off by rounding")),
        refuses(
            ("Conv", *w.TRANSPOSED),
            t.TWO_TYPES,
            by=_seen("data and weight of two element types"),
            unshown=t.ONE_TYPE_ALONE,
        ),
        refuses(
            "QLinearConv",
            _LISTED_SCALES,
            by=_seen("lists of scales: refused, or held for the input channels"),
        ),
        refuses(CALLS, INLINED, by=_seen("calls of local functions")),
        takes(w.TRANSPOSED, w.NEGATIVE_PADS, t.TWO_D, by=_seen("2-D negative end pads")),
        refuses(("Conv", *w.POOLS), w.CUT_OFF, by=_seen("negative pads attributes")),
        refuses(w.TRANSPOSED, w.NEGATIVE_BEGIN, by=_seen("negative begin pads of ConvTranspose")),
        refuses(p.PAD, p.WRAP, by=_seen("Pad in mode wrap")),
        miscomputes(
            p.PAD,
            p.NO_BYTE,
            by=_in_all("values of Pad behind DequantizeLinear: cut off, or refused"),
            says="behind DequantizeLinear OpenVINO writes the value of a Pad of one axis as a "
            "byte: it cuts fractions off, and stops at what a byte does not hold",
        ),
        miscomputes(
            ("Conv", *w.QUANTISED),
            w.KERNEL_OF_ONE,
            w.STRIDED,
            w.PADDED,
            ~t.SPATIAL_SIZES_LEFT_OPEN,
            by=_in_all("padded convolutions with strides and a kernel of 1, 230 models"),
            says="OpenVINO moves its strides past its pads to the operator in front",
            unshown="in small models nothing that takes strides stands in front",
        ),
        miscomputes(
            "AveragePool", w.COUNTS, w.GAINED_WINDOW, w.PADDED, by=_seen("averages with ceil_mode")
        ),
        miscomputes(
            "AveragePool",
            w.COUNTS,
            w.PADDING_READ,
            t.BEHIND_QUANTISED,
            by=_in_all("averages behind DequantizeLinear"),
            says="behind DequantizeLinear OpenVINO averages the bytes, with bytes of 0 as padding",
        ),
        miscomputes(
            w.TRANSPOSED,
            f.BEHIND_ZEROS,
            _CROPS_AS_MUCH,
            by=_in_all("Pad(0) in front of ConvTranspose with pads and strides"),
        ),
        miscomputes("MaxPool", w.DROPPED_WINDOW, by=_seen("windows that start in the padding")),
        miscomputes(
            w.TRANSPOSED, w.SAME_UPPER, w.OUTPUT_SHAPE, by=_seen("output_shape with auto_pad")
        ),
        miscomputes(w.TRANSPOSED, w.OUTPUT_SHAPE, w.GROUPED, by=_seen("output_shape with groups")),
        miscomputes(
            ("Conv", "AveragePool"),
            w.SAME,
            t.SPATIAL_SIZES_LEFT_OPEN,
            f.BEHIND_ZEROS,
            by=_seen("Pad(0) in front of SAME, sizes unknown: the Pad is lost"),
        ),
        miscomputes(
            w.TRANSPOSED, w.SAME, t.SPATIAL_SIZES_LEFT_OPEN, by=_seen("SAME with unknown sizes")
        ),
        *until(
            "2026.0",
            refuses("LpPool", by=_in_2026_0("LpPool")),
            miscomputes(
                "AveragePool", w.DROPPED_WINDOW, by=_in_2026_0("windows that start in the padding")
            ),
        ),
        *until(
            "2025.4",
            refuses(p.PAD, p.LISTS_AXES, by=_in_2025_4("Pad with axes")),
            miscomputes(w.TRANSPOSED, w.OUTPUT_SHAPE, by=_in_2025_4("output_shape")),
            gone="2026.0",
        ),
        *until(
            "2025.3",
            miscomputes(w.TRANSPOSED, w.SAME, w.PADDED, by=_in_2025("SAME ConvTranspose")),
            gone="2025.4",
        ),
        *until(
            "2024.6",
            miscomputes("AveragePool", w.DILATED, by=_in_2024("averages with dilations")),
        ),
    ),
    also=("ov",),
    releases=("2023.3", "2024.6", "2025.3", "2026.4"),
    packages=("openvino",),
)
