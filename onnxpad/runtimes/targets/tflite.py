"""TensorFlow Lite, models through onnx2tf."""

from __future__ import annotations

from onnxpad.padding.chain import Chain, Pads
from onnxpad.padding.operators import Destination
from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.companions import (
    BRANCH,
    CHANNELWISE,
    CROP,
    DEQUANTISES,
    FACTOR,
    INFINITE_BLOCKS,
    JOIN,
    JOINED_SUMS,
    LIMIT,
    LOOKUP,
    SUMS,
)
from onnxpad.runtimes.conditions.rows import Condition, measured, miscomputes, refuses, takes
from onnxpad.runtimes.targets import Target

_VERSION = "onnx2tf 1.29.24, tensorflow 2.19, ai-edge-litert 2.1.0, float32"
_seen = measured(_VERSION)

_FEEDS_MAX_ALONE = Condition(
    "only max pools read it, each of whose windows holds a cell of data",
    lambda c: c.around.feeds_alone is Destination.MAX_POOLS,
    "something else than a max pool reads it, or a max pool with a window that holds no data",
)


def _other_than_interleaved(chain: Chain, pads: Pads) -> bool:
    """Whether pads are others than onnx2tf makes of them for SAME_LOWER.

    It lists them axis by axis, and takes the first half for the begins.
    """
    listed = [pad for both in pads.sides for pad in both]
    return listed != [*pads.begins, *pads.ends] or any(axis.dilation > 1 for axis in chain.axes)


_INTERLEAVED = Condition(
    "its pads change when they are listed axis by axis", w.of_pads(_other_than_interleaved)
)
_EQUAL_SIZES = Condition(
    "all sizes but the batch's are fixed and equal",
    lambda c: c.shape is not None and not t.unknown_size(c, 1) and len(set(c.shape[1:])) == 1,
)
_KERNEL_BELOW_STRIDE = Condition(
    "a kernel is smaller than the stride", w.of_axes(lambda axis: axis.kernel < axis.stride)
)
_SAME_SHORT = Condition(
    "a kernel of 2 or more is smaller than the stride",
    w.of_axes(lambda axis: 1 < axis.kernel < axis.stride),
)

