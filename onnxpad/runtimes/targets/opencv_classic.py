"""OpenCV's dnn module with its classic engine: that of 5.0; the releases 4.x had no other.

The name alone stands for the classic engine of 5.0, opencv-classic@4.14 for that release.
"""

from __future__ import annotations

from collections.abc import Callable

from onnxpad.geometry.windows import same_totals
from onnxpad.padding.chain import AutoPad, Chain, Pads
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.opencv import (
    DEPTHWISE_READS_BEYOND,
    FROM_PYTORCH,
    rows_of_crops,
)
from onnxpad.runtimes.conditions.plain_facts import (
    ARITHMETIC,
    BLOCKS,
    BRANCH,
    CALLS,
    CROP,
    DECLARED,
    DISORDER,
    EMBEDDED,
    INLINED,
    LIMIT,
    LOOKUP,
    LOOSE_PIECES,
    OPEN_BATCH_RANKS,
    OUTER_BLOCKS,
    OUTSIDE,
    PIECES,
    QUANTISED_BYTES,
    RANK,
    SORTED,
    UNSHAPED,
)
from onnxpad.runtimes.conditions.rows import (
    OTHER_SHAPE,
    Condition,
    Evidence,
    Row,
    measured,
    miscomputes,
    refuses,
    since,
    takes,
    until,
)
from onnxpad.runtimes.conditions.windows import last_windows
from onnxpad.runtimes.targets import Target

_VERSION = "opencv-python-headless 5.0.0.93, ENGINE_CLASSIC"
_seen = measured(_VERSION)
_in_all = measured(f"{_VERSION}, 4.14, 4.12, 4.10 and 4.8")
_PACKAGE = "opencv-python-headless"
_in_4 = measured(f"{_PACKAGE} 4.14, 4.12, 4.10 and 4.8")
_to_4_12 = measured(f"{_PACKAGE} 4.12, 4.10 and 4.8")
_to_4_10 = measured(f"{_PACKAGE} 4.10 and 4.8")

_BATCH_LEFT_OPEN = t.left_open(
    0, "the file leaves the batch open", "give the batch a number, such as --dim N=1"
)
_BEGINS_PADDED = Condition(
    "it pads in front", w.of_sides(lambda _, begin, __: begin > 0), "it pads nothing in front"
)
_MORE_BEHIND = Condition(
    "it pads more behind than in front, of which OpenCV counts no more than in front",
    w.of_sides(lambda _, begin, end: end > begin),
    "it pads no more behind than in front",
)


def _overhangs_by_end(chain: Chain, pads: Pads) -> bool:
    """Whether a rule that takes the end pad for the begin pad, if there is one, drops otherwise.

    getMemoryShapes of modules/dnn/src/layers/pooling_layer.cpp of OpenCV.
    """
    return any(
        (one.start >= one.size + one.begin) is not (one.end > 0 and one.start >= one.size + one.end)
        for one in last_windows(chain, pads)
    )


_DROPPED_BY_END = Condition(
    "OpenCV looks at the end pad, not at the begin pad, to drop the last window of ceil_mode",
    lambda c: c.ceil_mode and w.of_pads(_overhangs_by_end)(c),
)


def _drops_though_down(chain: Chain, pads: Pads) -> bool:
    """Whether the same rule drops a window that starts in the padding where sizes round down."""
    for axis, begin, end in chain.sides(pads):
        for size in w.sizes_of(axis):
            last = (size + begin + end - axis.span) // axis.stride
            if end > 0 and last * axis.stride >= size + end:
                return True
    return False


_DROPPED_THOUGH_DOWN = Condition(
    "the last window starts in the end padding, which OpenCV drops without ceil_mode too",
    lambda c: isinstance(c.padding, Pads) and not c.ceil_mode and w.of_pads(_drops_though_down)(c),
)


def _twice_the_begin(chain: Chain, pads: Pads) -> bool:
    """Whether an end pad as wide as the begin pad makes another number of windows."""
    return chain.ceil_mode or any(
        (size + begin + end - axis.span) // axis.stride
        != (size + 2 * begin - axis.span) // axis.stride
        for axis, begin, end in chain.sides(pads)
        for size in w.sizes_of(axis)
    )


