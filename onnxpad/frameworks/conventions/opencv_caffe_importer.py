"""OpenCV's importer of Caffe models: pools round up, and clip axis by axis.

A last window in the end padding is dropped on padded axes only, so it differs from Caffe where
one axis is padded and the other is not. Windows outside the input give 0.
"""

from onnxpad.frameworks.choices import Divisor, HowKnown, Layout, Outside, Role, Rounding
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.words import by_axis, label, layers, named, padding

_SOURCE = "OpenCV 4.10.0 dnn measured"
_POOL = (
    *named(weight="kernel_size"),
    *by_axis(Role.KERNEL, "kernel_h", "kernel_w"),
    *named(stride="stride"),
    *by_axis(Role.STRIDE, "stride_h", "stride_w"),
    padding("pad", Layout.EACH, default=0),
    *by_axis(Role.PADDING, "pad_h", "pad_w"),
)
_PLANE = frozenset({2})

_layer = layers(HowKnown.EXECUTED, _SOURCE, ranks=_PLANE)
CONVENTION = Convention(
    source=_SOURCE,
    layers=(
        _layer(
            "max_pool",
            *_POOL,
            label("pool", "MAX"),
            rounding=Rounding.UP_IF_AXIS_PADDED,
            outside=Outside.ZERO,
        ),
        _layer(
            "avg_pool",
            *_POOL,
            label("pool", "AVE"),
            rounding=Rounding.UP_IF_AXIS_PADDED,
            divisor=Divisor.PADDED,
            outside=Outside.ZERO,
        ),
    ),
)
