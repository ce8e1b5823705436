"""JAX (lax): SAME puts the odd cell at the end, SAME_LOWER at the begin; negative pads crop.

conv_transpose with SAME gives size*stride cells, cut as TensorFlow cuts them.
"""

from onnxpad.frameworks.choices import Fill, HowKnown, Layout
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import AxisCrop, Given, Mode
from onnxpad.frameworks.rules import SAME_LOWER, SAME_UPPER, VALID, full_extent, valid_gradient
from onnxpad.frameworks.words import flag, layers, named, padding
from onnxpad.geometry.windows import Axis

_CONV = "JAX 0.10.2 measured; jax/_src/lax/lax.py:9332-9385"
_TRANSPOSED = "JAX 0.10.2 measured; jax/_src/lax/convolution.py:260-287"


def _same_cut(axis: Axis, size: int, _given: Given) -> AxisCrop:
    total = axis.span + axis.stride - 2
    wide = axis.stride > axis.span - 1
    before = axis.span - 1 if wide else -(-total // 2)
    return AxisCrop(axis.span - 1 - before, size * axis.stride)


def _pairs_cut(axis: Axis, size: int, given: Given) -> AxisCrop:
    """Explicit pairs pad the spread input: span-1 less of them is the crop."""
    begin, end = given.pads or (0, 0)
    most = axis.span - 1
    return AxisCrop(most - begin, full_extent(axis, size) - 2 * most + begin + end)


_STEPS = named(stride="window_strides strides stride", dilation="rhs_dilation kernel_dilation")

_layer = layers(HowKnown.EXECUTED)
CONVENTION = Convention(
    source=f"{_CONV}; {_TRANSPOSED}",
    pads_apart=frozenset(Fill),  # jax.numpy.pad
    layers=(
        _layer(
            "conv",
            *named(label="api"),
            *_STEPS,
            padding(
                "padding",
                Layout.PAIRS,
                modes={"SAME": SAME_UPPER, "SAME_LOWER": SAME_LOWER, "VALID": VALID},
                default="VALID",
                negative=True,
            ),
            *named(groups="feature_group_count"),
            source=_CONV,
        ),
        _layer(
            "conv_transpose",
            *named(label="api", stride="strides stride", dilation="rhs_dilation"),
            padding(
                "padding",
                Layout.PAIRS,
                modes={"SAME": Mode(cut=_same_cut), "VALID": Mode(cut=valid_gradient)},
                default="SAME",
                negative=True,
            ),
            flag("transpose_kernel"),
            number=Mode(cut=_pairs_cut),
            source=_TRANSPOSED,
        ),
    ),
)