_TAKEN_FOR_THE_BEGIN = w.EXPLICIT_ASYMMETRIC & Condition(
    "its end pad, which OpenCV takes for as wide as the begin pad, makes another number of windows",
    w.of_pads(_twice_the_begin),
)
_MORE_AT_END = Condition(
    "an end pad is above its begin pad",
    w.of_sides(lambda _, begin, end: end > begin),
)
_NO_STEPS = ~(w.STRIDED | w.DILATED).called(
    "a stride or a dilation is above 1", "no stride and no dilation is above 1"
)


def _off_middle(chain: Chain) -> bool | None:
    middle = {"int8": 0, "uint8": 128}.get(chain.weight.whole)
    if middle is None or chain.weight.zero_point is None:
        return None
    return chain.weight.zero_point != middle


_ZERO_POINT_OFF_MIDDLE = Condition(
    "the zero point of its weight is not the middle of the type (0 of int8, 128 of uint8)",
    _off_middle,
)

_UNPADDED_BELOW_STRIDE = Condition(
    "SAME pads the begin of an axis whose kernel is below its stride",
    w.of_sides(lambda axis, begin, _: axis.kernel < axis.stride and begin > 0),
)


def _pads_as_undilated(chain: Chain) -> bool:
    """Whether windows begin elsewhere than where a kernel without dilations would.

    Where a kernel is below its stride, OpenCV pads nothing.
    """
    lower = chain.padding is AutoPad.SAME_LOWER
    for axis in chain.axes:
        for total in same_totals(axis):
            undilated = max(0, total - axis.span + axis.kernel) // 2
            taken = undilated if axis.kernel >= axis.stride else 0
            if (max(0, total) + lower) // 2 != taken:
                return True
    return False


_PADDED_AS_UNDILATED = Condition(
    "OpenCV pads SAME as if dilations were 1, so that windows begin elsewhere",
    _pads_as_undilated,
)


