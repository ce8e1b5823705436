"""CNTK: with autoPad an odd cell goes first for odd kernels and last for even ones.

Pads are not limited below: a 1-wide kernel with stride 3 starts inside the input. Transposed
layers with autoPad give (size-1)*stride+1 cells, or what output_shape asks.
"""

from __future__ import annotations

from onnxpad.errors import RequestError
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
    Pair,
    Rounding,
)
from onnxpad.frameworks.rules import explicit, full_extent
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


_AUTO = attributes.padding(
    "auto_padding",
    Layout.FLAGS,
    modes={True: Mode(_auto), False: Mode(explicit, takes_numbers=True)},
    default=False,
)
_POOL = (
    attributes.kernel("pooling_window_shape"),
    attributes.stride("strides", "stride"),
    _AUTO,
    attributes.rounding("ceil_out_dim", {False: Rounding.DOWN, True: Rounding.UP_ALL}),
)

CONVENTION = Convention(
    source=_SOURCE,
    pads_apart=frozenset({Fill.ZEROS, Fill.REFLECT}),  # cntk.ops.pad
    listed=8,
    layers=(
        Layer(
            "conv",
            (
                attributes.stride("strides", "stride"),
                _AUTO,
                attributes.dilation("dilation"),
                attributes.groups("groups"),
            ),
            HowKnown.EXECUTED,
            _SOURCE,
        ),
        Layer("max_pool", _POOL, HowKnown.EXECUTED, _SOURCE, outside=Outside.UNKNOWN),
        Layer(
            "avg_pool",
            (
                *_POOL,
                attributes.divisor(
                    "include_pad", {True: Divisor.WHOLE, False: Divisor.REAL}, default=False
                ),
            ),
            HowKnown.EXECUTED,
            _SOURCE,
        ),
        Layer(
            "conv_transpose",
            (
                attributes.stride("strides", "stride"),
                attributes.padding(
                    "auto_padding",
                    Layout.FLAGS,
                    modes={True: Mode(cut=_auto_cut), False: Mode(cut=_plain_cut)},
                    default=False,
                ),
                attributes.extent("output_shape"),
            ),
            HowKnown.EXECUTED,
            _SOURCE,
        ),
    ),
)
