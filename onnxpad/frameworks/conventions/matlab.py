"""MATLAB's Deep Learning Toolbox: 'same' gives ceil(size/stride) windows, the odd cell last.

Numbers are one for all sides, one for each axis, or [top bottom left right]. Averages divide by
the whole window. Cropping 'same' of transposed layers gives size*stride cells.
"""

from onnxpad.frameworks.choices import Divisor, HowKnown, Layout
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Mode
from onnxpad.frameworks.rules import CROP_BOTH, SAME_UPPER, same_multiple
from onnxpad.frameworks.words import layers, named, padding

_SOURCE = "Deep Learning Toolbox documentation, averagePooling2dLayer and its siblings"
_SAME_SOURCE = f"{_SOURCE}; that the odd cell goes last is from memory"
_PADDING = padding(
    "Padding", Layout.EACH, Layout.INTERLEAVED, modes={"same": SAME_UPPER}, default=0
)
_POOL = (*named(kernel="PoolSize", stride="Stride"), _PADDING)

_layer = layers(HowKnown.REMEMBERED, _SAME_SOURCE)
CONVENTION = Convention(
    source=_SAME_SOURCE,
    layers=(
        _layer(
            "conv",
            *named(weight="FilterSize", stride="Stride", dilation="DilationFactor"),
            _PADDING,
            *named(groups="NumGroups"),
        ),
        _layer("max_pool", *_POOL),
        _layer("avg_pool", *_POOL, divisor=Divisor.WHOLE),
        _layer(
            "conv_transpose",
            *named(weight="FilterSize", stride="Stride"),
            padding(
                "Cropping",
                Layout.EACH,
                Layout.INTERLEAVED,
                modes={"same": Mode(cut=same_multiple)},
                default=0,
            ),
            number=CROP_BOTH,
        ),
    ),
)
