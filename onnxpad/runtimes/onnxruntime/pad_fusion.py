"""onnxruntime's Pad_Fusion, on by default: it folds a Pad that writes 0 into what reads it.

Predicates on a chain, asked by the traps, by the target onnxruntime, and for every rewrite.
Source: onnxruntime core/optimizer/pad_fusion.cc; measured with onnxruntime 1.31.1, optimisations on
against off, opsets 7 to 25 (tests/runtimes/onnxruntime holds this module against it, row by row).
1.32.0 harms no pool any more (669 of those rows run, all as without optimisations), weights and
models with an Identity beside the Pad of a Conv or an average as before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from onnxpad.geometry.windows import Axis, cells_within
from onnxpad.padding.chain import Chain, InFront, Pads, Skip
from onnxpad.padding.effective_pads import (
    axes_in_front,
    effective_pads,
    output_sizes,
    same_windows_when_padded,
)
from onnxpad.padding.fills import Constant, lowest
from onnxpad.padding.forms import reaches_kernel
from onnxpad.padding.operators import Kind, PadInput, Since

_FUSED = ("Conv", "MaxPool", "AveragePool")
_MOST_WINDOWS = 4096


class Way(StrEnum):
    """What goes wrong; the value says it in a sentence about the Pad."""

    LOAD = "the pads reach the kernel, and onnxruntime refuses to load the model"
    WEIGHT = "the Pad of a weight lands in the pads of the Conv, and the model does not load"
    COPY = "an Identity beside the Pad makes a result, and onnxruntime refuses to load the model"
    WINDOW = "the last window of ceil_mode is dropped"
    VALUE = "the pool's own padding is the lowest value, not 0"


class Harm(NamedTuple):
    """A fusion that changes the model: `folded` goes into the operator, which then has `total`.

    `sure` is False where it hangs on a size that is not known.
    """

    way: Way
    folded: Pads
    total: Pads
    sure: bool = True

    @property
    def loads(self) -> bool:
        """Whether onnxruntime still opens the model."""
        return self.way not in (Way.LOAD, Way.WEIGHT, Way.COPY)


def harm(chain: Chain, *, doubtful: bool = False) -> Harm | None:
    """The worst that onnxruntime's fusion of Pads into the operator does wrong, if anything."""
    return next(harms(chain, doubtful=doubtful), None)


def harms(chain: Chain, *, doubtful: bool = False) -> Iterator[Harm]:
    """All that onnxruntime's fusion of Pads into the operator does wrong, the worst first.

    `doubtful` takes for fused what may be: a Pad whose pads are computed in a way that is not
    known, or that stands behind operators which may hand on what they read.
    """
    if not _takes_pads(chain):
        return
    if chain.op.title == "Conv" and _folded(chain, chain.around.weight_front, doubtful=doubtful):
        yield Harm(Way.WEIGHT, Pads.zero(chain.rank), Pads.zero(chain.rank))
        return
    own, row = effective_pads(chain), _folded(chain, chain.around.front, doubtful=doubtful)
    if not isinstance(own, Pads) or (chain.op.is_pool and reaches_kernel(chain, own)):
        return
    if any(one.copied_out for one in row) and not _leaves_out_own_pads(chain, own):
        yield Harm(Way.COPY, Pads.zero(chain.rank), own)
    elif chain.op.is_pool:
        yield from _of_pool(chain, own, row)


def _of_pool(chain: Chain, own: Pads, row: tuple[InFront, ...]) -> Iterator[Harm]:
    """What goes wrong with a pool that has the Pads of the row as its own."""
    unknown = any(one.pad.unclear for one in row)
    pads = sum((_spatial(chain, one) for one in row), start=Pads.zero(chain.rank))
    if _leaves_out_own_pads(chain, own) or not (unknown or any(pads.flat)):
        return
    if reaches_kernel(chain, own + pads):
        yield Harm(Way.LOAD, pads, own + pads)
        return
    if _loses_window(chain, pads, own):
        known = chain.has_fixed_sizes
        yield Harm(Way.WINDOW, pads, own + pads, sure=known)
    rest = chain.around.front[len(row) :]
    loses = chain.is_max and 0 not in lowest(chain.dtype)
    if loses and _reads_padding_alone(chain, pads, own, rest, unknown=unknown):
        yield Harm(Way.VALUE, pads, own + pads)
    elif unknown:
        yield Harm(Way.LOAD, pads, own + pads, sure=False)


def folded(chain: Chain) -> Pads | None:
    """The spatial pads that onnxruntime folds into the operator, wrongly or not."""
    own = effective_pads(chain)
    if not _takes_pads(chain) or isinstance(own, Skip) or _leaves_out_own_pads(chain, own):
        return None
    row = _folded(chain, chain.around.front, doubtful=False)
    pads = sum((_spatial(chain, one) for one in row), start=Pads.zero(chain.rank))
    return pads if any(pads.flat) else None


def worse(before: Chain, after: Chain) -> Harm | None:
    """What onnxruntime does wrong with `after` and not with `before`.

    What it computes wrongly before, it must at least still load. What it may do wrong before is no
    excuse for what it surely does wrong afterwards.
    """
    for doubtful in (True, False):
        found = harm(after, doubtful=doubtful)
        earlier = harm(before, doubtful=doubtful) if found else None
        if found and (earlier is None or (earlier.loads and not found.loads)):
            return found
    return None


def loses_count(chain: Chain) -> bool:
    """Whether onnxruntime up to 1.20 fuses Pads into an average that then leaves them out.

    The cells of a Pad are data, which an average divides by; fused into one with
    count_include_pad=0 they are padding. 1.20.1 divides by too little where a window reads them,
    and refuses pads that reach the kernel; 1.21.1 and later do neither.
    """
    if chain.op.kind is not Kind.AVERAGE or chain.counts_padding or not _takes_pads(chain):
        return False
    if chain.opset < Since.COUNT_INCLUDE_PAD:
        return False
    row = _folded(chain, chain.around.front, doubtful=True)
    return any(one.pad.unclear or any(_spatial(chain, one).flat) for one in row)


