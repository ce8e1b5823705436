"""Theano: as many cells at both sides, or (begin, end) pairs; half is span//2, full is span-1.

Pools round down with ignore_border, else up without windows that start outside. Convolutions
flip their kernels unless filter_flip=False; a weight in ONNX layout has that behind it.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Divisor, HowKnown, Layer, Layout, Mode, Rounding, Special
from onnxpad.frameworks.rules import EXPLICIT, VALID, full, half_span

_CONV = "Theano 1.0.5 measured; Theano/Theano 7505f23, tensor/nnet/abstract_conv.py:100-155"
_POOLS = "Theano 1.0.5 measured; Theano/Theano 7505f23, tensor/signal/pool.py:419-440 and 556-574"
_WINDOW = (
    attributes.kernel("ws", "ds"),
    attributes.stride("stride", "st", default=Special.KERNEL),
    attributes.padding("pad", Layout.EACH, default=0, aliases=("padding",)),
    attributes.rounding(
        "ignore_border", {True: Rounding.DOWN, False: Rounding.UP_FROM_ONE}, default=True
    ),
)

CONVENTION = Convention(
    source=f"{_CONV}; {_POOLS}",
    layers=(
        Layer(
            "conv",
            (
                attributes.padding(
                    "border_mode",
                    Layout.EACH,
                    Layout.PAIRS,
                    modes={"valid": VALID, "half": Mode(half_span), "full": Mode(full)},
                    default="valid",
                ),
                attributes.stride("subsample", "stride"),
                attributes.dilation("filter_dilation"),
                attributes.flag("filter_flip"),
                attributes.groups("num_groups"),
            ),
            HowKnown.EXECUTED,
            _CONV,
            number=EXPLICIT,
        ),
        Layer(
            "max_pool",
            (*_WINDOW, attributes.label("mode", "max")),
            HowKnown.EXECUTED,
            _POOLS,
            number=EXPLICIT,
        ),
        Layer(
            "avg_pool",
            (
                *_WINDOW,
                attributes.divisor(
                    "mode",
                    {"average_inc_pad": Divisor.PADDED, "average_exc_pad": Divisor.REAL},
                    default=Special.REQUIRED,
                ),
            ),
            HowKnown.EXECUTED,
            _POOLS,
            number=EXPLICIT,
        ),
    ),
)
