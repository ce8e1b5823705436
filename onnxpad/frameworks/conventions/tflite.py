"""TFLite: TensorFlow's SAME and VALID, by the built-in kernels.

With the XNNPACK delegate, TFLite 2.21 computes SAME convolutions wrongly where
(ceil(size/stride)-1)*stride + kernel is less than the size and the kernel is wider than 1.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Fill, HowKnown, Layer, Special
from onnxpad.frameworks.rules import SAME_GRADIENT, SAME_UPPER, VALID, VALID_GRADIENT

_SOURCE = "tf.lite 2.21 measured, built-in kernels; lite/kernels/padding.h"
_STRIDES = attributes.stride("strides", "stride")
_PADDING = attributes.padding("padding", modes={"SAME": SAME_UPPER, "VALID": VALID}, default="SAME")
_CONV = (
    _STRIDES,
    _PADDING,
    attributes.dilation("dilations", "dilation"),
    attributes.groups("groups"),
    attributes.label("depth_multiplier"),
)
_POOL = (attributes.kernel("ksize", "filter_size"), _STRIDES, _PADDING)

CONVENTION = Convention(
    source=_SOURCE,
    pads_apart=frozenset({Fill.ZEROS, Fill.REFLECT}),  # PAD, MIRROR_PAD
    listed=5,
    layers=(
        Layer("conv", _CONV, HowKnown.EXECUTED, _SOURCE, ranks=frozenset({2})),
        Layer("max_pool", _POOL, HowKnown.EXECUTED, _SOURCE, ranks=frozenset({2})),
        Layer("avg_pool", _POOL, HowKnown.EXECUTED, _SOURCE, ranks=frozenset({2})),
        Layer(
            "conv_transpose",
            (
                attributes.extent("output_shape", default=Special.REQUIRED),
                _STRIDES,
                attributes.padding(
                    "padding",
                    modes={"SAME": SAME_GRADIENT, "VALID": VALID_GRADIENT},
                    default="SAME",
                ),
            ),
            HowKnown.EXECUTED,
            _SOURCE,
            ranks=frozenset({2}),
        ),
    ),
)
