"""onnxruntime's Pad_Fusion, on by default: it folds a Pad that writes 0 into what reads it.

Predicates on a chain, asked by the traps, by the target onnxruntime, and for every rewrite. One
coarse rule: the nearest Pad that writes 0 may be fused, unless an operator of another kind reads it
too. That goes wrong in front of a max pool, of a pool with ceil_mode, and where it reaches the
kernel together with the pool's own pads.
Source: onnxruntime core/optimizer/pad_fusion.cc; measured with onnxruntime 1.20.1 to 1.31.1,
optimisations on against off. 1.32.0 harms no pool any more; weights, and models with an Identity
beside the Pad of a Conv or an average, as before.
"""

from __future__ import annotations

import math
from dataclasses import replace
from enum import IntEnum, StrEnum

from onnxpad.padding.chain import ELSEWHERE, FURTHER, Chain, Mark, Pads, PadStep, Skip
from onnxpad.padding.effective_pads import (
    axes_in_front,
    effective_pads,
    same_windows_when_padded,
)
from onnxpad.padding.fills import Constant, lowest
from onnxpad.padding.forms import outer_axes, reaches_kernel, windows_hold_data
from onnxpad.padding.operators import Kind, PadInput, Since

_FUSED = ("Conv", "MaxPool", "AveragePool")


class Way(StrEnum):
    """What goes wrong with a fused Pad."""

    WEIGHT = "the Pad of a weight lands in the pads of the Conv, and the model does not load"
    COPY = "an Identity beside the Pad makes a result, and onnxruntime refuses to load the model"
    LOAD = "the pads reach the kernel, and onnxruntime refuses to load the model"
    WINDOW = "the last window of ceil_mode is dropped"
    VALUE = "the pool's own padding is the lowest value, not 0"


REFUSED = frozenset({Way.WEIGHT, Way.COPY, Way.LOAD})


class Odds(IntEnum):
    """How sure it is that a Pad is fused.

    SURE: the Pad is written in front of the operator, which alone reads it.
    LIKELY: operators between may vanish, and pads be folded.
    POSSIBLE: the same in a later rewrite, which may take other readers away, or make pads known.
    """

    POSSIBLE = 0
    LIKELY = 1
    SURE = 2


def harms(chain: Chain, odds: Odds = Odds.LIKELY) -> tuple[Way, ...]:
    """What goes wrong if onnxruntime fuses the nearest Pad, the worst first."""
    own = effective_pads(chain)
    if not takes_pads(chain) or isinstance(own, Skip):
        return ()
    if chain.op.title == "Conv" and chain.weight.is_padded:
        return (Way.WEIGHT,)
    if chain.op.is_pool and reaches_kernel(chain, own):
        return ()
    pads, step = fused_pads(chain, odds), _seen(chain, odds)
    if pads is None or step is None:
        return ()
    if Mark.COPIED_OUT in chain.around.marks:
        return (Way.COPY,)
    return _of_pool(chain, pads, step) if chain.op.is_pool else ()


def _of_pool(chain: Chain, pads: Pads, step: PadStep) -> tuple[Way, ...]:
    """What goes wrong in a pool that takes `pads` of a Pad, and of others where it is unclear."""
    own = effective_pads(chain)
    assert isinstance(own, Pads)  # noqa: S101 - it takes pads
    if step.unclear or reaches_kernel(chain, own + pads):
        return (Way.LOAD,)
    if not any(pads.flat):
        return ()
    inner = replace(chain, axes=axes_in_front(chain, pads))
    same = same_windows_when_padded(inner, pads, own)
    is_full = windows_hold_data(chain, own + pads)
    harmless = 0 in lowest(chain.dtype) or (chain.around.never_negative and is_full)
    found = ((Way.WINDOW, chain.ceil_mode and not same), (Way.VALUE, chain.is_max and not harmless))
    return tuple(way for way, holds in found if holds)


def fused_pads(chain: Chain, odds: Odds = Odds.LIKELY) -> Pads | None:
    """The spatial pads of the nearest Pad, where onnxruntime folds it into the operator."""
    own = effective_pads(chain)
    if isinstance(own, Skip):
        return None
    if chain.op.kind is Kind.AVERAGE and not chain.counts_padding and any(own.flat):
        return None
    return _fusable_pads(chain, odds)


def _fusable_pads(chain: Chain, odds: Odds) -> Pads | None:
    """The same whatever pads an average has of its own."""
    step = _seen(chain, odds)
    if not takes_pads(chain) or step is None or not is_fusable(step, chain, odds):
        return None
    if odds is not Odds.POSSIBLE and Mark.SHARES_PAD in chain.around.marks:
        return None
    inner = chain.inner(step.pads)
    return inner if len(inner.begins) == chain.rank else Pads.zero(chain.rank)


def _seen(chain: Chain, odds: Odds) -> PadStep | None:
    return chain.pad if odds is Odds.SURE else chain.around.nearest


def is_fusable(step: PadStep, chain: Chain, odds: Odds) -> bool:
    """Whether onnxruntime would fuse a Pad into what reads it, in a model of the chain's opset."""
    value = step.fill.value if isinstance(step.fill, Constant) else None
    if step.mode != "constant" or value != 0 or PadInput.AXES in step.listed:
        return False
    # It compares bytes from opset 11 on.
    negative = isinstance(value, float) and math.copysign(1, value) < 0
    if negative and chain.opset >= Since.PAD_INPUTS:
        return False
    if odds is Odds.SURE and (step.unclear or step.computed or step.crossed):
        return False
    if step.unclear and step.unclear not in (ELSEWHERE, FURTHER):
        return odds is Odds.POSSIBLE and PadInput.PADS in step.computed
    outer = bool(outer_axes(chain, step.pads))
    if chain.op.kind is Kind.PAD and odds is Odds.POSSIBLE:  # any axis may be that of the channels
        outer = any(step.pads.begins[:1] + step.pads.ends[:1])
    return min(step.pads.flat, default=0) >= 0 and not outer


def worse(before: Chain, after: Chain) -> Way | None:
    """What onnxruntime may do wrong with `after` and does not do with `before`.

    What it computes wrongly before, it must at least still load.
    """
    found = harms(after, Odds.POSSIBLE)[:1]
    earlier = harms(before, Odds.SURE)[:1]
    if not found or (earlier and (earlier[0] in REFUSED or found[0] not in REFUSED)):
        return None
    return found[0]


def loses_count(chain: Chain, odds: Odds = Odds.LIKELY) -> bool:
    """Whether onnxruntime up to 1.20 fuses a Pad into an average that then leaves its cells out.

    The cells of a Pad are data, which an average divides by; fused into one with
    count_include_pad=0 they are padding.
    """
    if chain.op.kind is not Kind.AVERAGE or chain.counts_padding:
        return False
    pads, step = _fusable_pads(chain, odds), _seen(chain, odds)
    if chain.opset < Since.COUNT_INCLUDE_PAD or pads is None or step is None:
        return False
    return bool(step.unclear) or any(pads.flat)


def takes_pads(chain: Chain) -> bool:
    """Whether onnxruntime would fuse a Pad into the operator: explicit pads, one output."""
    if chain.trouble or chain.op.title not in _FUSED or len(chain.written.outputs) > 1:
        return False
    return isinstance(chain.padding, Pads)
