"""Apple's MPSGraph: explicit pads, TF_SAME, TF_VALID, ONNX_SAME_LOWER."""

from onnxpad.frameworks.choices import Divisor, Fill, HowKnown, Layout, Rounding
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Mode
from onnxpad.frameworks.rules import (
    CROP_BOTH,
    SAME_LOWER,
    SAME_UPPER,
    VALID,
    explicit,
    same_multiple,
    valid_gradient,
)
from onnxpad.frameworks.words import divisor, layers, named, padding, rounding

_SOURCE = "MPSGraphPaddingStyle (MPSGraph headers): Explicit, TF_VALID, TF_SAME, ONNX_SAME_LOWER"
_STYLES = {
    "Explicit": Mode(explicit, takes_numbers=True),
    "TF_VALID": VALID,
    "TF_SAME": SAME_UPPER,
    "ONNX_SAME_LOWER": SAME_LOWER,
}
_NUMBERS = padding("padding", Layout.INTERLEAVED, Layout.PAIRS)
_STYLE = padding("paddingStyle", modes=_STYLES, default="Explicit")
_STEPS = named(stride="strides stride", dilation="dilationRates dilation")
_POOL = (
    *named(kernel="kernelSizes"),
    *_STEPS,
    _NUMBERS,
    _STYLE,
    rounding("ceilMode", {False: Rounding.DOWN, True: Rounding.UP}),
)

_layer = layers(HowKnown.REMEMBERED)
CONVENTION = Convention(
    source=_SOURCE,
    pads_apart=frozenset(Fill),  # padTensor
    layers=(
        _layer(
            "conv",
            *_STEPS,
            _NUMBERS,
            _STYLE,
            *named(groups="groups"),
            evidence=HowKnown.READ,
            source=_SOURCE,
        ),
        _layer("max_pool", *_POOL, source=f"{_SOURCE}; what ceilMode drops is from memory"),
        _layer(
            "avg_pool",
            *_POOL,
            divisor(
                "includeZeroPadToAverage",
                {True: Divisor.PADDED, False: Divisor.REAL},
                default=False,
            ),
            source=f"{_SOURCE}; includeZeroPadToAverage is from memory",
        ),
        _layer(
            "conv_transpose",
            *_STEPS,
            *named(extent="outputShape", groups="groups"),
            _NUMBERS,
            padding(
                "paddingStyle",
                modes={
                    "Explicit": Mode(cut=CROP_BOTH.cut, takes_numbers=True),
                    "TF_SAME": Mode(cut=same_multiple),
                    "TF_VALID": Mode(cut=valid_gradient),
                },
                default="Explicit",
            ),
            source=f"{_SOURCE}; the crop is taken to be that of TensorFlow",
        ),
    ),
)
