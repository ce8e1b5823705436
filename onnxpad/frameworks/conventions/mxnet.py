"""MXNet: as many cells at both sides; pooling_convention valid rounds down, full up.

full keeps every window, also one that starts outside: it is not Caffe's rule. Deconvolution
with target_shape cuts the larger half in front, the other way round than TensorFlow.
"""

from onnxpad.frameworks import limits
from onnxpad.frameworks.choices import Divisor, Fill, HowKnown, Layout, Outside, Rounding
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import AxisCrop, Given, Mode
from onnxpad.frameworks.rules import crop_both, full_extent
from onnxpad.frameworks.words import divisor, label, layers, named, padding, rounding
from onnxpad.geometry.windows import Axis

_SOURCE = "MXNet 1.9.1 native kernels measured; apache/mxnet 04a89ca, src/operator/nn/pooling.cc"


def _target(axis: Axis, size: int, given: Given) -> AxisCrop:
    """target_shape takes the place of pad and adj, the odd cell is cut in front."""
    if given.extent is None:
        return crop_both(axis, size, given)
    return AxisCrop((full_extent(axis, size) - given.extent + 1) // 2, given.extent)


_ROUNDING = rounding(
    "pooling_convention",
    {
        "valid": Rounding.DOWN,
        "full": Rounding.UP_ALL,
        "same": "MXNet 1.9.1 refuses every call with it",
    },
    default="valid",
)
_WINDOW = (*named(stride="stride"), padding("pad", Layout.EACH, default=0))
_CONV = (*named(weight="kernel"), *_WINDOW, *named(dilation="dilate", groups="num_group"))
_POOL = (*named(kernel="kernel"), *_WINDOW, _ROUNDING)

_layer = layers(HowKnown.EXECUTED, _SOURCE)
CONVENTION = Convention(
    source=_SOURCE,
    pads_apart=frozenset({Fill.ZEROS, Fill.REFLECT, Fill.EDGE}),  # Pad
    layers=(
        _layer("conv", *_CONV),
        _layer(
            "max_pool",
            *_POOL,
            label("pool_type", "max"),
            outside=Outside.LOWEST,
            checks=(limits.fits_the_padded_input,),
        ),
        _layer(
            "avg_pool",
            *_POOL,
            label("pool_type", "avg"),
            divisor("count_include_pad", {True: Divisor.PADDED, False: Divisor.REAL}, default=True),
            outside=Outside.ZERO,
            checks=(limits.fits_the_padded_input,),
        ),
        _layer(
            "conv_transpose",
            *_CONV,
            *named(growth="adj", extent="target_shape"),
            number=Mode(cut=_target),
        ),
    ),
)
