"""Joint guesses: all nodes, or all of one kind, as one framework or one hand would pad them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from onnxpad.diagnosis.places import SAME, Place
from onnxpad.frameworks.conventions import all_conventions, frequent_first
from onnxpad.padding.chain import Chain, Pads
from onnxpad.retargeting.habits import PLACEMENTS
from onnxpad.retargeting.labels import label_of
from onnxpad.retargeting.move import moved
from onnxpad.retargeting.windows_read import differs

Choice = tuple[int, ...]
# Frameworks that wrong padding comes from most often, in the order in which they are tried.
_MOST_MIXED = 150


@dataclass(frozen=True, slots=True)
class Guess:
    """One choice for every place, and what to call it."""

    title: str
    chosen: Choice


def guesses(places: Sequence[Place]) -> Iterator[Guess]:
    """As it is, then whole conventions, then conventions for one kind of node, then mixtures."""
    seen: set[Choice] = set()
    whole: list[Guess] = []
    for guess in whole_guesses(places):
        if guess.chosen not in seen:
            seen.add(guess.chosen)
            whole.append(guess)
            yield guess
    kinds = list(dict.fromkeys(place.chain.op.kind for place in places))
    if len(kinds) < 2:
        return
    for guess in _mixed(places, kinds, whole):
        if guess.chosen not in seen:
            seen.add(guess.chosen)
            yield guess


def whole_guesses(places: Sequence[Place]) -> Iterator[Guess]:
    """As it is, then every convention for all nodes at once; some may be the same."""
    yield Guess("as it is", (0,) * len(places))
    rules: list[tuple[str, Callable[[Place, str], int]]] = [
        ("all nodes as {}", _by_meaning),
        ("all padded nodes SAME as {}", _same),
        ("all nodes SAME as {}", _always_same),
    ]
    for title, rule in rules:
        for name in names():
            yield Guess(title.format(name), tuple(rule(place, name) for place in places))
    for title, change in _FLIPS:
        yield Guess(title, tuple(change(place) for place in places))


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """Conventions with rules for layers, the frequent ones first, and the three placements."""
    return (*frequent_first(all_conventions()), *PLACEMENTS)


def _mixed(
    places: Sequence[Place], kinds: Sequence[object], whole: Sequence[Guess]
) -> Iterator[Guess]:
    """Other guesses for other kinds of nodes, those that leave most nodes alone first."""
    parts = []
    for kind in kinds:
        spots = [n for n, place in enumerate(places) if place.chain.op.kind is kind]
        found: dict[Choice, Guess] = {}
        for guess in whole:
            found.setdefault(tuple(guess.chosen[n] for n in spots), guess)
        parts.append((kind, spots, found))
    ways = sorted(
        product(*(found.items() for _, _, found in parts)),
        key=lambda way: sum(any(part) for part, _ in way),
    )
    for way in ways[:_MOST_MIXED]:
        chosen = [0] * len(places)
        titles = []
        for (kind, spots, _), (part, guess) in zip(parts, way, strict=True):
            for spot, one in zip(spots, part, strict=True):
                chosen[spot] = one
            if any(part):
                titles.append(f"{kind}: {guess.title}")
        yield Guess("; ".join(titles), tuple(chosen))


@lru_cache(maxsize=20_000)
def _moved(chain: Chain, name: str) -> Chain | None:
    found = moved(chain, name)
    return found if isinstance(found, Chain) else None


def _by_meaning(place: Place, name: str) -> int:
    """What `retarget --to` would make of the node; the present way where it makes nothing."""
    wanted = _moved(place.options[0].chain, name)
    if wanted is None:
        return 0
    for number, option in enumerate(place.options):
        if not differs(option.chain, wanted):
            return number
    return 0


def _same(place: Place, name: str) -> int:
    return _always_same(place, name) if _is_padded(place.chain) else 0


def _always_same(place: Place, name: str) -> int:
    """The convention's own way to keep ceil(size/stride) windows."""
    for number, option in enumerate(place.options):
        if _keeps(option.chain) and (name in option.conventions or option.label == name):
            return number
    return 0


def _keeps(chain: Chain) -> bool:
    """Whether this is meant to give ceil(size/stride) windows."""
    if chain.ceil_mode or (chain.pad is not None and not chain.pad.is_new):
        return False
    match chain.padding:
        case Pads() as pads:
            both = zip(pads.begins, pads.ends, chain.axes, strict=True)
            return any(pads.flat) and all(b + e < axis.span + 1 for b, e, axis in both)
        case other:
            return other in SAME


def _is_padded(chain: Chain) -> bool:
    padding = chain.padding
    own = any(padding.flat) if isinstance(padding, Pads) else padding in SAME
    return own or chain.pad is not None


def _flip_ceil(place: Place) -> int:
    chain = place.options[0].chain
    return _find(place, lambda c: c.ceil_mode is not chain.ceil_mode and _alike(c, chain))


