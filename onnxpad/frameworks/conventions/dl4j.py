"""Deeplearning4j: Same is TensorFlow's, Truncate rounds down, Strict refuses a remainder.

Causal pads span-1 cells in front, in one dimension. Same ignores explicit padding.
"""

from onnxpad.frameworks.choices import Divisor, Fill, HowKnown, Layout, Rounding
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Mode
from onnxpad.frameworks.rules import CROP_BOTH, causal, explicit, same_multiple, same_upper
from onnxpad.frameworks.words import divisor, layers, named, padding

_SOURCE = "DL4J ConvolutionMode (javadoc); libnd4j ConvolutionUtils"
_POOL_SOURCE = f"{_SOURCE}; the divisor of averages is from memory"
_MODES = {
    "Strict": Mode(explicit, rounding=Rounding.EXACT, takes_numbers=True),
    "Truncate": Mode(explicit, takes_numbers=True),
    "Same": Mode(same_upper, takes_numbers=True),
}
_MODE = padding("convolutionMode", modes=_MODES, default="Truncate")
_WINDOW = (
    *named(weight="kernelSize kernel", stride="stride"),
    padding("padding", Layout.EACH),
    *named(dilation="dilation"),
)

_layer = layers(HowKnown.READ, _SOURCE)
CONVENTION = Convention(
    source=_SOURCE,
    aliases=("deeplearning4j",),
    pads_apart=frozenset({Fill.ZEROS}),  # ZeroPaddingLayer
    layers=(
        _layer(
            "conv",
            *_WINDOW,
            padding("convolutionMode", modes=_MODES | {"Causal": Mode(causal)}, default="Truncate"),
        ),
        _layer("max_pool", *_WINDOW, _MODE),
        _layer(
            "avg_pool",
            *_WINDOW,
            _MODE,
            divisor(
                "avgPoolIncludePadInDivisor",
                {True: Divisor.WHOLE, False: Divisor.REAL},
                default=False,
            ),
            evidence=HowKnown.REMEMBERED,
            source=_POOL_SOURCE,
        ),
        _layer(
            "conv_transpose",
            *_WINDOW,
            padding(
                "convolutionMode",
                modes={
                    "Truncate": Mode(cut=CROP_BOTH.cut, takes_numbers=True),
                    "Same": Mode(cut=same_multiple, takes_numbers=True),
                },
                default="Truncate",
            ),
        ),
    ),
)