def _begins_differ(chain: Chain) -> bool:
    """Whether SAME, as OpenCV counts it, pads other begins at other sizes that the model allows.

    Convolutions on bytes count them again for each size, and so do pools.
    """
    return any(
        len({max(0, total) // 2 for total in same_totals(axis)}) > 1
        for axis in chain.axes
        if axis.kernel >= axis.stride
    )


_KEPT_FROM_THE_FIRST = Condition(
    "its begin pads are others at other sizes that the model allows",
    _begins_differ,
    cure="build a new Net for each size of its input",
)


def _crops_of_one(by: Callable[[str], Evidence], *when: Condition) -> Row:
    return miscomputes(
        w.TRANSPOSED,
        t.TWO_D,
        w.KERNEL_OF_ONE,
        _NO_STEPS,
        w.PADDED,
        *when,
        by=by("1x1 ConvTranspose that crops"),
    )


TARGET = Target(
    _VERSION,
    (
        takes(w.WINDOWS, by=_seen("convolutions and pools of 1 to 3 axes")),
        takes("QLinearConv", by=_seen("QLinearConv, uint8 and int8")),
        takes(p.PAD, by=_seen("Pad of mode constant, of all axes")),
        takes(
            (*CROP, *PIECES, *LOOSE_PIECES, *BLOCKS, *LOOKUP, *ARITHMETIC, *LIMIT, *RANK),
            by=_seen("rewritten forms"),
        ),
        miscomputes(OUTER_BLOCKS, by=_seen("Concat with a constant on axis 0 or 1")),
        miscomputes(
            OPEN_BATCH_RANKS,
            _BATCH_LEFT_OPEN,
            by=_in_all("Squeeze and Unsqueeze, batches of 1 and 3"),
            says="it takes an open batch for 1",
        ),
        refuses(("Conv", *w.POOLS), w.CUT_OFF, by=_seen("negative pads attributes")),
        refuses(w.TRANSPOSED, w.NEGATIVE_PADS, by=_seen("negative pads of ConvTranspose")),
        refuses("LpPool", by=_seen("LpPool")),
        refuses("ConvInteger", by=_seen("ConvInteger")),
        miscomputes(
            "QLinearConv", _ZERO_POINT_OFF_MIDDLE, by=_seen("QLinearConv, zero points of weights")
        ),
        miscomputes(
            QUANTISED_BYTES,
            by=_seen("uint8 inputs and results of quantised models: 128 apart"),
        ),
        refuses(BRANCH, by=_seen("If")),
        refuses(CALLS, INLINED, by=_seen("calls of local functions")),
        refuses(UNSHAPED, DECLARED, by=_in_all("graphs whose inputs or results have no shape")),
        refuses(DISORDER, SORTED, by=_seen("nodes in front of what they read")),
        miscomputes(("Conv", "QLinearConv"), w.SAME_LOWER, w.ASYMMETRIC, by=_seen("SAME_LOWER")),
        miscomputes(
            w.POOLS, w.SAME_LOWER, w.ASYMMETRIC, t.spatial_axes(2, 3), by=_seen("SAME_LOWER pools")
        ),
        miscomputes(
            "Conv",
            w.SAME,
            w.SPREAD,
            _PADDED_AS_UNDILATED,
            by=_seen("SAME with dilations: pads as without"),
        ),
        miscomputes(
            ("Conv", "QLinearConv", *w.POOLS),
            w.SAME,
            _UNPADDED_BELOW_STRIDE,
            by=_seen("SAME with kernels below the stride: pads nothing"),
        ),
        miscomputes(
            "Conv",
            w.SAME,
            _KEPT_FROM_THE_FIRST,
            by=_in_all("one Net fed two sizes, each after the other: 28 convolutions"),
            says="a Net keeps the pads of the first size that it is fed, and SAME needs others at "
            "other sizes",
            unshown="a model alone does not say what the Net was fed before",
        ),
        miscomputes(
            "Conv", DEPTHWISE_READS_BEYOND, by=_in_all("depthwise convolutions: rows behind")
        ),
        refuses(
            ("Conv", "QLinearConv"),
            w.WEIGHT_MADE,
            by=_seen("convolutions with computed weights: it ends"),
        ),
        refuses(
            "QLinearConv",
            w.KERNEL_UNWRITTEN,
            by=_seen("QLinearConv without kernel_shape: it ends"),
        ),
        miscomputes(
            ("Conv", "QLinearConv", *w.POOLS),
            t.ONE_D,
            _TAKEN_FOR_THE_BEGIN,
            by=_seen("1-D asymmetric pads"),
        ),
        refuses(w.POOLS, t.ONE_D, w.SAME, by=_seen("1-D SAME pools")),
        *since(
            "5.0",
            miscomputes(
                w.TRANSPOSED,
                t.ONE_D,
                ~w.KERNEL_OF_ONE | w.STRIDED | w.DILATED | w.PADDED,
                by=_seen("1-D ConvTranspose"),
            ),
        ),
        *since("5.0", _crops_of_one(_seen)),
        *until(
            "4.14",
            refuses(OUTSIDE, EMBEDDED, by=_in_4("convolutions by external data: it ends")),
            gone="5.0",
        ),
        *until("4.14", _crops_of_one(_in_4, ~w.EXPLICIT_ASYMMETRIC), gone="5.0"),
        miscomputes(
            "Conv",
            w.KERNEL_OF_ONE,
            ~w.STRIDED,
            _MORE_AT_END,
            by=_in_all("1x1 convolutions with end pads: cells of other memory"),
        ),
        miscomputes(
            w.POOLS,
            _DROPPED_THOUGH_DOWN,
            by=_in_all("windows in the padding without ceil_mode: dropped"),
            does=OTHER_SHAPE,
        ),
        *since("5.0", *rows_of_crops(_seen, dilates=False)),
        *until("4.14", *rows_of_crops(_in_4, t.TWO_D, dilates=False), gone="5.0"),
        miscomputes(
            w.POOLS,
            w.SPREAD,
            ~(t.ONE_D & w.SAME).called(
                "it is 1-D, and auto_pad is SAME", "it is not both 1-D and SAME"
            ),
            by=_seen("pools with dilations: ignored"),
        ),
        miscomputes(
            w.POOLS,
            w.VALID,
            w.GAINED_WINDOW,
            by=_seen("VALID: ceil_mode is ignored"),
            does=OTHER_SHAPE,
        ),
        miscomputes("MaxPool", w.INDICES, by=_seen("MaxPool with Indices")),
        *since(
            "5.0",
            refuses(
                "MaxPool",
                t.EIGHT_BIT,
                ~t.BEHIND_QUANTISED,
                by=_seen("MaxPool of an int8 or uint8 input"),
            ),
        ),
        miscomputes(
            w.POOLS,
            _DROPPED_BY_END,
            by=_seen("windows that start in unequal padding"),
        ),
        miscomputes(
            "AveragePool",
            w.COUNTS,
            w.PADDING_READ,
            ~FROM_PYTORCH,
            by=_seen("count_include_pad: ignored, never counts"),
        ),
        *(
            miscomputes(
                "AveragePool",
                *when,
                FROM_PYTORCH,
                by=_seen("count_include_pad: ignored, counts in models of PyTorch"),
            )
            for when in (
                (~w.COUNTS, ~w.SAME, w.PADDED),
                (~w.COUNTS, w.SAME, _BEGINS_PADDED),
                (w.COUNTS, w.SAME, _MORE_BEHIND),
            )
        ),
        miscomputes(
            p.PAD,
            t.element_type("uint8"),
            p.CONSTANT,
            p.VALUE_LEFT_OUT,
            ~p.READS_INPUT,
            by=_seen("Pad of uint8 without constant_value: writes 128"),
        ),
        miscomputes(
            p.PAD,
            t.element_type("uint8"),
            p.WRITES_VALUE,
            ~t.BEHIND_QUANTISED,
            by=_seen("Pad of uint8 with a value: writes 128 less, and never below 0"),
        ),
        refuses(p.PAD, p.LISTS_AXES, by=_seen("Pad with axes")),
        refuses(p.PAD, p.CROPS, by=_seen("negative pads")),
        refuses(p.PAD, p.WRAP, by=_seen("Pad in mode wrap")),
        refuses(p.PAD, p.COMPUTED, by=_seen("computed pads")),
        refuses(p.PAD, p.MIRRORS, p.BEYOND_LAST_TWO, by=_seen("reflect and edge beyond H and W")),
        refuses(p.PAD, p.MIRRORS, ~t.tensor_rank(4), by=_seen("reflect and edge, not of 4 axes")),
        *until(
            "4.14",
            refuses(
                w.TRANSPOSED,
                w.EXPLICIT_ASYMMETRIC,
                by=_in_4("asymmetric ConvTranspose"),
            ),
            refuses(w.TRANSPOSED, t.NOT_TWO_D, by=_in_4("1-D and 3-D ConvTranspose")),
            miscomputes(
                w.TRANSPOSED,
                t.TWO_D,
                w.SPREAD,
                ~(w.SAME | w.OUTPUT_SHAPE | w.EXPLICIT_ASYMMETRIC).called(
                    "SAME, output_shape or asymmetric", "pads are symmetric numbers"
                ),
                by=_in_4("ConvTranspose with dilations: ignored"),
                does=OTHER_SHAPE,
            ),
            refuses(
                "QLinearConv",
                p.READS_INPUT,
                t.NOT_TWO_D | ~w.EXPLICIT_ASYMMETRIC,
                by=_in_4("QLinearConv of an input of the model"),
                unshown="small models quantise in front of it",
            ),
            miscomputes(
                "QLinearConv",
                p.READS_INPUT,
                t.TWO_D,
                w.EXPLICIT_ASYMMETRIC,
                by=_in_4("asymmetric QLinearConv of an input of the model"),
                unshown="small models quantise in front of it",
            ),
            miscomputes(
                p.PAD,
                t.EIGHT_BIT,
                p.CONSTANT,
                ~p.VALUE_LEFT_OUT,
                ~t.BEHIND_QUANTISED,
                by=_in_4("Pad of int8 and uint8, constant_value given: another value"),
            ),
            gone="5.0",
        ),
        *until(
            "4.12",
            refuses(
                ("Conv", *w.TRANSPOSED),
                w.KERNEL_UNWRITTEN,
                by=_to_4_12("convolutions without kernel_shape"),
            ),
            gone="4.14",
        ),
        *until(
            "4.10",
            refuses(
                "Unsqueeze",
                by=_to_4_10("Unsqueeze"),
            ),
            refuses(("Conv", *w.POOLS), t.ONE_D, by=_to_4_10("1-D convolutions and pools")),
            refuses(p.PAD, t.tensor_rank(3), by=_to_4_10("Pad of 3 axes")),
            gone="4.12",
        ),
    ),
    releases=("4.8", "4.10", "4.12", "4.14", "5.0"),
    packages=(
        "opencv-python",
        "opencv-python-headless",
        "opencv-contrib-python",
        "opencv-contrib-python-headless",
    ),
    engine="the classic engine",
)
