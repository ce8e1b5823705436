"""IREE for processors."""

from __future__ import annotations

from math import isinf, prod

from onnxpad.padding.chain import Chain
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import writes_value
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import (
    ARITHMETIC,
    BYTES_GIVEN,
    CALLS,
    CROP,
    DISORDER,
    INLINED,
    JOIN,
    LOOKUP,
    RANK,
    SORTED,
)
from onnxpad.runtimes.conditions.rows import (
    Condition,
    measured,
    miscomputes,
    refuses,
    reported,
    takes,
    untried,
)
from onnxpad.runtimes.conditions.tensors import (
    EIGHT_BIT,
    ONE_D,
    SPATIAL_SIZES_LEFT_OPEN,
    THREE_D,
    TWO_D,
    element_type,
    opset_below,
    tensor_rank,
)
from onnxpad.runtimes.targets import Target

_VERSION = "iree-base-compiler 3.13.0, llvm-cpu"
_seen = measured(_VERSION)

_BEHIND_FINITE = Condition(
    "a Pad node that writes a finite value stands in front",
    lambda c: (
        (s := c.pad) is not None
        and s.mode == "constant"
        and not (isinstance(s.fill, Constant) and isinf(s.fill.value))
    ),
)
_BEHIND_WRITTEN_ZEROS = Condition(
    "a Pad node that writes 0 stands in front",
    lambda c: c.pad is not None and c.pad.mode == "constant" and not writes_value(c.pad),
)


_SPREADS = Condition(
    "its pads are below the kernel less 1",
    w.of_pads(
        lambda c, pads: any(min(b, e) < axis.span - 1 for axis, b, e in c.sides(pads)),
    ),
)


def _sides(chain: Chain) -> tuple[tuple[int, int], ...]:
    """What the Pad adds to each axis; () where that is not known."""
    return () if chain.pad is None or chain.pad.unclear else chain.pad.pads.sides


_FEW_PLANES, _FEW_CELLS = 3, 8
"""Up to which mirrored lines were compiled: planes, and what is added to all of them together."""


def _mirrors_far_axes(chain: Chain) -> bool:
    return any(any(both) for both in _sides(chain)[:-2])


def _mirrors_unevenly(chain: Chain) -> bool:
    sides = _sides(chain)
    if len(sides) < 2 or _is_of_line(chain):
        return False
    across, along = sides[-2], sides[-1]
    return any(one > 1 for one in along) if not any(across) else 1 in along and max(across) > 1


def _is_of_line(chain: Chain) -> bool:
    return [any(both) for both in _sides(chain)] == [False, False, True]


