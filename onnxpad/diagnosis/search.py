"""The search for the choices that reproduce a reference."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import combinations, product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.fills import Fills
from onnxpad.diagnosis.guesses import Choice, guesses
from onnxpad.diagnosis.runner import Broken, Runner, needed_suspects
from onnxpad.diagnosis.score import ReferenceValues, Score, difference, scored
from onnxpad.diagnosis.suspects import Sizes, sized
from onnxpad.padding.chain import Pads
from onnxpad.padding.effective_pads import effective_pads

Vector = NDArray[np.float64]
Flip: TypeAlias = tuple[int, int]
Effect: TypeAlias = tuple[Flip, Vector]
_MOST_CELLS = 20_000
Shift: TypeAlias = tuple[int, ...]
_MOST_TRIES, _MOST_IN_VAIN = 20_000, 5_000
_TITLE = "around what is nearest"
_STARTS = 4
_MOST_SUBSETS = 1_024
_MOST_MIXED = 6
_MOST_ROOTS = 60
_FILLED = 2


class OutOfTimeError(Exception):
    """The budget is spent."""


@dataclass
class Search:
    """Tries choices until one gives every reference; `best` is the nearest one so far (the first).

    Ways of frameworks come first, others once `wide`. `say` gets what is being tried. `deadline`
    is a value of time.monotonic.
    """

    runner: Runner
    target: ReferenceValues
    deadline: float
    say: Callable[[str], None]
    tried: dict[Choice, Score] = field(default_factory=dict)
    titles: dict[Choice, str] = field(default_factory=dict)
    matches: list[Choice] = field(default_factory=list)
    best: Choice = ()
    out_of_time: bool = False
    exhausted: bool = False
    wide: bool = False
    _between: dict[str, frozenset[int]] = field(default_factory=dict)
    _reach: dict[str, list[int]] = field(default_factory=dict)

    def score(self, chosen: Choice, title: str) -> Score:
        """The score of a choice, run once. Raises OutOfTimeError after the deadline."""
        if chosen not in self.tried:
            if self.tried and time.monotonic() > self.deadline:
                raise OutOfTimeError
            self.say(title)
            self.tried[chosen] = scored(self.runner, self.target, chosen)
            self.titles[chosen] = title
            if not self.best or self.tried[chosen] < self.tried[self.best]:
                self.best = chosen
            if self.tried[chosen].matches:
                self.matches.append(chosen)
        return self.tried[chosen]

    def run(self, starts: Sequence[Choice] = ()) -> Iterator[Choice]:
        """Choices that match, one after another, as long as the caller asks for more."""
        given = 0
        try:
            for _ in self._phases(starts):
                while given < len(self.matches):
                    given += 1
                    yield self.matches[given - 1]
        except OutOfTimeError:
            self.out_of_time = True

    def _phases(self, starts: Sequence[Choice]) -> Iterator[None]:
        """Each step makes one or more scores known."""
        for chosen in starts:
            self.score(chosen, "what fits another sample")
            yield
        for guess in guesses(self.runner.suspects):
            self.score(guess.chosen, guess.title)
            yield
        roots = list(self.tried)[:_MOST_ROOTS]
        whole = [chosen for chosen in self.tried if any(chosen)][:_MOST_MIXED]
        yield from self._descents()
        for chosen in whole:
            yield from self._mixtures(chosen)
        handmade = any(suspect.named < len(suspect.options) for suspect in self.runner.suspects)
        if handmade:
            self.wide = True
            yield from self._descents()
            self.wide = False
        yield from self._fills()
        yield from best_first(self, roots)
        if handmade and self.exhausted:
            self.wide, self.exhausted = True, False
            yield from best_first(self, ())

    def _descents(self) -> Iterator[None]:
        for chosen in sorted(self.tried, key=lambda chosen: self.tried[chosen])[:_STARTS]:
            yield from self._descend(chosen)

    def _descend(self, chosen: Choice) -> Iterator[None]:
        """The best single change, or several that together explain what is left, again and again.

        Ends where nothing is nearer to the reference.
        """
        while True:
            now = self.score(chosen, "again")
            changes = []
            for number, option in self.singles(chosen, now):
                self.score(changed(chosen, (number, option)), self._title(number, option))
                changes.append((number, option))
                yield
            found = effects(self.runner, self.target, chosen, self.tried, changes)
            for together in matching_pursuit(chosen, *found) if found else ():
                self.score(together, "changes that together explain what is left")
                yield
            nearest = min(self._around(chosen, changes), key=lambda c: self.tried[c])
            if not self.tried[nearest] < now:
                return
            chosen = nearest

    def _around(self, chosen: Choice, changes: Sequence[tuple[int, int]]) -> list[Choice]:
        found = [chosen, *(changed(chosen, change) for change in changes)]
        return [*found, *(c for c in [self.best] if self.tried[c] < self.tried[chosen])]

    def _title(self, number: int, option: int) -> str:
        suspect = self.runner.suspects[number]
        return f"{suspect.label}: {suspect.options[option].label}"

    def singles(self, chosen: Choice, now: Score) -> Iterator[tuple[int, int]]:
        """Changes of one suspect in front of the first reference that differs.

        Those that keep the output's size come first; others only where the sizes are wrong or
        nothing else helped.
        """
        resizing = []
        for number in sorted(self.places(now), reverse=True):
            for option, keeps in self._alternatives(number, chosen):
                if keeps and not now.misfit:
                    yield number, option
                else:
                    resizing.append((number, option))
        yield from resizing

    def places(self, now: Score) -> frozenset[int]:
        """Suspects that the first reference that differs hangs on, and none in front of it does."""
        names, name = self.target.names, self.target.next_name(now)
        if name not in self._between:
            network, suspects = self.runner.network, self.runner.suspects
            found = needed_suspects(network, suspects, name)
            for known in names[: names.index(name)]:
                found -= needed_suspects(network, suspects, known)
            self._between[name] = found
        return self._between[name]

    def reached(self, now: Score) -> list[int]:
        """Suspects that anything up to the first reference that differs hangs on."""
        name = self.target.next_name(now)
        if name not in self._reach:
            names = self.target.names[: self.target.names.index(name) + 1]
            network, suspects = self.runner.network, self.runner.suspects
            found = (needed_suspects(network, suspects, one) for one in names)
            self._reach[name] = sorted(frozenset().union(*found))
        return self._reach[name]

    def _alternatives(self, number: int, chosen: Choice) -> Iterator[tuple[int, bool]]:
        """Options that read otherwise than the chosen one here, and whether they keep the size."""
        state = self.runner.before(number, chosen)
        if isinstance(state, Broken):
            return
        sizes = self.runner.sizes(number, state)
        choices = self.runner.choices[number]
        present = choices.leader(chosen[number], sizes)
        for option in choices.leaders(sizes):
            if option != present and (self.wide or option < self.runner.suspects[number].named):
                kept = choices.outputs(option, sizes) == choices.outputs(present, sizes)
                yield option, kept or not choices.outputs(present, sizes)

    def _fills(self) -> Iterator[None]:
        """Fills that are solved for, at the model as it is and at what came nearest."""
        solving = Fills(self.runner, self.target, self._note)
        nearest = sorted(self.tried, key=lambda one: self.tried[one])[:_FILLED]
        for start in dict.fromkeys((next(iter(self.tried)), *nearest)):
            chosen, further = start, True
            while further and not self.tried[chosen].matches:
                now, further = self.tried[chosen], False
                for other, title in solving.found(chosen, now, self.places(now)):
                    found = self.score(other, title)
                    yield
                    if found.missing < now.missing and not found.matches:
                        chosen, further = other, True
                        break

    def _note(self, title: str) -> None:
        """Say what is tried. Raises OutOfTimeError after the deadline."""
        if time.monotonic() > self.deadline:
            raise OutOfTimeError
        self.say(title)

    def _mixtures(self, way: Choice) -> Iterator[None]:
        """Some nodes as they are, the others as in `way`: all such, if these are not too many."""
        if 2 ** sum(map(bool, way)) > _MOST_SUBSETS:
            return
        for chosen in product(*((0, option) if option else (0,) for option in way)):
            self.score(chosen, f"some as it is, some: {self.titles[way]}")
            yield


def changed(chosen: Choice, *flips: Flip) -> Choice:
    """The choices with other options at some suspects."""
    found = list(chosen)
    for number, option in flips:
        found[number] = option
    return tuple(found)


def best_first(search: Search, roots: Sequence[Choice]) -> Iterator[None]:
    """Best-first: every neighbour of the nearest choice, and of one of `roots`, in turn.

    Neighbours have another option at one suspect, or at two whose shifts cancel: as long as the
    whole result is shifted, no cell agrees, however many nodes are right. Ends when every
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