def _flip_counts(place: Place) -> int:
    chain = place.options[0].chain
    return _find(place, lambda c: c.counts_padding is not chain.counts_padding and _alike(c, chain))


def _flip_zeros(place: Place) -> int:
    """A max pool that pads itself with the lowest value where a Pad wrote zeros, or the reverse."""
    chain = place.options[0].chain
    if not chain.is_max:
        return 0
    total = _total(chain)
    wanted = chain.pad is None
    return _find(place, lambda c: (c.pad is not None) is wanted and _total(c) == total)


def _without_hand(place: Place) -> int:
    """No Pad in front, and no padding instead of it."""
    if place.chain.pad is None:
        return 0
    return _find(place, lambda c: c.pad is None and not _is_padded(c) and not c.ceil_mode)


def _nothing(place: Place) -> int:
    return _find(place, lambda c: c.pad is None and not _is_padded(c) and not c.ceil_mode)


def _alike(one: Chain, other: Chain) -> bool:
    return one.pad == other.pad and one.padding == other.padding


def _total(chain: Chain) -> tuple[int, ...] | None:
    """Own pads and those of the Pad in front together."""
    if chain.pad is not None and chain.pad.unclear:
        return None
    own = chain.padding.flat if isinstance(chain.padding, Pads) else (0,) * (2 * chain.rank)
    if chain.pad is None:
        return own if isinstance(chain.padding, Pads) else None
    front = chain.pad.pads
    both = (*front.begins[chain.spatial], *front.ends[chain.spatial])
    return tuple(a + b for a, b in zip(own, both, strict=True))


def _find(place: Place, fits: Callable[[Chain], bool]) -> int:
    for number, option in enumerate(place.options):
        if number and fits(option.chain):
            return number
    return 0


_FLIPS: tuple[tuple[str, Callable[[Place], int]], ...] = (
    ("pools round the other way", _flip_ceil),
    ("averages count padding the other way", _flip_counts),
    ("max pools padded with the lowest value instead of 0, or the reverse", _flip_zeros),
    ("Pad nodes removed", _without_hand),
    ("no padding at all", _nothing),
)


def handmade_guesses(places: Sequence[Place]) -> Iterator[Guess]:
    """One kind of cells in all Pads, half a window less one everywhere, then like nodes alike."""
    for title, rule in _RULES:
        yield Guess(title, tuple(rule(place) for place in places))
    groups: dict[object, list[int]] = {}
    for number, place in enumerate(places):
        groups.setdefault(_shape(place.chain), []).append(number)
    for numbers in groups.values():
        if len(numbers) > 1:
            yield from _like_nodes(places, numbers)


def _like_nodes(places: Sequence[Place], numbers: Sequence[int]) -> Iterator[Guess]:
    """Every handmade way of the first node, at all of them."""
    first = places[numbers[0]]
    for option in first.options[first.named :]:
        wanted = label_of(option.chain)
        chosen = [0] * len(places)
        for number in numbers:
            chosen[number] = _found(places[number], lambda c, w=wanted: label_of(c) == w)  # type: ignore[misc]
        yield Guess(f"all nodes like {first.label}: {option.label}", tuple(chosen))


def _shape(chain: Chain) -> object:
    windows = tuple((axis.kernel, axis.stride, axis.dilation) for axis in chain.axes)
    return chain.op.kind, windows, chain.padding, chain.pad and (chain.pad.pads, chain.pad.mode)


def _found(place: Place, fits: Callable[[Chain], bool]) -> int:
    """The first way that fits; the present one where none does."""
    found = (number for number, one in enumerate(place.options) if number and fits(one.chain))
    return next(found, 0)


def _mode(mode: str) -> Callable[[Chain], bool]:
    def fits(chain: Chain) -> bool:
        return chain.pad is not None and chain.pad.is_new and chain.pad.mode == mode

    return fits


def _lower_half(chain: Chain) -> bool:
    halves = tuple((axis.span - 1) // 2 for axis in chain.axes)
    return chain.pad is None and chain.padding == Pads(halves, halves) and not chain.ceil_mode


def _instead(place: Place) -> int:
    """Zeros of its own in place of a Pad that holds something else."""
    step = place.chain.pad
    if step is None or step.unclear:
        return 0
    own = place.chain.padding
    front = Pads(step.pads.begins[place.chain.spatial], step.pads.ends[place.chain.spatial])
    wanted = own + front if isinstance(own, Pads) else front
    return _found(place, lambda chain: chain.pad is None and chain.padding == wanted)


_RULES: tuple[tuple[str, Callable[[Place], int]], ...] = (
    ("zeros instead of what Pads hold", _instead),
    ("Pads that reflect", lambda place: _found(place, _mode("reflect"))),
    ("Pads that repeat the edge", lambda place: _found(place, _mode("edge"))),
    ("(kernel-1)/2 cells at both sides", lambda place: _found(place, _lower_half)),
)