def _mirrors_much_of_a_line(chain: Chain) -> bool | None:
    if not _is_of_line(chain) or all(one < 2 for one in _sides(chain)[-1]):
        return False
    planes = [1] if chain.shape is None else chain.shape[:-1]
    if chain.shape is None or not all(isinstance(one, int) for one in planes):
        return None
    count = prod(one for one in planes if isinstance(one, int))
    return any(
        (one % 2 == 0 and (count > _FEW_PLANES or one * count > _FEW_CELLS))
        or (one % 2 == 1 and count % 2 == 1 < count // one)
        for one in _sides(chain)[-1]
        if one > 1
    )


_FAR_AXES = Condition("it pads other axes than the last two", _mirrors_far_axes)
_UNEVENLY = Condition(
    "it pads the last axis alone and by 2 or more, or by 1 beside an axis that it pads by 2 or "
    "more, and what IREE makes of that does not compile",
    _mirrors_unevenly,
)
_MUCH_OF_A_LINE = Condition(
    "it pads one spatial axis, by an even number and of more than 3 planes or 8 cells in all, or "
    "by an odd number of an odd number of planes, and what IREE makes of that does not compile",
    _mirrors_much_of_a_line,
)
_DILATIONS_WRITTEN = Condition(
    "`dilations` is written", lambda c: w.writes(c, "dilations"), "`dilations` is not written"
)
_BEHIND_OTHER_VALUE = Condition(
    "a Pad node that writes something other than 0 stands in front",
    lambda c: c.pad is not None and writes_value(c.pad),
)


def _one_to_one(chain: Chain) -> bool | None:
    sizes, group = chain.weight.shape, chain.attribute("group", 1)
    if group == 1:
        return False
    return None if sizes is None else len(sizes) > 1 and (sizes[0], sizes[1]) == (group, 1)


_ONE_TO_ONE = Condition(
    "it is depthwise, with one output for each channel: group is the number of both", _one_to_one
)
_BIAS_OF_QUANTISED = 8


def _scaled_with_bias(chain: Chain) -> bool | None:
    if chain.inputs[_BIAS_OF_QUANTISED:][:1] != (True,):
        return False
    scales = chain.weight.scales
    return scales != 1 if isinstance(scales, int) else None


_SCALED_WITH_BIAS = Condition(
    "its weight has a scale for each channel, and it has a bias", _scaled_with_bias
)

_ALONE = "small models have operators that pad, and what a rewrite writes beside them"
_GRID = reported("llvm/torch-mlir pull request 4186", "padding_mode border")
_BEYOND_ZEROS = Condition(
    "padding_mode is not zeros",
    lambda c: c.attribute("padding_mode", "zeros") != "zeros",
    cure="clamp the grid, and sample with padding_mode zeros",
)
_AS_SIGNED = Condition.remedy(
    "its Python gives the bytes as int8, so those above 127 are off by 256; that is not about "
    "padding",
    "view the result as uint8",
)

TARGET = Target(
    _VERSION,
    (
        takes((*w.WINDOWS, "LpPool"), by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(p.PAD, by=_seen("Pad of modes constant, reflect and edge")),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *RANK), by=_seen("rewritten forms")),
        takes("GridSample", by=_GRID),
        refuses("GridSample", _BEYOND_ZEROS, by=_GRID, unshown=_ALONE),
        refuses(w.QUANTISED, ONE_D, by=_seen("QLinearConv and ConvInteger along one axis")),
        takes("QLinearConv", by=_seen("QLinearConv with symmetric pads and zero point 128")),
        refuses(w.TRANSPOSED, w.ASYMMETRIC, by=_seen("asymmetric ConvTranspose")),
        refuses(w.TRANSPOSED, w.SAME, w.ASYMMETRIC, by=_seen("SAME ConvTranspose")),
        refuses(
            w.TRANSPOSED,
            w.NOTHING_TO_CROP,
            by=_seen("SAME ConvTranspose, kernels below the stride"),
        ),
        refuses(w.TRANSPOSED, w.OUTPUT_SHAPE, by=_seen("output_shape")),
        miscomputes(
            w.TRANSPOSED,
            _BEHIND_WRITTEN_ZEROS,
            w.STRIDED,
            by=_seen("Pad(0) in front of ConvTranspose with strides"),
        ),
        refuses(w.TRANSPOSED, _ONE_TO_ONE, by=_seen("depthwise ConvTranspose, padded or not")),
        miscomputes(w.POOLS, w.SAME, SPATIAL_SIZES_LEFT_OPEN, by=_seen("SAME with unknown sizes")),
        refuses("MaxPool", opset_below(12), by=_seen("MaxPool of opset 11")),
        miscomputes("MaxPool", w.INDICES, by=_seen("MaxPool with Indices")),
        miscomputes("AveragePool", w.COUNTS, w.CUT_WINDOW, by=_seen("averages with ceil_mode")),
        miscomputes(
            w.POOLS,
            w.DROPPED_WINDOW,
            by=_seen("ceil_mode windows that start in the padding"),
            says="it keeps that window, so its result has another shape, or it does not compile",
        ),
        refuses(
            "MaxPool",
            w.CEIL_MODE,
            w.ASYMMETRIC,
            by=_seen("ceil_mode with asymmetric pads behind an operator"),
        ),
        refuses(
            "MaxPool",
            _BEHIND_FINITE,
            w.PADDED,
            by=_seen("padded pools behind another operator and a Pad of another value"),
        ),
        refuses(
            "AveragePool",
            _BEHIND_OTHER_VALUE,
            w.PADDED,
            by=_seen("padded pools behind another operator and a Pad of another value"),
        ),
        refuses("LpPool", opset_below(18), by=_seen("LpPool of opset 11")),
        refuses("LpPool", w.SAME, by=_seen("SAME LpPool")),
        refuses("LpPool", _DILATIONS_WRITTEN, by=_seen("LpPool")),
        refuses("Conv", THREE_D, _ONE_TO_ONE, by=_seen("3-D depthwise convolutions, unpadded too")),
        refuses(CROP, opset_below(13), by=_seen("Slice of opset 11")),
        refuses(
            (*w.WINDOWS, "LpPool", *p.PAD),
            element_type("float64"),
            by=_seen("float64: taken with --iree-input-demote-f64-to-f32=false alone"),
        ),
        refuses(CALLS, INLINED, by=_seen("calls of local functions")),
        refuses(DISORDER, SORTED, by=_seen("nodes in front of what they read")),
        takes(w.TRANSPOSED, w.NEGATIVE_PADS, TWO_D, by=_seen("2-D negative pads")),
        refuses(("Conv", *w.POOLS), w.CUT_OFF, by=_seen("negative pads attributes")),
        refuses(
            w.CONVOLUTIONS,
            _BEHIND_OTHER_VALUE,
            w.PADDED,
            by=_seen("Pad of another value in front of padded convolutions, behind an operator"),
        ),
        refuses(
            w.TRANSPOSED,
            _BEHIND_OTHER_VALUE,
            _SPREADS,
            by=_seen("Pad of another value in front of ConvTranspose, behind an operator"),
        ),
        miscomputes(p.PAD, p.CROPS, by=_seen("negative pads: it ends, or is wrong")),
        refuses(p.PAD, p.REFLECT, _FAR_AXES, by=_seen("Pad in mode reflect, other axes")),
        refuses(p.PAD, p.REFLECT, _UNEVENLY, by=_seen("Pad in mode reflect, 150 planes")),
        refuses(
            p.PAD,
            p.REFLECT,
            _MUCH_OF_A_LINE,
            by=_seen("Pad in mode reflect, 120 lines"),
            unshown="small models have fewer channels",
        ),
        refuses(
            p.PAD,
            p.REFLECT,
            p.LISTS_AXES,
            tensor_rank(3),
            by=_seen("Pad in mode reflect with axes, 30 models of one to three axes"),
        ),
        refuses(p.PAD, p.REFLECT, SPATIAL_SIZES_LEFT_OPEN, by=_seen("Pad in mode reflect")),
        refuses(p.PAD, p.EDGE, p.ON_FOUR_AXES, by=_seen("edge on 4 axes: compiles for minutes")),
        refuses(p.PAD, p.WRAP, by=_seen("Pad in mode wrap: the compiler does not end")),
        untried(p.PAD, p.COMPUTED, by=_seen("computed pads: one of three fails")),
        miscomputes(
            BYTES_GIVEN,
            _AS_SIGNED,
            by=_seen("uint8 as a result: Identity, QuantizeLinear, QLinearConv"),
        ),
        refuses("QLinearConv", w.PADDED, w.ASYMMETRIC, by=_seen("asymmetric QLinearConv")),
        miscomputes(
            "QLinearConv",
            _SCALED_WITH_BIAS,
            by=_seen("scales per channel and a bias, unpadded too"),
        ),
        takes("ConvInteger", by=_seen("ConvInteger with symmetric pads")),
        refuses(w.QUANTISED, w.SAME, by=_seen("SAME QLinearConv and ConvInteger")),
        refuses("ConvInteger", w.ASYMMETRIC, by=_seen("asymmetric ConvInteger")),
        miscomputes("MaxPool", element_type("uint8"), by=_seen("MaxPool of int8 and uint8")),
        miscomputes(
            "MaxPool",
            element_type("int8"),
            w.ASYMMETRIC,
            w.PADDING_READ,
            by=_seen("MaxPool of int8, asymmetric"),
        ),
        refuses("MaxPool", EIGHT_BIT, THREE_D, by=_seen("3-D MaxPool of int8 and uint8")),
        untried("AveragePool", element_type("int8", "uint8"), by=_seen("int8 averages")),
    ),
)
