"""Every way in which some framework could have meant a layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod

from onnxpad.frameworks.fits import own_rules
from onnxpad.frameworks.layer import Pair
from onnxpad.frameworks.rules import split
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import AutoPad, Chain, NewPad, Pads, PadStep, Skip, is_same
from onnxpad.padding.effective_pads import (
    axes_behind,
    effective_pads,
    same_is_disputed,
)
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import reaches_kernel
from onnxpad.padding.operators import Kind, Since
from onnxpad.retargeting.habits import all_habits
from onnxpad.retargeting.hand_written_pads import counting, without_hand, without_pad
from onnxpad.retargeting.labels import flat_text, label_of
from onnxpad.retargeting.move import cropped, moved_crop, same_padding
from onnxpad.retargeting.windows_read import differs, signature


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to pad a node: the node as it would be, whose rule it is, and what to call it.

    `conventions` are those whose own rule gives it (SAME, VALID, one number for both sides); one
    that can merely be given such pads, begin and end by number, is not among them.
    """

    chain: Chain
    conventions: tuple[str, ...]
    label: str


@lru_cache(maxsize=4096)
def candidates(chain: Chain) -> tuple[Candidate, ...]:
    """The present way first, then every other one; ways that read alike are one candidate.

    Output sizes may differ from the present one. Only the present way where the padding cannot
    be worked on.
    """
    ways = [chain]
    if not chain.trouble and chain.op.has_windows:
        ways += _crops(chain) if chain.op.kind is Kind.TRANSPOSED else _ways(chain)
    written = dict.fromkeys(ways)
    plain = sorted(written, key=lambda way: (way is not chain, way.ceil_mode, way.pad is not None))
    groups: dict[object, Chain] = {}
    for way in plain:
        groups.setdefault(signature(way), way)
    kept: list[Chain] = []
    for way in groups.values():
        if all(differs(one, way) for one in kept):
            kept.append(way)
    result = [Candidate(way, tuple(sorted(own_rules(way))), label_of(way, chain)) for way in kept]
    explicit = _undisputed(chain)
    if explicit is not None:
        result.insert(1, explicit)
    return tuple(result)


def _undisputed(chain: Chain) -> Candidate | None:
    """auto_pad that runtimes refuse or read differently, as the numbers that it stands for."""
    if not is_same(chain.padding) or not same_is_disputed(chain):
        return None
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return None
    return Candidate(
        replace(chain.with_padding(pads), ceil_mode=False), (), f"pads {flat_text(pads)}"
    )


def _ways(chain: Chain) -> Iterator[Chain]:
    for bare in _bare(chain):
        for padding in dict.fromkeys(_paddings(bare)):
            for way in variants(bare.with_padding(padding)):
                yield way
                yield from _zeros(way)


def _bare(chain: Chain) -> Iterator[Chain]:
    """The operator with the Pad in front counted in, and without it."""
    found = without_hand(chain)
    if isinstance(found, Chain):
        yield found
    if isinstance(found, Skip) and chain.pad is not None:
        axes = tuple(axis._replace(size=None) for axis in chain.axes)
        yield replace(chain, pad=None, axes=axes)


def _paddings(bare: Chain) -> Iterator[Pads | AutoPad]:
    """SAME as each convention has it, and what frameworks can write whatever they call it."""
    for habits in all_habits(bare):
        rounds_up = bare.op.is_pool and habits.always_up
        found = same_padding(bare, habits, rounds_up=rounds_up)
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


def variants(chain: Chain) -> Iterator[Chain]:
    """Every rounding and divisor; none where a pool's pads reach its kernel."""
    op, padding = chain.op, chain.padding
    if op.is_pool and isinstance(padding, Pads) and reaches_kernel(chain, padding):
        return
    fixed = op.quantised or chain.opset < Since.COUNT_INCLUDE_PAD or op.kind is not Kind.AVERAGE
    rounds = op.is_pool and not is_same(padding) and chain.opset >= op.ceil_mode
    for ceil in (False, True)[: 1 + rounds]:
        for counts in (chain.counts_padding,) if fixed else (False, True):
            yield counting(replace(chain, ceil_mode=ceil), counts=counts)


def _zeros(chain: Chain) -> Iterator[Chain]:
    """A Pad that writes 0 in front, and a max pool that pads nothing."""
    pads = effective_pads(chain)
    if not chain.is_max or chain.ceil_mode or isinstance(pads, Skip) or not any(pads.flat):
        return
    yield behind_pad(chain, pads, Constant(0.0), Pads.zero(chain.rank))


def behind_pad(
    chain: Chain,
    pads: Pads,
    fill: Constant,
    padding: AutoPad | Pads,
    mode: str = "constant",
    *,
    instead: bool = False,
) -> Chain:
    """The chain with a new Pad over its spatial axes in front, maybe in place of the one there."""
    begins, ends = [0] * chain.tensor_rank, [0] * chain.tensor_rank
    begins[chain.spatial], ends[chain.spatial] = list(pads.begins), list(pads.ends)
    step = NewPad(Pads(tuple(begins), tuple(ends)), fill, mode, instead=instead)
    return replace(chain.with_padding(padding), axes=axes_behind(chain, pads), pad=step)


