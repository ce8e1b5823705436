"""The search for the choices that reproduce a reference, in three phases.

Guesses of the whole network come first, then ways of frameworks at single nodes, then one edit of
what is there at single nodes together with fills that are solved for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from onnxpad.diagnosis.fills import with_fills
from onnxpad.diagnosis.guesses import Choice, guesses
from onnxpad.diagnosis.runner import Runner
from onnxpad.diagnosis.score import Reference, Score, first_missing, scored
from onnxpad.errors import LimitMet
from onnxpad.retargeting.labels import label_of

Extent: TypeAlias = tuple[int, bool]
"""How many rounds may come no nearer, and whether edits of what is there and fills are tried."""
SINGLE: tuple[Extent, ...] = ((1, True),)
EVERYTHING: tuple[Extent, ...] = ((6, False), (60, True))


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
            raise LimitMet("time")
        self.say(title)

    def _new(self, chosen: Choice, title: str) -> Iterator[Choice]:
        """The choice, run where it was not before. Raises LimitMet behind the deadline."""
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
        for patience, edits in between():
            yield from self._explored(patience, edits=edits)

    def _explored(self, patience: int, *, edits: bool) -> Iterator[Choice]:
        """Best-first, until nothing came nearer in `patience` rounds."""
        done, vain = set[Choice](), 0
        while vain < patience and (left := [one for one in self.tried if one not in done]):
            nearest, chosen = self.best, min(left, key=self.tried.__getitem__)
            done.add(chosen)
            yield from self._around(chosen, edits=edits)
            vain = vain + 1 if self.best == nearest else 0

    def _around(self, chosen: Choice, *, edits: bool) -> Iterator[Choice]:
        """Options of one suspect that read otherwise, and fills."""
        now = self.tried[chosen]
        if now.missing > self.tried[self.best].missing:
            return
        places = sorted(self.places(now))
        for number in reversed(places):
            suspect, reads = self.runner.suspects[number], self.runner.reads(number, chosen)
            present = suspect.leading(chosen[number], reads)
            for ways, option in suspect.leaders(reads).items():
                if ways != present and option < (suspect.listed if edits else suspect.named):
                    title = f"{suspect.label}: {label_of(suspect.options[option])}"
                    yield from self._new(changed(chosen, number, option), title)
        if edits:
            given = self.runner, self.references, chosen, now, places, self._note
            for filled, title in with_fills(*given):
                yield from self._new(filled, title)
