"""The search for the choices that reproduce a reference."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import combinations, islice, product
from typing import TypeAlias

from onnxpad.diagnosis.estimates import Estimate, Estimates
from onnxpad.diagnosis.fills import Fills, offered
from onnxpad.diagnosis.guesses import Choice, guesses, of_other_sizes, placed_alike
from onnxpad.diagnosis.pursuit import Flip, changed, effects, matching_pursuit
from onnxpad.diagnosis.runner import Broken, Runner, needed_suspects
from onnxpad.diagnosis.score import ReferenceValues, Score, scored
from onnxpad.diagnosis.sizing import Sizing
from onnxpad.diagnosis.suspects import Sizes, sized
from onnxpad.errors import LimitMet
from onnxpad.padding.chain import Pads
from onnxpad.padding.effective_pads import effective_pads

Rank: TypeAlias = tuple[float, ...]
Order: TypeAlias = Callable[[Score], Rank]
Shift: TypeAlias = tuple[int, ...]
_MOST_TRIES, _MOST_IN_VAIN, _MOST_FAR, _FEW = 20_000, 12_000, 1_000, 2_500
_MOST_NAMED = 10_000
_TITLE = "around what is nearest"
_STARTS = 4
_MOST_SUBSETS = 1_024
_MOST_MIXED = 6
_MOST_OF_OTHER_SIZES = 64
_MOST_ROOTS = 60
_FILLED = 2
_BEFORE_PLACES = 1_000
_MOST_RESTARTS = 12
_CELLS, _FALL = 0.03, 0.9
_PROMISING, _PROMISING_IN_FEW, _FEW_NUMBERS = 0.5, 0.2, 100


def by_score(score: Score) -> Rank:
    """More cells that agree before less that is left."""
    return score.missing, score.misfit, score.unlike, score.residual


def by_residual(score: Score) -> Rank:
    """What is left, whatever cells agree: a few do by chance, or for a while."""
    return score.missing, score.misfit, score.residual


class OutOfTimeError(Exception):
    """The budget is spent."""


@dataclass
class Search:
    """Tries choices until one gives every reference; `best` is the nearest one so far (the first).

    Ways of frameworks come first, others once `wide`, every Pad in place of another once `far`,
    padded cells in other places once `shifted`, another number of them on each axis once `apart`;
    `not_together` says that these were tried alone, and not all of them together, `spent` after
    how many tries it gave up, 0 where it did not. `say` gets what is being tried. `deadline` is a
    value of time.monotonic. `elsewhere` says, once what is guessed first failed, whether the cause
    was found elsewhere: the search ends then. `unreachable` says why nothing can give the reference
    to the precision asked for: what comes near is looked for then, and not everything tried.
    `nearest_at` is when `best` was found, as time.monotonic has it.
    """

    runner: Runner
    target: ReferenceValues
    deadline: float
    say: Callable[[str], None]
    elsewhere: Callable[[], bool] = lambda: False
    unreachable: str = ""
    tried: dict[Choice, Score] = field(default_factory=dict)
    titles: dict[Choice, str] = field(default_factory=dict)
    matches: list[Choice] = field(default_factory=list)
    best: Choice = ()
    out_of_time: bool = False
    exhausted: bool = False
    wide: bool = False
    far: bool = False
    shifted: bool = False
    apart: bool = False
    not_together: bool = False
    spent: int = 0
    restarts: int = 0
    nearest_at: float = 0.0
    _closest: Choice = ()
    _restarting: bool = False
    _since: Score | None = None
    _between: dict[str, frozenset[int]] = field(default_factory=dict)
    _reach: dict[str, list[int]] = field(default_factory=dict)

    def score(self, chosen: Choice, title: str) -> Score:
        """The score of a choice, run once. Raises OutOfTimeError after the deadline."""
        if chosen not in self.tried:
            if self.tried and time.monotonic() > self.deadline:
                raise OutOfTimeError
            self._tell(title)
            self.tried[chosen] = scored(self.runner, self.target, chosen)
            self.titles[chosen] = title
            if not self.best or self.tried[chosen] < self.tried[self.best]:
                self.best, self.nearest_at = chosen, time.monotonic()
            known = self.tried.get(self._closest, self.tried[chosen])
            if not self._closest or by_residual(self.tried[chosen]) < by_residual(known):
                self._closest = chosen
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
        except LimitMet:  # what was tried before is known all the same
            if not self.tried or time.monotonic() < self.deadline:
                raise
            self.out_of_time = True

    def _phases(self, starts: Sequence[Choice]) -> Iterator[None]:
        """Each step makes one or more scores known."""
        yield from self._guessed(starts)
        resized = bool(next(iter(self.tried.values())).misfit)
        if not resized and self.elsewhere():
            return
        roots = list(self.tried)[:_MOST_ROOTS]
        whole = [chosen for chosen in self.tried if any(chosen)][:_MOST_MIXED]
        yield from self._descents()
        for chosen in whole:
            yield from self._mixtures(chosen)
        yield from self._every_named()
        suspects = self.runner.suspects
        handmade = any(suspect.named < suspect.ordinary for suspect in suspects)
        movable = any(suspect.ordinary < suspect.moved for suspect in suspects)
        shiftable = any(suspect.moved < suspect.placed for suspect in suspects)
        if handmade:
            self.wide = True
            yield from self._descents()
            self.wide = False
        if resized:
            yield from self._each_axis()
        yield from self._fills(self._nearest(next(iter(self.tried))))
        if movable:
            yield from self._far(self._descents())
        self._since, onwards = self.tried[self.best], best_first(self, roots)
        yield from islice(onwards, 0 if self.unreachable else _BEFORE_PLACES)
        if shiftable:
            yield from self._shifts()
        if not resized:
            yield from self._each_axis()
        yield from self._fills(self._nearest(next(iter(self.tried))), elsewhere=True)
        if not self.unreachable:
            yield from onwards
            yield from self._together()

    def _every_named(self) -> Iterator[None]:
        """Ways of frameworks at all nodes, each by itself, where these are not too many.

        Those that give other sizes where the model as it is gives the right one come too: one
        node may take away what another adds.
        """
        count, present = 1, next(iter(self.tried))
        for number, suspect in enumerate(self.runner.suspects):
            state = self.runner.before(number, present)
            if isinstance(state, Broken):
                return
            leaders = self.runner.choices[number].leaders(self.runner.sizes(number, state))
            count *= sum(option < suspect.named for option in leaders)
        if count <= _MOST_NAMED:
            yield from self._named_behind(present, 0)

    def _named_behind(self, chosen: Choice, number: int) -> Iterator[None]:
        if number == len(chosen):
            self.score(chosen, "each node as some framework")
            yield
            return
        state = self.runner.before(number, chosen)
        if isinstance(state, Broken):
            return
        sizes = self.runner.sizes(number, state)
        for option in self.runner.choices[number].leaders(sizes):
            if option < self.runner.suspects[number].named:
                yield from self._named_behind(changed(chosen, (number, option)), number + 1)

    def _guessed(self, starts: Sequence[Choice]) -> Iterator[None]:
        """What is guessed of all nodes at once."""
        for chosen in starts:
            self.score(chosen, "what fits another sample")
            yield
        for guess in guesses(self.runner.suspects):
            self.score(guess.chosen, guess.title)
            yield
        if next(iter(self.tried.values())).misfit:
            yield from self._of_other_sizes()

    def _together(self) -> Iterator[None]:
        """What was tried alone so far, with everything else, where few ways were left to try.

        Numbers of cells that differ between axes would be too many: where one of them is clearly
        nearer, what it leaves is followed up, and `reason_of` says that the others were tried
        alone.
        """
        suspects = self.runner.suspects
        handmade = any(suspect.named < suspect.ordinary for suspect in suspects)
        further = any(suspect.ordinary < suspect.placed for suspect in suspects)
        if handmade and self.exhausted:
            self.wide, self.exhausted = True, False
            yield from best_first(self, ())
            self.wide = False
        if further and self.exhausted:
            self.exhausted, self.not_together, self.shifted = False, True, True
            most = max(len(self.tried) + _MOST_FAR, _FEW)
            yield from self._far(best_first(self, (), most))
            self.not_together = not self.exhausted

    def _of_other_sizes(self) -> Iterator[None]:
        """What changes sizes and no pads, at some nodes alone, the fewest first: a few of these."""
        for guess in of_other_sizes(self.runner.suspects):
            able = [number for number, option in enumerate(guess.chosen) if option]
            some = (held for count in range(1, len(able)) for held in combinations(able, count))
            for held in islice(some, _MOST_OF_OTHER_SIZES):
                chosen = (one if n in held else 0 for n, one in enumerate(guess.chosen))
                self.score(tuple(chosen), f"some as it is, some: {guess.title}")
                yield

    def _shifts(self) -> Iterator[None]:
        """Padded cells in other places: at one node, then at all of them in the same places."""
        self.shifted = True
        yield from self._descents()
        for guess in placed_alike(self.runner.suspects):
            self.score(guess.chosen, guess.title)
            yield
        self.shifted = False

    def _each_axis(self) -> Iterator[None]:
        """Another number of cells on each axis: at the model as it is, and at what is nearest."""
        self.apart = True
        for chosen in dict.fromkeys((next(iter(self.tried)), self.best)):
            yield from self._descend(chosen)
        self.apart = False

    def is_promising(self) -> bool:
        """Whether something came nearer to the reference than one of many ways does by chance.

        A few numbers, such as the ten of a classifier, are half met by one of thousands.
        """
        best, present = self.tried[self.best], self.tried[next(iter(self.tried))]
        if (best.missing, best.misfit) != (present.missing, present.misfit):
            return best < present
        more = best.unlike <= present.unlike - _CELLS
        least = self.tried[self._closest].residual
        few = self.target.values[self.target.next_name(present)].size < _FEW_NUMBERS
        part = _PROMISING_IN_FEW if few else _PROMISING
        return more or least < part * present.residual

    def is_shifted(self, chosen: Choice) -> bool:
        """Whether a node has its padded cells in other places."""
        known = zip(self.runner.suspects, chosen, strict=True)
        return any(suspect.moved <= option < suspect.placed for suspect, option in known)

    def is_apart(self, chosen: Choice) -> bool:
        """Whether a node has numbers of padded cells that differ between axes."""
        known = zip(self.runner.suspects, chosen, strict=True)
        return any(suspect.placed <= option < suspect.given for suspect, option in known)

    def _far(self, steps: Iterator[None]) -> Iterator[None]:
        """The steps with every Pad in place of another."""
        self.wide = self.far = True
        yield from steps
        self.wide = self.far = False

    def _descents(self) -> Iterator[None]:
        for chosen in sorted(self.tried, key=lambda chosen: self.tried[chosen])[:_STARTS]:
            yield from self._descend(chosen)
        if self.wide:
            yield from self._descend(self._closest, by_residual)

    def again(self) -> Iterator[None]:
        """A descent by every known change and by fills, from what is nearest by now.

        Only where that is clearly nearer than where the last one ended, and so many times at most:
        what was in the way of the others may be right there.
        """
        since, best = self._since, self.tried[self.best]
        if since is None or self.restarts >= _MOST_RESTARTS or not _clearly_nearer(best, since):
            return
        self.restarts += 1
        wide, self.wide, self._restarting = self.wide, True, True
        try:
            yield from self._descend(self.best)
            yield from self._descend(self._closest, by_residual)
            yield from self._fills(self._nearest())
        finally:
            self.wide, self._restarting = wide, False
        self._since = min(since, self.tried[self.best])

    def _descend(self, chosen: Choice, order: Order = by_score) -> Iterator[None]:
        """The best single change, or several that together explain what is left, again and again.

        Ends where nothing is nearer to the reference, in the `order` of scores. A wide descent
        takes fills as well.
        """
        while True:
            now, found, flips = self.score(chosen, "again"), [chosen, self.best], []
            for number, option in self.singles(chosen, now):
                flips.append((number, option))
                found.append(changed(chosen, flips[-1]))
                self.score(found[-1], self._title(number, option))
                yield
            known = effects(self.runner, self.target, chosen, self.tried, flips)
            for together in matching_pursuit(chosen, *known) if known else ():
                found.append(together)
                self.score(together, "changes that together explain what is left")
                yield
            nearest = min((*found, self.best), key=lambda one: order(self.tried[one]))
            if self.wide:
                nearest = yield from self._filled(chosen, nearest, order)
            if not order(self.tried[nearest]) < order(now):
                return
            chosen = nearest

    def _filled(
        self, chosen: Choice, nearest: Choice, order: Order
    ) -> Generator[None, None, Choice]:
        """What is nearer still: a fill at one more node of `chosen`, clearly, or better numbers."""
        solving = Estimates(self.runner, self.target, self._note)
        now = self.tried[chosen]
        one = solving.one_more(chosen, now, self.places(now))
        if one is not None and by_residual(one.score) < self._clearly(nearest):
            nearest = yield from self._offered(one)
        better = solving.again(nearest, self.tried[nearest])
        if better is not None and order(better.score) < order(self.tried[nearest]):
            nearest = yield from self._offered(better)
        return nearest

    def _clearly(self, chosen: Choice) -> Rank:
        *first, residual = by_residual(self.tried[chosen])
        return (*first, _FALL * residual)

    def _offered(self, found: Estimate) -> Generator[None, None, Choice]:
        chosen = offered(self.runner, found.around, found.filled)
        self.score(chosen, found.title(self.runner))
        yield
        return chosen

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
        sizes = Sizing(self.runner, self.target, chosen, self.target.next_name(now))
        for number, option in resizing:
            suspect = self.runner.suspects[number]
            if not suspect.placed <= option < suspect.given:
                yield number, option
            elif not sizes.is_ruled_out(number, option):
                yield number, option
                sizes.learn(number, option)

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
        suspect = self.runner.suspects[number]
        known = suspect.ordinary if self.wide else suspect.named
        if self.far:
            known = suspect.moved
        for option in choices.leaders(sizes):
            placed = self.shifted and suspect.moved <= option < suspect.placed
            apart = self.apart and suspect.placed <= option < suspect.given
            if option != present and (option < known or placed or apart):
                kept = choices.outputs(option, sizes) == choices.outputs(present, sizes)
                yield option, kept or not choices.outputs(present, sizes)

    def _nearest(self, *more: Choice) -> list[Choice]:
        nearest = sorted(self.tried, key=lambda one: self.tried[one])[:_FILLED]
        return list(dict.fromkeys((*nearest, *more)))

    def _fills(self, starts: Sequence[Choice], *, elsewhere: bool = False) -> Iterator[None]:
        """Fills that are solved for at each of `starts`, where it pads, or `elsewhere`."""
        solving = Fills(self.runner, self.target, self._note)
        for start in starts:
            chosen, further = start, True
            while further and not self.tried[chosen].matches:
                now, further = self.tried[chosen], False
                for other, title in solving.found(
                    chosen, now, self.places(now), elsewhere=elsewhere
                ):
                    found = self.score(other, title)
                    yield
                    if found.missing < now.missing and not found.matches:
                        chosen, further = other, True
                        break

    def _note(self, title: str) -> None:
        """Say what is tried. Raises OutOfTimeError after the deadline."""
        if time.monotonic() > self.deadline:
            raise OutOfTimeError
        self._tell(title)

    def _tell(self, title: str) -> None:
        again = f"again from what is nearest ({self.restarts}): " if self._restarting else ""
        self.say(f"{again}{title}")

    def _mixtures(self, way: Choice) -> Iterator[None]:
        """Some nodes as they are, the others as in `way`: all such, if these are not too many."""
        if 2 ** sum(map(bool, way)) > _MOST_SUBSETS:
            return
        for chosen in product(*((0, option) if option else (0,) for option in way)):
            self.score(chosen, f"some as it is, some: {self.titles[way]}")
            yield


def _clearly_nearer(one: Score, other: Score) -> bool:
    """Whether more is reached, more cells agree, or a good part less is left."""
    if (one.missing, one.misfit) != (other.missing, other.misfit):
        return one < other
    more = one.unlike <= other.unlike - _CELLS
    return more or (one.unlike <= other.unlike and one.residual < _FALL * other.residual)


def best_first(search: Search, roots: Sequence[Choice], most: int = _MOST_TRIES) -> Iterator[None]:
    """Best-first: every neighbour of the nearest choice, and of one of `roots`, in turn.

    Neighbours have another option at one suspect, or at two whose shifts cancel: as long as the
    whole result is shifted, no cell agrees, however many nodes are right. Ends when every
    choice is known, or after `most` tries. A wide search keeps to choices that reach as many
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
                if len(search.tried) >= (end := min(most, _limit(search))):
                    search.spent = end
                    return
                score = search.score(other, _TITLE)
                if other not in known:
                    known.add(other)
                    heappush(queue, (score, other))
                yield
            yield from search.again()
            for other in search.tried.keys() - known:
                known.add(other)
                heappush(queue, (search.tried[other], other))
    search.exhausted = True


def _told(search: Search, chosen: Choice) -> object:
    """What a choice is known by; None where it is not to be followed.

    Cells in other places are too many to go on from, unless that brought something.
    """
    if search.is_apart(chosen) or (not search.shifted and search.is_shifted(chosen)):
        present = search.tried[next(iter(search.tried))]
        if not _clearly_nearer(search.tried[chosen], present):
            return None
    if not search.wide:
        return chosen
    score = search.tried[chosen]
    if score.missing > search.tried[search.best].missing:
        return None
    return tuple(chosen[number] for number in search.reached(score))


def _limit(search: Search) -> int:
    """Less where nothing came clearly nearer to the reference than the model as it is."""
    return _MOST_TRIES if search.is_promising() else _MOST_IN_VAIN


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
