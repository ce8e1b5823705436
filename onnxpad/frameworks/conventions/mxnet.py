"""MXNet: as many cells at both sides; pooling_convention valid rounds down, full up.

full keeps every window, also one that starts outside: it is not Caffe's rule. Deconvolution
with target_shape cuts the larger half in front, the other way round than TensorFlow.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes, limits
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
    Outside,
    Rounding,
)
from onnxpad.frameworks.rules import EXPLICIT, crop_both, full_extent
from onnxpad.geometry.windows import Axis

_SOURCE = "MXNet 1.9.1 native kernels measured; apache/mxnet 04a89ca, src/operator/nn/pooling.cc"


def _target(axis: Axis, size: int, given: Given) -> AxisCrop:
    """target_shape takes the place of pad and adj, the odd cell is cut in front."""
    if given.extent is None:
        return crop_both(axis, size, given)
    return AxisCrop((full_extent(axis, size) - given.extent + 1) // 2, given.extent)


_ROUNDING = attributes.rounding(
    "pooling_convention",
    {
        "valid": Rounding.DOWN,
        "full": Rounding.UP_ALL,
        "same": "MXNet 1.9.1 refuses every call with it",
    },
    default="valid",
)
_WINDOW = (
    attributes.stride("stride"),
    attributes.padding("pad", Layout.EACH, default=0),
)
_CONV = (
    attributes.kernel("kernel", default=None),
    *_WINDOW,
    attributes.dilation("dilate"),
    attributes.groups("num_group"),
)
_POOL = (attributes.kernel("kernel"), *_WINDOW, _ROUNDING)

CONVENTION = Convention(
    source=_SOURCE,
    pads_apart=frozenset({Fill.ZEROS, Fill.REFLECT, Fill.EDGE}),  # Pad
    layers=(
        Layer("conv", _CONV, HowKnown.EXECUTED, _SOURCE, number=EXPLICIT),
        Layer(
            "max_pool",
            (*_POOL, attributes.label("pool_type", "max")),
            HowKnown.EXECUTED,
            _SOURCE,
            number=EXPLICIT,
            outside=Outside.LOWEST,
            checks=(limits.fits_the_padded_input,),
        ),
        Layer(
            "avg_pool",
            (
                *_POOL,
                attributes.label("pool_type", "avg"),
                attributes.divisor(
                    "count_include_pad", {True: Divisor.PADDED, False: Divisor.REAL}, default=True
                ),
            ),
            HowKnown.EXECUTED,
            _SOURCE,
            number=EXPLICIT,
            outside=Outside.ZERO,
            checks=(limits.fits_the_padded_input,),
        ),
        Layer(
            "conv_transpose",
            (*_CONV, attributes.growth("adj"), attributes.extent("target_shape")),
            HowKnown.EXECUTED,
            _SOURCE,
            number=Mode(cut=_target),
        ),
    ),
)
