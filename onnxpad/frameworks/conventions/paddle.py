"""PaddlePaddle: SAME is TensorFlow's, but it resets the dilation to 1.

ceil_mode keeps every window. exclusive=False counts padding at the end only as far as at the
begin; divisor_override rescales the average that exclusive gave. Transposed SAME crops what a
convolution over the input would pad.
"""

from onnxpad.frameworks.choices import Divisor, Fill, HowKnown, Layout, Outside, Override, Rounding
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import AxisCrop, Given, Mode
from onnxpad.frameworks.rules import CROP_BOTH, VALID, full_extent, same_upper
from onnxpad.frameworks.words import divisor, layers, named, padding, rounding
from onnxpad.geometry.windows import Axis

_CONV = "PaddlePaddle 3.3.1 on the CPU measured; phi/kernels/cpu/conv_util.h:51-66"
_POOLS = "PaddlePaddle 3.3.1 on the CPU measured; phi/kernels/funcs/pooling.h:521-532"


def _same_cut(axis: Axis, size: int, given: Given) -> AxisCrop:
    begin, end = same_upper(axis, given)
    return AxisCrop(begin, full_extent(axis, size) - begin - end + (given.growth or 0))


def _valid_cut(axis: Axis, size: int, given: Given) -> AxisCrop:
    return AxisCrop(0, full_extent(axis, size) + (given.growth or 0))


_LAYOUTS = (Layout.EACH, Layout.INTERLEAVED, Layout.PAIRS_CHANNELS_FIRST)
_PADDING = padding(
    "padding",
    *_LAYOUTS,
    modes={"SAME": Mode(same_upper, undilated=True), "VALID": VALID},
    default=0,
)
_POOL = (
    *named(kernel="kernel_size", pool_stride="stride"),
    _PADDING,
    rounding("ceil_mode", {False: Rounding.DOWN, True: Rounding.UP_ALL}),
)

_layer = layers(HowKnown.EXECUTED, _CONV)
CONVENTION = Convention(
    source=f"{_CONV}; {_POOLS}",
    aliases=("paddlepaddle",),
    pads_apart=frozenset(Fill),  # paddle.nn.functional.pad
    layers=(
        _layer(
            "conv",
            *named(weight="kernel_size", stride="stride"),
            _PADDING,
            *named(dilation="dilation", groups="groups"),
        ),
        _layer("max_pool", *_POOL, outside=Outside.LOWEST, source=_POOLS),
        _layer(
            "avg_pool",
            *_POOL,
            divisor("exclusive", {True: Divisor.REAL, False: Divisor.BEGIN_PADDED}, default=True),
            *named(override="divisor_override"),
            override=Override.RESCALE,
            outside=Outside.QUOTIENT,
            source=f"{_POOLS}; nn/functional/pooling.py:410-414",
        ),
        _layer(
            "conv_transpose",
            *named(weight="kernel_size", stride="stride"),
            padding(
                "padding",
                *_LAYOUTS,
                modes={"SAME": Mode(cut=_same_cut, undilated=True), "VALID": Mode(cut=_valid_cut)},
                default=0,
            ),
            *named(growth="output_padding", dilation="dilation", groups="groups"),
            number=CROP_BOTH,
        ),
    ),
)
