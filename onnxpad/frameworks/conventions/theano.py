"""Theano: as many cells at both sides, or (begin, end) pairs; half is span//2, full is span-1.

Pools round down with ignore_border, else up without windows that start outside. Convolutions
flip their kernels unless filter_flip=False; a weight in ONNX layout has that behind it.
"""

from onnxpad.frameworks.choices import Divisor, HowKnown, Layout, Rounding, Special
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Mode
from onnxpad.frameworks.rules import VALID, full, half_span
from onnxpad.frameworks.words import divisor, flag, label, layers, named, padding, rounding

_CONV = "Theano 1.0.5 measured; Theano/Theano 7505f23, tensor/nnet/abstract_conv.py:100-155"
_POOLS = "Theano 1.0.5 measured; Theano/Theano 7505f23, tensor/signal/pool.py:419-440 and 556-574"
_WINDOW = (
    *named(kernel="ws ds", pool_stride="stride st"),
    padding("pad", Layout.EACH, default=0, aliases=("padding",)),
    rounding("ignore_border", {True: Rounding.DOWN, False: Rounding.UP_FROM_ONE}, default=True),
)

_layer = layers(HowKnown.EXECUTED, _POOLS)
CONVENTION = Convention(
    source=f"{_CONV}; {_POOLS}",
    layers=(
        _layer(
            "conv",
            padding(
                "border_mode",
                Layout.EACH,
                Layout.PAIRS,
                modes={"valid": VALID, "half": Mode(half_span), "full": Mode(full)},
                default="valid",
            ),
            *named(stride="subsample stride", dilation="filter_dilation"),
            flag("filter_flip"),
            *named(groups="num_groups"),
            source=_CONV,
        ),
        _layer("max_pool", *_WINDOW, label("mode", "max")),
        _layer(
            "avg_pool",
            *_WINDOW,
            divisor(
                "mode",
                {"average_inc_pad": Divisor.PADDED, "average_exc_pad": Divisor.REAL},
                default=Special.REQUIRED,
            ),
        ),
    ),
)
