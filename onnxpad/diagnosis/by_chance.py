"""Whether one of many ways to pad may give a reference by chance: few numbers tell little."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.guesses import Choice
from onnxpad.diagnosis.rivals import Reference, other_choices
from onnxpad.diagnosis.runner import Broken, Runner

_MOST_VALUES = 256
_LIKELY, _NEAREST = 0.05, 0.05
_ENDLESS = 1000.0


@dataclass(frozen=True, slots=True)
class ByChance:
    """Other padding moves the reference over so many `steps`, each as wide as its bound.

    `nearness` is what is left over the bound: little is seldom left by chance.
    """

    tried: int
    steps: float
    nearness: float

    @property
    def likely(self) -> bool:
        """Whether so many tries may well have met it without being right."""
        near = min(1.0, max(_NEAREST, self.nearness))
        return self.tried * near > _LIKELY * self.steps


def by_chance(
    runner: Runner,
    reference: Reference,
    chosen: Choice,
    known: tuple[int, float],
    deadline: float,
) -> ByChance | None:
    """What other padding does to a reference of few values; None where nothing is known of that.

    Steps are counted along every direction in which the values move independently, as far as half
    of the other ways go. `known` is how many ways were tried, and what these choices leave over
    its bound. The runner is left with the first sample.
    """
    tried, nearness = known
    if sum(value.size for values in reference.expected.values() for value in values) > _MOST_VALUES:
        return None
    runner.feed(reference.samples[0])
    others = [chosen, *dict.fromkeys(other for other, _, _ in other_choices(runner, chosen))]
    rows: list[list[NDArray[np.float64]]] = [[] for _ in others]
    for sample, feeds in enumerate(reference.samples):
        runner.feed(feeds)
        for row, other in zip(rows, others, strict=True):
            if time.monotonic() > deadline:
                break
            row.append(_in_bounds(runner, reference, sample, other))
    runner.feed(reference.samples[0])
    found = [np.concatenate(row) for row in rows if len(row) == len(reference.samples)]
    moved = [row - found[0] for row in found[1:] if row.shape == found[0].shape]
    moved = [row for row in moved if np.isfinite(row).all() and row.any()]
    if not moved:
        return None
    moves = np.stack(moved)
    directions = np.linalg.svd(moves, full_matrices=False)[2]
    usual = np.median(np.abs(moves @ directions.T), axis=0)
    bits = float(np.log2(np.maximum(1.0, usual)).sum())
    return ByChance(tried, 2.0 ** min(_ENDLESS, bits), nearness)


def _in_bounds(
    runner: Runner, reference: Reference, sample: int, chosen: Choice
) -> NDArray[np.float64]:
    """What these choices give, each value over the bound of its tensor; nothing if they fail."""
    parts = []
    for name in reference.expected:
        state = runner.until(name, chosen)
        if isinstance(state, Broken):
            return np.zeros(0)
        bound = reference.bounds[name, sample] or np.inf
        parts.append(state.tensors[name].astype(np.float64).ravel() / bound)
    return np.concatenate(parts)
