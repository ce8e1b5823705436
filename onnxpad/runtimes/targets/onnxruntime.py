"""onnxruntime on the CPU, default optimisations."""

from __future__ import annotations

from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.pads import PAD
from onnxpad.runtimes.conditions.plain_facts import EVERYTHING
from onnxpad.runtimes.conditions.rows import Condition, falls_back, measured, refuses, takes, until
from onnxpad.runtimes.conditions.tensors import ONE_TYPE_ALONE, TWO_TYPES
from onnxpad.runtimes.onnxruntime.rows import (
    BESIDE_IDENTITY,
    OWN_OPERATORS,
    cpu_rows,
    fusion_rows,
    older_rows,
    rows_of_1_23,
    wrap_rows,
)
from onnxpad.runtimes.targets import Target

_VERSION = "onnxruntime 1.32.0, CPU, ORT_ENABLE_ALL"
_RELEASES = ("1.17", "1.20", "1.23", "1.26", "1.31", "1.32")
_seen = measured("onnxruntime 1.31.1 and 1.32.0, CPU, ORT_ENABLE_ALL")
_before = measured("onnxruntime 1.31.1, CPU, ORT_ENABLE_ALL")

_BETWEEN_CONVERSIONS = Condition(
    "it stands between DequantizeLinear and QuantizeLinear with the same numbers",
    lambda c: c.around.between is not None,
)

TARGET = Target(
    _VERSION,
    (
        takes((*w.WINDOWS, "LpPool"), by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(PAD, by=_seen("Pad of every mode, opsets 9 to 21")),
        takes(w.QUANTISED, by=_seen("QLinearConv and ConvInteger, uint8 and int8")),
        takes(OWN_OPERATORS, by=_seen("operators of com.microsoft, and rare ones")),
        takes(EVERYTHING, by=_seen("rewritten forms with Slice, Concat, Gather and arithmetic")),
        refuses(
            ("Conv", *w.TRANSPOSED),
            TWO_TYPES,
            by=_seen("data and weight of two element types"),
            unshown=ONE_TYPE_ALONE,
        ),
        *cpu_rows(_seen),
        *fusion_rows(_before, pools_until="1.31"),
        refuses(
            ("Conv", "AveragePool"),
            BESIDE_IDENTITY,
            by=_seen("Pad(0) beside an Identity that makes a result"),
        ),
        *until(
            "1.31",
            refuses(
                "MaxPool",
                BESIDE_IDENTITY,
                by=_before("Pad(0) of MaxPool beside an Identity that makes a result"),
            ),
        ),
        falls_back(
            PAD,
            _BETWEEN_CONVERSIONS,
            by=_seen("Pad between DequantizeLinear and QuantizeLinear: in floats"),
            says="it pads floats between quantised operators, and converts twice",
            does="computes it slowly",
        ),
        *until("1.30", *wrap_rows(measured("onnxruntime 1.26, CPU"))),
        *rows_of_1_23("onnxruntime"),
        *older_rows("onnxruntime", _RELEASES),
    ),
    also=("ort",),
    releases=_RELEASES,
    packages=("onnxruntime", "onnxruntime-gpu", "onnxruntime-directml"),
)
