"""CNTK: with autoPad an odd cell goes first for odd kernels and last for even ones.

Pads are not limited below: a 1-wide kernel with stride 3 starts inside the input. Transposed
layers with autoPad give (size-1)*stride+1 cells, or what output_shape asks.
"""

from onnxpad.errors import RequestError
from onnxpad.frameworks.choices import Divisor, Fill, HowKnown, Layout, Outside, Rounding
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import AxisCrop, Given, Mode, Pair
from onnxpad.frameworks.rules import explicit, full_extent
from onnxpad.frameworks.words import divisor, layers, named, padding, rounding
from onnxpad.geometry.windows import Axis

_SOURCE = "CNTK 2.7 measured; microsoft/CNTK 00230f8, Source/Math/ConvolveGeometry.h"


def _auto(axis: Axis, _given: Given) -> Pair:
    """GetLowerPad and GetUpperPad."""
    if not isinstance(axis.size, int) or axis.span > axis.size:
        raise RequestError(f"autoPad needs a kernel of at most the size, not {axis.span} cells")
    extra = axis.size - ((axis.size - 1) // axis.stride * axis.stride + 1)
    centre = extra // 2
    reach = axis.span - 1
    return (reach // 2 - centre, reach - reach // 2 - (extra - centre))


def _auto_cut(axis: Axis, size: int, given: Given) -> AxisCrop:
    """What autoPad of a convolution over the output pads in front is cut in front."""
    output = given.extent if given.extent is not None else (size - 1) * axis.stride + 1
    if (output - 1) // axis.stride + 1 != size:
        raise RequestError(f"output_shape {output} does not fit stride {axis.stride}")
    return AxisCrop(_auto(Axis(output, axis.kernel, axis.stride, axis.dilation), given)[0], output)


def _plain_cut(axis: Axis, size: int, _given: Given) -> AxisCrop:
    return AxisCrop(0, full_extent(axis, size))


_AUTO = padding(
    "auto_padding",
    Layout.FLAGS,
    modes={True: Mode(_auto), False: Mode(explicit, takes_numbers=True)},
    default=False,
)
_POOL = (
    *named(kernel="pooling_window_shape", stride="strides stride"),
    _AUTO,
    rounding("ceil_out_dim", {False: Rounding.DOWN, True: Rounding.UP_ALL}),
)

_layer = layers(HowKnown.EXECUTED, _SOURCE)
CONVENTION = Convention(
    source=_SOURCE,
    pads_apart=frozenset({Fill.ZEROS, Fill.REFLECT}),  # cntk.ops.pad
    listed=8,
    layers=(
        _layer(
            "conv",
            *named(stride="strides stride"),
            _AUTO,
            *named(dilation="dilation", groups="groups"),
        ),
        _layer("max_pool", *_POOL, outside=Outside.UNKNOWN),
        _layer(
            "avg_pool",
            *_POOL,
            divisor("include_pad", {True: Divisor.WHOLE, False: Divisor.REAL}, default=False),
        ),
        _layer(
            "conv_transpose",
            *named(stride="strides stride"),
            padding(
                "auto_padding",
                Layout.FLAGS,
                modes={True: Mode(cut=_auto_cut), False: Mode(cut=_plain_cut)},
                default=False,
            ),
            *named(extent="output_shape"),
        ),
    ),
)
