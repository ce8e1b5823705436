"""Padding that anybody writes by hand, though no framework pads so by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from onnxpad.padding.chain import AutoPad, Chain, Pads, PadStep, Skip
from onnxpad.padding.effective_pads import axes_in_front, effective_pads
from onnxpad.padding.fills import Constant
from onnxpad.padding.operators import Kind
from onnxpad.retargeting.candidates import behind_pad, candidates, variants
from onnxpad.retargeting.move import cropped

_MIRRORS = ("reflect", "edge")
_RESTS = 4


def ordinary(chain: Chain) -> Iterator[Chain]:
    """As many cells at both sides, for every number below the window, and other cells.

    Convolutions read zeros or nothing in place of the Pad in front, or a mirror in place of
    zeros. Some of it is what conventions write as well.
    """
    if chain.trouble or chain.op.kind in (Kind.PAD, Kind.FOLD, Kind.OTHER):
        return
    if chain.op.kind is Kind.TRANSPOSED:
        yield from _ordinary_crops(chain)
        return
    bare = _without_pad(chain)
    for pads in _numbers(chain):
        yield from variants(replace(bare, padding=pads), None)
    for pads in _of_some_size(chain):
        ways = variants(replace(bare, padding=pads), None)
        yield from (way for way in ways if not way.ceil_mode)
    if chain.op.kind is Kind.CONVOLUTION:
        yield from _other_cells(chain, bare)


def _numbers(chain: Chain) -> Iterator[Pads]:
    """The same number on axes whose windows are alike."""
    spans = list(dict.fromkeys(axis.span for axis in chain.axes))
    for numbers in product(*(range(span) for span in spans)):
        pads = tuple(numbers[spans.index(axis.span)] for axis in chain.axes)
        yield Pads(pads, pads)


def _of_some_size(chain: Chain) -> Iterator[Pads]:
    """Numbers that SAME comes to where sizes leave one remainder or another."""
    for rest in range(min(_RESTS, max(axis.stride for axis in chain.axes))):
        totals = [max(axis.span - (rest % axis.stride or axis.stride), 0) for axis in chain.axes]
        less, more = [total // 2 for total in totals], [-(-total // 2) for total in totals]
        yield Pads(tuple(less), tuple(more))
        yield Pads(tuple(more), tuple(less))


def _ordinary_crops(chain: Chain) -> Iterator[Chain]:
    for pads in _numbers(chain):
        for extra in (0, 1):
            steps = [min(extra, axis.stride - 1) for axis in chain.axes]
            yield cropped(chain, list(zip(pads.begins, pads.ends, steps, strict=True)))


def _without_pad(chain: Chain) -> Chain:
    step = chain.pad
    if step is None:
        return chain
    if step.unclear:
        return replace(chain, pad=None, axes=tuple(replace(a, size=None) for a in chain.axes))
    return replace(chain, pad=None, axes=axes_in_front(chain, _spatial(chain, step)))


def _spatial(chain: Chain, step: PadStep) -> Pads:
    return Pads(step.pads.begins[chain.spatial], step.pads.ends[chain.spatial])


def _other_cells(chain: Chain, bare: Chain) -> Iterator[Chain]:
    step, own = chain.pad, effective_pads(chain)
    if step is None:
        if isinstance(own, Pads) and any(own.flat):
            none = AutoPad.VALID if isinstance(chain.padding, AutoPad) else Pads.zero(chain.rank)
            for mode in _MIRRORS:
                yield behind_pad(chain, own, Constant(0.0), none, mode)
        return
    if step.unclear or step.crossed or any(pad < 0 for pad in step.pads.flat):
        return
    if sum(step.pads.flat) != sum(_spatial(chain, step).flat):
        return  # batch or channels: data
    yield bare
    if not isinstance(own, Skip):
        yield replace(bare, padding=own + _spatial(chain, step))
    for mode in _MIRRORS:
        if mode != step.mode:
            new = PadStep(step.pads, Constant(0.0), mode, is_new=True, replaces=True)
            yield replace(chain, pad=new)
    if step.mode in _MIRRORS or isinstance(step.fill, Constant):
        yield from _placed(chain, bare, step)


def _placed(chain: Chain, bare: Chain, step: PadStep) -> Iterator[Chain]:
    """The cells of the Pad in other places: where a framework puts padding, or alike."""
    known = [effective_pads(one.chain) for one in candidates(bare) if one.chain.pad is None]
    fill = step.fill if isinstance(step.fill, Constant) else Constant(0.0)
    for pads in dict.fromkeys([*known, *_numbers(chain)]):
        if isinstance(pads, Pads) and any(pads.flat):
            found = behind_pad(bare, pads, fill, Pads.zero(chain.rank), step.mode)
            new = None if found.pad is None else replace(found.pad, replaces=True)
            yield replace(found, pad=new)
