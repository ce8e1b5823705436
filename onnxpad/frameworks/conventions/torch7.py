"""Torch7 (Lua): as many cells at both sides; pools round down, or up after :ceil().

Rounding up drops a window that starts in the end padding on all axes once any axis is padded,
and none otherwise: Caffe's rule. Averages count padded cells unless setCountExcludePad().
"""

from __future__ import annotations

from onnxpad.frameworks import attributes, limits
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Divisor, Fill, HowKnown, Layer, Layout, Role, Rounding
from onnxpad.frameworks.rules import CROP_BOTH, EXPLICIT

_CONV = "torch/nn 8726825, SpatialConvolution.lua:3-22"
_POOLS = (
    "torch/nn 8726825, lib/THNN/generic/SpatialDilatedMaxPooling.c:43-62, "
    "SpatialAveragePooling.c:40-59 and 164-181"
)
_WINDOW = (
    *attributes.by_axis(Role.KERNEL, "kH", "kW"),
    *attributes.by_axis(Role.STRIDE, "dH", "dW"),
    attributes.padding("pad", Layout.EACH, default=0),
    *attributes.by_axis(Role.PADDING, "padH", "padW"),
)
_POOL = (
    *_WINDOW,
    attributes.rounding("ceil_mode", {False: Rounding.DOWN, True: Rounding.UP_IF_ANY_PADDED}),
)
_PLANE = frozenset({2})

CONVENTION = Convention(
    source=f"{_CONV}; {_POOLS}",
    pads_apart=frozenset({Fill.ZEROS, Fill.REFLECT, Fill.EDGE}),  # SpatialZeroPadding and its kin
    listed=7,
    layers=(
        Layer("conv", _WINDOW, HowKnown.READ, _CONV, number=EXPLICIT, ranks=_PLANE),
        Layer(
            "max_pool",
            _POOL,
            HowKnown.READ,
            _POOLS,
            number=EXPLICIT,
            checks=(limits.at_most_half_a_window,),
            ranks=_PLANE,
        ),
        Layer(
            "avg_pool",
            (
                *_POOL,
                attributes.divisor(
                    "count_include_pad", {True: Divisor.PADDED, False: Divisor.REAL}, default=True
                ),
            ),
            HowKnown.READ,
            _POOLS,
            number=EXPLICIT,
            checks=(limits.at_most_half_a_window,),
            ranks=_PLANE,
        ),
        Layer(
            "conv_transpose",
            (*_WINDOW, *attributes.by_axis(Role.GROWTH, "adjH", "adjW")),
            HowKnown.READ,
            _CONV,
            number=CROP_BOTH,
            ranks=_PLANE,
        ),
    ),
)
