"""Apple's Metal Performance Shaders: SizeSame, the odd cell at the begin by default.

The default is AlignCentered, AddRemainderToTopLeft, SizeSame. ValidOnly never rounds up, and
AlignCentered moves its first window where two cells or more are left over.
"""

from __future__ import annotations

from collections.abc import Callable

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Divisor, Fill, Given, HowKnown, Layer, Mode, Pair
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
_PADDING = attributes.padding("padding", modes=_MODES, default="SizeSame|AddRemainderToTopLeft")
_CONV = (
    attributes.kernel("kernelSize", default=None),
    attributes.stride("strideInPixels", "stride"),
    attributes.dilation("dilationRate", "dilation"),
    attributes.groups("groups"),
    _PADDING,
)
_POOL = (attributes.kernel("kernelSize"), attributes.stride("strideInPixels", "stride"), _PADDING)
_PLANE = frozenset({2})

CONVENTION = Convention(
    source=_SOURCE,
    aliases=("apple-mps", "metal-performance-shaders"),
    pads_apart=frozenset({Fill.ZEROS}),  # MPSNNPad
    layers=(
        Layer("conv", _CONV, HowKnown.READ, _SOURCE, ranks=_PLANE),
        Layer("max_pool", _POOL, HowKnown.READ, _SOURCE, ranks=_PLANE),
        Layer(
            "avg_pool",
            (
                *_POOL,
                attributes.divisor(
                    "edgeMode", {"Zero": Divisor.WHOLE, "Clamp": Divisor.REAL}, default="Zero"
                ),
            ),
            HowKnown.READ,
            f"{_SOURCE}; Clamp divides by valid pixels 'as a special case for average pooling'",
            ranks=_PLANE,
        ),
    ),
)
