"""MNN on the CPU, models through its converter."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.padding.chain import Chain, Pads, PadStep
from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import (
    ARITHMETIC,
    CALLS,
    CROP,
    DEQUANTISES,
    INLINED,
    JOIN,
    LIMIT,
    LOOKUP,
    RANK,
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

_VERSION = "MNN 3.6.1, CPU, precision high"
_seen = measured(_VERSION)


def _reads_end_above_begin(chain: Chain, pads: Pads) -> bool:
    """Whether on some axis more end padding is read than there is begin padding."""
    read = []
    for axis, begin, end in chain.sides(pads):
        one = replace(chain, axes=(axis,))
        for window in w.last_windows(one, Pads((begin,), (end,))):
            start = window.start if chain.ceil_mode else window.floor
            read.append((begin, min(end, start + axis.span - window.size - begin)))
        read += [(begin, end)] if axis.stride == 1 else []
    return any(end > begin for begin, end in read)


_END_ABOVE_BEGIN = Condition(
    "an end pad that it reads is larger than its begin pad", w.of_pads(_reads_end_above_begin)
)
_SPREAD_BY_STRIDE = Condition(
    "dilation makes its first window wider, by a stride or more",
    lambda c: any(axis.span - axis.kernel >= axis.stride for axis in c.axes[:1]),
)


def _more_windows_undilated(chain: Chain, pads: Pads) -> bool:
    """Whether the first axis would have more of them; open sizes count as the worst."""
    axis, room = chain.axes[0], pads.begins[0] + pads.ends[0] - chain.axes[0].span
    spread = axis.span - axis.kernel
    if not isinstance(axis.size, int):
        return spread > 0
    return (axis.size + room) // axis.stride != (axis.size + room + spread) // axis.stride


_MORE_WINDOWS_UNDILATED = Condition(
    "its first axis would have more windows without the dilation",
    w.of_pads(_more_windows_undilated),
)


def _pieces(step: PadStep) -> int:
    """Of how many axes a mirrored tensor consists to MNN: unpadded ones that touch are one.

    Those in front of the first padded axis do not count.
    """
    padded = [any(sides) for sides in step.pads.sides]
    inner = padded[padded.index(True) :] if any(padded) else []
    return sum(now or not (index and not inner[index - 1]) for index, now in enumerate(inner))


_IN_FOUR_PIECES = Condition(
    "from its first padded axis on, padded axes and the runs between them are four or more",
    p.of_step(lambda step: None if step.unclear else _pieces(step) > 3),
)

TARGET = Target(
    _VERSION,
    (
        takes((*w.WINDOWS, "LpPool"), by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(p.PAD, by=_seen("Pad of modes constant, reflect and edge")),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *LIMIT, *RANK), by=_seen("rewritten forms")),
        takes(w.WINDOWS, w.NEGATIVE_PADS, t.TWO_D, by=_seen("2-D negative pads attributes")),
        refuses(CALLS, INLINED, by=_seen("calls of local functions")),
        refuses(w.QUANTISED, by=_seen("QLinearConv and ConvInteger")),
        refuses("Conv", f.DEQUANTISED, by=_seen("convolutions behind DequantizeLinear: it ends")),
        miscomputes(
            (*w.WINDOWS, "LpPool"),
            w.SAME_LOWER,
            w.ASYMMETRIC,
            by=_seen("SAME_LOWER: read as SAME_UPPER"),
        ),
        miscomputes("Conv", w.SAME, t.THREE_D, w.PADDED, by=_seen("3-D SAME convolutions")),
        miscomputes(w.POOLS, w.SAME, t.THREE_D, by=_seen("3-D SAME")),
        miscomputes(w.TRANSPOSED, t.THREE_D, w.SAME, by=_seen("3-D SAME ConvTranspose")),
        miscomputes(w.TRANSPOSED, t.THREE_D, w.HAS_BIAS, by=_seen("3-D ConvTranspose with a bias")),
        miscomputes(w.TRANSPOSED, t.THREE_D, w.GROUPED, by=_seen("3-D ConvTranspose with groups")),
        miscomputes(
            w.TRANSPOSED,
            t.THREE_D,
            _SPREAD_BY_STRIDE,
            by=_seen("3-D ConvTranspose with dilations"),
        ),
        refuses(
            ("Conv", *w.TRANSPOSED),
            t.THREE_D,
            w.KERNEL_UNWRITTEN,
            by=_seen("3-D convolutions without kernel_shape"),
        ),
        miscomputes(
            "Conv",
            t.spatial_axes(1, 2),
            w.SAME,
            w.SAME_SHIFTS,
            by=_seen("SAME with kernels below the stride"),
        ),
        miscomputes(
            w.TRANSPOSED,
            w.NOTHING_TO_CROP,
            by=_seen("SAME ConvTranspose, kernels below the stride"),
        ),
        miscomputes(w.TRANSPOSED, w.SAME, w.DILATED, by=_seen("SAME ConvTranspose with dilations")),
        miscomputes(w.TRANSPOSED, w.OUTPUT_SHAPE, w.GROUPED, by=_seen("output_shape with groups")),
        miscomputes(w.TRANSPOSED, w.ODD_OUTPUT_SHAPE, ~w.SAME_UPPER, by=_seen("odd output_shape")),
        refuses(
            (*w.POOLS, "LpPool"), w.STRIDES_UNWRITTEN, by=_seen("pools without strides: it ends")
        ),
        miscomputes((*w.POOLS, "LpPool"), w.DILATED, by=_seen("pools with dilations: ignored")),
        refuses(w.POOLS, t.THREE_D, w.PADS_UNWRITTEN, by=_seen("3-D pools without pads: it ends")),
        miscomputes(
            w.POOLS,
            w.VALID,
            w.GAINED_WINDOW,
            by=_seen("VALID: ceil_mode is ignored"),
            does=OTHER_SHAPE,
        ),
        miscomputes("MaxPool", t.THREE_D, w.ASYMMETRIC, by=_seen("3-D asymmetric pools")),
        miscomputes(
            w.POOLS,
            t.THREE_D,
            w.GAINED_WINDOW,
            by=_seen("3-D pools: ceil_mode is ignored"),
            does=OTHER_SHAPE,
        ),
        miscomputes(w.POOLS, t.THREE_D, t.BATCH_ABOVE_ONE, by=_seen("3-D pools of a batch")),
        miscomputes("AveragePool", t.THREE_D, w.PADDED, by=_seen("padded 3-D averages")),
        miscomputes(
            w.POOLS,
            w.DROPPED_WINDOW,
            ~w.VALID,
            t.spatial_axes(1, 2),
            by=_seen("windows that start in the padding"),
        ),
        miscomputes("MaxPool", w.INDICES, by=_seen("MaxPool with Indices")),
        refuses("MaxPool", t.element_type("int8"), by=_seen("MaxPool of int8")),
        miscomputes(
            "MaxPool", t.EIGHT_BIT, t.BEHIND_QUANTISED, by=_seen("MaxPool behind QuantizeLinear")
        ),
        miscomputes(
            DEQUANTISES,
            by=_seen("QuantizeLinear and DequantizeLinear alone, tensors of 3 and 4 axes"),
            says="MNN loses axes, or computes something else, behind QuantizeLinear",
        ),
        miscomputes("AveragePool", w.COUNTS, _END_ABOVE_BEGIN, by=_seen("asymmetric averages")),
        miscomputes(
            "Conv",
            t.THREE_D,
            _MORE_WINDOWS_UNDILATED,
            by=_seen("3-D convolutions with dilations"),
        ),
        miscomputes("AveragePool", w.COUNTS, w.CUT_WINDOW, by=_seen("averages with ceil_mode")),
        refuses("LpPool", t.THREE_D, by=_seen("3-D LpPool")),
        miscomputes("LpPool", _END_ABOVE_BEGIN, by=_seen("asymmetric LpPool")),
        miscomputes(
            p.PAD, p.ON_FOUR_AXES, ~p.MIRRORS, p.WRITES_VALUE, by=_seen("Pad on four axes")
        ),
        miscomputes(
            p.PAD,
            p.MIRRORS,
            _IN_FOUR_PIECES,
            by=_seen("reflect and edge over many axes: reads memory that it never wrote"),
        ),
        miscomputes(
            p.PAD,
            t.opset_below(11),
            p.WRITES_VALUE,
            by=_seen("value of Pad, an attribute up to opset 10: ignored"),
        ),
        refuses(p.PAD, p.WRAP, by=_seen("Pad in mode wrap")),
        miscomputes(p.PAD, p.CROPS, by=_seen("negative pads")),
        refuses(p.PAD, p.LISTS_AXES, by=_seen("Pad with axes: it ends")),
        refuses(p.PAD, t.element_type("int8"), by=_seen("Pad of int8")),
    ),
)