def may_reach_kernel(chain: Chain) -> bool:
    """Whether a Pad by computed pads of SAME may be fused beyond the kernel.

    That is as soon as the size is fixed, together with other Pads, or with a dilation.
    """
    if chain.op.title not in _FUSED or not chain.op.is_pool:
        return False
    behind = chain.pad is not None or bool(chain.around.front)
    return behind or any(axis.dilation > 1 for axis in chain.axes)


def _takes_pads(chain: Chain) -> bool:
    """Whether onnxruntime would fuse a Pad into the operator: explicit pads, one output."""
    if chain.trouble or chain.op.title not in _FUSED or len(chain.outputs) > 1:
        return False
    return isinstance(chain.padding, Pads)


def _leaves_out_own_pads(chain: Chain, own: Pads) -> bool:
    """Whether it is an average with uncounted pads of its own, which onnxruntime does not fuse."""
    return chain.op.kind is Kind.AVERAGE and not chain.counts_padding and any(own.flat)


def _folded(chain: Chain, front: tuple[InFront, ...], *, doubtful: bool) -> tuple[InFront, ...]:
    """The Pads of the row that are fused, one after the other."""
    count = 0
    for one in front:
        if not _is_fused(chain, one, doubtful=doubtful):
            break
        count += 1
    return front[:count]


def _is_fused(chain: Chain, one: InFront, *, doubtful: bool) -> bool:
    step = one.pad
    if one.readers > 1 or step.mode != "constant":
        return False
    if not _writes_zero(chain, one):
        return False
    if step.unclear:
        return doubtful and 1 in step.computed
    if one.at_run_time or PadInput.AXES in step.listed or min(step.pads.flat) < 0:
        return False
    if sum(step.pads.flat) > sum(_spatial(chain, one).flat):
        return False
    return doubtful or not (one.untold or (one.order and not one.follows_transpose))


def _writes_zero(chain: Chain, one: InFront) -> bool:
    """Whether onnxruntime sees a 0: from opset 11 on it compares bytes, and -0.0 differs."""
    fill = one.pad.fill
    if not isinstance(fill, Constant) or fill.value != 0:
        return False
    signed = isinstance(fill.value, float) and math.copysign(1, fill.value) < 0
    return not (signed and chain.opset >= Since.PAD_INPUTS)


def _spatial(chain: Chain, one: InFront) -> Pads:
    pads = one.pad.pads
    if len(pads.begins) != chain.tensor_rank:
        return Pads.zero(chain.rank)
    return Pads(pads.begins[chain.spatial], pads.ends[chain.spatial])


def _loses_window(chain: Chain, pads: Pads, own: Pads) -> bool:
    """Whether ceil_mode drops a last window that starts in the cells of the Pad."""
    if not chain.ceil_mode:
        return False
    return not same_windows_when_padded(replace(chain, axes=axes_in_front(chain, pads)), pads, own)


def _reads_padding_alone(
    chain: Chain, pads: Pads, own: Pads, rest: tuple[InFront, ...], *, unknown: bool
) -> bool:
    """Whether a window reads fused cells, and no other that is known to be 0 or more.

    Cells of a Pad that stays in front are such, and all of data that is never negative.
    """
    if unknown:
        return not _never_negative(chain)
    stays = _kept_cells(chain, rest)
    cuts = (own.begins, pads.begins, pads.ends, stays.begins, stays.ends)
    found = []
    for axis, count, ahead, *cells in zip(chain.axes, output_sizes(chain), *cuts, strict=True):
        size = axis.size
        if not isinstance(size, int) or not isinstance(count, int) or count > _MOST_WINDOWS:
            return any(pads.flat) and not (
                _never_negative(chain) and all(axis.dilation == 1 for axis in chain.axes)
            )
        found.append([_window(axis, size, ahead, cells, index) for index in range(count)])
    if _never_negative(chain):
        return any(fused and not data for windows in found for fused, data, _ in windows)
    if not all(any(not safe for *_, safe in windows) for windows in found):
        return False
    return any(fused and not safe for windows in found for fused, _, safe in windows)


def _kept_cells(chain: Chain, rest: tuple[InFront, ...]) -> Pads:
    """Cells of 0 or more that Pads which stay in front put at the border."""
    kept = Pads.zero(chain.rank)
    for one in rest:
        step = one.pad
        known = not (step.unclear or one.order or step.mode != "constant")
        if not known or not isinstance(step.fill, Constant) or step.fill.value < 0:
            break
        whole = _spatial(chain, one)
        begins, ends = (tuple(max(0, pad) for pad in side) for side in (whole.begins, whole.ends))
        kept += Pads(begins, ends)
        if min(whole.flat) < 0:
            break
    return kept


def _window(
    axis: Axis, size: int, ahead: int, cells: list[int], number: int
) -> tuple[bool, bool, bool]:
    """Whether a window reads fused cells, other cells, and such of a Pad that stays."""
    begin, end, stay, stay_end = cells
    start = number * axis.stride - ahead
    read = range(start, start + axis.span, axis.dilation)

    def reads(low: int, high: int) -> bool:
        return bool(cells_within(read, low, high))

    behind = size - end
    fused = reads(0, begin) or reads(behind, size)
    data = reads(begin, behind)
    safe = reads(begin, begin + stay) or reads(behind - stay_end, behind)
    return fused, data, safe


def _never_negative(chain: Chain) -> bool:
    return chain.around.at_least is not None and chain.around.at_least >= 0
