"""Which frameworks can write what a padded operator computes: their own layers are asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

from onnxpad.errors import RequestError
from onnxpad.frameworks.choices import Fill
from onnxpad.frameworks.conventions import all_conventions, frequent_first
from onnxpad.frameworks.layer import Given, Mode, Pair, Slide
from onnxpad.frameworks.rules import EXPLICIT, VALID
from onnxpad.frameworks.ways import Way, ways
from onnxpad.frameworks.worked_out import Wish, slides_of
from onnxpad.geometry.budgets import WINDOW
from onnxpad.geometry.size import Symbol
from onnxpad.geometry.windows import Axis, cells_within, sample_sizes
from onnxpad.padding.chain import AutoPad, Chain, Pads, PadStep, Skip
from onnxpad.padding.effective_pads import axes_in_front, effective_pads, output_sizes
from onnxpad.padding.fills import Constant, TensorValue, lowest, number_of
from onnxpad.padding.operators import Kind

ANY = "any"
LAYERS = {
    Kind.CONVOLUTION: "conv",
    Kind.MAX: "max_pool",
    Kind.AVERAGE: "avg_pool",
    Kind.TRANSPOSED: "conv_transpose",
}
# Whose own rule gives the padding, who can be given begin and end, whose windows reach over the
# end where the node pads instead, and who has a layer of its own for the Pad.
_OWN, _GIVEN, _OVERHANGING, _APART = range(4)
_MOST_GROWTHS = 64
_MIRRORS = frozenset({Fill.REFLECT, Fill.WRAP})
_Row = tuple[Slide, ...]


def fits(chain: Chain) -> tuple[str, ...]:
    """Names of the frameworks that can write what the operator and the Pad in front compute.

    First those whose own rule gives the padding (a mode, or one number for both sides), then
    those that can be given it, begin and end by number, those that get there by rounding up, and
    those with a layer of its own for the Pad. Two ways are the same if their windows are, at
    every size that the model allows; cells that no window reads do not matter. ('any',) where
    everybody who has such a layer can write it, as a convolution without padding.
    """
    found = _degrees(chain)
    if found and found.keys() >= _able(chain):
        return (ANY,)
    return tuple(sorted(frequent_first(found), key=found.__getitem__))


def own_rules(chain: Chain) -> frozenset[str]:
    """The frameworks that come to it without begin and end by number; all of them, never ANY."""
    return frozenset(name for name, degree in _degrees(chain).items() if degree != _GIVEN)


def _degrees(chain: Chain) -> dict[str, int]:
    """How each framework that can write the chain comes to it."""
    op, step = LAYERS.get(chain.op.kind), chain.pad
    if op is None or chain.trouble or (step is not None and step.unclear):
        return {}
    none = Pads.zero(chain.rank)
    if step is None or not any(step.pads.flat):
        if op == "conv" and chain.padding in {none, AutoPad.VALID}:
            return dict.fromkeys(_able(chain), _OWN)
        return dict(_who(op, chain.rank, Fill.ZEROS, _rows(chain, none)))
    front = _front(chain, step)
    if front is None:
        return {}
    fill = _as_own(chain, step)
    found = {} if fill is None else dict(_who(op, chain.rank, fill, _rows(chain, front, fill)))
    for name, _ in _who(op, chain.rank, Fill.ZEROS, _rows(chain, none)):
        if _held(chain, step) in all_conventions()[name].pads_apart:
            found.setdefault(name, _APART)
    return found


def _able(chain: Chain) -> frozenset[str]:
    """Everybody with a layer of this kind, however it pads."""
    strides = any(axis.stride > 1 for axis in chain.axes)
    dilates = any(axis.dilation > 1 for axis in chain.axes)
    return frozenset(
        name
        for way, names in _ways(LAYERS[chain.op.kind], chain.rank)
        for name in names
        if way.takes.strides >= strides and way.takes.dilates >= dilates
    )


# What the chain computes


def _front(chain: Chain, step: PadStep) -> Pads | None:
    """Spatial pads of a Pad node; None where it crops, or pads batch or channels."""
    front = chain.inner(step.pads)
    return None if any(map(any, chain.outer(step.pads))) or min(front.flat) < 0 else front


def _held(chain: Chain, step: PadStep) -> Fill | None:
    """What the cells of the Pad hold, None for numbers that the operator does not see as 0."""
    if step.mode != "constant":
        return Fill(step.mode)
    zero = chain.fill if isinstance(chain.fill, TensorValue) else Constant(0)
    is_zero = step.fill == zero or (zero.value is not None and number_of(step.fill) == zero.value)
    return Fill.ZEROS if is_zero else None


def _as_own(chain: Chain, step: PadStep) -> Fill | None:
    """What the Pad would be as padding of the operator itself, None where it is none.

    An average counts cells of the Pad and divides by them, which its layer may say as well.
    """
    held, own = _held(chain, step), effective_pads(chain)
    match chain.op.kind:
        case Kind.MAX if step.mode == "constant" and number_of(step.fill) in lowest(chain.dtype):
            return Fill.ZEROS
        case Kind.AVERAGE if held is Fill.ZEROS:
            return held
        case Kind.CONVOLUTION if held is Fill.ZEROS:
            return held
        case Kind.CONVOLUTION if isinstance(own, Pads) and not any(own.flat):
            return held
    return None


def _rows(chain: Chain, front: Pads, fill: Fill = Fill.ZEROS) -> tuple[_Row, ...]:
    """The windows of each different axis, at sizes that stand for all that it can have."""
    axes = axes_in_front(chain, front) if any(front.flat) else chain.axes
    sizes = [list(_sizes(axis, _widest(chain, front, n))) for n, axis in enumerate(axes)]
    if chain.op.kind is not Kind.AVERAGE:
        # Only divisors know of both borders at once: all remainders, twice, are enough.
        sizes = [some[: 2 * axis.stride] for some, axis in zip(sizes, axes, strict=True)]
    rows = []
    for number in range(max(map(len, sizes))):
        chosen = [known[min(number, len(known) - 1)] for known in sizes if known]
        row = _row(chain, front, chosen) if len(chosen) == chain.rank else None
        if row is not None and (fill not in _MIRRORS or all(_mirrors(slide) for slide in row)):
            rows.append(row)
    kept = dict.fromkeys(zip(*rows, strict=True))
    return tuple(zip(*kept, strict=True))


def _sizes(axis: Axis, padded: int) -> Iterator[int]:
    """Sizes that stand for all; large ones are cut by strides, which changes no border."""
    enough = 2 * axis.span + padded
    if isinstance(axis.size, int):
        over = max(0, axis.size - enough) // axis.stride
        yield axis.size - over * axis.stride
        return
    # Some frameworks refuse inputs below the kernel's size.
    known = axis if axis.size is not None else axis._replace(size=Symbol("?"))
    yield from (size for size in sample_sizes(known, padded) if size >= axis.span)


def _widest(chain: Chain, front: Pads, index: int) -> int:
    own = chain.padding if isinstance(chain.padding, Pads) else Pads.zero(chain.rank)
    return sum(abs(side[index]) for pads in (front, own) for side in (pads.begins, pads.ends))


def _row(chain: Chain, front: Pads, sizes: Sequence[int]) -> _Row | None:
    """The windows at these sizes of what stands in front; None where there are none."""
    sides = front.sides
    axes = tuple(
        axis._replace(size=size + sum(side))
        for axis, size, side in zip(chain.axes, sizes, sides, strict=True)
    )
    sized = replace(chain, axes=axes, pad=None)
    pads, outputs = effective_pads(sized), output_sizes(sized)
    if isinstance(pads, Skip):
        return None
    row = []
    for n, (axis, size, output) in enumerate(zip(axes, sizes, outputs, strict=True)):
        if not isinstance(output, int) or output < 1:
            return None
        begin, end = sides[n][0] + pads.begins[n], sides[n][1] + pads.ends[n]
        if chain.op.kind is Kind.TRANSPOSED:
            end = (size - 1) * axis.stride + axis.span - begin - output
        counted = (begin, end) if chain.counts_padding else sides[n]
        counted = counted if chain.op.kind is Kind.AVERAGE else (0, 0)
        row.append(
            Slide(size, axis.kernel, axis.stride, axis.dilation, begin, end, output, counted)
        )
    return tuple(row)


def _mirrors(slide: Slide) -> bool:
    return max(slide.begin, slide.end) < slide.size


# What frameworks can write


@cache
def _ways(op: str, rank: int) -> tuple[tuple[Way, tuple[str, ...]], ...]:
    """Every way to pad layers of one kind, and the frameworks that have it."""
    found: dict[Way, list[str]] = {}
    for name, convention in all_conventions().items():
        for layer in convention.layers:
            if layer.op == op and rank in layer.ranks:
                for way in ways(layer):
                    found.setdefault(way, []).append(name)
    return tuple((way, tuple(dict.fromkeys(names))) for way, names in found.items())


class _AxisChoice(NamedTuple):
    """What one axis is given; `sized`: the output size too. `is_own`: no begin apart from end."""

    mode: Mode
    pads: Pair | None = None
    growth: int | None = None
    sized: bool = False
    is_own: bool = True

    def given(self, slide: Slide) -> Given:
        """The same as numbers, where the windows are to be those of `slide`."""
        return Given(self.pads, self.growth, slide.output if self.sized else None)


@lru_cache(maxsize=4096)
def _who(op: str, rank: int, fill: Fill, rows: tuple[_Row, ...]) -> tuple[tuple[str, int], ...]:
    """The frameworks that can write these windows, and whether it is their own rule."""
    found: dict[str, int] = {}
    if rows:
        reads = any(slide.begin > 0 or slide.reach > 0 for row in rows for slide in row)
        for way, names in _ways(op, rank):
            if reads and op == "conv" and way.fill is not fill:
                continue
            if all(found.get(name) == _OWN for name in names):
                continue
            degree = _degree(op, way, rows)
            if degree is not None:
                for name in names:
                    found[name] = min(degree, found.get(name, degree))
    return tuple(found.items())


def _degree(op: str, way: Way, rows: tuple[_Row, ...]) -> int | None:
    """How a way gives these windows, None where it does not."""
    first = rows[0]
    if not way.takes.strides and any(slide.stride > 1 for slide in first):
        return None
    if not way.takes.dilates and any(slide.dilation > 1 for slide in first):
        return None
    best: int | None = None
    for choices in product(*(tuple(_choices(way, slide)) for slide in first)):
        overhangs = False
        for row in rows:
            found = _windows(op, way, choices, row)
            if found is None:
                break
            overhangs |= op != "conv_transpose" and _overhangs(found) > _overhangs(row)
        else:
            is_own = all(choice.is_own for choice in choices)
            degree = _OVERHANGING if overhangs else _OWN if is_own else _GIVEN
            best = degree if best is None else min(best, degree)
            if best == _OWN:
                break
    return best


def _overhangs(row: _Row) -> bool:
    """Whether a pool's last window reaches over its end padding."""
    return any(slide.reach > max(slide.end, 0) for slide in row)


