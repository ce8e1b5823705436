"""Keras, models through onnx2keras, which is no longer maintained."""

from __future__ import annotations

from onnxpad.geometry.windows import output_size
from onnxpad.padding.chain import Chain, Pads
from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import (
    BRANCH,
    CALLS,
    DEQUANTISES,
    DISORDER,
    INLINED,
    SORTED,
)
from onnxpad.runtimes.conditions.rows import (
    OTHER_SHAPE,
    Condition,
    measured,
    miscomputes,
    refuses,
    takes,
)
from onnxpad.runtimes.targets import Target

_VERSION = "onnx2keras 0.0.25, keras 3.15.1"
_seen = measured(_VERSION)
_NOT_HALF_THE_KERNEL = Condition(
    "its pads are not half of an odd kernel",
    w.of_sides(lambda axis, begin, end: axis.kernel != 2 * begin + 1 or end != begin),
)
_BEGINS_OF_HALF_THE_KERNEL = Condition(
    "its begin pads are half of an odd kernel",
    w.of_pads(
        lambda c, pads: all(
            axis.kernel == 2 * begin + 1 for axis, begin in zip(c.axes, pads.begins, strict=True)
        )
    ),
    "its begin pads are not half of an odd kernel",
)
_ALL = (*w.WINDOWS, *p.PAD)


def _is_as_wide_as_deep(chain: Chain, pads: Pads) -> bool:
    """Whether a depthwise convolution makes as many columns as channels."""
    outputs = (chain.weight.shape or (0,))[0]
    if not w.takes_channels_apart(chain) or outputs == 1:
        return False
    *_, (axis, begin, end) = chain.sides(pads)
    return output_size(axis, begin, end) == outputs


_AS_WIDE_AS_DEEP = Condition(
    "it is depthwise, and its result has as many columns as channels",
    w.of_pads(_is_as_wide_as_deep),
    "it is not depthwise, or its result has not as many columns as channels",
    "leave its bias out, and add it behind",
)


