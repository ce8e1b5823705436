"""The search for the choices that reproduce a reference, in three phases.

Guesses of the whole network come first, then ways of frameworks at single nodes, then one edit of
what is there at single nodes together with fills that are solved for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import islice
from typing import NamedTuple

from onnxpad.diagnosis.fills import with_fills
from onnxpad.diagnosis.guesses import Choice, guesses
from onnxpad.diagnosis.runner import Runner
from onnxpad.diagnosis.score import Reference, Score, first_missing, scored
from onnxpad.errors import LimitMet


class OutOfTimeError(Exception):
    """The budget is spent."""


class Extent(NamedTuple):
    """What is tried around a choice besides the ways of frameworks at single nodes.

    edits: one edit of what is there; fills: constants that are solved for; roots: all this around
        guesses of the whole network too.
    """

    patience: int
    edits: bool = False
    fills: bool = False
    roots: bool = False


SINGLE = (Extent(1, edits=True),)
EVERYTHING = (
    Extent(6),
    Extent(3, edits=True),
    Extent(60, edits=True, fills=True, roots=True),
)


def changed(chosen: Choice, number: int, option: int) -> Choice:
    """The choices with another option at one suspect."""
    return (*chosen[:number], option, *chosen[number + 1 :])


@dataclass
class Search:
    """Tries choices until one gives every reference.

    deadline: a value of time.monotonic.
    say: is told what is being tried.
    tried, titles: every choice that was run, in order, with its score and name.
    best: the nearest, which was found when time.monotonic was `nearest_at`.
    guessed: guesses of the whole network.
    out_of_time, complete: whether the time ended it, and whether all phases came to their end.
    """

    runner: Runner
    references: Sequence[Reference]
    deadline: float
    say: Callable[[str], None]
    tried: dict[Choice, Score] = field(default_factory=dict)
    titles: dict[Choice, str] = field(default_factory=dict)
    best: Choice = ()
    nearest_at: float = 0.0
    guessed: set[Choice] = field(default_factory=set)
    out_of_time: bool = False
    complete: bool = False

    def run(self, between: Callable[[], Sequence[Extent]]) -> Iterator[Choice]:
        """Choices that match, one after another, as long as the caller asks for more.

        `between` is called behind the guesses of the whole network, and says what to explore then.
        """
        try:
            for chosen in self._phases(between):
                if self.tried[chosen].matches:
                    yield chosen
            self.complete = True
        except OutOfTimeError:
            self.out_of_time = True
        except LimitMet:  # what was tried before is known all the same
            if not self.tried or time.monotonic() < self.deadline:
                raise
            self.out_of_time = True

    def present(self) -> Score:
        """The score of the model as it is."""
        return self.tried[next(iter(self.tried))]

    def places(self, now: Score) -> frozenset[int]:
        """Suspects that the first reference that differs depends on, and none in front of it."""
        first = first_missing(self.references, now)
        places = self.runner.needed(first.name)
        for sample, name, *_ in self.references:
            if name == first.name:
                break
            places -= self.runner.needed(name) if not sample else frozenset()
        return places

    def _note(self, title: str) -> None:
        if self.tried and time.monotonic() > self.deadline:
            raise OutOfTimeError
        self.say(title)

    def _new(self, chosen: Choice, title: str) -> Iterator[Choice]:
        """The choice, run where it was not before. Raises OutOfTimeError behind the deadline."""
        if chosen in self.tried:
            return
        self._note(title)
        score = scored(self.runner, self.references, chosen)
        self.tried[chosen], self.titles[chosen] = score, title
        if not self.best or score < self.tried[self.best]:
            self.best, self.nearest_at = chosen, time.monotonic()
        yield chosen

    def _phases(self, between: Callable[[], Sequence[Extent]]) -> Iterator[Choice]:
        for title, chosen in guesses(self.runner.suspects):
            self.guessed.add(chosen)
            yield from self._new(chosen, title)
        whole = [chosen for chosen in self.tried if any(chosen)]
        for extent in between():
            yield from self._explored(whole if extent.roots else (), extent)

    def _explored(self, roots: Sequence[Choice], extent: Extent) -> Iterator[Choice]:
        """Best-first: all around what is nearest, and a root.

        Ends after `patience` rounds in which nothing came nearer.
        """
        waiting, done, vain = iter(roots), set[Choice](), 0
        while vain < extent.patience:
            nearest, left = self.best, [one for one in self.tried if one not in done]
            for chosen in (*nsmallest(1, left, key=self.tried.__getitem__), *islice(waiting, 1)):
                if chosen not in done:
                    done.add(chosen)
                    yield from self._around(chosen, extent)
            if not left:
                return
            vain = vain + 1 if self.best == nearest else 0

    def _around(self, chosen: Choice, extent: Extent) -> Iterator[Choice]:
        """Every other option of one suspect, and fills."""
        now = self.tried[chosen]
        if now.missing > self.tried[self.best].missing:
            return
        for number, option in self._changes(chosen, now, edits=extent.edits):
            suspect = self.runner.suspects[number]
            title = f"{suspect.label}: {suspect.options[option].label}"
            yield from self._new(changed(chosen, number, option), title)
        if extent.fills:
            places = sorted(self.places(now))
            given = self.runner, self.references, chosen, now, places, self._note
            for filled, title in with_fills(*given):
                yield from self._new(filled, title)

    def _changes(self, chosen: Choice, now: Score, *, edits: bool) -> Iterator[tuple[int, int]]:
        """Options that read otherwise than the chosen one; those that keep the size first."""
        sample = first_missing(self.references, now).sample
        resizing = []
        for number in sorted(self.places(now), reverse=True):
            suspect, sizes = self.runner.suspects[number], self.runner.sizes(number, chosen, sample)
            if sizes is None:
                continue
            reads = self.runner.reads(number, chosen)
            present = suspect.leading(chosen[number], reads)
            size = suspect.output_sizes(chosen[number], sizes)
            for ways, option in suspect.leaders(reads).items():
                if ways != present and option < (suspect.listed if edits else suspect.named):
                    keeps = not size or suspect.output_sizes(option, sizes) == size
                    if keeps and not now.misfit:
                        yield number, option
                    else:
                        resizing.append((number, option))
        yield from resizing