def _crops(chain: Chain) -> Iterator[Chain]:
    yield cropped(chain, [(0, 0, 0)] * chain.rank)
    for habits in all_habits(chain):
        found = moved_crop(_same_crop(chain), habits)
        if isinstance(found, Chain):
            yield found
    half = [(axis.span // 2, axis.span // 2) for axis in chain.axes]
    steps = [axis.stride for axis in chain.axes]
    for extra in (0, 1):
        pairs = zip(half, steps, strict=True)
        yield cropped(chain, [(b, e, min(extra, step - 1)) for (b, e), step in pairs])


def _same_crop(chain: Chain) -> Chain:
    """A crop that leaves size*stride cells, the smaller half of it in front."""
    totals = [axis.span - axis.stride for axis in chain.axes]
    return cropped(chain, [(*split(max(t, 0)), max(-t, 0)) for t in totals])


_MIRRORS = ("reflect", "edge", "wrap")
_RESTS = 4
_ODD = 8
_MOST_GROWN = 64


def ordinary(chain: Chain) -> Iterator[Chain]:
    """As many cells at both sides, for every number below the window, and other cells.

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
    for pads in (*_of_some_size(chain), *_mirrored(bare), *_odd(chain)):
        ways = variants(bare.with_padding(pads))
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
        yield from _halved(totals)


def _odd(chain: Chain) -> Iterator[Pads]:
    """Odd numbers of cells in all, which no number for both sides gives, nearly halved."""
    for total in range(1, min(max(axis.span for axis in chain.axes), _ODD), 2):
        yield from _halved([min(total, axis.span - 1) for axis in chain.axes])


def _halved(totals: Sequence[int]) -> tuple[Pads, Pads]:
    pads = Pads.of([split(total) for total in totals])
    return pads, Pads(pads.ends, pads.begins)


def _mirrored(bare: Chain) -> Iterator[Pads]:
    """The numbers that stand there, begins for ends."""
    if isinstance(bare.padding, Pads):
        yield Pads(bare.padding.ends, bare.padding.begins)


def _ordinary_crops(chain: Chain) -> Iterator[Chain]:
    own = chain.padding
    grown = list(_growths(chain))
    if isinstance(own, Pads) and not chain.output_shape:
        for more in grown:
            yield cropped(chain, list(zip(own.begins, own.ends, more, strict=True)))
    alike = [more for more in grown if more == _grown_alike(chain, max(more))]
    for pads in _numbers(chain):
        for more in alike:
            yield cropped(chain, list(zip(pads.begins, pads.ends, more, strict=True)))


def growth_limit(axis: Axis) -> int:
    """The output_padding that an axis cannot have: it stays below, as the ONNX text has it."""
    return max(axis.stride, axis.dilation)


def _grown_alike(chain: Chain, extra: int) -> tuple[int, ...]:
    return tuple(min(extra, growth_limit(axis) - 1) for axis in chain.axes)


def _growths(chain: Chain) -> Iterator[tuple[int, ...]]:
    """Every output_padding, the same number on all axes first.

    Where these are many only such, and those that some axes have and others do not.
    """
    limits = [growth_limit(axis) for axis in chain.axes]
    rows = [_grown_alike(chain, extra) for extra in (1, 0, *range(2, max(limits)))]
    few = prod(limits) <= _MOST_GROWN
    sets = [range(limit) for limit in limits] if few else []
    mixed = (more for row in rows for more in product(*((extra, 0) for extra in row)))
    yield from dict.fromkeys((*rows, *mixed, *(product(*sets) if few else ())))


def _other_cells(chain: Chain, bare: Chain) -> Iterator[Chain]:
    step, own = chain.pad, effective_pads(chain)
    if step is None:
        if isinstance(own, Pads) and any(own.flat):
            none = AutoPad.VALID if isinstance(chain.padding, AutoPad) else Pads.zero(chain.rank)
            for mode in mirrors(chain):
                yield behind_pad(chain, own, Constant(0.0), none, mode)
        return
    if step.unclear or step.crossed or any(pad < 0 for pad in step.pads.flat):
        return
    if any(map(any, chain.outer(step.pads))):
        return  # batch or channels: data
    yield bare
    if not isinstance(own, Skip):
        yield bare.with_padding(own + chain.inner(step.pads))
    for mode in mirrors(chain):
        if mode != step.mode:
            new = NewPad(step.pads, Constant(0.0), mode, instead=True)
            yield replace(chain, pad=new)
    if step.mode in _MIRRORS or isinstance(step.fill, Constant):
        yield from _placed(chain, bare, step)


def mirrors(chain: Chain) -> tuple[str, ...]:
    """Modes whose cells are copies, as far as the Pad of this opset has them."""
    old = 0 < chain.opset < Since.PAD_WRAP
    return tuple(mode for mode in _MIRRORS if mode != "wrap" or not old)


def _placed(chain: Chain, bare: Chain, step: PadStep) -> Iterator[Chain]:
    """The cells of the Pad in other places: where a framework puts padding, or alike."""
    known = [effective_pads(one.chain) for one in candidates(bare) if one.chain.pad is None]
    fill = step.fill if isinstance(step.fill, Constant) else Constant(0.0)
    for pads in dict.fromkeys([*known, *_numbers(chain), *_of_some_size(chain)]):
        if isinstance(pads, Pads) and any(pads.flat):
            none = Pads.zero(chain.rank)
            yield behind_pad(bare, pads, fill, none, step.mode, instead=True)
