"""cuDNN's legacy descriptors: one pad for each axis, so as many cells at both sides.

Frameworks with asymmetric padding pad the tensor first. Pools round down.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Divisor, HowKnown, Layer, Layout
from onnxpad.frameworks.rules import CROP_BOTH, EXPLICIT

_READ = "cudnnSetPoolingNdDescriptor, cudnnSetConvolutionNdDescriptor: one pad for each axis"
_SIZE = f"{_READ}; the output size is from memory of the cuDNN manual"
_MODES = {
    "CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING": Divisor.WHOLE,
    "CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING": Divisor.REAL,
}
_CONV = (
    attributes.kernel("window", "kernel", default=None),
    attributes.stride("stride", "filterStride"),
    attributes.padding("pad", Layout.EACH, default=0),
    attributes.dilation("dilation"),
    attributes.groups("groupCount"),
)
_POOL = (
    attributes.kernel("window", "kernel"),
    attributes.stride("stride"),
    attributes.padding("pad", Layout.EACH, default=0),
)

CONVENTION = Convention(
    source=_SIZE,
    layers=(
        Layer("conv", _CONV, HowKnown.REMEMBERED, _SIZE, number=EXPLICIT),
        Layer(
            "max_pool",
            (
                *_POOL,
                attributes.label("mode", "CUDNN_POOLING_MAX", "CUDNN_POOLING_MAX_DETERMINISTIC"),
            ),
            HowKnown.REMEMBERED,
            _SIZE,
            number=EXPLICIT,
        ),
        Layer(
            "avg_pool",
            (
                *_POOL,
                attributes.divisor(
                    "mode", _MODES, default="CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING"
                ),
            ),
            HowKnown.REMEMBERED,
            f"{_SIZE}; the modes: Theano 7505f23 tensor/signal/pool.py:266-268",
            number=EXPLICIT,
        ),
        Layer(
            "conv_transpose",
            _CONV,
            HowKnown.REMEMBERED,
            f"{_SIZE}; it is the gradient of conv",
            number=CROP_BOTH,
        ),
    ),
)
