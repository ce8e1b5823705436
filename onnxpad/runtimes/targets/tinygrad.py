"""tinygrad's ONNX frontend."""

from __future__ import annotations

from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Chain
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import ARITHMETIC, CROP, RANK
from onnxpad.runtimes.conditions.rows import (
    OTHER_SHAPE,
    Condition,
    measured,
    miscomputes,
    refuses,
    takes,
)
from onnxpad.runtimes.conditions.tensors import ONE_D
from onnxpad.runtimes.targets import Target

_VERSION = "tinygrad 0.14.0, CPU, clang 14"
_seen = measured(_VERSION)

_SAME_OF = ("Conv", *w.QUANTISED, *w.POOLS)


def _lost(chain: Chain, axis: Axis) -> int:
    """Windows too few along an axis that SAME pads as if the kernel were not dilated.

    _resolve_pool_pads of tinygrad/nn/onnx.py leaves dilations out.
    """
    missing = axis.span - axis.kernel
    return missing // axis.stride if chain.ceil_mode else -(-missing // axis.stride)


def _fits_nowhere(chain: Chain) -> bool:
    return any(
        isinstance(axis.size, int) and -(-axis.size // axis.stride) <= _lost(chain, axis)
        for axis in chain.axes
    )


_LOSES_WINDOWS = Condition(
    "tinygrad, which leaves dilations out where SAME pads, makes fewer windows",
    lambda c: any(_lost(c, axis) > 0 for axis in c.axes),
    "ceil_mode makes as many windows of the padding that SAME has without dilations",
)
_FITS_NOWHERE = Condition(
    "its dilated kernel does not fit in what SAME pads without dilations",
    _fits_nowhere,
    "its dilated kernel fits in what SAME pads without dilations",
)

TARGET = Target(
    _VERSION,
    (
        takes(w.WINDOWS, by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(p.PAD, by=_seen("Pad of every mode, computed pads too")),
        refuses(
            p.PAD,
            p.WRAPS_AGAIN,
            by=_seen("Pad in mode wrap, pads longer than the axis"),
            unshown=p.PLAIN_WRAPS,
        ),
        takes(w.QUANTISED, by=_seen("QLinearConv and ConvInteger, uint8 and int8")),
        takes((*CROP, *ARITHMETIC, *RANK), by=_seen("rewritten forms")),
        refuses("QLinearConv", ONE_D, by=_seen("QLinearConv along one axis")),
        refuses("LpPool", by=_seen("LpPool")),
        refuses(
            _SAME_OF, w.SAME, w.SPREAD, _FITS_NOWHERE, by=_seen("SAME with dilations, wide windows")
        ),
        miscomputes(
            _SAME_OF,
            w.SAME,
            w.SPREAD,
            ~_FITS_NOWHERE,
            _LOSES_WINDOWS,
            by=_seen("SAME with dilations: pads as without"),
            does=OTHER_SHAPE,
        ),
        miscomputes(
            w.POOLS,
            w.SAME,
            w.SPREAD,
            ~_FITS_NOWHERE,
            ~_LOSES_WINDOWS,
            by=_seen("SAME with dilations and ceil_mode: pads as without"),
        ),
        miscomputes(
            w.TRANSPOSED,
            w.NOTHING_TO_CROP,
            by=_seen("SAME ConvTranspose, kernels below the stride"),
        ),
        miscomputes(_SAME_OF, w.SAME_CUTS_BEGIN, by=_seen("SAME with kernels below the stride")),
        miscomputes(w.TRANSPOSED, w.VALID, by=_seen("ConvTranspose with VALID")),
        miscomputes("MaxPool", w.INDICES, by=_seen("MaxPool with Indices")),
    ),
)
