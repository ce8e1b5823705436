"""AMD MIGraphX."""

from __future__ import annotations

from onnxpad.padding.operators import PadInput
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import ARITHMETIC, CROP, JOIN, LOOKUP, RANK
from onnxpad.runtimes.conditions.rows import (
    Condition,
    miscomputes,
    read,
    refuses,
    reported,
    takes,
    until,
    untried,
)
from onnxpad.runtimes.targets import Target

_VERSION = "ROCm/AMDMIGraphX (source of 2022 and 2025)"
_read = read("ROCm/AMDMIGraphX, src/onnx")
_TRANSPOSED = _read("parse_conv_transpose.cpp")
_PAD = _read("parse_pad.cpp")

_VALUE_EMPTY = Condition(
    "constant_value is left out by an empty name",
    lambda c: c.inputs[PadInput.VALUE :][:1] == (False,),
)
_END_PADDED = Condition("an end pad is above 0", w.of_pads(lambda _, pads: any(pads.ends)))
_SAYS_AUTO_PAD = Condition(
    "auto_pad is written, even if it is NOTSET", lambda c: w.writes(c, "auto_pad")
)

TARGET = Target(
    _VERSION,
    (
        takes(("Conv", *w.POOLS), by=_read("padding.cpp")),
        takes(w.TRANSPOSED, by=_TRANSPOSED),
        takes(p.PAD, by=_PAD),
        untried(("LpPool", *w.QUANTISED), by=_read("padding.cpp")),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *RANK), by=_read("parse_generic_op.cpp")),
        refuses(w.TRANSPOSED, _SAYS_AUTO_PAD, by=_TRANSPOSED),
        refuses(w.TRANSPOSED, w.EXPLICIT_ASYMMETRIC, t.UNKNOWN_SPATIAL_SIZES, by=_TRANSPOSED),
        miscomputes(w.TRANSPOSED, w.OUTPUT_PADDING, _END_PADDED, by=_TRANSPOSED),
        miscomputes(w.TRANSPOSED, w.OUTPUT_SHAPE, by=_TRANSPOSED),
        refuses(p.PAD, p.COMPUTED, by=_PAD),
        refuses(p.PAD, p.WRAP, by=_PAD),
        refuses(p.PAD, p.mode("reflect", "edge"), t.UNKNOWN_SPATIAL_SIZES, by=_PAD),
        *until(
            "2.12",
            refuses(
                p.PAD, p.EDGE, by=reported("ROCm/AMDMIGraphX issue 4069", "edge came in June 2025")
            ),
        ),
        *until(
            "2.8",
            refuses(
                p.PAD,
                _VALUE_EMPTY,
                by=reported("ROCm/AMDMIGraphX issue 2763", "an empty value input"),
            ),
        ),
    ),
    also=("amdmigraphx",),
    releases=("2.8", "2.12", "2.13"),
)