def _shift(search: Search, chosen: Choice, change: Flip) -> Shift | None:
    """By how many cells of the model's input a change moves what is behind it, for each axis."""
    number, option = change
    runner = search.runner
    state = runner.before(number, chosen)
    if isinstance(state, Broken):
        return None
    sizes = runner.sizes(number, state)
    before, after = (_begins(runner, number, one, sizes) for one in (chosen[number], option))
    whole = max(runner.feeds.values(), key=lambda value: value.ndim).shape[2:]
    if before is None or after is None or len(whole) != len(sizes) or 0 in sizes:
        return None
    jumps = [max(1, round(all_ / size)) for all_, size in zip(whole, sizes, strict=True)]
    return tuple((a - b) * jump for a, b, jump in zip(after, before, jumps, strict=True))


def _begins(runner: Runner, number: int, option: int, sizes: Sizes) -> tuple[int, ...] | None:
    """Cells in front of the input, in each spatial axis."""
    chain = sized(runner.suspects[number].options[option].chain, sizes)
    pads = None if chain is None else effective_pads(chain)
    if chain is None or not isinstance(pads, Pads):
        return None
    front = chain.pad.pads.begins[chain.spatial] if chain.pad is not None else (0,) * chain.rank
    return tuple(a + b for a, b in zip(pads.begins, front, strict=True))


