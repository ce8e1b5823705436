"""PyTorch: as many cells at both sides; padding='same' only with stride 1.

Pools round down, or up with ceil_mode, where no window may start in the end padding, and take
pads of at most half a window. Averages count padded cells unless count_include_pad=False.
"""

from onnxpad.frameworks import limits
from onnxpad.frameworks.choices import Divisor, Fill, HowKnown, Layout, Rounding
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Mode
from onnxpad.frameworks.rules import CROP_BOTH, VALID, unstrided_same
from onnxpad.frameworks.words import divisor, fill, label, layers, named, padding, rounding

_CONV = "PyTorch 2.13 measured; torch/nn/modules/conv.py:145-157"
_POOLS = "PyTorch 2.13 measured; aten/src/ATen/native/Pool.h"
_FILLS = {
    "zeros": Fill.ZEROS,
    "reflect": Fill.REFLECT,
    "replicate": Fill.EDGE,
    "circular": Fill.WRAP,
}
_CEIL = rounding("ceil_mode", {False: Rounding.DOWN, True: Rounding.UP})
_POOL = (
    *named(kernel="kernel_size", pool_stride="stride"),
    padding("padding", Layout.EACH, default=0),
)

_layer = layers(HowKnown.EXECUTED, _CONV)
CONVENTION = Convention(
    source="measured with PyTorch 2.13; aten/src/ATen/native/Pool.h, torch/nn/modules/conv.py",
    aliases=("torch",),
    pads_apart=frozenset(Fill),  # torch.nn.functional.pad
    listed=2,
    layers=(
        _layer(
            "conv",
            *named(weight="kernel_size", stride="stride"),
            padding(
                "padding",
                Layout.EACH,
                modes={"same": Mode(unstrided_same), "valid": VALID},
                default=0,
            ),
            *named(dilation="dilation", groups="groups"),
            fill("padding_mode", _FILLS, default="zeros"),
        ),
        _layer(
            "max_pool",
            *_POOL,
            *named(dilation="dilation"),
            _CEIL,
            *named(label="return_indices"),
            checks=(limits.at_most_half_a_window,),
            source=_POOLS,
        ),
        _layer(
            "avg_pool",
            *_POOL,
            _CEIL,
            divisor("count_include_pad", {True: Divisor.PADDED, False: Divisor.REAL}, default=True),
            *named(override="divisor_override"),
            checks=(limits.at_most_half_a_window,),
            source=_POOLS,
        ),
        _layer(
            "conv_transpose",
            *named(weight="kernel_size", stride="stride"),
            padding("padding", Layout.EACH, default=0),
            *named(growth="output_padding", groups="groups", dilation="dilation"),
            label("padding_mode", "zeros"),
            number=CROP_BOTH,
            checks=(limits.growth_below_stride,),
        ),
    ),
)
