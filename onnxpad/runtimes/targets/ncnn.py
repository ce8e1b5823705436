"""ncnn, models through pnnx.

Of a model with open sizes, give pnnx one inputshape: with inputshape2 as well it drops every Slice
that crops cells, and the network runs with other sizes, without a word (measured with ncnn
1.0.20261020, pnnx 20261020).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product, takewhile
from typing import NamedTuple

from onnxpad.geometry.windows import Axis, same_totals
from onnxpad.padding.chain import AutoPad, Chain, Pads, PadStep
from onnxpad.padding.fills import number_of
from onnxpad.padding.forms import outer_axes
from onnxpad.padding.operators import Destination, PadInput
from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import (
    BLOCKS,
    BRANCH,
    COMPUTED_SIZES,
    CROP,
    DEQUANTISES,
    DISORDER,
    EMBEDDED,
    FACTOR,
    LIMIT,
    LONE_CROP,
    LOOKUP,
    LOOSE_PIECES,
    OUTER_BLOCKS,
    OUTSIDE,
    PIECES,
    SORTED,
)
from onnxpad.runtimes.conditions.rows import (
    OTHER_SHAPE,
    Answer,
    Condition,
    measured,
    miscomputes,
    refuses,
    since,
    takes,
    until,
)
from onnxpad.runtimes.onnxruntime.rows import loader_rows
from onnxpad.runtimes.targets import Target

_VERSION = "ncnn 1.0.20261020, pnnx 20261020"
_seen = measured(_VERSION)
_NAMED_BY_PNNX = replace(
    EMBEDDED,
    text="of weights beside the model, pnnx reads those in FILE.onnx.data, run in that folder, and "
    "makes up others; that is not about padding",
)
_in_2024 = measured("ncnn 1.0.20241226, pnnx 20241223")

_GROWS = Condition("a pad is positive", p.of_step(lambda s: any(pad > 0 for pad in s.pads.flat)))
_BATCH_AXIS = Condition(
    "it pads the batch",
    p.of_step(lambda s: bool(s.pads.begins) and bool(s.pads.begins[0] or s.pads.ends[0])),
)
_CHANNEL_AXIS = Condition(
    "it pads the channels",
    p.of_step(lambda s: len(s.pads.begins) > 2 and bool(s.pads.begins[1] or s.pads.ends[1])),
)
_ABOVE_TWO_AXES = replace(~t.tensor_rank(1, 2), lasting=True)
_PADS_UNCOUNTED = (w.PADDED & ~w.COUNTS).called("it pads while count_include_pad is 0")
_PADS_NOTHING = Condition(
    "all its pads are 0", p.of_step(lambda s: not s.unclear and not any(s.pads.flat))
)


_WITHOUT_FUSION = 3
"""Spatial axes of convolutions whose Pads stay."""


class _Padding(NamedTuple):
    """Cells of one value that pnnx pads the spatial axes of a convolution with."""

    pads: Pads
    value: float

    @property
    def is_symmetric(self) -> bool:
        return self.pads.begins == self.pads.ends


def _paddings(chain: Chain) -> Iterator[_Padding]:
    """Those that pnnx has in a row in front of a convolution, the nearest first.

    Pads of its own whose begins and ends differ become such a padding (src/pass_level2/F_conv2d.cpp
    and F_conv1d.cpp). One that others read, or with cells of another kind, ends the row.
    """
    if isinstance(chain.padding, Pads) and chain.padding.begins != chain.padding.ends:
        yield _Padding(chain.padding, 0.0)
    nearest, step = chain.around.nearest, chain.around.nearest.pad
    if step is None or nearest.others is not False or step.unclear or step.mode != "constant":
        return
    value = number_of(step.fill)
    if value is None or any(pad < 0 for pad in step.pads.flat) or outer_axes(chain, step.pads):
        return
    yield _Padding(Pads(step.pads.begins[2:], step.pads.ends[2:]), value)


def _early(chain: Chain) -> list[_Padding]:
    """Those that pnnx makes the convolution's pads before it turns to ncnn.

    They are symmetric and write 0 (src/pass_level5/fuse_pad_conv1d.cpp and fuse_pad_conv2d.cpp).
    """
    near = takewhile(lambda one: one.is_symmetric and one.value == 0, _paddings(chain))
    return list(near) if chain.rank < _WITHOUT_FUSION else []


def _late(chain: Chain) -> list[_Padding]:
    """Those that follow, where all cells have one value.

    That is of 2 axes alone (src/pass_ncnn/fuse_padding_convolution.cpp and
    fuse_padding_convolutiondepthwise.cpp).
    """
    early = _early(chain)
    rest = [one for one in list(_paddings(chain))[len(early) :] if any(one.pads.flat)]
    if chain.rank != _WITHOUT_FUSION - 1 or not rest:
        return []
    pads_itself = isinstance(chain.padding, Pads) and chain.padding.begins == chain.padding.ends
    own = chain.padding.flat if pads_itself and isinstance(chain.padding, Pads) else ()
    padded = any(own) or any(any(one.pads.flat) for one in early)
    value = 0 if padded else rest[0].value
    return list(takewhile(lambda one: one.value == value, rest))


_SEVERAL_EARLY = Condition(
    "several Pads that write 0, of equal begins and ends, stand in front in a row",
    lambda c: len(_early(c)) > 1,
)
_SEVERAL_LATE = Condition(
    "several Pads that write one value stand in front in a row, its own pads among them where "
    "begins and ends differ",
    lambda c: len(_late(c)) > 1,
)
_BEHIND_SYMMETRIC = Condition(
    "a Pad that writes 0, of equal begins and ends, stands in front", lambda c: bool(_early(c))
)
_NAMES_FREED = (
    "pnnx makes one padding after the other its pads, and names a convolution that it has already "
    "taken away: most runs crash"
)


class _Windows(NamedTuple):
    """What becomes of an axis of a MaxPool whose begin and end pads differ somewhere.

    pnnx (src/pass_level2/F_max_pool2d.cpp, and alike for 1 and 3 axes) writes every such pool with
    ceil_mode and with the begin pads on both sides. Where on all axes the end pads are what
    PyTorch's exporter adds for ceil_mode (`is_tail`), that is all; else a Pad with all pads stands
    in front as well. `joined` and `apart` say whether these are the windows that ONNX means.
    """

    is_tail: bool
    joined: bool
    apart: bool


def _windows(axis: Axis, size: int, pads: tuple[int, int], *, ceil_mode: bool) -> _Windows:
    begin, end = pads
    padded, both = size + begin + end - axis.span, size + 2 * begin - axis.span
    wanted = -(-padded // axis.stride) if ceil_mode else padded // axis.stride
    steps = -(-both // axis.stride)
    last = steps - 1 if steps * axis.stride >= size + begin else steps
    tail = 0 if axis.stride == 1 else last * axis.stride + 1 - both
    return _Windows(
        not ceil_mode and begin + tail == end,
        steps == wanted,
        begin == 0 and -(-padded // axis.stride) == wanted,
    )


def _other_windows(chain: Chain, pads: Pads) -> bool:
    """Whether at a size that an axis may have ncnn slides other windows than ONNX."""
    axes = []
    for axis, *both in chain.sides(pads):
        is_known = isinstance(axis.size, int)
        least = 0 if is_known else axis.stride * (axis.span // axis.stride + 2)
        sizes = (least + size for size in w.sizes_of(axis))
        begin, end = both
        found = (_windows(axis, size, (begin, end), ceil_mode=chain.ceil_mode) for size in sizes)
        axes.append(set(found))
    return any(
        not all(one.joined if all(o.is_tail for o in ones) else one.apart for one in ones)
        for ones in product(*axes)
    )


_OTHER_WINDOWS = Condition(
    "pnnx writes it with ceil_mode and the begin pads on both sides, which gives other windows",
    w.of_pads(_other_windows),
)


def _begins_unlike_stride_one(chain: Chain, pads: Pads) -> bool:
    lower = chain.padding is AutoPad.SAME_LOWER
    return any(
        begin != (axis.span - (not lower)) // 2
        for axis, begin in zip(chain.axes, pads.begins, strict=True)
    )


_BEGINS_UNLIKE_STRIDE_ONE = Condition(
    "SAME with stride 1 would have other begin pads, which pnnx writes",
    w.of_pads(_begins_unlike_stride_one),
)


def _pads_beside_negative(chain: Chain) -> bool:
    """Whether at sizes that two axes may have, SAME has a negative total on one and pads the other.

    ncnn (src/layer/convolution.cpp, make_padding, and alike for groups and 3 axes) pads all axes as
    soon as one total is positive, with negative pads on the others, for which its Padding copies
    rows of another length than it has room for. Where no total is positive it pads nothing.
    """
    return any(
        min(one) < 0 < max(other) for one, other in permutations(map(same_totals, chain.axes), 2)
    )


_PADS_BESIDE_NEGATIVE = Condition(
    "SAME pads an axis, and of another no window reads the last cell, which it takes for negative "
    "padding",
    _pads_beside_negative,
)
_WINDOW_MORE = Condition(
    "ceil_mode gives a window more than SAME has, behind pads as with stride 1, which pnnx writes",
    lambda c: (
        c.ceil_mode
        and any((size - 1) % axis.stride for axis in c.axes for size in w.sizes_of(axis))
    ),
)
_FEEDS_OUTPUTS_ALONE = Condition(
    "its result is only an output of the model",
    lambda c: c.around.feeds_alone is Destination.OUTPUTS,
)

_DILATIONS_WRITTEN = Condition("dilations is written", lambda c: w.writes(c, "dilations"))
_AT_ANOTHER_SIZE = "it shows at another size than pnnx was given, and a small model has one size"
_ALL_SIZES = "give every size with --dim NAME=NUMBER, and pnnx the same sizes in inputshape alone"
_FROZEN = Condition.remedy("pnnx writes the sizes of its inputshape into it", _ALL_SIZES)


def _from_open_sizes(step: PadStep) -> bool:
    """Whether pads hang on sizes that nobody knows."""
    return PadInput.PADS in step.computed and bool(step.unclear and step.unclear.of_sizes)


def _from_sizes_said(chain: Chain) -> bool:
    """Whether pads hang on sizes that the file leaves open, and are numbers by what --dim says."""
    step = chain.pad
    if step is None or step.unclear or PadInput.PADS not in step.computed:
        return False
    return p.from_sizes_known_to_the_user(chain, step)


def _from_values(step: PadStep) -> bool:
    """Whether pnnx cannot fold pads or value: they hang on more than constants and sizes."""
    if step.unclear:
        return not step.unclear.of_sizes
    return PadInput.VALUE in step.computed and number_of(step.fill) is None


_FROM_SIZES = Condition(
    "its pads are computed from sizes that are open", p.of_step(_from_open_sizes)
)
_FROM_SIZES_SAID = Condition(
    "its pads are computed from sizes that the file leaves open: with inputshape2 pnnx ends, or "
    "ncnn does not load the model; with one inputshape of the sizes that --dim says it is right",
    _from_sizes_said,
    cure=_ALL_SIZES,
)
_FROM_VALUES = Condition(
    "its pads or its value are computed from more than sizes and constants",
    p.of_step(_from_values),
)
_PADS_FOR_ONE_SIZE = Condition(
    "pnnx writes the pads of its inputshape into it; with inputshape2 pnnx ends, or ncnn does not "
    "load the model",
    lambda _: True,
    cure=_ALL_SIZES,
)


_OF_NORMS = ("Abs", "Pow", "Sqrt")
"""What LpPool is written with."""

_NO_BATCH = "pnnx finds no batch axis without a convolution, a pool or a normalisation"

TARGET = Target(
    _VERSION,
    (
        takes(w.WINDOWS, by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(p.PAD, by=_seen("Pad with its mode written")),
        takes((*CROP, *FACTOR, *LIMIT, *_OF_NORMS), by=_seen("rewritten forms")),
        refuses("Identity", by=_seen("models of nothing else")),
        miscomputes(
            LONE_CROP,
            by=_seen("Slice of an input"),
            says=f"{_NO_BATCH}, and crops another axis",
        ),
        takes(PIECES, by=_seen("Concat of Slices of what the model computes")),
        refuses(LOOSE_PIECES, by=_seen("Concat at the end of a model: it ends")),
        miscomputes((*BLOCKS, *OUTER_BLOCKS), by=_seen("Concat with a constant")),
        miscomputes(LOOKUP, by=_seen("Gather")),
        miscomputes(
            COMPUTED_SIZES,
            _FROZEN,
            by=_seen("Slice, Resize, Reshape and Expand by computed sizes: it keeps one size"),
            does=OTHER_SHAPE,
            unshown=_AT_ANOTHER_SIZE,
        ),
        refuses(BRANCH, by=_seen("If")),
        refuses("LpPool", by=_seen("LpPool")),
        refuses(w.QUANTISED, by=_seen("QLinearConv and ConvInteger")),
        refuses(
            DEQUANTISES,
            by=_seen("QuantizeLinear and DequantizeLinear alone"),
        ),
        refuses("Conv", f.DEQUANTISED, by=_seen("convolutions behind DequantizeLinear")),
        miscomputes(
            (*w.WINDOWS, *p.PAD),
            t.BATCH_ABOVE_ONE,
            _ABOVE_TWO_AXES,
            by=_seen("batches of 2"),
        ),
        refuses("Conv", w.SAME_LOWER, by=_seen("SAME_LOWER convolutions")),
        miscomputes(
            "Conv",
            w.SAME_UPPER,
            _PADS_BESIDE_NEGATIVE,
            by=_seen("SAME with a kernel below the stride on one axis: memory is overwritten"),
        ),
        miscomputes(
            "Conv",
            w.WEIGHT_MADE,
            by=_seen("convolutions with computed weights: those of one channel"),
        ),
        refuses("Conv", w.SAME, f.BEHIND_PAD, by=_seen("Pad in front of SAME convolutions")),
        refuses(
            "Conv",
            _SEVERAL_EARLY,
            ~w.WEIGHT_MADE,
            by=_seen("Pads in a row in front of convolutions"),
            says=_NAMES_FREED,
            unshown="it shows with two Pads in a row, and a small model has one at most",
        ),
        *since(
            "20261020",
            refuses(
                "Conv",
                _SEVERAL_LATE,
                ~w.WEIGHT_MADE,
                by=_seen("Pad in front of asymmetric convolutions"),
                says=_NAMES_FREED,
            ),
            refuses(
                "Conv",
                w.VALID,
                _BEHIND_SYMMETRIC,
                ~w.WEIGHT_MADE,
                by=_seen("Pad in front of VALID convolutions: pnnx crashes"),
            ),
        ),
        refuses(w.TRANSPOSED, w.AUTO_PAD, by=_seen("auto_pad of ConvTranspose")),
        refuses(w.TRANSPOSED, w.EXPLICIT_ASYMMETRIC, by=_seen("asymmetric ConvTranspose")),
        miscomputes(w.TRANSPOSED, w.OUTPUT_SHAPE, by=_seen("output_shape"), does=OTHER_SHAPE),
        refuses(w.POOLS, w.SAME_NEGATIVE, w.SAME, by=_seen("SAME pools that leave cells out")),
        miscomputes(
            "MaxPool",
            _BEGINS_UNLIKE_STRIDE_ONE | w.CEIL_MODE,
            w.SAME,
            w.STRIDED,
            ~w.SAME_NEGATIVE,
            by=_seen("SAME pools with strides: begin pads as with stride 1"),
        ),
        miscomputes(
            "AveragePool",
            _PADS_UNCOUNTED | _BEGINS_UNLIKE_STRIDE_ONE | _WINDOW_MORE,
            w.SAME,
            ~w.SAME_NEGATIVE,
            by=_seen("SAME averages"),
        ),
        miscomputes(
            "MaxPool",
            w.EXPLICIT_ASYMMETRIC,
            _OTHER_WINDOWS | w.NEGATIVE_PADS | w.PADS_LIKE_KERNEL,
            by=_seen("asymmetric MaxPool: begin pads count twice, and sizes are rounded up"),
            does="gives other windows, and often another shape",
        ),
        refuses("AveragePool", w.EXPLICIT_ASYMMETRIC, by=_seen("asymmetric averages")),
        refuses(w.POOLS, w.DILATED, by=_seen("pools with dilations")),
        refuses("AveragePool", _DILATIONS_WRITTEN, by=_seen("averages with dilations, 1 or not")),
        refuses(
            "MaxPool", t.EIGHT_BIT, t.BEHIND_QUANTISED, by=_seen("MaxPool behind QuantizeLinear")
        ),
        refuses("MaxPool", w.INDICES, by=_seen("MaxPool with Indices")),
        miscomputes(w.POOLS, w.DROPPED_WINDOW, by=_seen("windows that start in the padding")),
        miscomputes("AveragePool", w.COUNTS, w.CUT_WINDOW, by=_seen("averages with ceil_mode")),
        refuses(
            p.PAD,
            p.CONSTANT,
            p.MODE_UNWRITTEN,
            by=_seen("Pad without mode"),
            says="Pad omits `mode`, which ncnn requires",
        ),
        refuses(p.PAD, p.VALUE_NOT_FINITE, by=_seen("Pad that writes -inf")),
        refuses(p.PAD, p.LISTS_AXES, by=_seen("Pad with axes")),
        refuses(p.PAD, _FROM_VALUES, p.CONSTANT, by=_seen("pads computed from an input's values")),
        refuses(
            p.PAD,
            _FROM_SIZES_SAID,
            by=_seen("pads computed from open sizes that are the same at all sizes tried"),
            unshown=_AT_ANOTHER_SIZE,
        ),
        miscomputes(
            p.PAD,
            _FROM_SIZES,
            _PADS_FOR_ONE_SIZE,
            by=_seen("pads computed from open sizes: right at the size that pnnx was given alone"),
            unshown=_AT_ANOTHER_SIZE,
        ),
        miscomputes(p.PAD, p.WRAP, by=_seen("Pad in mode wrap")),
        refuses(DISORDER, SORTED, by=_seen("nodes in front of what they read")),
        refuses(("Conv", *w.POOLS), w.CUT_OFF, by=_seen("negative pads attributes")),
        refuses(w.TRANSPOSED, w.NEGATIVE_PADS, by=_seen("negative pads of other operators")),
        refuses(p.PAD, p.CROPS & _GROWS, by=_seen("pads of which some are negative")),
        miscomputes(
            p.PAD, _BATCH_AXIS, ~t.tensor_rank(1, 2), by=_seen("Pad of the batch: ignored")
        ),
        miscomputes(
            p.PAD, _CHANNEL_AXIS, t.tensor_rank(5), by=_seen("Pad of channels of 5 axes: ignored")
        ),
        refuses(
            p.PAD,
            _PADS_NOTHING,
            p.READS_INPUT,
            _FEEDS_OUTPUTS_ALONE,
            by=_seen("no operator"),
        ),
        refuses(p.PAD, t.EIGHT_BIT, p.VALUE_GIVEN | t.BEHIND_QUANTISED, by=_seen("Pad of int8")),
        *(row for row in loader_rows(_seen, w.CONVOLUTIONS) if row.answer is Answer.REFUSES),
        *since(
            "20261020",
            miscomputes(
                OUTSIDE,
                _NAMED_BY_PNNX,
                by=_seen("convolutions by external data, six names of the file"),
            ),
        ),
        *until(
            "20241226",
            refuses(OUTSIDE, EMBEDDED, by=_in_2024("convolutions by external data: it ends")),
            miscomputes(("Conv", *w.POOLS), w.SAME, w.PADDED, by=_in_2024("SAME: no padding")),
            refuses(
                ("Conv", "MaxPool"), w.EXPLICIT_ASYMMETRIC, by=_in_2024("asymmetric pads: it ends")
            ),
        ),
    ),
    releases=("20241226", "20261020"),
    packages=("ncnn",),
)
