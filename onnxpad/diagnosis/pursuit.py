"""Single changes of padding, and sums of them that explain what is left of a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.guesses import Choice
from onnxpad.diagnosis.runner import Runner
from onnxpad.diagnosis.score import ReferenceValues, Score, difference

Vector = NDArray[np.float64]
Flip: TypeAlias = tuple[int, int]
Effect: TypeAlias = tuple[Flip, Vector]
_MOST_CELLS = 20_000


def changed(chosen: Choice, *flips: Flip) -> Choice:
    """The choices with other options at some suspects."""
    found = list(chosen)
    for number, option in flips:
        found[number] = option
    return tuple(found)


def effects(
    runner: Runner,
    target: ReferenceValues,
    chosen: Choice,
    tried: Mapping[Choice, Score],
    changes: Sequence[Flip],
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


def matching_pursuit(chosen: Choice, left: Vector, known: Sequence[Effect]) -> list[Choice]:
    """Sums of single changes that bring the result nearest to the reference, the largest first.

    Orthogonal matching pursuit over whole changes: each suspect takes part once or not at all.
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


def _rest(left: Vector, effect: Vector) -> float:
    return float(((left - effect) ** 2).sum())
