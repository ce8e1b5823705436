"""Darknet: pad=1 means size//2 at both sides; a max pool's padding is a total.

A convolution takes padding=N as N cells at both sides, or pad=1 instead. A max pool has
(size+padding-window)//stride+1 windows, padding//2 cells stand in front, and the total is window-1
where it is left out. Average pools are global.
"""

from onnxpad.frameworks.choices import HowKnown, Layout, Outside
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Given, Mode, Pair
from onnxpad.frameworks.rules import CROP_BOTH, explicit, total_or_kernel_less_one
from onnxpad.frameworks.words import layers, named, padding
from onnxpad.geometry.windows import Axis

_CONV = "pjreddie/darknet f6afaab, src/convolutional_layer.c:66-74, parser.c:187"
_POOL = "pjreddie/darknet f6afaab, src/maxpool_layer.c:30-31 and 82, parser.c:487"
_TRANSPOSED = "pjreddie/darknet f6afaab, src/deconvolutional_layer.c:67"
_PLANE = frozenset({2})


def _half_kernel(axis: Axis, _given: Given) -> Pair:
    return (axis.kernel // 2, axis.kernel // 2)


_WINDOW = (*named(weight="size", stride="stride"), padding("padding", Layout.EACH))

_layer = layers(HowKnown.READ, ranks=_PLANE)
CONVENTION = Convention(
    source=f"{_CONV}; {_POOL}; {_TRANSPOSED}",
    listed=6,
    layers=(
        _layer(
            "conv",
            *_WINDOW,
            padding(
                "pad",
                modes={0: Mode(explicit, takes_numbers=True), 1: Mode(_half_kernel)},
                default=0,
            ),
            *named(groups="groups"),
            source=_CONV,
        ),
        _layer(
            "max_pool",
            *named(kernel="size", stride="stride"),
            padding("padding", Layout.EACH),
            number=Mode(total_or_kernel_less_one),
            outside=Outside.LOWEST,
            source=_POOL,
        ),
        _layer("conv_transpose", *_WINDOW, number=CROP_BOTH, source=_TRANSPOSED),
    ),
)
