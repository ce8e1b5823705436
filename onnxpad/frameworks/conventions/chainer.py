"""Chainer: as many cells at both sides; cover_all rounds up and keeps every window.

max_pooling has cover_all=True by default, its windows outside the input give -inf.
average_pooling_2d counts zeros; average_pooling_nd does not with pad_value=None.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import (
    Divisor,
    Fill,
    HowKnown,
    Layer,
    Layout,
    Outside,
    Role,
    Rounding,
    Special,
    Word,
)
from onnxpad.frameworks.rules import CROP_BOTH, EXPLICIT

_SOURCE = "Chainer 7.8.1 measured; chainer/chainer a8e15cb, chainer/utils/conv.py:29-62"
_COVERS = {False: Rounding.DOWN, True: Rounding.UP_ALL}
_PAD = attributes.padding("pad", Layout.EACH, default=0)
_POOL = (
    attributes.label("api"),
    attributes.kernel("ksize"),
    attributes.stride("stride", default=Special.KERNEL),
    _PAD,
)

CONVENTION = Convention(
    source=_SOURCE,
    pads_apart=frozenset({Fill.ZEROS}),  # chainer.functions.pad
    layers=(
        Layer(
            "conv",
            (
                attributes.kernel("ksize", default=None),
                attributes.stride("stride"),
                _PAD,
                attributes.rounding("cover_all", _COVERS),
                attributes.dilation("dilate"),
                attributes.groups("groups"),
            ),
            HowKnown.EXECUTED,
            _SOURCE,
            number=EXPLICIT,
        ),
        Layer(
            "max_pool",
            (*_POOL, attributes.rounding("cover_all", _COVERS, default=True)),
            HowKnown.EXECUTED,
            _SOURCE,
            number=EXPLICIT,
            outside=Outside.MINUS_INFINITY,
        ),
        Layer(
            "avg_pool",
            (
                *_POOL,
                Word(
                    "pad_value",
                    Role.DIVISOR,
                    0,
                    choices={0: Divisor.WHOLE, None: Divisor.REAL},
                ),
            ),
            HowKnown.EXECUTED,
            _SOURCE,
            number=EXPLICIT,
        ),
        Layer(
            "conv_transpose",
            (
                attributes.kernel("ksize", default=None),
                attributes.stride("stride"),
                _PAD,
                attributes.extent("outsize"),
                attributes.dilation("dilate"),
                attributes.groups("groups"),
            ),
            HowKnown.EXECUTED,
            _SOURCE,
            number=CROP_BOTH,
        ),
    ),
)
