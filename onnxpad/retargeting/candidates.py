"""Candidate paddings of a node: those of frameworks, and single edits of its present one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product

from onnxpad.frameworks.layer import Pair
from onnxpad.frameworks.rules import split
from onnxpad.geometry.size import plus
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import AutoPad, Chain, NewPad, Pads, Skip, is_same
from onnxpad.padding.effective_pads import axes_behind, effective_pads
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import reaches_kernel
from onnxpad.padding.operators import Kind, Since
from onnxpad.retargeting.habits import all_habits
from onnxpad.retargeting.hand_written_pads import counting, without_hand, without_pad
from onnxpad.retargeting.move import cropped, moved_crop, same_padding
from onnxpad.retargeting.windows_read import differs, signature

_MIRRORS = ("reflect", "edge", "wrap")
_LEAST_AXES = 3


@lru_cache(maxsize=4096)
def candidates(chain: Chain) -> tuple[Chain, ...]:
    """The present way first, then those of frameworks; ways that read alike are one candidate.

    Output sizes may differ from the present one. Only the present way where the padding cannot
    be worked on.
    """
    ways = [chain]
    if not chain.trouble and chain.op.has_windows:
        ways += _crops(chain) if chain.op.kind is Kind.TRANSPOSED else _ways(chain)
    groups: dict[object, Chain] = {}
    for way in sorted(ways, key=lambda way: (way is not chain, way.ceil_mode, way.pad is not None)):
        groups.setdefault(signature(way), way)
    kept: list[Chain] = []
    for way in groups.values():
        if all(differs(one, way) for one in kept):
            kept.append(way)
    return tuple(kept)


def _ways(chain: Chain) -> Iterator[Chain]:
    """The operator with the Pad in front counted in, or without it, padded as frameworks do."""
    bare = without_hand(chain)
    bare = without_pad(chain) if isinstance(bare, Skip) else bare
    for padding in dict.fromkeys(_paddings(bare)):
        for way in variants(bare.with_padding(padding)):
            yield way
            pads = effective_pads(way)
            if way.is_max and not way.ceil_mode and isinstance(pads, Pads) and any(pads.flat):
                yield behind_pad(way, pads, Constant(0.0))


def _paddings(bare: Chain) -> Iterator[Pads | AutoPad]:
    """SAME as each convention has it, and what frameworks can write whatever they call it."""
    for habits in all_habits(bare):
        found = same_padding(bare, habits, rounds_up=bare.op.is_pool and habits.always_up)
        if not isinstance(found, Skip):
            yield found
    yield Pads.zero(bare.rank)
    yield _each(bare, lambda axis: (axis.span // 2, axis.span // 2))
    yield _each(bare, lambda axis: split(axis.span - 1))
    if bare.rank == 1 or bare.op.kind is Kind.CONVOLUTION:
        yield _each(bare, lambda axis: (axis.span - 1, 0))
    if isinstance(bare.padding, Pads):
        yield bare.padding


def _each(bare: Chain, rule: Callable[[Axis], Pair]) -> Pads:
    return Pads.of([rule(axis) for axis in bare.axes])


def variants(chain: Chain, *, rounded: bool = True) -> Iterator[Chain]:
    """Every rounding, or none, and divisor; none where a pool's pads reach its kernel."""
    op, padding = chain.op, chain.padding
    if op.is_pool and isinstance(padding, Pads) and reaches_kernel(chain, padding):
        return
    fixed = op.quantised or chain.opset < Since.COUNT_INCLUDE_PAD or op.kind is not Kind.AVERAGE
    rounds = rounded and op.is_pool and not is_same(padding) and chain.opset >= op.ceil_mode
    for ceil in (False, True)[: 1 + rounds]:
        for counts in (chain.counts_padding,) if fixed else (False, True):
            yield counting(replace(chain, ceil_mode=ceil), counts=counts)


def behind_pad(chain: Chain, pads: Pads, fill: Constant, mode: str = "constant") -> Chain:
    """The chain without padding of its own, a new Pad over its spatial axes in place of any."""
    begins, ends = [0] * chain.tensor_rank, [0] * chain.tensor_rank
    begins[chain.spatial], ends[chain.spatial] = list(pads.begins), list(pads.ends)
    is_other, bare = chain.pad is not None, without_pad(chain).with_padding(Pads.zero(chain.rank))
    step = NewPad(Pads(tuple(begins), tuple(ends)), fill, mode, instead=is_other)
    return replace(bare, axes=axes_behind(bare, pads), pad=step)


