"""TensorFlow, Keras and TFLite: SAME or VALID, an odd cell goes to the end.

SAME gives ceil(size/stride) windows. Averages never count padded cells, pools never round up.
JAX's SAME, Core ML's same and DL4J's Same place cells alike.
"""

from onnxpad.frameworks import limits
from onnxpad.frameworks.choices import Fill, HowKnown, Layout, Outside, Role, Special
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Word
from onnxpad.frameworks.rules import SAME_GRADIENT, SAME_UPPER, VALID, VALID_GRADIENT
from onnxpad.frameworks.words import label, layers, named, padding

_SOURCE = (
    "TensorFlow 2.21 measured; python/ops/nn_ops.py:20-90, notes on padding; "
    "core/framework/kernel_shape_util.cc"
)
_NHWC = (Layout.PAIRS_CHANNELS_LAST,)
_LAYOUT = label("data_format", "NHWC", "NWC", "NDHWC")


def _numbers(name: str, role: Role, default: object, *aliases: str) -> Word:
    """One for each axis, or batch, axes and channels as TensorFlow writes them."""
    return Word(name, role, default, aliases, layouts=_NHWC)


_PADDING = padding(
    "padding",
    *_NHWC,
    modes={"SAME": SAME_UPPER, "VALID": VALID},
    default="VALID",
    aliases=("explicit_paddings",),
)
_TRANSPOSED_PADDING = padding(
    "padding", modes={"SAME": SAME_GRADIENT, "VALID": VALID_GRADIENT}, default="SAME"
)
_STRIDES = _numbers("strides", Role.STRIDE, 1, "stride")
_DILATIONS = _numbers("dilations", Role.DILATION, 1, "dilation", "rate")
_POOL = (
    _numbers("ksize", Role.KERNEL, Special.REQUIRED, "window_shape", "pool_size"),
    _STRIDES,
    _DILATIONS,
    _PADDING,
    _LAYOUT,
)
_CONV = (*named(label="api"), _STRIDES, _PADDING, _DILATIONS, *named(groups="groups"), _LAYOUT)

_layer = layers(HowKnown.EXECUTED, _SOURCE)
CONVENTION = Convention(
    source=_SOURCE,
    aliases=("tf",),
    pads_apart=frozenset({Fill.ZEROS, Fill.REFLECT}),  # tf.pad
    listed=1,
    layers=(
        _layer("conv", *_CONV),
        _layer(
            "depthwise_conv",
            *_CONV,
            checks=(limits.equal_strides, limits.no_stride_with_dilation),
            ranks=frozenset({2}),
            source=f"{_SOURCE}; equal strides, and dilation only with stride 1",
        ),
        _layer(
            "max_pool",
            *named(label="api"),
            *_POOL,
            label("pooling_type", "MAX"),
            outside=Outside.UNKNOWN,
        ),
        _layer("avg_pool", *named(label="api"), *_POOL, label("pooling_type", "AVG")),
        _layer(
            "conv_transpose",
            *named(label="api"),
            _numbers("output_shape", Role.EXTENT, Special.REQUIRED),
            _STRIDES,
            _TRANSPOSED_PADDING,
            _DILATIONS,
            _LAYOUT,
            source=f"{_SOURCE}; it is the gradient of conv, "
            "ceil(output/stride) must be the input's size",
        ),
    ),
)