TARGET = Target(
    _VERSION,
    (
        takes((*w.WINDOWS, "LpPool"), by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(p.PAD, by=_seen("Pad of modes constant, reflect and edge")),
        takes((*CROP, *JOIN, *LOOKUP, *LIMIT), by=_seen("rewritten forms")),
        miscomputes(
            FACTOR, by=_seen("Mul with a constant for each cell: its axes stay as in ONNX")
        ),
        miscomputes(
            CHANNELWISE,
            by=_seen("Add, Sub, Mul and Div with a constant for each channel"),
            says="onnx2tf adds or multiplies it along that axis",
        ),
        miscomputes(
            SUMS,
            by=_seen("Add of a constant, behind it Add or Sub of another"),
            says="onnx2tf loses the second constant",
        ),
        miscomputes(
            JOINED_SUMS,
            by=_seen("Concat of what an Add made behind a convolution or a pool"),
            says="onnx2tf joins it along another axis, where two axes are as long",
        ),
        refuses(BRANCH, by=_seen("If")),
        miscomputes(
            DEQUANTISES,
            by=_seen("QuantizeLinear and DequantizeLinear alone, values beyond the range"),
            says="onnx2tf leaves QuantizeLinear out: values beyond its range are not cut off",
        ),
        miscomputes("QLinearConv", by=_seen("QLinearConv, padded or not")),
        refuses("ConvInteger", by=_seen("ConvInteger")),
        miscomputes("Conv", f.DEQUANTISED, by=_seen("convolutions behind DequantizeLinear")),
        refuses("Conv", w.SAME_LOWER, by=_seen("SAME_LOWER convolutions")),
        miscomputes(
            "Conv",
            t.spatial_axes(1, 2),
            w.SAME,
            w.SAME_NEGATIVE,
            ~w.KERNEL_OF_ONE,
            by=_seen("1-D and 2-D SAME convolutions, kernels below the stride"),
        ),
        miscomputes("Conv", t.THREE_D, w.SAME, _SAME_SHORT, by=_seen("kernels below the stride")),
        miscomputes(
            w.POOLS,
            t.THREE_D,
            w.SAME,
            w.SAME_SHIFTS,
            by=_seen("3-D SAME pools, kernels below the stride"),
        ),
        refuses(
            w.POOLS,
            w.SAME_LOWER,
            w.SAME_NEGATIVE,
            by=_seen("SAME_LOWER pools, kernels below the stride"),
        ),
        refuses("Conv", w.STRIDED_AND_DILATED, by=_seen("strides with dilations")),
        refuses("Conv", w.WEIGHT_COMPUTED, by=_seen("convolutions with computed weights")),
        miscomputes(w.TRANSPOSED, w.SAME, w.PADDED, by=_seen("SAME ConvTranspose")),
        refuses(w.TRANSPOSED, w.OUTPUT_SHAPE, by=_seen("output_shape")),
        refuses(w.TRANSPOSED, w.DILATED, by=_seen("ConvTranspose with dilations")),
        refuses(w.TRANSPOSED, w.SAME_LOWER, by=_seen("SAME_LOWER ConvTranspose")),
        miscomputes(w.TRANSPOSED, t.THREE_D, w.HAS_BIAS, by=_seen("3-D ConvTranspose with a bias")),
        miscomputes(w.TRANSPOSED, t.SPATIAL_SIZES_LEFT_OPEN, by=_seen("unknown sizes")),
        miscomputes(
            (*w.POOLS, "LpPool"), w.SAME_LOWER, w.PADDED, _INTERLEAVED, by=_seen("SAME_LOWER pools")
        ),
        miscomputes(
            "AveragePool", w.SAME_LOWER, w.PADDED, ~w.COUNTS, by=_seen("SAME_LOWER averages")
        ),
        miscomputes("MaxPool", w.INDICES, by=_seen("MaxPool with Indices: counted in NHWC")),
        miscomputes(
            "MaxPool", t.EIGHT_BIT, t.BEHIND_QUANTISED, by=_seen("MaxPool behind QuantizeLinear")
        ),
        miscomputes(p.PAD, t.EIGHT_BIT, by=_seen("Pad of int8 and uint8 behind QuantizeLinear")),
        miscomputes("AveragePool", w.COUNTS, w.SAME_UPPER, by=_seen("SAME averages that count")),
        miscomputes("AveragePool", w.DILATED, by=_seen("averages with dilations")),
        refuses(
            "AveragePool",
            t.THREE_D,
            ~w.COUNTS,
            w.PADDED,
            ~w.LIKE_SAME_UPPER,
            by=_seen("3-D averages of the data with pads unlike SAME_UPPER"),
        ),
        refuses(
            "AveragePool",
            t.THREE_D,
            w.COUNTS,
            w.PADDED,
            ~w.SAME_LOWER,
            w.LIKE_SAME_UPPER,
            by=_seen("3-D averages that count padding, with pads like SAME_UPPER"),
        ),
        refuses(
            w.POOLS, w.CEIL_MODE, t.SPATIAL_SIZES_LEFT_OPEN, by=_seen("ceil_mode, unknown sizes")
        ),
        miscomputes(
            "LpPool",
            w.PADDED,
            ~w.SAME_LOWER,
            w.LIKE_SAME_UPPER,
            by=_seen("LpPool, pads like SAME_UPPER"),
        ),
        refuses("LpPool", _KERNEL_BELOW_STRIDE, by=_seen("LpPool, kernels below the stride")),
        miscomputes(
            p.PAD,
            p.READS_INPUT,
            _EQUAL_SIZES,
            by=_seen("Pad of inputs such as 1x4x4x4"),
            unshown="it takes axes of one size, and those of small models differ",
        ),
        refuses(p.PAD, p.VALUE_LISTED, by=_seen("Pad with constant_value of shape [1]")),
        miscomputes(
            p.PAD,
            p.VALUE_NOT_FINITE,
            ~_FEEDS_MAX_ALONE,
            by=_seen("Pad that writes -inf: the lowest finite number"),
        ),
        miscomputes(
            INFINITE_BLOCKS, by=_seen("Concat with -inf: the lowest finite number stands for it")
        ),
        refuses(p.PAD, p.WRAP, by=_seen("Pad in mode wrap")),
        refuses(p.PAD, p.LISTS_AXES, by=_seen("Pad with axes")),
        miscomputes(p.PAD, p.COMPUTED, by=_seen("computed pads")),
    ),
    also=("litert", "tensorflow-lite"),
)
