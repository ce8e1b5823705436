"""MATLAB's Deep Learning Toolbox: 'same' gives ceil(size/stride) windows, the odd cell last.

Numbers are one for all sides, one for each axis, or [top bottom left right]. Averages divide by
the whole window. Cropping 'same' of transposed layers gives size*stride cells.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Divisor, HowKnown, Layer, Layout, Mode
from onnxpad.frameworks.rules import CROP_BOTH, EXPLICIT, SAME_UPPER, same_multiple

_SOURCE = "Deep Learning Toolbox documentation, averagePooling2dLayer and its siblings"
_SAME_SOURCE = f"{_SOURCE}; that the odd cell goes last is from memory"
_PADDING = attributes.padding(
    "Padding", Layout.EACH, Layout.INTERLEAVED, modes={"same": SAME_UPPER}, default=0
)
_STRIDE = attributes.stride("Stride")
_POOL = (attributes.kernel("PoolSize"), _STRIDE, _PADDING)

CONVENTION = Convention(
    source=_SAME_SOURCE,
    layers=(
        Layer(
            "conv",
            (
                attributes.kernel("FilterSize", default=None),
                _STRIDE,
                attributes.dilation("DilationFactor"),
                _PADDING,
                attributes.groups("NumGroups"),
            ),
            HowKnown.REMEMBERED,
            _SAME_SOURCE,
            number=EXPLICIT,
        ),
        Layer("max_pool", _POOL, HowKnown.REMEMBERED, _SAME_SOURCE, number=EXPLICIT),
        Layer(
            "avg_pool",
            _POOL,
            HowKnown.REMEMBERED,
            _SAME_SOURCE,
            number=EXPLICIT,
            divisor=Divisor.WHOLE,
        ),
        Layer(
            "conv_transpose",
            (
                attributes.kernel("FilterSize", default=None),
                _STRIDE,
                attributes.padding(
                    "Cropping",
                    Layout.EACH,
                    Layout.INTERLEAVED,
                    modes={"same": Mode(cut=same_multiple)},
                    default=0,
                ),
            ),
            HowKnown.REMEMBERED,
            _SAME_SOURCE,
            number=CROP_BOTH,
        ),
    ),
)
