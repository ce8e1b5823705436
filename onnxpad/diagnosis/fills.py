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
from onnxpad.diagnosis.options import Sizes, in_front, in_numbers, in_one_pad
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
            chain = self.runner.suspects[number].options[option].chain
            cells = in_front(chain) or Pads.zero(chain.rank)
            chosen[number] = self.runner.offer(number, in_one_pad(chain, cells, fill))
        return tuple(chosen)

    def solved(self) -> float | None:
        """The fill with which more references agree: one that is solved for, or a usual one."""
        for start in (fill_of(self._first_option) or 0.0, _LARGE):
            one, other = start, start + _STEP * max(1.0, abs(start))
            before, after = self._left(one), self._left(other)
            for _ in range(_STEPS):
                if before is None or after is None or one == other:
                    break
                agreed = _agreed(after, (before - after) / (other - one))
                if agreed is None:
                    break
                one, before, other = other, after, other + agreed[0]
                if self._reaches(other):
                    return self._plain(other, agreed[1])
                after = self._left(other)
        return next(filter(self._reaches, (*_USUAL, *numbers_in(self.runner))), None)

    @property
    def _first_option(self) -> Chain:
        number, option = next(iter(self.options.items()))
        return self.runner.suspects[number].options[option].chain

    def _left(self, fill: float) -> Vector | None:
        return difference(self.runner, first_missing(self.references, self.now), self.at(fill))

    def _has_few_places(self) -> bool:
        """Whether the first reference that differs has few places; the channels of one are one."""
        shape = first_missing(self.references, self.now).value.shape
        return prod(shape[:1] + shape[2:]) < ENOUGH_PLACES

    def _reaches(self, fill: float) -> bool:
        """Whether more references agree, all of them where the next one has few places."""
        score = scored(self.runner, self.references, self.at(fill))
        return score.matches if self._has_few_places() else score.missing < self.now.missing

    def _plain(self, fill: float, spread: float) -> float:
        """The fill as somebody will have written it, where that leaves about as little."""
        left = self._left(fill)
        most = np.inf if left is None else _NO_FARTHER * float(left @ left)
        short = [float(f"{fill:.{digits}g}") for digits in range(1, _DIGITS)]
        for plain in (*_USUAL, *short[:3], round(fill * 255) / 255, *short[3:]):
            if abs(plain - fill) <= spread + _NEAR * abs(fill):
                left = self._left(plain)
                if left is not None and left @ left <= most and self._reaches(plain):
                    return plain
        return fill


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
    chain = _as_pad(suspect.options[around[number]].chain, sizes)
    return None if chain is None else runner.offer(number, chain)


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
