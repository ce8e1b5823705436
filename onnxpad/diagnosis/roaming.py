"""The long search: around the nearest choices, then around the next nearest, and so on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from onnxpad.diagnosis.hypotheses import Choice
from onnxpad.diagnosis.pursuing import Change, changed
from onnxpad.diagnosis.running import Broken, Runner
from onnxpad.diagnosis.scoring import Score
from onnxpad.diagnosis.sites import Sizes, sized
from onnxpad.padding.chain import Pads
from onnxpad.padding.effective_pads import effective_pads

if TYPE_CHECKING:
    from onnxpad.diagnosis.searching import Search

Shift: TypeAlias = tuple[int, ...]
_MOST_TRIES, _MOST_IN_VAIN = 20_000, 5_000
_TITLE = "around what is nearest"


def roamed(search: Search, roots: Sequence[Choice]) -> Iterator[None]:
    """Best-first: every neighbour of the nearest choice, and of one of `roots`, in turn.

    Neighbours have another option at one place, or at two places whose shifts cancel: as long as
    the whole result is shifted, no cell agrees, however many nodes are right. Ends when every
    choice is known, or after `_MOST_TRIES`. A wide search keeps to choices that reach as many
    references as any, and to one of those that differ only behind the next reference: what stands
    in front of the last one that agrees was found.
    """
    queue = [(score, chosen) for chosen, score in search.tried.items()]
    heapify(queue)
    known = set(search.tried)
    done: set[object] = set()
    waiting = deque(roots)
    while queue or waiting:
        nearest = [heappop(queue)[1]] if queue else []
        for chosen in [*nearest, *([waiting.popleft()] if waiting else [])]:
            key = _told(search, chosen)
            if key in done or key is None:
                continue
            done.add(key)
            for other in _neighbours(search, chosen, search.tried[chosen]):
                if len(search.tried) >= _limit(search):
                    return
                score = search.score(other, _TITLE)
                if other not in known:
                    known.add(other)
                    heappush(queue, (score, other))
                yield
    search.exhausted = True


def _told(search: Search, chosen: Choice) -> object:
    """What a choice is known by; None where it is not to be followed."""
    if not search.wide:
        return chosen
    score = search.tried[chosen]
    if score.missing > search.tried[search.best].missing:
        return None
    return tuple(chosen[number] for number in search.reached(score))


def _limit(search: Search) -> int:
    """Less where nothing came nearer to the reference than the model as it is."""
    return _MOST_TRIES if any(search.best) else _MOST_IN_VAIN


def _neighbours(search: Search, chosen: Choice, now: Score) -> Iterator[Choice]:
    changes = list(search.singles(chosen, now))
    for change in changes:
        yield changed(chosen, change)
    moves = [(change, _shift(search, chosen, change)) for change in changes]
    for (one, first), (other, second) in combinations(moves, 2):
        if one[0] != other[0] and _cancel(first, second):
            yield changed(chosen, one, other)


def _cancel(one: Shift | None, other: Shift | None) -> bool:
    if one is None or other is None:
        return False
    return any(one) and all(a + b == 0 for a, b in zip(one, other, strict=True))


def _shift(search: Search, chosen: Choice, change: Change) -> Shift | None:
    """By how many cells of the model's input a change moves what is behind it, for each axis."""
    number, option = change
    runner = search.runner
    state = runner.before(number, chosen)
    if isinstance(state, Broken):
        return None
    sizes = runner.sizes(number, state)
    before, after = (_begins(runner, number, one, sizes) for one in (chosen[number], option))
    whole = max(runner.feeds.values(), key=lambda value: value.ndim).shape[2:]
    if before is None or after is None or len(whole) != len(sizes):
        return None
    jumps = [max(1, round(all_ / size)) for all_, size in zip(whole, sizes, strict=True)]
    return tuple((a - b) * jump for a, b, jump in zip(after, before, jumps, strict=True))


def _begins(runner: Runner, number: int, option: int, sizes: Sizes) -> tuple[int, ...] | None:
    """Cells in front of the input, in each spatial axis."""
    chain = sized(runner.places[number].options[option].chain, sizes)
    pads = None if chain is None else effective_pads(chain)
    if chain is None or not isinstance(pads, Pads):
        return None
    front = chain.pad.pads.begins[chain.spatial] if chain.pad is not None else (0,) * chain.rank
    return tuple(a + b for a, b in zip(pads.begins, front, strict=True))