def _choices(way: Way, slide: Slide) -> Iterator[_AxisChoice]:
    """What an axis could be given, as far as the first size does not speak against it."""
    axis = Axis(slide.size, slide.kernel, slide.stride, slide.dilation)
    for mode in way.modes:
        numbers: dict[Pair | None, bool] = {None: True}
        for pair, own in _numbers(way, mode, slide):
            numbers.setdefault(pair, own)
        most = min(max(slide.stride, slide.dilation), _MOST_GROWTHS)
        growths = [None, *range(most if mode.cut and way.takes.grows else 0)]
        sizes = (False, True) if mode.cut and way.takes.sized else (False,)
        for (pads, own), growth, sized in product(numbers.items(), growths, sizes):
            choice = _AxisChoice(mode, pads, growth, sized, own)
            with suppress(RequestError):
                if _begins_alike(choice, axis, slide):
                    yield choice


def _begins_alike(choice: _AxisChoice, axis: Axis, slide: Slide) -> bool:
    mode, given = choice.mode, choice.given(slide)
    if mode.cut is not None:
        return mode.cut(axis, slide.size, given) == (slide.begin, slide.output)
    pads = mode.pad_rule(axis, given) if mode.pad_rule else given.pads or (0, 0)
    return pads[0] == slide.begin


