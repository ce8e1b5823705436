"""TensorFlow Lite, models through onnx2tf."""

from __future__ import annotations

from onnxpad.geometry.size import Size
from onnxpad.geometry.windows import Axis, output_size, same_pads
from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.padding.effective_pads import axes_in_front, effective_pads
from onnxpad.padding.operators import Destination
from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import (
    COMPUTED_BRANCH,
    CROP,
    DEQUANTISES,
    FACTOR,
    INFINITE_BLOCKS,
    JOIN,
    LIMIT,
    LOOKUP,
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


def _is_folded(chain: Chain) -> bool:
    """Whether onnxsim makes pads of the Pad in front, whatever else the operator says of padding.

    It is fuse_pad_into_conv and fuse_pad_into_pool of onnxoptimizer, which look at neither
    auto_pad, count_include_pad nor the data.
    """
    nearest = chain.around.nearest
    if nearest.pad is None or nearest.others is not False or not f.BEHIND_ZEROS.holds(chain):
        return False
    pads = nearest.pad.pads
    others = len(pads.begins) - len(chain.axes)
    return not any(any(side[:others]) for side in (pads.begins, pads.ends))


def _folded_windows(chain: Chain) -> bool:
    """Whether windows differ where pads are what the Pad in front wrote.

    One of a max pool that holds pads alone is the lowest value, and one that ceil_mode adds is
    left out where it starts in the pads behind the data.
    """
    own, step = effective_pads(chain), chain.around.nearest.pad
    if not _is_folded(chain) or isinstance(own, Skip) or step is None:
        return False
    moved = Pads(step.pads.begins[-chain.rank :], step.pads.ends[-chain.rank :])
    before, after = chain.sides(own), chain.sides(own + moved)
    if chain.is_max and any(max(begin, end) >= axis.span for axis, begin, end in after):
        return True
    inner = axes_in_front(chain, moved)
    return chain.ceil_mode and any(
        _windows(axis, begin, end) != output_size(*one, ceil_mode=True)
        for one, axis, (_, begin, end) in zip(before, inner, after, strict=True)
    )


def _windows(axis: Axis, begin: int, end: int) -> Size | None:
    """How many windows there are of ceil_mode, none fewer than without it."""
    found = output_size(axis, begin, end, ceil_mode=True)
    least = output_size(axis, begin, end)
    return max(found, least) if isinstance(found, int) and isinstance(least, int) else found


_FOLDED = Condition("a Pad of 0 in front, which it alone reads, is made its pads", _is_folded)
_FOLDED_WINDOWS = Condition(
    "a Pad of 0 in front, which it alone reads, is made its pads, which changes windows",
    _folded_windows,
)


def _keeps_sizes(chain: Chain) -> bool:
    own = chain.padding
    return (
        isinstance(own, Pads)
        and own.begins == own.ends
        and chain.has_fixed_sizes
        and all(output_size(*side) == side[0].size for side in chain.sides(own))
    )


_KEEPS_SIZES = Condition(
    "its begin pads are its end pads, and its result has the sizes of its input", _keeps_sizes
)
"""Such a Conv becomes SAME, whatever its strides: onnx2tf/ops/Conv.py."""


_EQUAL_SIZES = Condition(
    "all sizes but the batch's are fixed and equal",
    lambda c: c.shape is not None and not t.unknown_size(c, 1) and len(set(c.shape[1:])) == 1,
)
_KERNEL_ABOVE_SIZE = Condition(
    "a kernel is larger than the input",
    w.of_axes(lambda axis: isinstance(axis.size, int) and axis.kernel > axis.size),
)


def _like_same_of_fewer(chain: Chain) -> bool:
    """Whether dilated windows that are taken for one cell shorter would have these pads as SAME.

    A pool whose pads are those becomes SAME, with pads of its own: calc_tf_pooling_pads of
    onnx2tf/utils/common_functions.py is given kernels of (k-1)*d cells.
    """
    own = chain.padding
    if not isinstance(own, Pads) or not any(own.flat) or not chain.has_fixed_sizes:
        return False
    return any(axis.dilation > 1 for axis in chain.axes) and all(
        same_pads(Axis(axis.size, axis.span - 1, axis.stride), lower=False) == (begin, end)
        for axis, begin, end in chain.sides(own)
    )


_LIKE_SAME_OF_FEWER = Condition(
    "its pads are those of SAME_UPPER if windows are one cell shorter", _like_same_of_fewer
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
        refuses(COMPUTED_BRANCH, by=_seen("If")),
        miscomputes(
            DEQUANTISES,
            by=_seen("QuantizeLinear and DequantizeLinear alone, values beyond the range"),
            says="onnx2tf leaves QuantizeLinear out: values beyond its range are not cut off",
        ),
        miscomputes("QLinearConv", by=_seen("QLinearConv, padded or not")),
        refuses("ConvInteger", by=_seen("ConvInteger")),
        miscomputes("Conv", f.DEQUANTISED, by=_seen("convolutions behind DequantizeLinear")),
        miscomputes(
            ("Conv", "MaxPool", "AveragePool"),
            w.AUTO_PAD,
            _FOLDED,
            by=_seen("Pad of 0 in front of auto_pad, onnxsim 0.4.36"),
            says="onnx2tf runs onnxsim, which makes pads of a Pad: auto_pad overrules them",
        ),
        miscomputes(
            "AveragePool",
            ~w.COUNTS,
            w.PADDED,
            ~w.AUTO_PAD,
            _FOLDED,
            by=_seen("Pad of 0 in front of an average with pads, onnxsim 0.4.36"),
            says="onnx2tf runs onnxsim, which makes pads of a Pad: all of them are counted",
        ),
        miscomputes(
            "MaxPool",
            ~f.NEVER_NEGATIVE,
            ~w.AUTO_PAD,
            _FOLDED,
            by=_seen("Pad of 0 in front of a max pool, onnxsim 0.4.36"),
            says="onnx2tf runs onnxsim, which makes pads of a Pad: the lowest value, not 0",
        ),
        miscomputes(
            ("MaxPool", "AveragePool"),
            ~w.AUTO_PAD,
            _FOLDED_WINDOWS,
            by=_seen("Pad of 0 in front of ceil_mode and of small kernels, onnxsim 0.4.36"),
            says="onnx2tf runs onnxsim, which makes pads of a Pad: other windows hold data",
        ),
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
        miscomputes(
            "Conv",
            _KEEPS_SIZES,
            ~w.LIKE_SAME_UPPER,
            by=_seen("padded convolutions with strides whose result is as long as their input"),
            says="onnx2tf takes it for SAME",
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
        miscomputes(
            "AveragePool",
            t.ONE_D,
            w.PADDED,
            _KERNEL_ABOVE_SIZE,
            by=_seen("1-D averages, kernels above the size"),
            says="onnx2tf leaves its pads out",
        ),
        miscomputes(
            ("MaxPool", "LpPool"),
            _LIKE_SAME_OF_FEWER,
            by=_seen("dilated pools whose end pads are one above their begin pads"),
            says="onnx2tf takes it for SAME",
        ),
        refuses(
            ("MaxPool", "LpPool"),
            t.THREE_D,
            w.STRIDED_AND_DILATED,
            by=_seen("3-D pools, strides with dilations"),
        ),
        refuses(
            "LpPool", t.TWO_D, w.STRIDED_AND_DILATED, by=_seen("2-D LpPool, strides with dilations")
        ),
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
            ~w.DILATED,
            w.LIKE_SAME_UPPER,
            by=_seen("LpPool, pads like SAME_UPPER"),
        ),
        refuses("LpPool", w.KERNEL_BELOW_STRIDE, by=_seen("LpPool, kernels below the stride")),
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
    frameworks=("tensorflow", "keras"),
)