def _crops(chain: Chain) -> Iterator[Chain]:
    """No crop, one that leaves size*stride cells as each convention cuts it, half a window."""
    yield cropped(chain, [(0, 0, 0)] * chain.rank)
    totals = [axis.span - axis.stride for axis in chain.axes]
    same = cropped(chain, [(*split(max(t, 0)), max(-t, 0)) for t in totals])
    found = (moved_crop(same, habits) for habits in all_habits(chain))
    yield from (one for one in found if isinstance(one, Chain))
    for extra in (0, 1):
        rows = ((axis.span // 2, axis.stride - 1) for axis in chain.axes)
        yield cropped(chain, [(half, half, min(extra, most)) for half, most in rows])


def ordinary(chain: Chain) -> Iterator[Chain]:
    """One edit of what is there: numbers for both sides or nearly so, crops, other cells.

    Convolutions read zeros or nothing in place of the Pad in front, or copies in place of
    zeros. Some of it is what conventions write as well.
    """
    if chain.trouble or not chain.op.has_windows:
        return
    if chain.op.kind is Kind.TRANSPOSED:
        yield from _ordinary_crops(chain)
        return
    bare = without_pad(chain)
    for pads in _numbers(chain):
        yield from variants(bare.with_padding(pads))
    swapped = [_swapped(bare.padding)] if isinstance(bare.padding, Pads) else []
    for pads in (*_nearly_alike(chain), *swapped):
        yield from variants(bare.with_padding(pads), rounded=False)
    if chain.op.kind is Kind.CONVOLUTION:
        yield from _other_cells(chain, bare)


def _numbers(chain: Chain) -> Iterator[Pads]:
    """The same number at both sides, and on axes whose windows are alike."""
    spans = list(dict.fromkeys(axis.span for axis in chain.axes))
    for numbers in product(*map(range, spans)):
        pads = tuple(numbers[spans.index(axis.span)] for axis in chain.axes)
        yield Pads(pads, pads)


def _nearly_alike(chain: Chain) -> list[Pads]:
    """One cell in all, or as many as SAME adds, nearly halved either way."""
    totals = [1] * chain.rank, [max(axis.span - axis.stride, 0) for axis in chain.axes]
    pads = [_halved(total) for total in totals]
    return [*pads, *map(_swapped, pads)]


def _halved(totals: Sequence[int]) -> Pads:
    return Pads.of([split(total) for total in totals])


def _swapped(pads: Pads) -> Pads:
    return Pads(pads.ends, pads.begins)


def _ordinary_crops(chain: Chain) -> Iterator[Chain]:
    """The present crop, or the same numbers at both sides, with an output_padding of all axes."""
    own, limits = chain.padding, [max(axis.stride, axis.dilation) for axis in chain.axes]
    extras = [[min(more, limit - 1) for limit in limits] for more in range(max(limits))]
    present = [own] if isinstance(own, Pads) and not chain.output_shape else []
    for pads, extra in product([*present, *_numbers(chain)], extras):
        yield cropped(chain, list(zip(pads.begins, pads.ends, extra, strict=True)))


def _other_cells(chain: Chain, bare: Chain) -> Iterator[Chain]:
    """Copies for zeros, zeros or nothing for the Pad in front, or its cells in other places.

    Those are where a framework puts padding, or as many at both sides.
    """
    step, own = chain.pad, effective_pads(chain)
    if step is None:
        if isinstance(own, Pads) and any(own.flat):
            yield from (behind_pad(chain, own, Constant(0.0), mode) for mode in _mirrors(chain))
        return
    data = step.unclear or step.crossed or min(step.pads.flat) < 0
    if data or any(map(any, chain.outer(step.pads))):
        return
    yield bare
    if not isinstance(own, Skip):
        yield bare.with_padding(own + chain.inner(step.pads))
    for mode in _mirrors(chain):
        if mode != step.mode:
            yield replace(chain, pad=NewPad(step.pads, Constant(0.0), mode, instead=True))
    if step.mode in _MIRRORS or isinstance(step.fill, Constant):
        known = [effective_pads(one) for one in candidates(bare) if one.pad is None]
        fill = step.fill if isinstance(step.fill, Constant) else Constant(0.0)
        for pads in dict.fromkeys([*known, *_numbers(chain), *_nearly_alike(chain)]):
            if isinstance(pads, Pads) and any(pads.flat):
                yield behind_pad(chain, pads, fill, step.mode)


def _mirrors(chain: Chain) -> tuple[str, ...]:
    """Modes whose cells are copies, as far as the Pad of this opset has them."""
    return _MIRRORS[:-1] if 0 < chain.opset < Since.PAD_WRAP else _MIRRORS


def as_windows(chain: Chain) -> Chain | Skip:
    """A Pad node that no operator reads as windows of one cell behind a Pad.

    So its ways compare like others. The spatial axes are those behind the first two; where the Pad
    pads the second axis and not the last, those between. A Skip where the pads are not known, or
    other axes are padded.
    """
    step, shape = chain.pad, chain.shape
    if step is None or step.unclear:
        return Skip("its pads are computed while the model runs")
    if shape is None or len(shape) < _LEAST_AXES or len(step.pads.begins) != len(shape):
        return Skip("it pads fewer than three axes, or an unknown number of them")
    last = any(step.pads.sides[1]) and not any(step.pads.sides[-1])
    around = replace(chain.around, feeds_channels_last=last)
    window = (Axis(None, 1),) * (len(shape) - 2)
    bare = replace(chain, axes=window, around=around).with_padding(Pads.zero(len(window)))
    if any(map(any, bare.outer(step.pads))) or min(step.pads.flat) < 0:
        return Skip("it pads the batch or the channels, or crops")
    rows = zip(shape[bare.spatial], bare.inner(step.pads).sides, strict=True)
    sizes = (None if size is None else plus(size, sum(pair)) for size, pair in rows)
    return replace(bare, axes=tuple(Axis(size, 1) for size in sizes))


def ways_of_pad(chain: Chain) -> Iterator[Chain]:
    """Ways to pad as many cells, of `as_windows`: other sides, then cells of another mode."""
    step = chain.pad
    if step is None:
        return
    pads = chain.inner(step.pads)
    totals = [begin + end for begin, end in pads.sides]
    half, ends = _halved(totals), Pads.of([(0, total) for total in totals])
    sides = (side for one in (pads, half, ends) for side in (one, _swapped(one)))
    fill = step.fill if isinstance(step.fill, Constant) else Constant(0)
    for side, mode in product(dict.fromkeys(sides), ("constant", *_mirrors(chain))):
        held = fill if mode == "constant" else Constant(0)
        yield behind_pad(chain, side, held, mode)
