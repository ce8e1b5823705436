"""Deeplearning4j: Same is TensorFlow's, Truncate rounds down, Strict refuses a remainder.

Causal pads span-1 cells in front, in one dimension. Same ignores explicit padding.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Divisor, Fill, HowKnown, Layer, Layout, Mode, Rounding
from onnxpad.frameworks.rules import CROP_BOTH, causal, explicit, same_multiple, same_upper

_SOURCE = "DL4J ConvolutionMode (javadoc); libnd4j ConvolutionUtils"
_POOL_SOURCE = f"{_SOURCE}; the divisor of averages is from memory"
_MODES = {
    "Strict": Mode(explicit, rounding=Rounding.EXACT, takes_numbers=True),
    "Truncate": Mode(explicit, takes_numbers=True),
    "Same": Mode(same_upper, takes_numbers=True),
}
_MODE = attributes.padding("convolutionMode", modes=_MODES, default="Truncate")
_WINDOW = (
    attributes.kernel("kernelSize", "kernel", default=None),
    attributes.stride("stride"),
    attributes.padding("padding", Layout.EACH),
    attributes.dilation("dilation"),
)

CONVENTION = Convention(
    source=_SOURCE,
    aliases=("deeplearning4j",),
    pads_apart=frozenset({Fill.ZEROS}),  # ZeroPaddingLayer
    layers=(
        Layer(
            "conv",
            (
                *_WINDOW,
                attributes.padding(
                    "convolutionMode", modes=_MODES | {"Causal": Mode(causal)}, default="Truncate"
                ),
            ),
            HowKnown.READ,
            _SOURCE,
        ),
        Layer("max_pool", (*_WINDOW, _MODE), HowKnown.READ, _SOURCE),
        Layer(
            "avg_pool",
            (
                *_WINDOW,
                _MODE,
                attributes.divisor(
                    "avgPoolIncludePadInDivisor",
                    {True: Divisor.WHOLE, False: Divisor.REAL},
                    default=False,
                ),
            ),
            HowKnown.REMEMBERED,
            _POOL_SOURCE,
        ),
        Layer(
            "conv_transpose",
            (
                *_WINDOW,
                attributes.padding(
                    "convolutionMode",
                    modes={
                        "Truncate": Mode(cut=CROP_BOTH.cut, takes_numbers=True),
                        "Same": Mode(cut=same_multiple, takes_numbers=True),
                    },
                    default="Truncate",
                ),
            ),
            HowKnown.READ,
            _SOURCE,
        ),
    ),
)
