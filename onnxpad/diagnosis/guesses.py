"""Joint guesses: all nodes, or all of one kind, as one framework would pad them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from onnxpad.diagnosis.suspects import Suspect, written
from onnxpad.frameworks.conventions import all_conventions, frequent_first
from onnxpad.padding.chain import Chain, NewPad, Pads, is_same
from onnxpad.padding.operators import Kind
from onnxpad.retargeting.candidates import growth_limit
from onnxpad.retargeting.habits import PLACEMENTS
from onnxpad.retargeting.move import moved
from onnxpad.retargeting.moved_windows import placements
from onnxpad.retargeting.windows_read import differs

Choice = tuple[int, ...]
# Frameworks that wrong padding comes from most often, in the order in which they are tried.
_MOST_MIXED = 150
# What the padded cells hold in each mode of a Pad.
_CELLS = {
    "constant": "zeros",
    "reflect": "mirrored cells",
    "edge": "copies of the border",
    "wrap": "the cells of the other side",
}
_MOST_GROWN = 8


@dataclass(frozen=True, slots=True)
class Guess:
    """One choice for every suspect, and what to call it."""

    title: str
    chosen: Choice


def guesses(suspects: Sequence[Suspect]) -> Iterator[Guess]:
    """As it is, then whole conventions, then conventions for one kind of node, then mixtures."""
    seen: set[Choice] = set()
    whole: list[Guess] = []
    for guess in whole_guesses(suspects):
        if guess.chosen not in seen:
            seen.add(guess.chosen)
            whole.append(guess)
            yield guess
    kinds = list(dict.fromkeys(suspect.chain.op.kind for suspect in suspects))
    if len(kinds) < 2:
        return
    for guess in _mixed(suspects, kinds, whole):
        if guess.chosen not in seen:
            seen.add(guess.chosen)
            yield guess


def whole_guesses(suspects: Sequence[Suspect]) -> Iterator[Guess]:
    """As it is, then every convention for all nodes at once; some may be the same."""
    yield Guess("as it is", (0,) * len(suspects))
    rules: list[tuple[str, Callable[[Suspect, str], int]]] = [
        ("all nodes as {}", by_meaning),
        ("all padded nodes SAME as {}", _same),
        ("all nodes SAME as {}", always_same),
    ]
    for title, rule in rules:
        for name in names():
            yield Guess(title.format(name), tuple(rule(suspect, name) for suspect in suspects))
    for mode, cells in _CELLS.items():
        chosen = tuple(_of_mode(suspect, mode) for suspect in suspects)
        yield Guess(f"all convolutions with {cells} in the padded cells", chosen)
    yield from of_other_sizes(suspects)


def of_other_sizes(suspects: Sequence[Suspect]) -> Iterator[Guess]:
    """What a model can lose besides pads and what the sizes of a reference tell: roundings, rests.

    All nodes have it otherwise that can; a model where it is lost at some of them is a mixture.
    """
    yield Guess("pools round the other way", tuple(map(_other_rounding, suspects)))
    grown = [suspect.chain for suspect in suspects if suspect.chain.op.kind is Kind.TRANSPOSED]
    limits = [growth_limit(axis) for chain in grown for axis in chain.axes]
    for extra in range(1, max(2, min(max(limits, default=0), _MOST_GROWN))):
        title = "transposed convolutions with another output_padding"
        yield Guess(title, tuple(_other_growth(suspect, extra) for suspect in suspects))


def placed_alike(suspects: Sequence[Suspect]) -> Iterator[Guess]:
    """The padded cells of all nodes in the same places: in front, behind or halved on each axis."""
    rows = [_placed(suspect) for suspect in suspects]
    for rank in dict.fromkeys(suspect.chain.rank for suspect in suspects):
        alike = [
            row if suspect.chain.rank == rank else ()
            for suspect, row in zip(suspects, rows, strict=True)
        ]
        for number in range(max(map(len, alike))):
            chosen = tuple(row[number] if row else 0 for row in alike)
            yield Guess("the padded cells of all nodes in the same places", chosen)


def _placed(suspect: Suspect) -> tuple[int, ...]:
    """The option for each of the `placements`; the present way where there is none."""
    known: dict[object, int] = {}
    for number, option in enumerate(suspect.options):
        known.setdefault(written(option.chain), number)
    return tuple(known.get(written(one), 0) for one in placements(suspect.chain))


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """Conventions with rules for layers, the frequent ones first, and the three placements."""
    return (*frequent_first(all_conventions()), *PLACEMENTS)


def by_conventions(
    suspects: Sequence[Suspect], chosen: Choice, groups: Sequence[Sequence[int]]
) -> list[Choice]:
    """The choices given, then for each convention its own way wherever one is in the group."""
    found = [chosen]
    for name in names():
        ways = (
            next((option for option in group if name in suspect.options[option].conventions), mine)
            for suspect, mine, group in zip(suspects, chosen, groups, strict=True)
        )
        found.append(tuple(ways))
    return list(dict.fromkeys(found))


def _mixed(
    suspects: Sequence[Suspect], kinds: Sequence[object], whole: Sequence[Guess]
) -> Iterator[Guess]:
    """Other guesses for other kinds of nodes, those that leave most nodes alone first."""
    parts = []
    for kind in kinds:
        spots = [n for n, suspect in enumerate(suspects) if suspect.chain.op.kind is kind]
        found: dict[Choice, Guess] = {}
        for guess in whole:
            found.setdefault(tuple(guess.chosen[n] for n in spots), guess)
        parts.append((kind, spots, found))
    ways = sorted(
        product(*(found.items() for _, _, found in parts)),
        key=lambda way: sum(any(part) for part, _ in way),
    )
    for way in ways[:_MOST_MIXED]:
        chosen = [0] * len(suspects)
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


def by_meaning(suspect: Suspect, name: str) -> int:
    """What `retarget --to` would make of the node; the present way where it makes nothing."""
    wanted = _moved(suspect.options[0].chain, name)
    if wanted is None:
        return 0
    for number, option in enumerate(suspect.options):
        if not differs(option.chain, wanted):
            return number
    return 0


def _same(suspect: Suspect, name: str) -> int:
    return always_same(suspect, name) if _is_padded(suspect.chain) else 0


def always_same(suspect: Suspect, name: str) -> int:
    """The convention's own way to keep ceil(size/stride) windows."""
    for number, option in enumerate(suspect.options):
        if _keeps(option.chain) and (name in option.conventions or option.label == name):
            return number
    return 0


