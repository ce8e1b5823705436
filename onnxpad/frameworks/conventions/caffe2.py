"""Caffe2: legacy_pad chooses between explicit pads, VALID, SAME and Caffe's rounding.

SAME splits (ceil(size/stride)-1)*stride + kernel - size without a limit below, the odd cell at
the end. CAFFE_LEGACY_POOLING rounds up, and drops a window in the end padding on padded axes.
Averages never count padded cells, whatever count_include_pad says. Transposed layers crop
nothing with VALID and SAME.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import (
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
from onnxpad.frameworks.rules import crop_both, explicit, valid
from onnxpad.geometry.windows import Axis

_SOURCE = "caffe2 in torch 1.0.1 measured; caffe2/operators/conv_pool_op_base.h read"


def _same(axis: Axis, _given: Given) -> Pair:
    """C++ divides towards 0; CAFFE2_PAD_HEAD_MORE is false."""
    if not isinstance(axis.size, int):
        return (0, 0)
    needed = (-(-axis.size // axis.stride) - 1) * axis.stride + axis.kernel - axis.size
    head = needed // 2 if needed >= 0 else -(-needed // 2)
    return (head, needed - head)


_MODES = {
    "NOTSET": Mode(explicit, takes_numbers=True),
    "VALID": Mode(valid),
    "SAME": Mode(_same),
}
_CUTS = {
    "NOTSET": Mode(cut=crop_both, takes_numbers=True),
    "VALID": Mode(cut=crop_both),
    "SAME": Mode(cut=crop_both),
}
_LEGACY = Mode(explicit, rounding=Rounding.UP_IF_AXIS_PADDED, takes_numbers=True)
_WINDOW = (
    attributes.kernel("kernels", "kernel", default=None),
    attributes.stride("strides", "stride"),
    attributes.padding("pads", Layout.BEGINS_ENDS, Layout.EACH, aliases=("pad",)),
)
_POOL = (
    *_WINDOW,
    attributes.padding(
        "legacy_pad", modes=_MODES | {"CAFFE_LEGACY_POOLING": _LEGACY}, default="NOTSET"
    ),
)

CONVENTION = Convention(
    source=_SOURCE,
    pads_apart=frozenset({Fill.ZEROS, Fill.REFLECT, Fill.EDGE}),  # PadImage
    layers=(
        Layer(
            "conv",
            (
                *_WINDOW,
                attributes.padding("legacy_pad", modes=_MODES, default="NOTSET"),
                attributes.dilation("dilations", "dilation"),
                attributes.groups("group"),
            ),
            HowKnown.EXECUTED,
            _SOURCE,
        ),
        Layer("max_pool", _POOL, HowKnown.EXECUTED, _SOURCE, outside=Outside.LOWEST),
        Layer(
            "avg_pool",
            (
                *_POOL,
                attributes.divisor(
                    "count_include_pad", {True: Divisor.REAL, False: Divisor.REAL}, default=False
                ),
            ),
            HowKnown.EXECUTED,
            _SOURCE,
        ),
        Layer(
            "conv_transpose",
            (
                *_WINDOW,
                attributes.padding("legacy_pad", modes=_CUTS, default="NOTSET"),
                attributes.growth("adjs", "adj"),
                attributes.groups("group"),
            ),
            HowKnown.EXECUTED,
            _SOURCE,
        ),
    ),
)
