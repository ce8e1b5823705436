"""Caffe2: legacy_pad chooses between explicit pads, VALID, SAME and Caffe's rounding.

SAME splits (ceil(size/stride)-1)*stride + kernel - size without a limit below, the odd cell at
the end. CAFFE_LEGACY_POOLING rounds up, and drops a window in the end padding on padded axes.
Averages never count padded cells, whatever count_include_pad says. Transposed layers crop
nothing with VALID and SAME.
"""

from onnxpad.frameworks.choices import Divisor, Fill, HowKnown, Layout, Outside, Rounding
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Given, Mode, Pair
from onnxpad.frameworks.rules import crop_both, explicit, valid
from onnxpad.frameworks.words import divisor, layers, named, padding
from onnxpad.geometry.windows import Axis

_SOURCE = "caffe2 in torch 1.0.1 measured; caffe2/operators/conv_pool_op_base.h read"


def _same(axis: Axis, _given: Given) -> Pair:
    """C++ divides towards 0; CAFFE2_PAD_HEAD_MORE is false."""
    if not isinstance(axis.size, int):
        return (0, 0)
    needed = (-(-axis.size // axis.stride) - 1) * axis.stride + axis.kernel - axis.size
    head = needed // 2 if needed >= 0 else -(-needed // 2)
    return (head, needed - head)


_MODES = {"NOTSET": Mode(explicit, takes_numbers=True), "VALID": Mode(valid), "SAME": Mode(_same)}
_CUTS = {
    "NOTSET": Mode(cut=crop_both, takes_numbers=True),
    "VALID": Mode(cut=crop_both),
    "SAME": Mode(cut=crop_both),
}
_LEGACY = Mode(explicit, rounding=Rounding.UP_IF_AXIS_PADDED, takes_numbers=True)
_WINDOW = (
    *named(weight="kernels kernel", stride="strides stride"),
    padding("pads", Layout.BEGINS_ENDS, Layout.EACH, aliases=("pad",)),
)
_POOL = (
    *_WINDOW,
    padding("legacy_pad", modes=_MODES | {"CAFFE_LEGACY_POOLING": _LEGACY}, default="NOTSET"),
)

_layer = layers(HowKnown.EXECUTED, _SOURCE)
CONVENTION = Convention(
    source=_SOURCE,
    pads_apart=frozenset({Fill.ZEROS, Fill.REFLECT, Fill.EDGE}),  # PadImage
    layers=(
        _layer(
            "conv",
            *_WINDOW,
            padding("legacy_pad", modes=_MODES, default="NOTSET"),
            *named(dilation="dilations dilation", groups="group"),
        ),
        _layer("max_pool", *_POOL, outside=Outside.LOWEST),
        _layer(
            "avg_pool",
            *_POOL,
            divisor("count_include_pad", {True: Divisor.REAL, False: Divisor.REAL}, default=False),
        ),
        _layer(
            "conv_transpose",
            *_WINDOW,
            padding("legacy_pad", modes=_CUTS, default="NOTSET"),
            *named(growth="adjs adj", groups="group"),
        ),
    ),
)