def _keeps(chain: Chain) -> bool:
    """Whether this is meant to give ceil(size/stride) windows."""
    if chain.ceil_mode or not isinstance(chain.pad, NewPad | None):
        return False
    match chain.padding:
        case Pads() as pads:
            both = zip(pads.begins, pads.ends, chain.axes, strict=True)
            return any(pads.flat) and all(b + e < axis.span + 1 for b, e, axis in both)
        case other:
            return is_same(other)


def _is_padded(chain: Chain) -> bool:
    padding = chain.padding
    own = any(padding.flat) if isinstance(padding, Pads) else is_same(padding)
    return own or chain.pad is not None


def _of_mode(suspect: Suspect, mode: str) -> int:
    """As many padded cells as now on each side, which hold what a mode gives; 0 where none can."""
    here = suspect.chain
    cells = _padded_cells(here)
    if here.op.kind is not Kind.CONVOLUTION or cells is None or not any(map(any, cells)):
        return 0
    for number, option in enumerate(suspect.options[: suspect.moved]):
        found = option.chain.pad
        plain = mode == "constant" and found is None
        if (plain or (found is not None and found.mode == mode)) and (
            _padded_cells(option.chain) == cells and (plain or not _own_cells(option.chain))
        ):
            return number
    return 0


def _padded_cells(chain: Chain) -> tuple[tuple[int, int], ...] | None:
    """Cells in front and behind on each spatial axis, of a Pad and the operator; None: unknown."""
    own, step = chain.padding, chain.pad
    if not isinstance(own, Pads) or (step is not None and step.unclear):
        return None
    begins, ends = own.begins, own.ends
    if step is not None:
        front = step.pads.begins[chain.spatial], step.pads.ends[chain.spatial]
        begins = tuple(a + b for a, b in zip(begins, front[0], strict=True))
        ends = tuple(a + b for a, b in zip(ends, front[1], strict=True))
    return tuple(zip(begins, ends, strict=True))


def _own_cells(chain: Chain) -> bool:
    return not isinstance(chain.padding, Pads) or any(chain.padding.flat)


def _other_growth(suspect: Suspect, extra: int) -> int:
    """The present crop with so much output_padding where there is none, or without what there is.

    An axis has what it can have below its stride or dilation.
    """
    here = suspect.options[0].chain
    if here.op.kind is not Kind.TRANSPOSED:
        return 0
    wanted = tuple(min(extra, growth_limit(axis) - 1) for axis in here.axes)
    if any(here.output_padding) and extra == 1:
        wanted = (0,) * here.rank
    for number, option in enumerate(suspect.options):
        chain = option.chain
        grown = chain.output_padding or (0,) * chain.rank
        if chain.padding == here.padding and grown == wanted:
            return number
    return 0


def _other_rounding(suspect: Suspect) -> int:
    """The present padding, with windows counted up in place of down, or the reverse."""
    here = suspect.options[0].chain
    for number, option in enumerate(suspect.options):
        chain = option.chain
        same = chain.pad == here.pad and chain.padding == here.padding
        if same and chain.ceil_mode is not here.ceil_mode:
            return number
    return 0
