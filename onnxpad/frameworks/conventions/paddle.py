"""PaddlePaddle: SAME is TensorFlow's, but it resets the dilation to 1.

ceil_mode keeps every window. exclusive=False counts padding at the end only as far as at the
begin; divisor_override rescales the average that exclusive gave. Transposed SAME crops what a
convolution over the input would pad.
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
    Outside,
    Override,
    Rounding,
    Special,
)
from onnxpad.frameworks.rules import CROP_BOTH, EXPLICIT, VALID, full_extent, same_upper
from onnxpad.geometry.windows import Axis

_CONV = "PaddlePaddle 3.3.1 on the CPU measured; phi/kernels/cpu/conv_util.h:51-66"
_POOLS = "PaddlePaddle 3.3.1 on the CPU measured; phi/kernels/funcs/pooling.h:521-532"


def _same_cut(axis: Axis, size: int, given: Given) -> AxisCrop:
    begin, end = same_upper(axis, given)
    return AxisCrop(begin, full_extent(axis, size) - begin - end + (given.growth or 0))


def _valid_cut(axis: Axis, size: int, given: Given) -> AxisCrop:
    return AxisCrop(0, full_extent(axis, size) + (given.growth or 0))


_LAYOUTS = (Layout.EACH, Layout.INTERLEAVED, Layout.PAIRS_CHANNELS_FIRST)
_PADDING = attributes.padding(
    "padding",
    *_LAYOUTS,
    modes={"SAME": Mode(same_upper, undilated=True), "VALID": VALID},
    default=0,
)
_KERNEL = attributes.kernel("kernel_size", default=None)
_POOL = (
    attributes.kernel("kernel_size"),
    attributes.stride("stride", default=Special.KERNEL),
    _PADDING,
    attributes.rounding("ceil_mode", {False: Rounding.DOWN, True: Rounding.UP_ALL}),
)

CONVENTION = Convention(
    source=f"{_CONV}; {_POOLS}",
    aliases=("paddlepaddle",),
    pads_apart=frozenset(Fill),  # paddle.nn.functional.pad
    layers=(
        Layer(
            "conv",
            (
                _KERNEL,
                attributes.stride("stride"),
                _PADDING,
                attributes.dilation("dilation"),
                attributes.groups("groups"),
            ),
            HowKnown.EXECUTED,
            _CONV,
            number=EXPLICIT,
        ),
        Layer(
            "max_pool",
            _POOL,
            HowKnown.EXECUTED,
            _POOLS,
            number=EXPLICIT,
            outside=Outside.LOWEST,
        ),
        Layer(
            "avg_pool",
            (
                *_POOL,
                attributes.divisor(
                    "exclusive", {True: Divisor.REAL, False: Divisor.BEGIN_PADDED}, default=True
                ),
                attributes.override("divisor_override"),
            ),
            HowKnown.EXECUTED,
            f"{_POOLS}; nn/functional/pooling.py:410-414",
            number=EXPLICIT,
            override=Override.RESCALE,
            outside=Outside.QUOTIENT,
        ),
        Layer(
            "conv_transpose",
            (
                _KERNEL,
                attributes.stride("stride"),
                attributes.padding(
                    "padding",
                    *_LAYOUTS,
                    modes={
                        "SAME": Mode(cut=_same_cut, undilated=True),
                        "VALID": Mode(cut=_valid_cut),
                    },
                    default=0,
                ),
                attributes.growth("output_padding"),
                attributes.dilation("dilation"),
                attributes.groups("groups"),
            ),
            HowKnown.EXECUTED,
            _CONV,
            number=CROP_BOTH,
        ),
    ),
)
