"""Which frameworks can write what a padded operator computes."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.frameworks.conventions import Habits, Placement, all_habits
from onnxpad.frameworks.words import Rounding
from onnxpad.geometry.windows import Axis, output_size, same_pads
from onnxpad.padding.chain import AutoPad, Chain, Pads
from onnxpad.padding.operators import Kind

ANY = "any"


def fits(chain: Chain, pads: Pads | None) -> tuple[str, ...]:
    """Names of the conventions that can write what the operator computes; ('any',) for all.

    `pads` are its effective pads, None where they depend on a size that is not known. Two ways
    of padding are the same if their windows are, for every size that the model allows; cells
    that no window reads do not matter. A Pad node in front is not looked at.
    """
    if chain.op.kind in (Kind.PAD, Kind.FOLD, Kind.OTHER) or chain.trouble:
        return ()
    groups = all_habits()
    found = tuple(name for name, item in groups.items() if _fits(item, chain, pads))
    return (ANY,) if len(found) == len(groups) else found


def _fits(habits: Habits, chain: Chain, pads: Pads | None) -> bool:
    if pads is None:
        return _is_its_same(habits, chain)
    if chain.op.kind is Kind.TRANSPOSED:
        return _crops(habits, chain, pads)
    return any(
        _same_windows(chain, pads, other, rounding)
        for other in _candidates(habits, chain, pads)
        if _same_divisors(habits, chain, pads, other)
        for rounding in _roundings(habits, chain, other)
    )


def _roundings(habits: Habits, chain: Chain, pads: Pads) -> frozenset[Rounding]:
    if not chain.op.is_pool:
        return frozenset({Rounding.DOWN})
    return habits.padded if any(pads.flat) else habits.unpadded


def _is_its_same(habits: Habits, chain: Chain) -> bool:
    """Whether auto_pad, whose pads are not known, is what the framework itself does."""
    match chain.padding:
        case AutoPad.SAME_UPPER:
            placement = Placement.ODD_CELL_LAST
        case AutoPad.SAME_LOWER:
            placement = Placement.ODD_CELL_FIRST
        case _:
            return False
    counts = chain.op.kind is not Kind.AVERAGE or chain.counts_padding in habits.counts
    return counts and placement in habits.placements


def _same_divisors(habits: Habits, chain: Chain, pads: Pads, other: Pads) -> bool:
    """Whether averages over the same windows divide by as many cells, padded ones or not."""
    if chain.op.kind is not Kind.AVERAGE:
        return True
    return any(_divides_alike(chain, pads, other, counts=counts) for counts in habits.counts)


def _divides_alike(chain: Chain, pads: Pads, other: Pads, *, counts: bool) -> bool:
    own = chain.counts_padding
    if own is counts and pads == other:
        return True
    if not (own and any(pads.flat)) and not (counts and any(other.flat)):
        return True
    for index, axis in enumerate(chain.axes):
        windows = _windows(axis, pads.begins[index], pads.ends[index], _rounding(chain))
        if windows is None or not isinstance(axis.size, int):
            return False
        begin = pads.begins[index]
        mine = (-begin if own else 0, axis.size + (pads.ends[index] if own else 0))
        theirs = (-begin if counts else 0, axis.size + (other.ends[index] if counts else 0))
        for start in range(-begin, windows * axis.stride - begin, axis.stride):
            if _cells(axis, start, mine) != _cells(axis, start, theirs):
                return False
    return True


def _cells(axis: Axis, start: int, between: tuple[int, int]) -> int:
    """Cells of the window at `start` that lie between two places."""
    low, high = between
    return sum(low <= cell < high for cell in range(start, start + axis.span, axis.dilation))


def _candidates(habits: Habits, chain: Chain, pads: Pads) -> Iterator[Pads]:
    yield Pads.zero(chain.rank)
    for placement in habits.placements:
        match placement:
            case Placement.BOTH_ALIKE:
                spans = [axis.span // 2 for axis in chain.axes]
                narrow = all(pad <= half for pad, half in zip(pads.begins, spans, strict=True))
                if narrow or not (chain.op.is_pool and habits.half_a_window):
                    yield Pads(pads.begins, pads.begins)
            case Placement.UNSTRIDED_SAME:
                if not chain.op.is_pool and all(axis.stride == 1 for axis in chain.axes):
                    yield from _same(chain, lower=False)
            case _:
                yield from _same(chain, lower=placement is Placement.ODD_CELL_FIRST)


def _same(chain: Chain, *, lower: bool) -> Iterator[Pads]:
    pairs = [pair for axis in chain.axes if (pair := same_pads(axis, lower=lower)) is not None]
    if len(pairs) == chain.rank:
        yield Pads(tuple(begin for begin, _ in pairs), tuple(end for _, end in pairs))


def _rounding(chain: Chain) -> Rounding:
    same = chain.padding in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER)
    return Rounding.UP if chain.ceil_mode and not same else Rounding.DOWN


def _same_windows(chain: Chain, pads: Pads, other: Pads, rounding: Rounding) -> bool:
    own = _rounding(chain)
    if pads == other and own is rounding:
        return True
    if pads.begins != other.begins:
        return False
    for index, axis in enumerate(chain.axes):
        found = _windows(axis, pads.begins[index], pads.ends[index], own)
        if found is None:
            return False
        if found != _windows(axis, other.begins[index], other.ends[index], rounding):
            return False
    return True


def _windows(axis: Axis, begin: int, end: int, rounding: Rounding) -> int | None:
    if not isinstance(axis.size, int):
        return None
    if rounding is Rounding.UP_ALL:
        return -(-(axis.size + begin + end - axis.span) // axis.stride) + 1
    found = output_size(axis, begin, end, ceil_mode=rounding is Rounding.UP)
    return found if isinstance(found, int) else None


def _crops(habits: Habits, chain: Chain, pads: Pads) -> bool:
    """Whether a transposed convolution crops like the gradient of this framework's convolution."""
    extra = chain.output_padding or (0,) * chain.rank
    if any(extra) and not habits.grows:
        return False
    if not any(pads.flat):
        return True
    sides = list(zip(chain.axes, pads.begins, pads.ends, extra, strict=True))
    for placement in habits.placements:
        match placement:
            case Placement.BOTH_ALIKE:
                found = pads.begins == pads.ends
            case Placement.UNSTRIDED_SAME:
                found = False
            case _:
                lower = placement is Placement.ODD_CELL_FIRST
                found = all(_gives_back(*side, lower=lower) for side in sides)
        if found:
            return True
    return False


def _gives_back(axis: Axis, begin: int, end: int, extra: int, *, lower: bool) -> bool:
    """Whether SAME over the output has as many windows as the input has cells, and this crop.

    ONNX adds output_padding before it halves the crop (ConvTranspose-11), TensorFlow halves what
    the full output has more than the wanted one (Keras backend_utils.py:271-297).
    """
    total = begin + end if lower else begin + end - extra
    size = axis.span + (extra if lower else 0)
    small = max(0, total) // 2
    return begin == (total - small if lower else small) and 0 < size - total <= axis.stride
