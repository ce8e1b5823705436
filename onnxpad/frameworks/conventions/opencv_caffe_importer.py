"""OpenCV's importer of Caffe models: pools round up, and clip axis by axis.

A last window in the end padding is dropped on padded axes only, so it differs from Caffe where
one axis is padded and the other is not. Windows outside the input give 0.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Divisor, HowKnown, Layer, Layout, Outside, Role, Rounding
from onnxpad.frameworks.rules import EXPLICIT

_SOURCE = "OpenCV 4.10.0 dnn measured"
_POOL = (
    attributes.kernel("kernel_size", default=None),
    *attributes.by_axis(Role.KERNEL, "kernel_h", "kernel_w"),
    attributes.stride("stride"),
    *attributes.by_axis(Role.STRIDE, "stride_h", "stride_w"),
    attributes.padding("pad", Layout.EACH, default=0),
    *attributes.by_axis(Role.PADDING, "pad_h", "pad_w"),
)
_PLANE = frozenset({2})

CONVENTION = Convention(
    source=_SOURCE,
    layers=(
        Layer(
            "max_pool",
            (*_POOL, attributes.label("pool", "MAX")),
            HowKnown.EXECUTED,
            _SOURCE,
            number=EXPLICIT,
            rounding=Rounding.UP_IF_AXIS_PADDED,
            outside=Outside.ZERO,
            ranks=_PLANE,
        ),
        Layer(
            "avg_pool",
            (*_POOL, attributes.label("pool", "AVE")),
            HowKnown.EXECUTED,
            _SOURCE,
            number=EXPLICIT,
            rounding=Rounding.UP_IF_AXIS_PADDED,
            divisor=Divisor.PADDED,
            outside=Outside.ZERO,
            ranks=_PLANE,
        ),
    ),
)
