"""Core ML: same is TensorFlow's SAME, same_lower puts the odd cell first, custom takes pads.

With ceil_mode, a window that starts in the end padding is dropped on padded axes only.
"""

from onnxpad.frameworks.choices import Divisor, Fill, HowKnown, Layout, Rounding
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import AxisCrop, Given, Mode
from onnxpad.frameworks.rules import (
    CROP_BOTH,
    SAME_LOWER,
    SAME_UPPER,
    VALID,
    explicit,
    same_multiple,
)
from onnxpad.frameworks.words import divisor, layers, named, padding, rounding
from onnxpad.geometry.windows import Axis

_CONV = (
    "apple/coremltools e0e2f42, converters/mil/mil/ops/defs/_utils.py:205-230, iOS15/conv.py:48-72"
)
_POOLS = "apple/coremltools e0e2f42, converters/mil/mil/ops/defs/iOS15/pool.py:60-170"


def _uncropped(axis: Axis, size: int, _given: Given) -> AxisCrop:
    return AxisCrop(0, (size - 1) * axis.stride + axis.span)


_MODES = {
    "valid": VALID,
    "custom": Mode(explicit, takes_numbers=True),
    "same": SAME_UPPER,
    "same_lower": SAME_LOWER,
}
_NUMBERS = padding("pad", Layout.INTERLEAVED)
_TYPE = padding("pad_type", modes=_MODES, default="valid")
_POOL = (
    *named(kernel="kernel_sizes", stride="strides stride"),
    _TYPE,
    _NUMBERS,
    rounding("ceil_mode", {False: Rounding.DOWN, True: Rounding.UP_IF_AXIS_PADDED}),
)

_layer = layers(HowKnown.READ, _POOLS)
CONVENTION = Convention(
    source=f"{_CONV}; {_POOLS}",
    aliases=("coreml",),
    pads_apart=frozenset({Fill.ZEROS, Fill.REFLECT, Fill.EDGE}),  # the MIL operator pad
    layers=(
        _layer(
            "conv",
            *named(stride="strides stride"),
            _TYPE,
            _NUMBERS,
            *named(dilation="dilations dilation", groups="groups"),
            source=_CONV,
        ),
        _layer("max_pool", *_POOL),
        _layer(
            "avg_pool",
            *_POOL,
            divisor(
                "exclude_padding_from_average",
                {True: Divisor.REAL, False: Divisor.WHOLE},
                default=False,
            ),
        ),
        _layer(
            "conv_transpose",
            *named(stride="strides stride"),
            padding(
                "pad_type",
                modes={
                    "valid": Mode(cut=_uncropped),
                    "custom": Mode(cut=CROP_BOTH.cut, takes_numbers=True),
                    "same": Mode(cut=same_multiple),
                },
                default="valid",
            ),
            _NUMBERS,
            *named(extent="output_shape", dilation="dilations dilation", groups="groups"),
            source=f"{_CONV}; same gives size*stride, its split is taken to be that of TensorFlow",
        ),
    ),
)
