"""OpenCV's dnn module with its new engine, the default since 5.0."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import prod

from onnxpad.geometry.windows import output_size
from onnxpad.padding.chain import Chain, Pads, PadStep
from onnxpad.padding.fills import Constant, TensorValue, lowest, number_of
from onnxpad.padding.forms import writes_value
from onnxpad.padding.operators import Destination
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.opencv import (
    FROM_PYTORCH,
    rows_of_crops,
)
from onnxpad.runtimes.conditions.plain_facts import (
    ARITHMETIC,
    CALLS,
    CROP,
    DECLARED,
    DISORDER,
    INLINED,
    JOIN,
    LIMIT,
    LOOKUP,
    QUOTIENT,
    SORTED,
    UNSHAPED,
)
from onnxpad.runtimes.conditions.rows import Condition, Row, measured, miscomputes, refuses, takes
from onnxpad.runtimes.targets import Target

_VERSION = "opencv-python-headless 5.0.0.93, ENGINE_NEW"
_seen = measured(_VERSION)

_BEGIN_UNLIKE_CENTRED = Condition(
    "SAME with stride 1 and no dilation would have other begin pads",
    w.of_sides(lambda axis, begin, _: begin != (axis.kernel - 1) // 2),
)
_COUNTS_UNWRITTEN = Condition(
    "count_include_pad is not written", lambda c: not w.writes(c, "count_include_pad")
)
_STORAGE_ORDER = w.COLUMNS_FIRST.called(
    "storage_order is 1: its Indices count column by column", "storage_order is 0"
)
_SIGNED_BYTES = Condition(
    "its weight is stored as int8 with the zero point 0",
    lambda c: c.weight.whole == "int8" and c.weight.zero_point in (0, None),
)


_BLOCK = 8
"""Cells of a result that its convolutions on bytes compute at once; those left over come last.

