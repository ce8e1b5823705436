"""Where a convention puts the cells that give ceil(size/stride) windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from onnxpad.chain import AutoPad, Chain, Pads, Skip
from onnxpad.geometry.axis import Axis, output_size
from onnxpad.geometry.same import same_pads
from onnxpad.layers.words import Pair, Rounding
from onnxpad.missing import missing_sizes
from onnxpad.moving.manners import Manner
from onnxpad.moving.windows import sample_sizes


@dataclass(frozen=True, slots=True)
class _Spot:
    """Ways to write one axis: numbers that serve every size, and auto_pad; `why` there is none."""

    pair: Pair | None = None
    upper: bool = False
    lower: bool = False
    why: str = ""


def same_padding(chain: Chain, manner: Manner, *, rounds_up: bool) -> Pads | AutoPad | Skip:
    """What `manner` writes for SAME: numbers where they serve every size that the input can have.

    `chain` has no Pad in front that pads by hand. A Skip says which size is missing, or why the
    convention has no such padding.
    """
    spots = [_spot(axis, manner, rounds_up=rounds_up) for axis in chain.axes]
    pairs = [spot.pair for spot in spots if spot.pair is not None]
    if len(pairs) == len(spots):
        return Pads(tuple(b for b, _ in pairs), tuple(e for _, e in pairs))
    reasons = [spot.why for spot in spots if spot.why]
    if reasons:
        return Skip(f"{manner.name} {reasons[0]}")
    if all(spot.upper for spot in spots):
        return AutoPad.SAME_UPPER
    if all(spot.lower for spot in spots):
        return AutoPad.SAME_LOWER
    missing = [index for index, spot in enumerate(spots) if spot.pair is None]
    return missing_sizes(chain, f"padding as {manner.name} does it", missing)


def _spot(axis: Axis, manner: Manner, *, rounds_up: bool) -> _Spot:
    if axis.stride == 1 and axis.span == 1:
        return _Spot((0, 0), upper=True, lower=True)
    sizes = [size for size in sample_sizes(axis, 2 * axis.span) if size > 0]
    if not isinstance(axis.size, int):
        # Some frameworks refuse inputs below the kernel's size.
        sizes = [size for size in sizes if size >= axis.span] or sizes
    found = [_wanted(axis, manner, size, rounds_up=rounds_up) for size in sizes]
    wanted = [pair for pair in found if pair is not None]
    if not found or len(wanted) < len(found):
        return _alike(axis, manner, sizes, rounds_up=rounds_up)
    if any(begin < 0 for begin, _ in wanted):
        return _Spot(why=f"begins inside the input here: its padding is {min(wanted)[0]} cells")
    tries = dict.fromkeys([(wanted[-1][0], max(end for _, end in wanted)), *wanted])
    pair = next((one for one in tries if _serves(axis, one, sizes, wanted)), None)
    upper, lower = (_is_auto(axis, sizes, wanted, lower=flag) for flag in (False, True))
    return _Spot(pair if pair is None or pair[1] >= 0 else (pair[0], 0), upper, lower)


def _wanted(axis: Axis, manner: Manner, size: int, *, rounds_up: bool) -> Pair | None:
    """The first of the convention's own ways that gives ceil(size/stride) windows."""
    sized = replace(axis, size=size)
    for pair in manner.places(axis, size):
        if _count(sized, pair, rounds_up=rounds_up) == -(-size // axis.stride):
            return pair
    return None


def _alike(axis: Axis, manner: Manner, sizes: Sequence[int], *, rounds_up: bool) -> _Spot:
    """As many cells at both sides, at most half a window, that give ceil(size/stride) windows."""
    if not manner.numbers:
        return _Spot(why="has no padding here that gives ceil(size/stride) windows")
    fits: dict[int, bool] = {}
    halves = range(axis.span // 2, -1, -1)
    for pad in sorted(halves, key=lambda pad: pad != _centred(axis, sizes)):
        counts = [
            _count(replace(axis, size=size), (pad, pad), rounds_up=rounds_up)
            == -(-size // axis.stride)
            for size in sizes
        ]
        if all(counts):
            return _Spot((pad, pad))
        fits[pad] = any(counts)
    if any(fits.values()):
        return _Spot()
    goal = "as many windows as cells" if axis.stride == 1 else f"ceil(size/{axis.stride}) windows"
    why = f"has no padding alike at both sides that gives {goal} of {axis.span} cells"
    return _Spot(why=why)


def _centred(axis: Axis, sizes: Sequence[int]) -> int | None:
    """SAME padding of an even window that is alike at both sides by itself."""
    found = {same_pads(replace(axis, size=size), lower=False) for size in sizes}
    pair = found.pop() if len(found) == 1 and axis.span % 2 == 0 else None
    return pair[0] if pair is not None and pair[0] == pair[1] else None


def _serves(axis: Axis, pair: Pair, sizes: Sequence[int], wanted: Sequence[Pair]) -> bool:
    """Whether one pair reads what the wanted pair reads, at every size."""
    return all(
        pair[0] == one[0] and _number(axis, size, pair) == _number(axis, size, one)
        for size, one in zip(sizes, wanted, strict=True)
    )


def _is_auto(axis: Axis, sizes: Sequence[int], wanted: Sequence[Pair], *, lower: bool) -> bool:
    autos = [same_pads(replace(axis, size=size), lower=lower) for size in sizes]
    return all(
        auto is not None
        and auto[0] == one[0]
        and _number(axis, size, auto) == _number(axis, size, one)
        for size, auto, one in zip(sizes, autos, wanted, strict=True)
    )


def _number(axis: Axis, size: int, pair: Pair) -> int | None:
    return _count(replace(axis, size=size), pair, rounds_up=False)


def _count(axis: Axis, pair: Pair, *, rounds_up: bool) -> int | None:
    found = output_size(axis, *pair, ceil_mode=rounds_up)
    return found if isinstance(found, int) else None


def always_up(allowed: frozenset[Rounding]) -> bool:
    """Whether a convention has no pools that round down."""
    return not allowed & {Rounding.DOWN, Rounding.EXACT}
