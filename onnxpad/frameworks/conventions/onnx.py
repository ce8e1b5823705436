"""ONNX itself: explicit pads (all begins, then all ends), or auto_pad.

ceil_mode rounds up, and no window starts in the end padding. output_shape of a transposed layer
takes the place of pads: SAME_UPPER cuts the smaller half in front, everything else the larger.
"""

from collections.abc import Callable

from onnxpad.frameworks.choices import Divisor, Fill, HowKnown, Layout, Rounding
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import AxisCrop, Given, Mode
from onnxpad.frameworks.rules import SAME_LOWER, SAME_UPPER, VALID, explicit, full_extent
from onnxpad.frameworks.words import divisor, layers, named, padding, rounding
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


_PADS = padding("pads", Layout.BEGINS_ENDS)
_AUTO = padding(
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
_STEPS = named(stride="strides", dilation="dilations")
_POOL = (
    *named(kernel="kernel_shape"),
    *_STEPS,
    _PADS,
    _AUTO,
    rounding("ceil_mode", {0: Rounding.DOWN, 1: Rounding.UP}, default=0),
)

_layer = layers(HowKnown.READ, _SOURCE)
CONVENTION = Convention(
    source=_SOURCE,
    pads_apart=frozenset(Fill),  # Pad
    layers=(
        _layer(
            "conv", *named(weight="kernel_shape"), *_STEPS, _PADS, _AUTO, *named(groups="group")
        ),
        _layer("max_pool", *_POOL, *named(label="storage_order")),
        _layer(
            "avg_pool",
            *_POOL,
            divisor("count_include_pad", {0: Divisor.REAL, 1: Divisor.PADDED}, default=0),
        ),
        _layer(
            "conv_transpose",
            *named(weight="kernel_shape"),
            *_STEPS,
            _PADS,
            padding("auto_pad", modes=_CUTS, default="NOTSET"),
            *named(growth="output_padding", extent="output_shape", groups="group"),
        ),
    ),
)
