"""Caffe: as many cells at both sides; pools round up.

Padded pools drop a last window that starts in the end padding, others keep it. Averages count
padded cells. There is no output_padding.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes, limits
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Divisor, HowKnown, Layer, Layout, Outside, Role, Rounding
from onnxpad.frameworks.rules import CROP_BOTH, EXPLICIT

_POOLS = (
    "BVLC/caffe 9b89154, src/caffe/layers/pooling_layer.cpp:91-118, 168-169 and 210-225, compiled "
    "and measured"
)
_WINDOW = (
    attributes.kernel("kernel_size", default=None),
    *attributes.by_axis(Role.KERNEL, "kernel_h", "kernel_w"),
    attributes.stride("stride"),
    *attributes.by_axis(Role.STRIDE, "stride_h", "stride_w"),
    attributes.padding("pad", Layout.EACH, default=0),
    *attributes.by_axis(Role.PADDING, "pad_h", "pad_w"),
)
_ROUNDS = {"CEIL": Rounding.UP_IF_ANY_PADDED, "FLOOR": Rounding.DOWN}
_POOL = (*_WINDOW, attributes.rounding("round_mode", _ROUNDS, default="CEIL"))
_CONV = (*_WINDOW, attributes.dilation("dilation"), attributes.groups("group"))

CONVENTION = Convention(
    source=f"{_POOLS}; conv_layer.cpp:9-21, deconv_layer.cpp:9-21 read",
    listed=3,
    layers=(
        Layer(
            "conv", _CONV, HowKnown.READ, "BVLC/caffe 9b89154, conv_layer.cpp:9-21", number=EXPLICIT
        ),
        Layer(
            "max_pool",
            (*_POOL, attributes.label("pool", "MAX")),
            HowKnown.EXECUTED,
            _POOLS,
            number=EXPLICIT,
            rounding=Rounding.UP_IF_ANY_PADDED,
            outside=Outside.LOWEST,
            checks=(limits.narrower_than_kernel,),
            ranks=frozenset({2}),
        ),
        Layer(
            "avg_pool",
            (*_POOL, attributes.label("pool", "AVE")),
            HowKnown.EXECUTED,
            _POOLS,
            number=EXPLICIT,
            rounding=Rounding.UP_IF_ANY_PADDED,
            divisor=Divisor.PADDED,
            outside=Outside.QUOTIENT,
            checks=(limits.narrower_than_kernel,),
            ranks=frozenset({2}),
        ),
        Layer(
            "conv_transpose",
            _CONV,
            HowKnown.READ,
            "BVLC/caffe 9b89154, deconv_layer.cpp:9-21",
            number=CROP_BOTH,
        ),
    ),
)
