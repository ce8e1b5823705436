"""ONNX itself: explicit pads (all begins, then all ends), or auto_pad.

ceil_mode rounds up, and no window starts in the end padding. output_shape of a transposed layer
takes the place of pads: SAME_UPPER cuts the smaller half in front, everything else the larger.
"""

from __future__ import annotations

from collections.abc import Callable

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
from onnxpad.frameworks.rules import EXPLICIT, SAME_LOWER, SAME_UPPER, VALID, explicit, full_extent
from onnxpad.geometry.windows import Axis, same_crop, shape_crop

_SOURCE = "onnx/onnx f754691, onnx/defs/nn/defs.cc:26-40, 191-206, 249-261 and 1319-1321"


def _cut(mode: str) -> Callable[[Axis, int, Given], AxisCrop]:
    """ConvTranspose-22 with this auto_pad."""

    def cut(axis: Axis, size: int, given: Given) -> AxisCrop:
        growth, upper = given.growth or 0, mode == "SAME_UPPER"
        full = full_extent(axis, size) + growth
        if given.extent is not None:
            begin, _ = shape_crop(full - growth, growth, given.extent, upper=upper)
            return AxisCrop(begin, given.extent)
        begin, end = given.pads or (0, 0)
        if mode.startswith("SAME"):
            begin, end = same_crop(axis, growth, upper=upper)
        return AxisCrop(begin, full - begin - end)

    return cut


_PADS = attributes.padding("pads", Layout.BEGINS_ENDS)
_AUTO = attributes.padding(
    "auto_pad",
    modes={
        "NOTSET": Mode(explicit, takes_numbers=True),
        "SAME_UPPER": SAME_UPPER,
        "SAME_LOWER": SAME_LOWER,
        "VALID": VALID,
    },
    default="NOTSET",
)
_CUTS = {
    mode: Mode(cut=_cut(mode), takes_numbers=mode == "NOTSET")
    for mode in ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
}
_STEPS = (attributes.stride("strides"), attributes.dilation("dilations"))
_POOL = (
    attributes.kernel("kernel_shape"),
    *_STEPS,
    _PADS,
    _AUTO,
    attributes.rounding("ceil_mode", {0: Rounding.DOWN, 1: Rounding.UP}, default=0),
)

CONVENTION = Convention(
    source=_SOURCE,
    pads_apart=frozenset(Fill),  # Pad
    layers=(
        Layer(
            "conv",
            (
                attributes.kernel("kernel_shape", default=None),
                *_STEPS,
                _PADS,
                _AUTO,
                attributes.groups("group"),
            ),
            HowKnown.READ,
            _SOURCE,
            number=EXPLICIT,
        ),
        Layer("max_pool", (*_POOL, attributes.label("storage_order")), HowKnown.READ, _SOURCE),
        Layer(
            "avg_pool",
            (
                *_POOL,
                attributes.divisor(
                    "count_include_pad", {0: Divisor.REAL, 1: Divisor.PADDED}, default=0
                ),
            ),
            HowKnown.READ,
            _SOURCE,
        ),
        Layer(
            "conv_transpose",
            (
                attributes.kernel("kernel_shape", default=None),
                *_STEPS,
                _PADS,
                attributes.padding("auto_pad", modes=_CUTS, default="NOTSET"),
                attributes.growth("output_padding"),
                attributes.extent("output_shape"),
                attributes.groups("group"),
            ),
            HowKnown.READ,
            _SOURCE,
        ),
    ),
)
