"""Whether a reference can check fills that were solved for: numbers that are free fit a lot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.fills import with_fill
from onnxpad.diagnosis.guesses import Choice
from onnxpad.diagnosis.runner import Broken, Runner
from onnxpad.diagnosis.suspects import Way
from onnxpad.padding.fills import number_of

Array = NDArray[Any]
_ENOUGH = 8
_MOVED = 16.0
# How far inputs are moved, of their spread, and what part of the largest movement is one: more
# than rounding does, and than a curve bends on so short a way.
_NUDGE, _INDEPENDENT = 1e-3, 1e-2


@dataclass(frozen=True, slots=True)
class Checks:
    """So many different `values` of the reference hang on so many `fills` that were solved for.

    They move in `ways` that are independent of each other, with the fills or without: a thousand
    results that all come from three channels are three equations. Ways are counted no further
    than what is needed.
    """

    fills: int
    values: int
    ways: int

    @property
    def enough(self) -> bool:
        """Whether much more is known than was solved for."""
        return min(self.values, self.ways) >= _needed(self.fills)


def _needed(fills: int) -> int:
    return _ENOUGH + fills - 1


def checks(
    runner: Runner,
    samples: Sequence[Mapping[str, Array]],
    expected: Mapping[str, Sequence[Array]],
    bounds: Mapping[tuple[str, int], float],
    chosen: Choice,
) -> Checks | None:
    """What checks the fills of these choices that were solved for; None where none was.

    A value tells them where it moves by much more than its bound when the cells hold what the
    operator pads with; values that are equal within that, and move from equal ones, count once.
    The runner is left with the first sample.
    """
    plain, numbers = list[Way](chosen), set()
    for number, option in enumerate(chosen):
        suspect = runner.suspects[number]
        if option >= suspect.given:
            chain = suspect.options[option].chain
            plain[number] = with_fill(chain, -inf if chain.is_max else 0.0)
            numbers.add(None if chain.pad is None else number_of(chain.pad.fill))
    if not numbers:
        return None
    told: set[tuple[str, float, float]] = set()
    ways, wanted = 0, _needed(len(numbers))
    for sample in (*range(1, len(samples)), 0):
        runner.feed(samples[sample])
        masks = {}
        for name, values in expected.items():
            states = [runner.until(name, one) for one in (chosen, plain)]
            if any(isinstance(state, Broken) for state in states):
                continue
            with_it, without = (s.tensors[name] for s in states if not isinstance(s, Broken))
            step = _MOVED * (bounds.get((name, sample)) or 0.0)
            masks[name] = moved = np.abs(with_it.astype(np.float64) - without) > step
            pairs = np.stack([values[sample][moved], without[moved]]).astype(np.float64)
            known = np.unique(np.round(pairs / (step or 1.0)), axis=1).T
            told |= {(name, float(one), float(other)) for one, other in known}
        if ways < wanted:
            several = (
                _independent(runner, samples[sample], one, masks, wanted) for one in (chosen, plain)
            )
            ways += max(several)
    runner.feed(samples[0])
    return Checks(len(numbers), len(told), ways)


def _independent(
    runner: Runner,
    feeds: Mapping[str, Array],
    chosen: Sequence[Way],
    masks: Mapping[str, NDArray[np.bool_]],
    wanted: int,
) -> int:
    """In how many independent ways the marked values move, `wanted` at most, with the input."""
    runner.feed(feeds)
    rows, here = [], _marked(runner, chosen, masks)
    for nudged in _nudged(feeds, 2 * wanted):
        runner.feed(nudged)
        there = _marked(runner, chosen, masks)
        rows.append(there - here)
    if not rows or not here.size:
        return 0
    found = np.linalg.svd(np.stack(rows), compute_uv=False)
    if not found[0]:
        return 0
    return min(wanted, int((found > _INDEPENDENT * found[0]).sum()))


def _marked(
    runner: Runner, chosen: Sequence[Way], masks: Mapping[str, NDArray[np.bool_]]
) -> NDArray[np.float64]:
    parts = []
    for name, mask in masks.items():
        state = runner.until(name, chosen)
        value = np.zeros(mask.shape) if isinstance(state, Broken) else state.tensors[name]
        parts.append(value.astype(np.float64)[mask])
    return np.concatenate(parts) if parts else np.zeros(0)


def _nudged(feeds: Mapping[str, Array], count: int) -> Iterator[dict[str, Array]]:
    """The sample with every number of its inputs moved a little, each time otherwise."""
    random = np.random.default_rng(count)
    for _ in range(count):
        found = dict(feeds)
        for name, value in feeds.items():
            if value.dtype.kind == "f":
                size = _NUDGE * (float(value.std()) or 1.0)
                more = size * random.standard_normal(value.shape)
                found[name] = (value + more).astype(value.dtype)
        yield found
