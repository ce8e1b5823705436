"""Fills that leave least while other nodes are still wrong: where a descent goes on from.

`fills` solves for one number that gives the reference. Here several may be open, and other padding
too: the numbers that leave the least sum of squares, by Gauss and Newton.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.fills import chains_at, numbers_in, with_chains, with_fill, written
from onnxpad.diagnosis.guesses import Choice
from onnxpad.diagnosis.runner import Runner
from onnxpad.diagnosis.score import ReferenceValues, Score, difference, scored
from onnxpad.padding.chain import Chain
from onnxpad.padding.fills import number_of

Vector = NDArray[np.float64]
_STEP, _SHORTER = 0.05, 0.1
_ROUNDS = 4
_NEAR = 1e-3
_NO_FARTHER = 4.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Choices whose Pads at some suspects hold numbers, and the score with these."""

    around: Choice
    chains: Mapping[int, Chain]
    fills: Mapping[int, float]
    score: Score

    def title(self, runner: Runner) -> str:
        """What it is called."""
        parts = (f"{runner.suspects[n].label}: a Pad with {v:.6g}" for n, v in self.fills.items())
        return "; ".join(parts)

    @property
    def filled(self) -> dict[int, Chain]:
        """The chains where the Pads hold the fills."""
        return _filled(self.chains, self.fills)


class Estimates:
    """Numbers for fills, to one reference; `note` is told of each try."""

    def __init__(
        self, runner: Runner, target: ReferenceValues, note: Callable[[str], None]
    ) -> None:
        self._runner = runner
        self._target = target
        self._note = note
        self._known = numbers_in(runner)

    def one_more(self, around: Choice, now: Score, places: Iterable[int]) -> Estimate | None:
        """A fill at one more of the suspects, where it pads now: the one that leaves least."""
        best: Estimate | None = None
        solved = set(self._solved(around))
        for number in sorted(set(places) - solved):
            for chain in islice(chains_at(self._runner, number, around), 1):
                found = self._fitted(around, {number: chain}, {number: 0.0}, now)
                if best is None or _least(found) < _least(best):
                    best = found
        return best and self._plain(best, now)

    def again(self, around: Choice, now: Score) -> Estimate | None:
        """The fills that `around` holds, solved for once more, together; None where it has none."""
        chains, fills = {}, {}
        for number in self._solved(around):
            chain = self._runner.suspects[number].options[around[number]].chain
            value = None if chain.pad is None else number_of(chain.pad.fill)
            if value is not None:
                chains[number], fills[number] = chain, float(value)
        if not chains:
            return None
        return self._plain(self._fitted(around, chains, fills, now), now)

    def _solved(self, around: Choice) -> Sequence[int]:
        suspects = self._runner.suspects
        return [n for n, option in enumerate(around) if option >= suspects[n].given]

    def _fitted(
        self, around: Choice, chains: Mapping[int, Chain], fills: Mapping[int, float], now: Score
    ) -> Estimate:
        """From these fills to those that leave least, as long as less is left.

        The slopes are taken over shorter and shorter steps: behind a Relu they change.
        """
        best, name = self._at(around, chains, fills), self._target.next_name(now)
        for count in range(_ROUNDS):
            step = self._step(best, name, _STEP * _SHORTER**count)
            if step is None:
                break
            more = {number: best.fills[number] + step[number] for number in chains}
            found = self._at(around, chains, more)
            if not self._left(name, found, found.fills) < self._left(name, best, best.fills):
                break
            best = found
        return best

    def _at(
        self, around: Choice, chains: Mapping[int, Chain], fills: Mapping[int, float]
    ) -> Estimate:
        names = ", ".join(self._runner.suspects[number].label for number in chains)
        self._note(f"{names}: a Pad")
        score = scored(self._runner, self._target, with_chains(around, _filled(chains, fills)))
        return Estimate(around, chains, fills, score)

    def _step(self, here: Estimate, name: str, length: float) -> dict[int, float] | None:
        numbers = list(here.chains)
        left = self._difference(name, here, here.fills)
        if left is None:
            return None
        slopes = []
        for number in numbers:
            size = length * max(1.0, abs(here.fills[number]))
            moved = {**here.fills, number: here.fills[number] + size}
            after = self._difference(name, here, moved)
            if after is None:
                return None
            slopes.append((left - after) / size)
        columns = np.stack(slopes, axis=1)
        if not columns.any():
            return None
        found = np.linalg.lstsq(columns, left, rcond=None)[0]
        return dict(zip(numbers, map(float, found), strict=True))

    def _difference(self, name: str, here: Estimate, fills: Mapping[int, float]) -> Vector | None:
        ways = with_chains(here.around, _filled(here.chains, fills))
        return difference(self._runner, self._target, name, ways)

    def _left(self, name: str, here: Estimate, fills: Mapping[int, float]) -> float:
        left = self._difference(name, here, fills)
        return inf if left is None else float(left @ left)

    def _plain(self, found: Estimate, now: Score) -> Estimate:
        """The numbers as somebody will have written them, where they give what these give."""
        if found.score.missing >= now.missing:
            return found
        name = self._target.next_name(now)
        most = _NO_FARTHER * self._left(name, found, found.fills)
        for number, fill in found.fills.items():
            for plain in written(fill, _NEAR * abs(fill), self._known):
                other = self._at(found.around, found.chains, {**found.fills, number: plain})
                reaches = other.score.missing < now.missing
                if reaches and self._left(name, found, other.fills) <= most:
                    found = other
                    break
        return found


def _filled(chains: Mapping[int, Chain], fills: Mapping[int, float]) -> dict[int, Chain]:
    return {number: with_fill(chain, fills[number]) for number, chain in chains.items()}


def _least(found: Estimate) -> tuple[float, ...]:
    score = found.score
    return score.missing, score.misfit, score.residual