What they do with those is read in modules/dnn/src/int8layers/conv2_int8_kernels.simd.hpp: they
pass over the padding, as if it were the lowest byte, and of a 1x1 kernel they take the weights in
another order. So do depthwise ones everywhere on x86-64, these apart from the order, and others
where the processor has AVX-VNNI. Where a kernel is not 1x1, the number of threads says whether
some are left over.
"""


def _written_evenly(chain: Chain) -> bool:
    """Whether the pads attribute, if there is one, has equal begins and ends."""
    pads = chain.attribute("pads", ())
    return not isinstance(pads, tuple) or pads[: len(pads) // 2] == pads[len(pads) // 2 :]


_DEPTHWISE = Condition(
    "it is depthwise, with one output for each channel",
    w.takes_channels_apart,
    "it is not depthwise with one output for each channel",
)


def _has_nine_taps(chain: Chain) -> bool:
    kernel = [axis.kernel for axis in chain.axes]
    plain = all(axis.dilation == 1 for axis in chain.axes)
    return len(kernel) <= 2 and prod(kernel) == 9 and max(kernel) == 9 and plain


_NINE_IN_A_ROW = Condition(
    "its kernel is 9 along one axis and 1 along the other, without dilations",
    _has_nine_taps,
    "its kernel is not 9 along one axis alone",
    "write it with a kernel of 11 and explicit pads: a zero weight, and one more cell of padding, "
    "at each end of that axis",
)


def _pads_with_lowest_byte(chain: Chain) -> bool:
    """Whether what it reads as bytes is padded with the lowest one of their type."""
    if chain.op.quantised:
        return number_of(chain.fill) in lowest(chain.dtype)
    front = chain.around.dequantised
    return front is not None and front.zero == Constant(front.lowest)


def _left_over_are_wrong(chain: Chain, pads: Pads) -> bool:
    """Whether they may be; sizes that are not known count as the worst.

    With `pads` that differ between begin and end it runs another way.
    """
    if not _written_evenly(chain):
        return False
    reorders = all(axis.kernel == axis.stride == 1 for axis in chain.axes)
    reorders &= not w.takes_channels_apart(chain)
    passes_over = any(pads.flat) and not _pads_with_lowest_byte(chain)
    sizes = [output_size(axis, *both) for axis, *both in chain.sides(pads)]
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) < len(sizes):
        return passes_over or reorders
    left = range(prod(known) // _BLOCK * _BLOCK, prod(known))
    if reorders:
        return bool(left)
    return passes_over and any(_reads_padding(chain, pads, known, cell) for cell in left)


def _reads_padding(chain: Chain, pads: Pads, sizes: list[int], cell: int) -> bool:
    """Whether the window of a cell of the result does, counted along all axes."""
    for (axis, begin, _), size in reversed(list(zip(chain.sides(pads), sizes, strict=True))):
        cell, along = divmod(cell, size)
        taps = [along * axis.stride - begin + tap * axis.dilation for tap in range(axis.kernel)]
        if not isinstance(axis.size, int) or not all(0 <= tap < axis.size for tap in taps):
            return True
    return False


_BADLY_ENDED = Condition(
    "of the cells of its result, 8 at a time, those left over read padding that is not the lowest "
    "byte, or it has a 1x1 kernel and stride 1 and is not depthwise, and its pads, as they are "
    "written, are equal at begin and end",
    w.of_pads(_left_over_are_wrong),
)


_RUNS_ON_BYTES = Condition(
    "it reads a DequantizeLinear, a QuantizeLinear alone reads it, and its pads, as they are "
    "written, are equal at begin and end",
    lambda c: (
        c.around.dequantised is not None
        and c.around.feeds_alone is Destination.QUANTISER
        and _written_evenly(c)
    ),
)


def _writes_negative(step: PadStep) -> bool:
    """Whether a Pad node writes something that is not known to be 0 or above."""
    known = step.fill.value if isinstance(step.fill, Constant | TensorValue) else None
    return writes_value(step) and (known is None or known < 0)


_WRITES_NEGATIVE = Condition("it pads with a value below 0", p.of_step(_writes_negative))
_ALONE_WRONG = (
    "at some numbers of threads OpenCV computes the last cells of depthwise convolutions with int8 "
    "weights wrongly where they read padding"
)
_WRONG_WITH_VNNI = (
    "with AVX-VNNI OpenCV computes the last cells of convolutions with int8 weights wrongly where "
    "they have a 1x1 kernel and stride 1, or, at some numbers of threads, where they read padding"
)
_BY_KERNEL = (
    (
        _DEPTHWISE,
        _seen("depthwise convolutions on bytes, x86-64: 240 models with 1 to 64 threads"),
        _ALONE_WRONG,
        "",
    ),
    (
        ~_DEPTHWISE,
        _seen("convolutions on bytes, x86-64 with AVX-VNNI: at some sizes, 2 and 64 threads"),
        _WRONG_WITH_VNNI,
        "on processors with AVX-VNNI may compute wrong numbers",
    ),
)


def _rows_of_cells_left_over() -> Iterator[Row]:
    """Wrong numbers by which kernel runs a convolution, and by how it is written."""
    for kernel, by, says, does in _BY_KERNEL:
        when = _SIGNED_BYTES, kernel, _BADLY_ENDED
        wrong = partial(miscomputes, by=by, says=says, does=does)
        yield wrong("QLinearConv", *when)
        unshown = "small models do not quantise what a convolution made"
        yield wrong("Conv", *when, _RUNS_ON_BYTES, unshown=unshown)


TARGET = Target(
    _VERSION,
    (
        takes(w.WINDOWS, by=_seen("convolutions and pools of 1 to 3 axes")),
        takes("QLinearConv", by=_seen("QLinearConv, uint8 and int8")),
        takes(p.PAD, by=_seen("Pad of every mode, computed pads too")),
        miscomputes(
            p.PAD,
            p.WRAPS_PARTLY,
            by=_seen("Pad in mode wrap with a negative pad on the other side"),
            unshown=p.PLAIN_WRAPS,
        ),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *LIMIT), by=_seen("rewritten forms")),
        miscomputes(
            QUOTIENT,
            by=_seen("arithmetic of 1 and of 3 to 16 channels, 150 models"),
            says="the result has an axis more, in blocks of channels",
        ),
        takes(w.TRANSPOSED, w.NEGATIVE_PADS, t.TWO_D, by=_seen("2-D negative pads")),
        refuses(("Conv", *w.POOLS), w.CUT_OFF, by=_seen("negative pads attributes")),
        refuses("LpPool", by=_seen("LpPool")),
        refuses("ConvInteger", by=_seen("ConvInteger")),
        refuses(
            "Conv",
            t.TWO_TYPES,
            by=_seen("data and weight of two element types"),
            unshown=t.ONE_TYPE_ALONE,
        ),
        miscomputes(
            "Conv",
            _NINE_IN_A_ROW,
            ~_DEPTHWISE,
            by=_seen("convolutions of 9 taps that are not 3x3: numbers up to 3e38, 70 models"),
            says="OpenCV's new engine reads beyond the weights where 9 taps stand in a row",
            unshown="small models have smaller kernels",
        ),
        refuses(CALLS, INLINED, by=_seen("calls of local functions")),
        refuses(UNSHAPED, DECLARED, by=_seen("graphs whose inputs or results have no shape")),
        refuses(DISORDER, SORTED, by=_seen("nodes in front of what they read")),
        miscomputes(
            ("Conv", "QLinearConv", *w.POOLS),
            w.SAME,
            _BEGIN_UNLIKE_CENTRED,
            by=_seen("SAME: pads as with stride 1 and without dilation"),
            says="OpenCV pads SAME_* as if stride and dilation were 1",
        ),
        *_rows_of_cells_left_over(),
        miscomputes(
            ("Conv", "QLinearConv"),
            w.KERNEL_OF_ONE,
            ~w.STRIDED,
            w.PADDED,
            ~_DEPTHWISE,
            by=_seen("1x1 convolutions with pads"),
        ),
        *rows_of_crops(_seen, dilates=True),
        miscomputes(w.POOLS, w.DROPPED_WINDOW, by=_seen("windows that start in the padding")),
        miscomputes(
            "AveragePool",
            w.COUNTS,
            w.CUT_WINDOW,
            by=_seen("averages with ceil_mode"),
            says="count_include_pad is 1, and OpenCV divides the windows of ceil_mode that reach "
            "beyond the padding by the whole kernel, not by its cells in the input and the padding",
        ),
        miscomputes(
            "AveragePool",
            ~w.COUNTS,
            _COUNTS_UNWRITTEN,
            FROM_PYTORCH,
            w.PADDED | w.CUT_WINDOW,
            by=_seen("count_include_pad left out: counts in models of PyTorch, 70 models"),
            says="OpenCV takes a count_include_pad that is left out for 1, since the model names "
            "pytorch as its producer",
        ),
        refuses("MaxPool", w.INDICES, t.NOT_TWO_D, by=_seen("1-D and 3-D MaxPool with Indices")),
        miscomputes(
            "MaxPool", w.INDICES, t.BATCH_ABOVE_ONE, by=_seen("MaxPool with Indices of a batch")
        ),
        miscomputes("MaxPool", w.INDICES, _STORAGE_ORDER, by=_seen("Indices, column by column")),
        refuses(
            "MaxPool",
            t.EIGHT_BIT,
            ~t.BEHIND_QUANTISED,
            by=_seen("MaxPool of an int8 or uint8 input"),
        ),
        miscomputes(
            p.PAD,
            t.element_type("int8"),
            _WRITES_NEGATIVE,
            by=_seen("Pad of int8: writes 0 for values below 0"),
        ),
    ),
    also=("cv2", "opencv-dnn"),
    releases=("5.0",),
    packages=(
        "opencv-python",
        "opencv-python-headless",
        "opencv-contrib-python",
        "opencv-contrib-python-headless",
    ),
    before="opencv-classic",
    engine="the new engine",
)
