"""Core ML: same is TensorFlow's SAME, same_lower puts the odd cell first, custom takes pads.

With ceil_mode, a window that starts in the end padding is dropped on padded axes only.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import (
    AxisCrop,
    Divisor,
    Fill,
    Given,
    HowKnown,
    Layer,
    Layout,
    Mode,
    Rounding,
)
from onnxpad.frameworks.rules import (
    CROP_BOTH,
    SAME_LOWER,
    SAME_UPPER,
    VALID,
    explicit,
    same_multiple,
)
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
_NUMBERS = attributes.padding("pad", Layout.INTERLEAVED)
_TYPE = attributes.padding("pad_type", modes=_MODES, default="valid")
_POOL = (
    attributes.kernel("kernel_sizes"),
    attributes.stride("strides", "stride"),
    _TYPE,
    _NUMBERS,
    attributes.rounding("ceil_mode", {False: Rounding.DOWN, True: Rounding.UP_IF_AXIS_PADDED}),
)

CONVENTION = Convention(
    source=f"{_CONV}; {_POOLS}",
    aliases=("coreml",),
    pads_apart=frozenset({Fill.ZEROS, Fill.REFLECT, Fill.EDGE}),  # the MIL operator pad
    layers=(
        Layer(
            "conv",
            (
                attributes.stride("strides", "stride"),
                _TYPE,
                _NUMBERS,
                attributes.dilation("dilations", "dilation"),
                attributes.groups("groups"),
            ),
            HowKnown.READ,
            _CONV,
        ),
        Layer("max_pool", _POOL, HowKnown.READ, _POOLS),
        Layer(
            "avg_pool",
            (
                *_POOL,
                attributes.divisor(
                    "exclude_padding_from_average",
                    {True: Divisor.REAL, False: Divisor.WHOLE},
                    default=False,
                ),
            ),
            HowKnown.READ,
            _POOLS,
        ),
        Layer(
            "conv_transpose",
            (
                attributes.stride("strides", "stride"),
                attributes.padding(
                    "pad_type",
                    modes={
                        "valid": Mode(cut=_uncropped),
                        "custom": Mode(cut=CROP_BOTH.cut, takes_numbers=True),
                        "same": Mode(cut=same_multiple),
                    },
                    default="valid",
                ),
                _NUMBERS,
                attributes.extent("output_shape"),
                attributes.dilation("dilations", "dilation"),
                attributes.groups("groups"),
            ),
            HowKnown.READ,
            f"{_CONV}; same gives size*stride, its split is taken to be that of TensorFlow",
        ),
    ),
)
