"""THNN, Torch7's kernels as PyTorch 1.0 shipped them: rounding up drops windows axis by axis.

A window that starts in the end padding is dropped on padded axes and kept on others: neither
Torch7's rule nor today's PyTorch.
"""

from onnxpad.frameworks import limits
from onnxpad.frameworks.choices import Divisor, HowKnown, Layout, Outside, Rounding
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.rules import CROP_BOTH
from onnxpad.frameworks.words import divisor, label, layers, named, padding, rounding

_SOURCE = "THNN kernels in torch 1.0.1 measured"
_CEIL = rounding("ceil_mode", {False: Rounding.DOWN, True: Rounding.UP_IF_AXIS_PADDED})
_NUMBERS = padding("padding", Layout.EACH, default=0)
_CONV = (
    *named(weight="kernel_size", stride="stride"),
    _NUMBERS,
    *named(dilation="dilation", groups="groups"),
    label("padding_mode", "zeros"),
)
_POOL = (*named(kernel="kernel_size", pool_stride="stride"), _NUMBERS, _CEIL)

_layer = layers(HowKnown.EXECUTED, _SOURCE)
CONVENTION = Convention(
    source=_SOURCE,
    aliases=("thnn",),
    layers=(
        _layer("conv", *_CONV),
        _layer(
            "max_pool",
            *_POOL,
            *named(dilation="dilation"),
            outside=Outside.LOWEST,
            checks=(limits.at_most_half_a_window,),
        ),
        _layer(
            "avg_pool",
            *_POOL,
            divisor("count_include_pad", {True: Divisor.PADDED, False: Divisor.REAL}, default=True),
            *named(override="divisor_override"),
            outside=Outside.ZERO,
            checks=(limits.at_most_half_a_window,),
        ),
        _layer("conv_transpose", *_CONV, *named(growth="output_padding"), number=CROP_BOTH),
    ),
)
