"""PyTorch: as many cells at both sides; padding='same' only with stride 1.

Pools round down, or up with ceil_mode, where no window may start in the end padding, and take
pads of at most half a window. Averages count padded cells unless count_include_pad=False.
"""

from __future__ import annotations

from onnxpad.frameworks import limits, naming
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.cropping import CROP_BOTH
from onnxpad.frameworks.placing import EXPLICIT, VALID, unstrided_same
from onnxpad.frameworks.words import Divisor, Evidence, Fill, Layer, Layout, Mode, Rounding, Special

_CONV = "PyTorch 2.13 measured; torch/nn/modules/conv.py:145-157"
_POOLS = "PyTorch 2.13 measured; aten/src/ATen/native/Pool.h"
_FILLS = {
    "zeros": Fill.ZEROS,
    "reflect": Fill.REFLECT,
    "replicate": Fill.EDGE,
    "circular": Fill.WRAP,
}
_CEIL = naming.rounding("ceil_mode", {False: Rounding.DOWN, True: Rounding.UP})
_POOL = (
    naming.kernel("kernel_size"),
    naming.stride("stride", default=Special.KERNEL),
    naming.padding("padding", Layout.EACH, default=0),
)

CONVENTION = Convention(
    source="measured with PyTorch 2.13; aten/src/ATen/native/Pool.h, torch/nn/modules/conv.py",
    aliases=("torch",),
    pads_apart=frozenset(Fill),
    listed=2,
    layers=(
        Layer(
            "conv",
            (
                naming.kernel("kernel_size", default=None),
                naming.stride("stride"),
                naming.padding(
                    "padding",
                    Layout.EACH,
                    modes={"same": Mode(unstrided_same), "valid": VALID},
                    default=0,
                ),
                naming.dilation("dilation"),
                naming.groups("groups"),
                naming.fill("padding_mode", _FILLS, default="zeros"),
            ),
            Evidence.EXECUTED,
            _CONV,
            number=EXPLICIT,
        ),
        Layer(
            "max_pool",
            (*_POOL, naming.dilation("dilation"), _CEIL, naming.label("return_indices")),
            Evidence.EXECUTED,
            _POOLS,
            number=EXPLICIT,
            checks=(limits.at_most_half_a_window,),
        ),
        Layer(
            "avg_pool",
            (
                *_POOL,
                _CEIL,
                naming.divisor(
                    "count_include_pad",
                    {True: Divisor.PADDED, False: Divisor.REAL},
                    default=True,
                ),
                naming.override("divisor_override"),
            ),
            Evidence.EXECUTED,
            _POOLS,
            number=EXPLICIT,
            checks=(limits.at_most_half_a_window,),
        ),
        Layer(
            "conv_transpose",
            (
                naming.kernel("kernel_size", default=None),
                naming.stride("stride"),
                naming.padding("padding", Layout.EACH, default=0),
                naming.growth("output_padding"),
                naming.groups("groups"),
                naming.dilation("dilation"),
                naming.label("padding_mode", "zeros"),
            ),
            Evidence.EXECUTED,
            _CONV,
            number=CROP_BOTH,
            checks=(limits.growth_below_stride,),
        ),
    ),
)
