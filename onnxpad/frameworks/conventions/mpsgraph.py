"""Apple's MPSGraph: explicit pads, TF_SAME, TF_VALID, ONNX_SAME_LOWER."""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Divisor, Fill, HowKnown, Layer, Layout, Mode, Rounding
from onnxpad.frameworks.rules import (
    CROP_BOTH,
    SAME_LOWER,
    SAME_UPPER,
    VALID,
    explicit,
    same_multiple,
    valid_gradient,
)

_SOURCE = "MPSGraphPaddingStyle (MPSGraph headers): Explicit, TF_VALID, TF_SAME, ONNX_SAME_LOWER"
_STYLES = {
    "Explicit": Mode(explicit, takes_numbers=True),
    "TF_VALID": VALID,
    "TF_SAME": SAME_UPPER,
    "ONNX_SAME_LOWER": SAME_LOWER,
}
_NUMBERS = attributes.padding("padding", Layout.INTERLEAVED, Layout.PAIRS)
_STYLE = attributes.padding("paddingStyle", modes=_STYLES, default="Explicit")
_STEPS = (attributes.stride("strides", "stride"), attributes.dilation("dilationRates", "dilation"))
_POOL = (
    attributes.kernel("kernelSizes"),
    *_STEPS,
    _NUMBERS,
    _STYLE,
    attributes.rounding("ceilMode", {False: Rounding.DOWN, True: Rounding.UP}),
)

CONVENTION = Convention(
    source=_SOURCE,
    pads_apart=frozenset(Fill),  # padTensor
    layers=(
        Layer(
            "conv",
            (*_STEPS, _NUMBERS, _STYLE, attributes.groups("groups")),
            HowKnown.READ,
            _SOURCE,
        ),
        Layer(
            "max_pool",
            _POOL,
            HowKnown.REMEMBERED,
            f"{_SOURCE}; what ceilMode drops is from memory",
        ),
        Layer(
            "avg_pool",
            (
                *_POOL,
                attributes.divisor(
                    "includeZeroPadToAverage",
                    {True: Divisor.PADDED, False: Divisor.REAL},
                    default=False,
                ),
            ),
            HowKnown.REMEMBERED,
            f"{_SOURCE}; includeZeroPadToAverage is from memory",
        ),
        Layer(
            "conv_transpose",
            (
                *_STEPS,
                attributes.extent("outputShape"),
                attributes.groups("groups"),
                _NUMBERS,
                attributes.padding(
                    "paddingStyle",
                    modes={
                        "Explicit": Mode(cut=CROP_BOTH.cut, takes_numbers=True),
                        "TF_SAME": Mode(cut=same_multiple),
                        "TF_VALID": Mode(cut=valid_gradient),
                    },
                    default="Explicit",
                ),
            ),
            HowKnown.REMEMBERED,
            f"{_SOURCE}; the crop is taken to be that of TensorFlow",
        ),
    ),
)
