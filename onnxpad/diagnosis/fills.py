"""Constants in padded cells that no framework writes: solved for, from what the reference shows.

Where what stands behind is linear, a result is a + b * fill. Two runs give a and b, and with them
each cell of the reference that the fill reaches names one fill. What is not linear (a Relu, a max
pool) bends some cells, so the fill is the one on which most cells agree, and it is solved for again
from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.guesses import Choice
from onnxpad.diagnosis.runner import Broken, Runner
from onnxpad.diagnosis.score import ReferenceValues, Score, difference, scored
from onnxpad.diagnosis.suspects import Sizes, Way, in_numbers
from onnxpad.padding.chain import Chain, Pads
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.fills import number_of
from onnxpad.padding.operators import Kind
from onnxpad.retargeting.candidates import Candidate
from onnxpad.retargeting.labels import label_of
from onnxpad.retargeting.plan import with_settings

Array = NDArray[Any]
Vector = NDArray[np.float64]
_KINDS = (Kind.CONVOLUTION, Kind.AVERAGE, Kind.MAX, Kind.LP)
# Fills that people write: normalised images, letterboxes of detectors (114 of 255), bytes.
_USUAL = (1.0, -1.0, 0.5, -0.5, 114 / 255, 114.0, 127.5, 128.0, 255.0)
_STEPS = 6
_AGREEING = 0.1
_LIKE = 0.01
_STEP = 0.1
_FIRST = 3
_ROUNDING = 1e-3
_NO_FARTHER = 4.0
_TELLS = 1e-3
_MOST_NUMBERS = 16
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Family:
    """Choices that hang on one number: chains whose Pads all hold it, by suspect.

    `starts` are numbers to solve from besides 0: always where it is one of the `first` nodes.
    """

    around: Choice
    chains: Mapping[int, Chain]
    title: str
    starts: tuple[float, ...] = ()
    first: bool = False

    def filled(self, fill: float) -> dict[int, Chain]:
        """The chains where the Pads hold `fill`."""
        return {number: with_fill(chain, fill) for number, chain in self.chains.items()}

    def at(self, fill: float) -> tuple[Way, ...]:
        """The choices where the Pads hold `fill`."""
        return with_chains(self.around, self.filled(fill))


def with_chains(around: Choice, chains: Mapping[int, Chain]) -> tuple[Way, ...]:
    """The choices with these chains at some suspects."""
    return tuple(chains.get(number, option) for number, option in enumerate(around))


def offered(runner: Runner, around: Choice, chains: Mapping[int, Chain]) -> Choice:
    """The same as options of the suspects, which know these chains from now on."""
    chosen = list(around)
    for number, chain in chains.items():
        chosen[number] = runner.offer(number, Candidate(chain, (), label_of(chain)))
    return tuple(chosen)


def with_fill(chain: Chain, fill: float) -> Chain:
    """The chain with another number in the cells of its Pad."""
    pads = () if chain.pad is None else chain.pad.pads.flat
    return with_settings(chain, {"pad_node": _record(pads, fill)})


class Fills:
    """Solves for fills with which more of a reference is reached; `note` is told of each try."""

    def __init__(
        self, runner: Runner, target: ReferenceValues, note: Callable[[str], None]
    ) -> None:
        self._runner = runner
        self._target = target
        self._note = note
        self._known = numbers_in(runner)

    def found(
        self, around: Choice, now: Score, places: Iterable[int], *, elsewhere: bool = False
    ) -> Iterator[tuple[Choice, str]]:
        """Choices that reach more than `around` (it has the score `now`), by fills at suspects.

        In the cells that are padded now, or in others where `elsewhere`.
        """
        families = self._elsewhere if elsewhere else self._in_place
        for family in families(around, sorted(places)):
            self._note(family.title)
            fill = self._solved(family, now)
            if fill is None:
                continue
            chosen = offered(self._runner, around, family.filled(fill))
            if chosen != around:
                yield chosen, f"{family.title} with {fill:.6g}"

    def _in_place(self, around: Choice, places: Sequence[int]) -> Iterator[Family]:
        """Each node where it pads now, then all of them with one fill."""
        usual = tuple(dict.fromkeys((*self._known, *_USUAL)))
        first: dict[int, Chain] = {}
        for number in places:
            for chain in islice(chains_at(self._runner, number, around), 1):
                first[number] = chain
                near = number in places[:_FIRST]
                yield Family(around, {number: chain}, self._title(number), usual, near)
        kinds = {n: self._runner.suspects[n].chain.op.kind for n in first}
        for name, group in (("all convolutions", [Kind.CONVOLUTION]), ("all nodes", _KINDS)):
            some = {n: chain for n, chain in first.items() if kinds[n] in group}
            if len(some) > 1 and len(some) == len([k for k in kinds.values() if k in group]):
                yield Family(around, some, f"{name}: Pads", usual)

    def _elsewhere(self, around: Choice, places: Sequence[int]) -> Iterator[Family]:
        """Each node in other places."""
        for number in places:
            for chain in islice(chains_at(self._runner, number, around), 1, None):
                yield Family(around, {number: chain}, self._title(number))

    def _title(self, number: int) -> str:
        return f"{self._runner.suspects[number].label}: a Pad"

    def _solved(self, family: Family, now: Score) -> float | None:
        """The fill with which more is reached; None where none is found."""
        worth = family.first
        for first in ((0.0, _STEP), (0.0, -_STEP)):
            fill, hopeful = self._from(family, first, now)
            if fill is not None:
                return fill
            worth = worth or hopeful
        for start in family.starts if worth else ():
            fill, _ = self._from(family, (start, start * (1.0 - _STEP)), now)
            if fill is not None:
                return fill
        return None

    def _from(
        self, family: Family, first: tuple[float, float], now: Score
    ) -> tuple[float | None, bool]:
        """The fill that secants come to from two others, and whether another start may do better.

        It may not where the first secant points past what is left.
        """
        name = self._target.next_name(now)
        points = [(fill, self._left(family, name, fill)) for fill in first]
        hopeful = False
        for step in range(_STEPS):
            (one, before), (other, after) = points[-2:]
            if before is None or after is None:
                return None, False
            slope = (before - after) / (other - one)
            if not step:
                hopeful = not slope.any() or likeness(before, slope) > _LIKE
            estimate = agreed(after, slope)
            if estimate is None or not hopeful:
                return None, hopeful
            fill, spread = other + estimate[0], estimate[1]
            if self._reaches(family, fill, now):
                return self._plain(family, now, (other, after), (fill, spread)), True
            if fill == other or not np.isfinite(fill):
                return None, hopeful
            points.append((fill, self._left(family, name, fill)))
        return None, hopeful

    def _reaches(self, family: Family, fill: float, now: Score) -> bool:
        return scored(self._runner, self._target, family.at(fill)).missing < now.missing

    def _plain(
        self,
        family: Family,
        now: Score,
        before: tuple[float, Vector],
        reached: tuple[float, float],
    ) -> float:
        """The fill as somebody will have written it: solved for once more from where it fits."""
        (other, after), (fill, spread) = before, reached
        name = self._target.next_name(now)
        left = self._left(family, name, fill)
        if left is None or fill == other:
            return fill
        better = agreed(left, (after - left) / (fill - other))
        if better is not None and self._reaches(family, fill + better[0], now):
            fill, spread = fill + better[0], better[1]
            left = self._left(family, name, fill)
        most = inf if left is None else _NO_FARTHER * float(left @ left)
        for plain in written(fill, spread, self._known):
            left = self._left(family, name, plain)
            if left is not None and left @ left <= most and self._reaches(family, plain, now):
                return plain
        return fill

    def _left(self, family: Family, name: str, fill: float) -> Vector | None:
        return difference(self._runner, self._target, name, family.at(fill))


def chains_at(runner: Runner, number: int, around: Choice) -> Iterator[Chain]:
    """A suspect with a Pad in front for each place where cells may be added, as chosen first.

    What the operator adds itself goes into the Pad; where both add, it may stay as well.
    """
    suspect = runner.suspects[number]
    state = runner.before(number, around)
    kind, dtype = suspect.chain.op.kind, suspect.chain.dtype
    if isinstance(state, Broken) or kind not in _KINDS or (dtype and "float" not in dtype):
        return
    sizes = runner.sizes(number, state)
    known: set[str] = set()
    for option in (around[number], *runner.choices[number].leaders(sizes)):
        for chain in in_front(suspect.options[option].chain, sizes):
            if (label := label_of(chain)) not in known:
                known.add(label)
                yield chain


def likeness(one: Vector, other: Vector) -> float:
    """The part of a square that a multiple of the other takes off: 0 to 1."""
    sizes = float(one @ one) * float(other @ other)
    return float(one @ other) ** 2 / sizes if sizes else 0.0


def agreed(left: Vector, slope: Vector) -> tuple[float, float] | None:
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
    last = np.searchsorted(total, np.minimum(needed, total[-1]))
    first = np.flatnonzero(needed <= total[-1] * (1 + 1e-12))
    last = np.minimum(last, said.size - 1)
    widths = said[last[first]] - said[first]
    best = int(first[int(widths.argmin())])
    low, high = float(said[best]), float(said[last[best]])
    return float(np.median(said[best : last[best] + 1])), high - low


def written(fill: float, spread: float, known: Iterable[float]) -> Iterator[float]:
    """Numbers near `fill` that somebody may have written, the plainest first.

    Those are numbers of the model and such as people use, numbers of few digits, parts of 255.
    """
    near = spread + _ROUNDING * abs(fill)
    short = [float(f"{fill:.{digits}g}") for digits in range(1, _DIGITS)]
    numbers = (*known, *_USUAL, *short[:3], round(fill * 255) / 255, *short[3:])
    yield from (one for one in dict.fromkeys(numbers) if abs(one - fill) <= near)


def in_front(chain: Chain, sizes: Sizes) -> Iterator[Chain]:
    """The padding of a chain, at these sizes, as a Pad that may hold any number."""
    here = in_numbers(chain, sizes)
    own = None if here is None or here.ceil_mode else effective_pads(here)
    if here is None or not isinstance(own, Pads):
        return
    step, rank = here.pad, here.tensor_rank
    begins, ends = [0] * rank, [0] * rank
    if step is not None:
        begins, ends = list(step.pads.begins), list(step.pads.ends)
        inside = sum(begins[here.spatial]) + sum(ends[here.spatial]) == sum(begins) + sum(ends)
        if step.unclear or step.crossed or min(*begins, *ends) < 0 or not inside:
            return
    both = [[*begins], [*ends]]
    for side, more in zip(both, (own.begins, own.ends), strict=True):
        side[here.spatial] = [a + b for a, b in zip(side[here.spatial], more, strict=True)]
    pads = [*both[0], *both[1]]
    if any(pads):
        none = [0] * (2 * here.rank)
        yield with_settings(chain, {"pads": none, "pad_node": _record(pads, 0.0)})
    if any(begins + ends) and any(own.flat):
        yield with_settings(chain, {"pad_node": _record([*begins, *ends], 0.0)})


def _record(pads: Sequence[int], fill: float) -> dict[str, Any]:
    return {"pads": list(pads), "value": fill, "mode": "constant"}


def numbers_in(runner: Runner) -> tuple[float, ...]:
    """Numbers that stand in the model by themselves: in Pads, and as scalars."""
    network = runner.network
    found = []
    for suspect in runner.suspects:
        step = suspect.chain.pad
        value = None if step is None else number_of(step.fill)
        found += [] if value is None else [float(value)]
    scalars = [n for n, held in network.initializers.items() if prod(held.dims) == 1]
    for name in scalars[:_MOST_NUMBERS]:
        held = network.constant(name)
        if held is not None and held.dtype.kind == "f":
            found.append(float(held.reshape(-1)[0]))
    numbers = [one for one in dict.fromkeys(found) if np.isfinite(one) and one]
    return tuple(numbers[:_MOST_NUMBERS])
