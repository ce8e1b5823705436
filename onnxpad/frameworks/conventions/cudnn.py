"""cuDNN's legacy descriptors: one pad for each axis, so as many cells at both sides.

Frameworks with asymmetric padding pad the tensor first. Pools round down.
"""

from onnxpad.frameworks.choices import Divisor, HowKnown, Layout
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.rules import CROP_BOTH
from onnxpad.frameworks.words import divisor, label, layers, named, padding

_READ = "cudnnSetPoolingNdDescriptor, cudnnSetConvolutionNdDescriptor: one pad for each axis"
_SIZE = f"{_READ}; the output size is from memory of the cuDNN manual"
_MODES = {
    "CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING": Divisor.WHOLE,
    "CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING": Divisor.REAL,
}
_CONV = (
    *named(weight="window kernel", stride="stride filterStride"),
    padding("pad", Layout.EACH, default=0),
    *named(dilation="dilation", groups="groupCount"),
)
_POOL = (*named(kernel="window kernel", stride="stride"), padding("pad", Layout.EACH, default=0))

_layer = layers(HowKnown.REMEMBERED, _SIZE)
CONVENTION = Convention(
    source=_SIZE,
    layers=(
        _layer("conv", *_CONV),
        _layer(
            "max_pool",
            *_POOL,
            label("mode", "CUDNN_POOLING_MAX", "CUDNN_POOLING_MAX_DETERMINISTIC"),
        ),
        _layer(
            "avg_pool",
            *_POOL,
            divisor("mode", _MODES, default="CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING"),
            source=f"{_SIZE}; the modes: Theano 7505f23 tensor/signal/pool.py:266-268",
        ),
        _layer(
            "conv_transpose",
            *_CONV,
            number=CROP_BOTH,
            source=f"{_SIZE}; it is the gradient of conv",
        ),
    ),
)
