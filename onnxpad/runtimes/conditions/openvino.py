"""What OpenVINO makes of padded operators, where onnxruntime's OpenVINO provider does so too."""

from __future__ import annotations

from onnxpad.runtimes import openvino as o
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.pads import PAD
from onnxpad.runtimes.conditions.rows import Condition, Evidence, Row, miscomputes

_WRITES_NO_BYTE = Condition(
    "it pads one axis alone, what it reads is dequantised, and its value is no whole number that "
    "those bytes hold",
    o.writes_no_byte,
    questions=(o.BYTES_IN_FRONT,),
)
_SCALES_ITS_VALUE = Condition(
    "it pads one axis alone, of one cell, what it reads is dequantised, and its value or what "
    "bytes of 0 are worth is not 0",
    o.scales_its_value,
    questions=(o.BYTES_IN_FRONT,),
)
_JOINED_BYTES = Condition(
    "it works on int8, and a Concat stands in front",
    lambda chain: chain.around.told(o.JOINED_BYTES),
    "it works on uint8, or no Concat stands in front",
    "quantise what the convolution reads to uint8",
    questions=(o.JOINED_BYTES,),
)
_SWAPPED_ACTIVATION = Condition(
    "a convolution stands in front, and behind it Abs, Gelu, HardSwish, Mish, x * sigmoid(x), "
    "Sqrt, LpPool or another that falls somewhere",
    lambda chain: chain.around.told(o.SWAPPED_ACTIVATION),
    questions=(o.SWAPPED_ACTIVATION,),
)
_STRIDES_PASS_PADS = Condition(
    "its kernel is 1, and OpenVINO moves its strides, or those of one behind it, past its pads to "
    "the operator in front",
    w.of_pads(o.strides_pass_pads),
    questions=(o.MOVING_STRIDES,),
)


def pads_of_bytes(whole: Evidence, one_cell: Evidence) -> tuple[Row, Row]:
    """Pads behind DequantizeLinear: of a value that no byte is, and of an axis of one cell."""
    return (
        miscomputes(
            PAD,
            _WRITES_NO_BYTE,
            by=whole,
            says="behind DequantizeLinear OpenVINO writes the value of a Pad of one axis as a "
            "byte: it cuts fractions off, and stops at what a byte does not hold",
        ),
        miscomputes(
            PAD,
            _SCALES_ITS_VALUE,
            by=one_cell,
            says="behind DequantizeLinear OpenVINO takes the value of a Pad of an axis of one cell "
            "for a byte, and dequantises it",
        ),
    )


def joined_bytes(by: Evidence, *operators: str) -> Row:
    """Convolutions of int8 that a Concat is in front of, which are wrong whatever they pad."""
    return miscomputes(
        operators,
        _JOINED_BYTES,
        by=by,
        says="OpenVINO computes convolutions of int8 behind a Concat wrongly, whatever they pad",
        unshown="in small models nothing is joined",
    )


def swapped_activations(by: Evidence) -> Row:
    """Max pools between a convolution and an activation that falls somewhere, as Mish does."""
    return miscomputes(
        "MaxPool",
        _SWAPPED_ACTIVATION,
        by=by,
        says="OpenVINO computes the activation behind the pool in front of it, as a part of the "
        "convolution, which is right only where it never falls",
        unshown="in small models nothing stands in front and behind",
    )


def strides_past_pads(by: Evidence, *operators: str) -> Row:
    """Convolutions with a kernel of 1 whose strides OpenVINO moves past their pads."""
    return miscomputes(
        operators,
        _STRIDES_PASS_PADS,
        ~t.SPATIAL_SIZES_LEFT_OPEN,
        by=by,
        unshown="in small models nothing that takes strides stands in front",
    )
