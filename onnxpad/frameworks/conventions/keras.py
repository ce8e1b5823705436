"""Keras: TensorFlow's SAME and VALID, causal padding, and output_padding.

Causal convolutions pad span-1 cells in front. Transposed ones without output_padding give
size*stride cells (same) or size*stride+max(span-stride, 0) (valid).
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import AxisCrop, Fill, Given, HowKnown, Layer, Mode, Special
from onnxpad.frameworks.rules import SAME_UPPER, VALID, causal, full_extent, same_multiple
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


_STRIDES = attributes.stride("strides", "stride")
_DILATION = attributes.dilation("dilation_rate", "dilation")
_LAYOUT = attributes.label("data_format", "channels_last")
_SAME_VALID = {"same": SAME_UPPER, "valid": VALID}
_POOL = (
    attributes.label("api"),
    attributes.kernel("pool_size", default=2),
    attributes.stride("strides", "stride", default=Special.KERNEL),
    attributes.padding("padding", modes=_SAME_VALID, default="valid"),
    _LAYOUT,
)

CONVENTION = Convention(
    source=f"{_CONV}; {_TRANSPOSED}",
    pads_apart=frozenset({Fill.ZEROS}),  # ZeroPadding1D, 2D and 3D
    listed=4,
    layers=(
        Layer(
            "conv",
            (
                attributes.label("api"),
                attributes.kernel("kernel_size", default=None),
                _STRIDES,
                attributes.padding(
                    "padding", modes=_SAME_VALID | {"causal": Mode(causal)}, default="valid"
                ),
                _DILATION,
                attributes.groups("groups"),
                _LAYOUT,
            ),
            HowKnown.EXECUTED,
            _CONV,
        ),
        Layer("max_pool", _POOL, HowKnown.READ, "Keras 3.15.1 calls TensorFlow's pools"),
        Layer("avg_pool", _POOL, HowKnown.READ, "Keras 3.15.1 calls TensorFlow's pools"),
        Layer(
            "conv_transpose",
            (
                attributes.label("api"),
                attributes.kernel("kernel_size", default=None),
                _STRIDES,
                attributes.padding(
                    "padding",
                    modes={"same": Mode(cut=_same), "valid": Mode(cut=_valid)},
                    default="valid",
                ),
                attributes.growth("output_padding"),
                _DILATION,
                _LAYOUT,
            ),
            HowKnown.EXECUTED,
            _TRANSPOSED,
        ),
    ),
)
