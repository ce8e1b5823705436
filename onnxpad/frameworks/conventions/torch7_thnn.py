"""THNN, Torch7's kernels as PyTorch 1.0 shipped them: rounding up drops windows axis by axis.

A window that starts in the end padding is dropped on padded axes and kept on others: neither
Torch7's rule nor today's PyTorch.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes, limits
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Divisor, HowKnown, Layer, Layout, Outside, Rounding, Special
from onnxpad.frameworks.rules import CROP_BOTH, EXPLICIT

_SOURCE = "THNN kernels in torch 1.0.1 measured"
_CEIL = attributes.rounding("ceil_mode", {False: Rounding.DOWN, True: Rounding.UP_IF_AXIS_PADDED})
_NUMBERS = attributes.padding("padding", Layout.EACH, default=0)
_CONV = (
    attributes.kernel("kernel_size", default=None),
    attributes.stride("stride"),
    _NUMBERS,
    attributes.dilation("dilation"),
    attributes.groups("groups"),
    attributes.label("padding_mode", "zeros"),
)
_POOL = (
    attributes.kernel("kernel_size"),
    attributes.stride("stride", default=Special.KERNEL),
    _NUMBERS,
    _CEIL,
)

CONVENTION = Convention(
    source=_SOURCE,
    aliases=("thnn",),
    layers=(
        Layer("conv", _CONV, HowKnown.EXECUTED, _SOURCE, number=EXPLICIT),
        Layer(
            "max_pool",
            (*_POOL, attributes.dilation("dilation")),
            HowKnown.EXECUTED,
            _SOURCE,
            number=EXPLICIT,
            outside=Outside.LOWEST,
            checks=(limits.at_most_half_a_window,),
        ),
        Layer(
            "avg_pool",
            (
                *_POOL,
                attributes.divisor(
                    "count_include_pad", {True: Divisor.PADDED, False: Divisor.REAL}, default=True
                ),
                attributes.override("divisor_override"),
            ),
            HowKnown.EXECUTED,
            _SOURCE,
            number=EXPLICIT,
            outside=Outside.ZERO,
            checks=(limits.at_most_half_a_window,),
        ),
        Layer(
            "conv_transpose",
            (*_CONV, attributes.growth("output_padding")),
            HowKnown.EXECUTED,
            _SOURCE,
            number=CROP_BOTH,
        ),
    ),
)