TARGET = Target(
    _VERSION,
    (
        takes(w.WINDOWS, by=_seen("2-D convolutions with explicit pads, pools without")),
        takes(p.PAD, by=_seen("Pad of modes constant and reflect")),
        refuses(CALLS, INLINED, by=_seen("calls of local functions")),
        refuses(DISORDER, SORTED, by=_seen("nodes in front of what they read")),
        miscomputes(
            ("Conv", *w.TRANSPOSED, "MaxPool"),
            w.NEGATIVE_PADS,
            by=_seen("negative pads attributes: another shape, or refused"),
        ),
        refuses(
            "AveragePool", w.CUT_OFF, ~w.EXPLICIT_ASYMMETRIC, by=_seen("averages, negative pads")
        ),
        refuses("LpPool", by=_seen("LpPool")),
        refuses(BRANCH, by=_seen("If")),
        refuses(DEQUANTISES, by=_seen("QuantizeLinear and DequantizeLinear alone")),
        refuses(w.QUANTISED, by=_seen("QLinearConv and ConvInteger")),
        refuses("Conv", f.DEQUANTISED, by=_seen("convolutions behind DequantizeLinear")),
        refuses(_ALL, t.SPATIAL_SIZES_LEFT_OPEN, by=_seen("models whose sizes are not fixed")),
        miscomputes(
            "Conv",
            t.spatial_axes(2, 3),
            w.SAME,
            w.PADDED,
            by=_seen("SAME: ignored"),
            does=OTHER_SHAPE,
        ),
        miscomputes(
            "Conv",
            w.HAS_BIAS,
            _AS_WIDE_AS_DEEP,
            by=_seen("depthwise convolutions: the bias goes along the width, 430 models"),
            says="onnx2keras adds the bias of a depthwise convolution along the last axis where "
            "that is as long as the channels",
        ),
        miscomputes(
            w.TRANSPOSED,
            w.SAME,
            w.PADDED,
            by=_seen("SAME ConvTranspose: ignored"),
            does=OTHER_SHAPE,
        ),
        miscomputes(
            "Conv", t.ONE_D, ~w.LIKE_SAME_UPPER, by=_seen("1-D convolutions: all are SAME_UPPER")
        ),
        miscomputes("Conv", t.ONE_D, w.HAS_BIAS, by=_seen("1-D convolutions: no bias")),
        miscomputes("Conv", t.ONE_D, w.SPREAD, by=_seen("1-D convolutions: dilations ignored")),
        miscomputes("Conv", t.THREE_D, w.ASYMMETRIC, by=_seen("3-D asymmetric pads")),
        miscomputes("Conv", t.THREE_D, f.BEHIND_PAD, by=_seen("Pad in front of 3-D convolutions")),
        refuses("Conv", w.STRIDED_AND_DILATED, by=_seen("strides with dilations")),
        refuses("Conv", w.WEIGHT_COMPUTED, by=_seen("convolutions with computed weights")),
        miscomputes("Conv", w.DILATIONS_DIFFER, by=_seen("dilations that differ")),
        miscomputes("Conv", t.THREE_D, w.SAME, w.STRIDED, by=_seen("3-D SAME with strides")),
        refuses(
            "Conv", w.SEVERAL_PER_CHANNEL, by=_seen("depthwise convolutions with a multiplier")
        ),
        miscomputes(w.TRANSPOSED, w.FIRST_UNPADDED, by=_seen("ConvTranspose: pads of W alone")),
        refuses(w.TRANSPOSED, w.OUTPUT_PADDING, by=_seen("output_padding")),
        miscomputes(w.TRANSPOSED, w.ASYMMETRIC, by=_seen("asymmetric ConvTranspose")),
        refuses(w.TRANSPOSED, w.GROUPED, by=_seen("ConvTranspose with groups")),
        refuses(w.TRANSPOSED, w.DILATED, by=_seen("ConvTranspose with dilations")),
        refuses(w.TRANSPOSED, t.NOT_TWO_D, by=_seen("1-D and 3-D ConvTranspose")),
        miscomputes(
            "MaxPool",
            w.PADDED,
            ~f.NEVER_NEGATIVE,
            ~_BEGINS_OF_HALF_THE_KERNEL | w.STRIDED,
            ~t.element_type("uint8"),
            by=_seen("padded MaxPool: the padding is 0"),
        ),
        miscomputes("MaxPool", w.SAME, w.PADDED, by=_seen("SAME pools: ignored"), does=OTHER_SHAPE),
        miscomputes(
            "MaxPool",
            w.ASYMMETRIC,
            ~w.STRIDED,
            _BEGINS_OF_HALF_THE_KERNEL,
            by=_seen("pools: end pads as the begin"),
        ),
        miscomputes(
            "AveragePool",
            w.PADDED,
            ~w.COUNTS,
            _NOT_HALF_THE_KERNEL | w.STRIDED,
            by=_seen("padded averages: the padding is counted"),
        ),
        miscomputes(
            "AveragePool", w.COUNTS, w.ASYMMETRIC, by=_seen("averages: end pads as the begin")
        ),
        miscomputes(
            "AveragePool", w.SAME, w.PADDED, by=_seen("SAME averages: ignored"), does=OTHER_SHAPE
        ),
        miscomputes(
            w.POOLS, w.GAINED_WINDOW, by=_seen("pools: ceil_mode is ignored"), does=OTHER_SHAPE
        ),
        refuses(w.POOLS, w.STRIDES_UNWRITTEN, by=_seen("pools without strides")),
        refuses(w.POOLS, w.DILATED, by=_seen("pools with dilations")),
        refuses(w.POOLS, t.ONE_D, by=_seen("1-D pools")),
        refuses("MaxPool", w.INDICES, by=_seen("MaxPool with Indices")),
        miscomputes(p.PAD, p.EDGE, by=_seen("Pad in mode edge")),
        refuses(p.PAD, p.WRAP, by=_seen("Pad in mode wrap")),
        miscomputes(p.PAD, p.OUTER_AXES, by=_seen("Pad of batch and channels")),
        refuses(p.PAD, ~t.tensor_rank(4, 5), by=_seen("Pad of 2 and 3 axes")),
        refuses(p.PAD, p.WRITES_VALUE, by=_seen("Pad that writes something other than 0")),
        refuses(p.PAD, p.CROPS, by=_seen("negative pads")),
        refuses(p.PAD, p.LISTS_AXES, by=_seen("Pad with axes")),
        refuses(p.PAD, p.COMPUTED, by=_seen("computed pads")),
    ),
    frameworks=("keras",),
)
