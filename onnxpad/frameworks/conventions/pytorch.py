"""PyTorch: as many cells at both sides; padding='same' only with stride 1.

Pools round down, or up with ceil_mode, where no window may start in the end padding, and take
pads of at most half a window. Averages count padded cells unless count_include_pad=False.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes, limits
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Divisor, Fill, HowKnown, Layer, Layout, Mode, Rounding, Special
from onnxpad.frameworks.rules import CROP_BOTH, EXPLICIT, VALID, unstrided_same

_CONV = "PyTorch 2.13 measured; torch/nn/modules/conv.py:145-157"
_POOLS = "PyTorch 2.13 measured; aten/src/ATen/native/Pool.h"
_FILLS = {
    "zeros": Fill.ZEROS,
    "reflect": Fill.REFLECT,
    "replicate": Fill.EDGE,
    "circular": Fill.WRAP,
}
_CEIL = attributes.rounding("ceil_mode", {False: Rounding.DOWN, True: Rounding.UP})
_POOL = (
    attributes.kernel("kernel_size"),
    attributes.stride("stride", default=Special.KERNEL),
    attributes.padding("padding", Layout.EACH, default=0),
)

CONVENTION = Convention(
    source="measured with PyTorch 2.13; aten/src/ATen/native/Pool.h, torch/nn/modules/conv.py",
    aliases=("torch",),
    pads_apart=frozenset(Fill),  # torch.nn.functional.pad
    listed=2,
    layers=(
        Layer(
            "conv",
            (
                attributes.kernel("kernel_size", default=None),
                attributes.stride("stride"),
                attributes.padding(
                    "padding",
                    Layout.EACH,
                    modes={"same": Mode(unstrided_same), "valid": VALID},
                    default=0,
                ),
                attributes.dilation("dilation"),
                attributes.groups("groups"),
                attributes.fill("padding_mode", _FILLS, default="zeros"),
            ),
            HowKnown.EXECUTED,
            _CONV,
            number=EXPLICIT,
        ),
        Layer(
            "max_pool",
            (*_POOL, attributes.dilation("dilation"), _CEIL, attributes.label("return_indices")),
            HowKnown.EXECUTED,
            _POOLS,
            number=EXPLICIT,
            checks=(limits.at_most_half_a_window,),
        ),
        Layer(
            "avg_pool",
            (
                *_POOL,
                _CEIL,
                attributes.divisor(
                    "count_include_pad",
                    {True: Divisor.PADDED, False: Divisor.REAL},
                    default=True,
                ),
                attributes.override("divisor_override"),
            ),
            HowKnown.EXECUTED,
            _POOLS,
            number=EXPLICIT,
            checks=(limits.at_most_half_a_window,),
        ),
        Layer(
            "conv_transpose",
            (
                attributes.kernel("kernel_size", default=None),
                attributes.stride("stride"),
                attributes.padding("padding", Layout.EACH, default=0),
                attributes.growth("output_padding"),
                attributes.groups("groups"),
                attributes.dilation("dilation"),
                attributes.label("padding_mode", "zeros"),
            ),
            HowKnown.EXECUTED,
            _CONV,
            number=CROP_BOTH,
            checks=(limits.growth_below_stride,),
        ),
    ),
)
