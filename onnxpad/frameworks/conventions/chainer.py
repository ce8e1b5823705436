"""Chainer: as many cells at both sides; cover_all rounds up and keeps every window.

max_pooling has cover_all=True by default, its windows outside the input give -inf.
average_pooling_2d counts zeros; average_pooling_nd does not with pad_value=None.
"""

from onnxpad.frameworks.choices import Divisor, Fill, HowKnown, Layout, Outside, Role, Rounding
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Word
from onnxpad.frameworks.rules import CROP_BOTH
from onnxpad.frameworks.words import layers, named, padding, rounding

_SOURCE = "Chainer 7.8.1 measured; chainer/chainer a8e15cb, chainer/utils/conv.py:29-62"
_COVERS = {False: Rounding.DOWN, True: Rounding.UP_ALL}
_PAD = padding("pad", Layout.EACH, default=0)
_POOL = (*named(label="api", kernel="ksize", pool_stride="stride"), _PAD)

_layer = layers(HowKnown.EXECUTED, _SOURCE)
CONVENTION = Convention(
    source=_SOURCE,
    pads_apart=frozenset({Fill.ZEROS}),  # chainer.functions.pad
    layers=(
        _layer(
            "conv",
            *named(weight="ksize", stride="stride"),
            _PAD,
            rounding("cover_all", _COVERS),
            *named(dilation="dilate", groups="groups"),
        ),
        _layer(
            "max_pool",
            *_POOL,
            rounding("cover_all", _COVERS, default=True),
            outside=Outside.MINUS_INFINITY,
        ),
        _layer(
            "avg_pool",
            *_POOL,
            Word("pad_value", Role.DIVISOR, 0, choices={0: Divisor.WHOLE, None: Divisor.REAL}),
        ),
        _layer(
            "conv_transpose",
            *named(weight="ksize", stride="stride"),
            _PAD,
            *named(extent="outsize", dilation="dilate", groups="groups"),
            number=CROP_BOTH,
        ),
    ),
)
