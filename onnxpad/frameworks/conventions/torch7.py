"""Torch7 (Lua): as many cells at both sides; pools round down, or up after :ceil().

Rounding up drops a window that starts in the end padding on all axes once any axis is padded,
and none otherwise: Caffe's rule. Averages count padded cells unless setCountExcludePad().
"""

from onnxpad.frameworks import limits
from onnxpad.frameworks.choices import Divisor, Fill, HowKnown, Layout, Role, Rounding
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.rules import CROP_BOTH
from onnxpad.frameworks.words import by_axis, divisor, layers, padding, rounding

_CONV = "torch/nn 8726825, SpatialConvolution.lua:3-22"
_POOLS = (
    "torch/nn 8726825, lib/THNN/generic/SpatialDilatedMaxPooling.c:43-62, "
    "SpatialAveragePooling.c:40-59 and 164-181"
)
_WINDOW = (
    *by_axis(Role.KERNEL, "kH", "kW"),
    *by_axis(Role.STRIDE, "dH", "dW"),
    padding("pad", Layout.EACH, default=0),
    *by_axis(Role.PADDING, "padH", "padW"),
)
_POOL = (*_WINDOW, rounding("ceil_mode", {False: Rounding.DOWN, True: Rounding.UP_IF_ANY_PADDED}))
_PLANE = frozenset({2})

_layer = layers(HowKnown.READ, _CONV, ranks=_PLANE)
CONVENTION = Convention(
    source=f"{_CONV}; {_POOLS}",
    pads_apart=frozenset({Fill.ZEROS, Fill.REFLECT, Fill.EDGE}),  # SpatialZeroPadding and its kin
    listed=7,
    layers=(
        _layer("conv", *_WINDOW),
        _layer("max_pool", *_POOL, checks=(limits.at_most_half_a_window,), source=_POOLS),
        _layer(
            "avg_pool",
            *_POOL,
            divisor("count_include_pad", {True: Divisor.PADDED, False: Divisor.REAL}, default=True),
            checks=(limits.at_most_half_a_window,),
            source=_POOLS,
        ),
        _layer("conv_transpose", *_WINDOW, *by_axis(Role.GROWTH, "adjH", "adjW"), number=CROP_BOTH),
    ),
)
