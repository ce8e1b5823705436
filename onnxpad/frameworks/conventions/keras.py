"""Keras: TensorFlow's SAME and VALID, causal padding, and output_padding.

Causal convolutions pad span-1 cells in front. Transposed ones without output_padding give
size*stride cells (same) or size*stride+max(span-stride, 0) (valid).
"""

from onnxpad.frameworks.choices import Fill, HowKnown, Role
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import AxisCrop, Given, Mode, Word
from onnxpad.frameworks.rules import SAME_UPPER, VALID, causal, full_extent, same_multiple
from onnxpad.frameworks.words import label, layers, named, padding
from onnxpad.geometry.windows import Axis

_CONV = "Keras 3.15.1 on TensorFlow 2.21 measured (causal); same and valid are TensorFlow's"
_TRANSPOSED = "Keras 3.15.1 measured; src/backend/common/backend_utils.py:271-297"


def _same(axis: Axis, size: int, given: Given) -> AxisCrop:
    """size*stride, or with output_padding (size-1)*stride + span%2 + output_padding."""
    if given.growth is None:
        return same_multiple(axis, size, given)
    output = (size - 1) * axis.stride + axis.span % 2 + given.growth
    return AxisCrop(max(0, full_extent(axis, size) - output) // 2, output)


def _valid(axis: Axis, size: int, given: Given) -> AxisCrop:
    extra = max(axis.stride - axis.span, 0) if given.growth is None else given.growth
    return AxisCrop(0, full_extent(axis, size) + extra)


_LAYOUT = label("data_format", "channels_last")
_SAME_VALID = {"same": SAME_UPPER, "valid": VALID}
_POOL = (
    *named(label="api"),
    Word("pool_size", Role.KERNEL, 2),
    *named(pool_stride="strides stride"),
    padding("padding", modes=_SAME_VALID, default="valid"),
    _LAYOUT,
)

_layer = layers(HowKnown.EXECUTED, "Keras 3.15.1 calls TensorFlow's pools")
CONVENTION = Convention(
    source=f"{_CONV}; {_TRANSPOSED}",
    pads_apart=frozenset({Fill.ZEROS}),  # ZeroPadding1D, 2D and 3D
    listed=4,
    layers=(
        _layer(
            "conv",
            *named(label="api", weight="kernel_size", stride="strides stride"),
            padding("padding", modes=_SAME_VALID | {"causal": Mode(causal)}, default="valid"),
            *named(dilation="dilation_rate dilation", groups="groups"),
            _LAYOUT,
            source=_CONV,
        ),
        _layer("max_pool", *_POOL, evidence=HowKnown.READ),
        _layer("avg_pool", *_POOL, evidence=HowKnown.READ),
        _layer(
            "conv_transpose",
            *named(label="api", weight="kernel_size", stride="strides stride"),
            padding(
                "padding",
                modes={"same": Mode(cut=_same), "valid": Mode(cut=_valid)},
                default="valid",
            ),
            *named(growth="output_padding", dilation="dilation_rate dilation"),
            _LAYOUT,
            source=_TRANSPOSED,
        ),
    ),
)
