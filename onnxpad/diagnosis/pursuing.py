"""Several changes at once, guessed from what each of them does alone, as if it were linear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.hypotheses import Choice
from onnxpad.diagnosis.running import Runner
from onnxpad.diagnosis.scoring import Score, Target, difference

Vector = NDArray[np.float64]
Change: TypeAlias = tuple[int, int]
Effect: TypeAlias = tuple[Change, Vector]
_MOST_CELLS = 20_000


def changed(chosen: Choice, *changes: Change) -> Choice:
    """The choices with other options at some places."""
    found = list(chosen)
    for number, option in changes:
        found[number] = option
    return tuple(found)


def effects(
    runner: Runner,
    target: Target,
    chosen: Choice,
    tried: Mapping[Choice, Score],
    changes: Sequence[Change],
) -> tuple[Vector, list[Effect]] | None:
    """What is left of the first reference that differs, and what each change takes off it.

    None where the result has another shape; changes that give another one are left out.
    """
    now = tried[chosen]
    name = target.next_name(now)
    left = difference(runner, target, name, chosen)
    if left is None:
        return None
    step = max(1, left.size // _MOST_CELLS)
    found = []
    for change in changes:
        other = changed(chosen, change)
        if tried[other].misfit or tried[other].missing != now.missing:
            continue
        after = difference(runner, target, name, other)
        if after is not None:
            found.append((change, (left - after)[::step]))
    return left[::step], found


def pursued(chosen: Choice, left: Vector, known: Sequence[Effect]) -> list[Choice]:
    """Sums of single changes that bring the result nearest to the reference, the largest first.

    Orthogonal matching pursuit over whole changes: each place takes part once or not at all.
    """
    picked: dict[int, int] = {}
    tries = []
    while True:
        rest = [one for one in known if one[0][0] not in picked]
        if not rest:
            break
        (number, option), effect = min(rest, key=lambda one: _rest(left, one[1]))
        if _rest(left, effect) >= float((left**2).sum()):
            break
        left = left - effect
        picked[number] = option
        if len(picked) > 1:
            tries.append(changed(chosen, *picked.items()))
    return tries[::-1]


def ranked_pairs(left: Vector, known: Sequence[Effect]) -> list[tuple[Change, Change]]:
    """Pairs of changes at two places, those first that leave least."""
    ranked = sorted(
        (_rest(left, first + second), one, other)
        for (one, first), (other, second) in combinations(known, 2)
        if one[0] != other[0]
    )
    return [(one, other) for _, one, other in ranked]


def _rest(left: Vector, effect: Vector) -> float:
    return float(((left - effect) ** 2).sum())
