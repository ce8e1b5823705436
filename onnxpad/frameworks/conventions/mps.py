"""Apple's Metal Performance Shaders: SizeSame, the odd cell at the begin by default.

The default is AlignCentered, AddRemainderToTopLeft, SizeSame. ValidOnly never rounds up, and
AlignCentered moves its first window where two cells or more are left over.
"""

from collections.abc import Callable

from onnxpad.frameworks.choices import Divisor, Fill, HowKnown
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Given, Mode, Pair
from onnxpad.frameworks.words import divisor, layers, named, padding
from onnxpad.geometry.windows import Axis

_SOURCE = "MPSNeuralNetworkTypes.h, sample code of MPSNNPadding; MPSCNNKernel.h, padding"


def _centred(style: int, policy: int) -> Callable[[Axis, Given], Pair]:
    """`style` -1, 0, 1 is ValidOnly, Same, Full; `policy` 0 puts the odd cell last, 1 first."""

    def pads(axis: Axis, _given: Given) -> Pair:
        size = axis.size if isinstance(axis.size, int) else 1
        count = -(-(size + style * (axis.span - 1)) // axis.stride)
        extra = (count - 1) * axis.stride + axis.span - size
        total = extra + policy
        left = total // 2 if total >= 0 else -(-total // 2)
        return (left, extra - left)

    return pads


_SIZES = {"ValidOnly": -1, "SizeSame": 0, "SizeFull": 1}
_REMAINDERS = {"AddRemainderToTopLeft": 1, "AddRemainderToBottomRight": 0}
_MODES = {
    f"{size}|{remainder}": Mode(_centred(style, policy))
    for size, style in _SIZES.items()
    for remainder, policy in _REMAINDERS.items()
}
_PADDING = padding("padding", modes=_MODES, default="SizeSame|AddRemainderToTopLeft")
_CONV = (
    *named(
        weight="kernelSize",
        stride="strideInPixels stride",
        dilation="dilationRate dilation",
        groups="groups",
    ),
    _PADDING,
)
_POOL = (*named(kernel="kernelSize", stride="strideInPixels stride"), _PADDING)
_PLANE = frozenset({2})

_layer = layers(HowKnown.READ, _SOURCE, ranks=_PLANE)
CONVENTION = Convention(
    source=_SOURCE,
    aliases=("apple-mps", "metal-performance-shaders"),
    pads_apart=frozenset({Fill.ZEROS}),  # MPSNNPad
    layers=(
        _layer("conv", *_CONV),
        _layer("max_pool", *_POOL),
        _layer(
            "avg_pool",
            *_POOL,
            divisor("edgeMode", {"Zero": Divisor.WHOLE, "Clamp": Divisor.REAL}, default="Zero"),
            source=f"{_SOURCE}; Clamp divides by valid pixels "
            "'as a special case for average pooling'",
        ),
    ),
)
