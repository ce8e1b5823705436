"""Constants in padded cells that no framework writes: solved for, from what the reference shows.

Where everything behind a node is linear, a result is a + b * fill. Two runs give a and b, and with
them each cell of the reference that the fill reaches names one fill. A Relu or a max pool bends
some cells, so the fill is the one on which most cells agree, solved for again from there. Where
other nodes are still wrong no cells agree: then the fill that leaves the least sum of squares is
offered, and what is left is explained by others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from onnxpad.diagnosis.guesses import Choice
from onnxpad.diagnosis.options import Filled, Sizes, Way, in_front, in_numbers, in_one_pad
from onnxpad.diagnosis.runner import Runner
from onnxpad.diagnosis.score import Reference, Score, Vector, difference, first_missing, scored
from onnxpad.padding.chain import Chain, Pads
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.fills import number_of
from onnxpad.padding.operators import Kind

# Fills that people write: normalised images, letterboxes of detectors (114 of 255), bytes.
_USUAL = (1.0, -1.0, 0.5, -0.5, 114 / 255, 114.0, 127.5, 128.0, 255.0)
_STEPS, _STEP, _LARGE = 5, 0.1, 128.0
_AGREEING, _TELLS = 0.1, 1e-3
_NEAR, _DIGITS, _NO_FARTHER = 1e-3, 9, 4.0
_MOST_NUMBERS = 16
_FALL = 0.9
# A number that nobody writes fits a lot: in so many places it has to agree.
ENOUGH_PLACES = 8


class _Family(NamedTuple):
    """Choices that hang on one number: options whose Pads all hold it, by suspect.

    here: the number that the first of them holds now.
    """

    around: Choice
    options: Mapping[int, int]
    here: float

    def at(self, fill: float) -> tuple[Way, ...]:
        """The choices where the Pads hold `fill`."""
        rows = enumerate(self.around)
        return tuple(Filled(self.options[n], fill) if n in self.options else way for n, way in rows)


class Fills:
    """Solves for fills around a choice; `note` is told of each, and may raise."""

    def __init__(
        self, runner: Runner, references: Sequence[Reference], note: Callable[[str], None]
    ) -> None:
        self._runner, self._references, self._note = runner, references, note

    def solved(
        self, around: Choice, now: Score, places: Sequence[int]
    ) -> Iterator[tuple[Choice, str]]:
        """Fills in the cells that are padded now: at each of the suspects, then one at several."""
        suspects = self._runner.suspects
        padded = {n: way for n in places if (way := self._padded(n, around)) is not None}
        families = {f"{suspects[n].label}: a Pad": {n: way} for n, way in padded.items()}
        kinds = {n: suspects[n].chain.op.kind for n in padded}
        families["all convolutions: Pads"] = {
            n: way for n, way in padded.items() if kinds[n] is Kind.CONVOLUTION
        }
        families["all nodes: Pads"] = padded
        known = list[Mapping[int, int]]()
        for title, options in families.items():
            if options and options not in known:
                known.append(options)
                self._note(title)
                number, option = next(iter(options.items()))
                here = fill_of(suspects[number].options[option].chain) or 0.0
                fill = self._solved(_Family(around, options, here), now)
                if fill is not None:
                    yield self._written(around, options, fill), f"{title} with {fill:.6g}"

    def _padded(self, number: int, around: Choice) -> int | None:
        """The option with what is padded now as a Pad in front, which may hold any number."""
        suspect, sizes = self._runner.suspects[number], self._runner.sizes(number, around)
        here = suspect.chain
        if (
            sizes is None
            or here.op.kind is Kind.TRANSPOSED
            or "float" not in (here.dtype or "float")
        ):
            return None
        chain = _as_pad(suspect.options[around[number]].chain, sizes)
        return None if chain is None else self._runner.offer(number, chain)

    def _written(self, around: Choice, options: Mapping[int, int], fill: float) -> Choice:
        chosen = list(around)
        for number, option in options.items():
            chain = self._runner.suspects[number].options[option].chain
            cells = in_front(chain) or Pads.zero(chain.rank)
            chosen[number] = self._runner.offer(number, in_one_pad(chain, cells, fill))
        return tuple(chosen)

    def _solved(self, family: _Family, now: Score) -> float | None:
        """The fill with which more is reached, or for one node clearly less is left; else None."""
        first, least = first_missing(self._references, now), None
        for start in (family.here, _LARGE):
            one, other = start, start + _STEP * max(1.0, abs(start))
            before, after = self._left(family, first, one), self._left(family, first, other)
            for _ in range(_STEPS):
                if before is None or after is None or one == other:
                    break
                slope = (before - after) / (other - one)
                agreed = _agreed(after, slope)
                if agreed is None:
                    break
                fill = other + agreed[0]
                if self._reaches(family, fill, now):
                    return self._plain(family, now, fill, agreed[1])
                if least is None:
                    least = other + float(after @ slope) / float(slope @ slope)
                one, before, other = other, after, fill
                after = self._left(family, first, fill)
        for usual in (*_USUAL, *numbers_in(self._runner)):
            if self._reaches(family, usual, now):
                return usual
        if least is None or len(family.options) > 1 or self._has_few_places(now):
            return None
        score = scored(self._runner, self._references, family.at(least))
        alike = (score.missing, score.misfit) == (now.missing, now.misfit)
        return least if alike and score.residual < _FALL * now.residual else None

    def _plain(self, family: _Family, now: Score, fill: float, spread: float) -> float:
        """The fill as somebody will have written it, where that leaves about as little."""
        first = first_missing(self._references, now)
        left = self._left(family, first, fill)
        most = np.inf if left is None else _NO_FARTHER * float(left @ left)
        short = [float(f"{fill:.{digits}g}") for digits in range(1, _DIGITS)]
        for plain in (*_USUAL, *short[:3], round(fill * 255) / 255, *short[3:]):
            if abs(plain - fill) <= spread + _NEAR * abs(fill):
                left = self._left(family, first, plain)
                near = left is not None and left @ left <= most
                if near and self._reaches(family, plain, now):
                    return plain
        return fill

    def _has_few_places(self, now: Score) -> bool:
        """Whether the first reference that differs has few places; the channels of one are one."""
        shape = first_missing(self._references, now).value.shape
        return prod(shape[:1] + shape[2:]) < ENOUGH_PLACES

    def _reaches(self, family: _Family, fill: float, now: Score) -> bool:
        """Whether more references agree, all of them where the next one has few places."""
        score = scored(self._runner, self._references, family.at(fill))
        return score.matches if self._has_few_places(now) else score.missing < now.missing

    def _left(self, family: _Family, first: Reference, fill: float) -> Vector | None:
        return difference(self._runner, first, family.at(fill))


def fill_of(chain: Chain) -> float | None:
    """The number in the cells of the Pad in front; None for none."""
    number = None if chain.pad is None else number_of(chain.pad.fill)
    return None if number is None else float(number)


def is_usual(runner: Runner, fill: float) -> bool:
    """Whether a fill stands in the model or is one that people write."""
    return any(abs(fill - one) <= 1e-6 * abs(one) for one in (*_USUAL, *numbers_in(runner), 0.0))


def numbers_in(runner: Runner) -> list[float]:
    """Numbers that stand in the model by themselves: in Pads, and as scalars."""
    network = runner.network
    fills = [fill_of(suspect.chain) for suspect in runner.suspects]
    names = [name for name, held in network.initializers.items() if prod(held.dims) == 1]
    scalars = [network.constant(name) for name in names[:_MOST_NUMBERS]]
    held = [one.item() for one in scalars if one is not None and one.dtype.kind == "f"]
    floats = dict.fromkeys(one for one in (*fills, *held) if one is not None)
    return [one for one in floats if np.isfinite(one) and one][:_MOST_NUMBERS]


def _agreed(left: Vector, slope: Vector) -> tuple[float, float] | None:
    """By how much more the fill is, by what most cells say, and how far these are apart.

    None where it reaches no cell. It is the middle of the narrowest stretch that holds a tenth of
    what is said, each cell heard as loud as the fill reaches it.
    """
    loud = np.abs(slope)
    telling = loud > _TELLS * loud.max(initial=0.0)
    if not telling.any():
        return None
    said, weight = left[telling] / slope[telling], loud[telling]
    order = np.argsort(said)
    said, total = said[order], np.cumsum(weight[order])
    needed = total - weight[order] + _AGREEING * total[-1]
    first = np.flatnonzero(needed <= total[-1] * (1 + 1e-12))
    last = np.minimum(np.searchsorted(total, np.minimum(needed, total[-1])), said.size - 1)
    best = int(first[int((said[last[first]] - said[first]).argmin())])
    return float(np.median(said[best : last[best] + 1])), float(said[last[best]] - said[best])


def _as_pad(chain: Chain, sizes: Sizes) -> Chain | None:
    """All cells that a chain pads at these sizes in one constant Pad; None where it pads none."""
    here = in_numbers(chain, sizes)
    own = None if here is None or here.ceil_mode else effective_pads(here)
    front = None if here is None else in_front(here)
    if here is None or not isinstance(own, Pads) or front is None or min(front.flat) < 0:
        return None
    cells, step = own + front, here.pad
    if step is not None and (step.crossed or sum(front.flat) != sum(step.pads.flat)):
        return None
    fill = fill_of(here) if step is not None and step.mode == "constant" else None
    known = fill if fill and np.isfinite(fill) else 0.0
    return in_one_pad(chain, cells, known) if any(cells.flat) else None
