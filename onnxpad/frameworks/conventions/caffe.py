"""Caffe: as many cells at both sides; pools round up.

Padded pools drop a last window that starts in the end padding, others keep it. Averages count
padded cells. There is no output_padding.
"""

from onnxpad.frameworks import limits
from onnxpad.frameworks.choices import Divisor, HowKnown, Layout, Outside, Role, Rounding
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.rules import CROP_BOTH
from onnxpad.frameworks.words import by_axis, label, layers, named, padding, rounding

_POOLS = (
    "BVLC/caffe 9b89154, src/caffe/layers/pooling_layer.cpp:91-118, 168-169 and 210-225, compiled "
    "and measured"
)
_WINDOW = (
    *named(weight="kernel_size"),
    *by_axis(Role.KERNEL, "kernel_h", "kernel_w"),
    *named(stride="stride"),
    *by_axis(Role.STRIDE, "stride_h", "stride_w"),
    padding("pad", Layout.EACH, default=0),
    *by_axis(Role.PADDING, "pad_h", "pad_w"),
)
_ROUNDS = {"CEIL": Rounding.UP_IF_ANY_PADDED, "FLOOR": Rounding.DOWN}
_POOL = (*_WINDOW, rounding("round_mode", _ROUNDS, default="CEIL"))
_CONV = (*_WINDOW, *named(dilation="dilation", groups="group"))

_layer = layers(HowKnown.READ, _POOLS)
CONVENTION = Convention(
    source=f"{_POOLS}; conv_layer.cpp:9-21, deconv_layer.cpp:9-21 read",
    listed=3,
    layers=(
        _layer("conv", *_CONV, source="BVLC/caffe 9b89154, conv_layer.cpp:9-21"),
        _layer(
            "max_pool",
            *_POOL,
            label("pool", "MAX"),
            rounding=Rounding.UP_IF_ANY_PADDED,
            outside=Outside.LOWEST,
            checks=(limits.narrower_than_kernel,),
            ranks=frozenset({2}),
            evidence=HowKnown.EXECUTED,
        ),
        _layer(
            "avg_pool",
            *_POOL,
            label("pool", "AVE"),
            rounding=Rounding.UP_IF_ANY_PADDED,
            divisor=Divisor.PADDED,
            outside=Outside.QUOTIENT,
            checks=(limits.narrower_than_kernel,),
            ranks=frozenset({2}),
            evidence=HowKnown.EXECUTED,
        ),
        _layer(
            "conv_transpose",
            *_CONV,
            number=CROP_BOTH,
            source="BVLC/caffe 9b89154, deconv_layer.cpp:9-21",
        ),
    ),
)
