"""Darknet: pad=1 means size//2 at both sides; a max pool's padding is a total.

A convolution takes padding=N as N cells at both sides, or pad=1 instead. A max pool has
(size+padding-window)//stride+1 windows, padding//2 cells stand in front, and the total is window-1
where it is left out. Average pools are global.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Given, HowKnown, Layer, Layout, Mode, Outside, Pair
from onnxpad.frameworks.rules import CROP_BOTH, explicit, total_or_kernel_less_one
from onnxpad.geometry.windows import Axis

_CONV = "pjreddie/darknet f6afaab, src/convolutional_layer.c:66-74, parser.c:187"
_POOL = "pjreddie/darknet f6afaab, src/maxpool_layer.c:30-31 and 82, parser.c:487"
_TRANSPOSED = "pjreddie/darknet f6afaab, src/deconvolutional_layer.c:67"
_PLANE = frozenset({2})


def _half_kernel(axis: Axis, _given: Given) -> Pair:
    return (axis.kernel // 2, axis.kernel // 2)


_WINDOW = (
    attributes.kernel("size", default=None),
    attributes.stride("stride"),
    attributes.padding("padding", Layout.EACH),
)

CONVENTION = Convention(
    source=f"{_CONV}; {_POOL}; {_TRANSPOSED}",
    listed=6,
    layers=(
        Layer(
            "conv",
            (
                *_WINDOW,
                attributes.padding(
                    "pad",
                    modes={0: Mode(explicit, takes_numbers=True), 1: Mode(_half_kernel)},
                    default=0,
                ),
                attributes.groups("groups"),
            ),
            HowKnown.READ,
            _CONV,
            ranks=_PLANE,
        ),
        Layer(
            "max_pool",
            (
                attributes.kernel("size"),
                attributes.stride("stride"),
                attributes.padding("padding", Layout.EACH),
            ),
            HowKnown.READ,
            _POOL,
            number=Mode(total_or_kernel_less_one),
            outside=Outside.LOWEST,
            ranks=_PLANE,
        ),
        Layer(
            "conv_transpose", _WINDOW, HowKnown.READ, _TRANSPOSED, number=CROP_BOTH, ranks=_PLANE
        ),
    ),
)
