"""TFLite: TensorFlow's SAME and VALID, by the built-in kernels.

With the XNNPACK delegate, TFLite 2.21 computes SAME convolutions wrongly where
(ceil(size/stride)-1)*stride + kernel is less than the size and the kernel is wider than 1.
"""

from onnxpad.frameworks.choices import Fill, HowKnown, Role
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Word
from onnxpad.frameworks.rules import SAME_GRADIENT, SAME_UPPER, VALID, VALID_GRADIENT
from onnxpad.frameworks.words import layers, named, padding

_SOURCE = "tf.lite 2.21 measured, built-in kernels; lite/kernels/padding.h"
_PADDING = padding("padding", modes={"SAME": SAME_UPPER, "VALID": VALID}, default="SAME")
_CONV = (
    *named(stride="strides stride"),
    _PADDING,
    *named(dilation="dilations dilation", groups="groups", label="depth_multiplier"),
)
_POOL = (*named(kernel="ksize filter_size", stride="strides stride"), _PADDING)

_layer = layers(HowKnown.EXECUTED, _SOURCE, ranks=frozenset({2}))
CONVENTION = Convention(
    source=_SOURCE,
    pads_apart=frozenset({Fill.ZEROS, Fill.REFLECT}),  # PAD, MIRROR_PAD
    listed=5,
    layers=(
        _layer("conv", *_CONV),
        _layer("max_pool", *_POOL),
        _layer("avg_pool", *_POOL),
        _layer(
            "conv_transpose",
            Word("output_shape", Role.EXTENT),
            *named(stride="strides stride"),
            padding(
                "padding", modes={"SAME": SAME_GRADIENT, "VALID": VALID_GRADIENT}, default="SAME"
            ),
        ),
    ),
)