def _numbers(way: Way, mode: Mode, slide: Slide) -> Iterator[tuple[Pair, bool]]:
    """Numbers that may give the windows, and whether one stands for both sides."""
    begin, end = slide.begin, slide.end
    if way.takes.alike:
        # A number may be a total, as Darknet's pools have it.
        totals = () if mode in {EXPLICIT, VALID} else (2 * begin, 2 * begin + 1)
        yield from (((number, number), True) for number in (begin, *totals) if number >= 0)
    if way.takes.pairs:
        # Pairs of a transposed layer may pad what the crop leaves of span-1, as JAX has it.
        most = slide.span - 1
        pairs = [(begin, end), (begin, max(end, 0)), (begin, slide.reach)]
        pairs += [(most - begin, most - end)] if mode.cut is not None else []
        yield from ((pair, False) for pair in pairs if way.takes.negative or min(pair) >= 0)


def _windows(op: str, way: Way, choices: tuple[_AxisChoice, ...], row: _Row) -> _Row | None:
    """The windows of a way, None where they are not those of `row`."""
    wish = Wish(
        kernel=tuple(slide.kernel for slide in row),
        strides=tuple(slide.stride for slide in row),
        dilations=tuple(slide.dilation for slide in row),
        modes=tuple(choice.mode for choice in choices),
        given=tuple(choice.given(slide) for choice, slide in zip(choices, row, strict=True)),
        fill=way.fill,
        rounding=way.rounding,
        divisor=way.divisor,
        override=None,
        groups=None,
    )
    try:
        found = slides_of(op, wish, tuple(slide.size for slide in row), way.checks)
    except RequestError:
        return None
    same = all(
        (one.begin, one.output, one.dilation) == (other.begin, other.output, other.dilation)
        and _divide_alike(one, other)
        for one, other in zip(found, row, strict=True)
    )
    return found if same else None


def _divide_alike(one: Slide, other: Slide) -> bool:
    """Whether averages over the same windows count as many cells in each of them."""
    if one.counted == other.counted or one.counted_within == other.counted_within:
        return True
    starts = range(-one.begin, one.output * one.stride - one.begin, one.stride)
    if len(starts) > WINDOW.most:
        return False
    return all(_cells(one, start) == _cells(other, start) for start in starts)


def _cells(slide: Slide, start: int) -> int:
    """Cells of the window at `start` that the divisor counts."""
    low, high = -slide.counted[0], slide.size + slide.counted[1]
    return len(cells_within(range(start, start + slide.span, slide.dilation), low, high))