def effects(
    runner: Runner,
    target: ReferenceValues,
    chosen: Choice,
    tried: Mapping[Choice, Score],
    changes: Sequence[Flip],
) -> tuple[Vector, list[Effect]] | None:
    """What is left of the first reference that differs, and what each change takes off it.

    None where the result has another shape; changes that give another one are left out.
    """
    now = tried[chosen]
    name = target.next_name(now)
    left = difference(runner, target, name, chosen)
    if left is None:
        return None
    step = max(1, left.size // _MOST_CELLS)
    found = []
    for change in changes:
        other = changed(chosen, change)
        if tried[other].misfit or tried[other].missing != now.missing:
            continue
        after = difference(runner, target, name, other)
        if after is not None:
            found.append((change, (left - after)[::step]))
    return left[::step], found


def matching_pursuit(chosen: Choice, left: Vector, known: Sequence[Effect]) -> list[Choice]:
    """Sums of single changes that bring the result nearest to the reference, the largest first.

    Orthogonal matching pursuit over whole changes: each suspect takes part once or not at all.
    """
    picked: dict[int, int] = {}
    tries = []
    while True:
        rest = [one for one in known if one[0][0] not in picked]
        if not rest:
            break
        (number, option), effect = min(rest, key=lambda one: _rest(left, one[1]))
        if _rest(left, effect) >= float((left**2).sum()):
            break
        left = left - effect
        picked[number] = option
        if len(picked) > 1:
            tries.append(changed(chosen, *picked.items()))
    return tries[::-1]


def _rest(left: Vector, effect: Vector) -> float:
    return float(((left - effect) ** 2).sum())
