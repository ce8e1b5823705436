"""Constants in padded cells that no framework writes: solved for, from what the reference shows.

Where everything behind a node is linear, a result is a + b * fill. Two runs give a and b, and with
them each cell of the reference that the fill reaches names one fill. A Relu or a max pool bends
some cells, so the fill is the one on which most cells agree, solved for again from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from onnxpad.diagnosis.guesses import Choice
from onnxpad.diagnosis.options import Sizes, in_front, in_numbers
from onnxpad.diagnosis.runner import Runner
from onnxpad.diagnosis.score import Reference, Score, Vector, difference, first_missing, scored
from onnxpad.padding.chain import Chain, Pads
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.fills import Constant, number_of
from onnxpad.padding.operators import Kind
from onnxpad.retargeting.candidates import behind_pad

# Fills that people write: normalised images, letterboxes of detectors (114 of 255), bytes.
_USUAL = (1.0, -1.0, 0.5, -0.5, 114 / 255, 114.0, 127.5, 128.0, 255.0)
_STEPS, _LARGE, _NEAR, _TELLS = 5, 128.0, 1e-3, 1e-2
# A number that nobody writes fits a lot: in so many places it has to agree.
ENOUGH_PLACES = 8


class Fills(NamedTuple):
    """One number in the Pads of some suspects, by suspect their options, around a choice.

    now: the score of the choice.
    """

    runner: Runner
    references: Sequence[Reference]
    around: Choice
    now: Score
    options: Mapping[int, int]

    def at(self, fill: float) -> Choice:
        """The choices with options whose Pads hold `fill`."""
        chosen = list(self.around)
        for number, option in self.options.items():
            chain = self.runner.suspects[number].options[option]
            cells = in_front(chain) or Pads.zero(chain.rank)
            chosen[number] = self.runner.offer(number, behind_pad(chain, cells, Constant(fill)))
        return tuple(chosen)

    def solved(self) -> float | None:
        """The fill with which more references agree: one that is solved for, or a usual one.

        One that is solved for is given as somebody will have written it.
        """
        if (fill := next(filter(self._reaches, self._named()), None)) is None:
            return next(filter(self._reaches, _USUAL), None)
        short = [float(f"{fill:.{digits}g}") for digits in range(1, 9)]
        plain = (*_USUAL, *short[:3], round(fill * 255) / 255, *short[3:])
        near = [*(one for one in plain if abs(one - fill) <= _NEAR * abs(fill)), fill]
        left = {one: self._left(one) for one in filter(self._reaches, near)}
        error = {one: float(off @ off) for one, off in left.items() if off is not None}
        return next((one for one in error if error[one] <= 4 * min(error.values())), fill)

    def _named(self) -> Iterator[float]:
        """Fills that the cells of the reference name, each solved for from the one before."""
        number, option = next(iter(self.options.items()))
        own = fill_of(self.runner.suspects[number].options[option]) or 0.0
        for start in (own, _LARGE):
            one, other = start, start + max(1.0, abs(start)) / 10
            before = self._left(one)
            for _ in range(_STEPS):
                after = None if one == other else self._left(other)
                if before is None or after is None:
                    break
                step = _agreed(after, (before - after) / (other - one))
                if step is None:
                    break
                one, before, other = other, after, other + step
                yield other

    def _left(self, fill: float) -> Vector | None:
        return difference(self.runner, first_missing(self.references, self.now), self.at(fill))

    def _reaches(self, fill: float) -> bool:
        """Whether more references agree, all of them where the next one has few places.

        The channels of a place are one place.
        """
        shape = first_missing(self.references, self.now).value.shape
        score = scored(self.runner, self.references, self.at(fill))
        few = prod(shape[:1] + shape[2:]) < ENOUGH_PLACES
        return score.matches if few else score.missing < self.now.missing


def with_fills(
    runner: Runner,
    references: Sequence[Reference],
    around: Choice,
    now: Score,
    places: Sequence[int],
    note: Callable[[str], None],
) -> Iterator[tuple[Choice, str]]:
    """Fills in the cells that are padded now: at each of the suspects, then one at several.

    `note` is told of each, and may raise.
    """
    padded = {n: way for n in places if (way := _padded(runner, n, around)) is not None}
    kinds = {n: runner.suspects[n].chain.op.kind for n in padded}
    convolutions = [n for n in padded if kinds[n] is Kind.CONVOLUTION]
    families: dict[tuple[int, ...], str] = {
        (n,): f"{runner.suspects[n].label}: a Pad" for n in padded
    }
    families.setdefault(tuple(convolutions), "all convolutions: Pads")
    families.setdefault(tuple(padded), "all nodes: Pads")
    for numbers, title in families.items():
        if numbers:
            note(title)
            options = {number: padded[number] for number in numbers}
            fills = Fills(runner, references, around, now, options)
            fill = fills.solved()
            if fill is not None:
                yield fills.at(fill), f"{title} with {fill:.6g}"


def _padded(runner: Runner, number: int, around: Choice) -> int | None:
    """The option with what is padded now as a Pad in front, which may hold any number."""
    suspect, sizes = runner.suspects[number], runner.sizes(number, around)
    here = suspect.chain
    if sizes is None or here.op.kind is Kind.TRANSPOSED or "float" not in (here.dtype or "float"):
        return None
    chain = _as_pad(suspect.options[around[number]], sizes)
    return None if chain is None else runner.offer(number, chain)


def fill_of(chain: Chain) -> float | None:
    """The number in the cells of the Pad in front; None for none."""
    number = None if chain.pad is None else number_of(chain.pad.fill)
    return None if number is None else float(number)


def is_usual(fill: float) -> bool:
    """Whether a fill is one that people write."""
    return any(abs(fill - one) <= 1e-6 * abs(one) for one in (*_USUAL, 0.0))


def _agreed(left: Vector, slope: Vector) -> float | None:
    """By how much more the fill is, by what most cells say; None where it reaches no cell.

    It is the middle of the narrowest stretch that holds a tenth of what is said.
    """
    reached = np.abs(slope) > _TELLS * np.abs(slope).max(initial=0.0)
    said = np.sort(left[reached] / slope[reached])
    if not said.size:
        return None
    count = min(said.size, max(2, said.size // 10))
    best = int((said[count - 1 :] - said[: said.size - count + 1]).argmin())
    return float(np.median(said[best : best + count]))


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
    return behind_pad(chain, cells, Constant(known)) if any(cells.flat) else None
