"""Other ways to pad that fit the samples as well as what was found."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.guesses import Choice, whole_guesses
from onnxpad.diagnosis.pursuit import changed
from onnxpad.diagnosis.runner import Broken, Runner
from onnxpad.diagnosis.score import PRECISE, size_of
from onnxpad.diagnosis.suspects import Way
from onnxpad.validation.agreement import gap
from onnxpad.validation.reference import FOREIGN

Array = NDArray[Any]
DOMINATED = 4


@dataclass(frozen=True, slots=True)
class Rival:
    """Choices within the bounds on every sample; `suspect` is the only one that changes, if one.

    `residual` is the largest difference from the reference over its largest value, `nearness`
    that difference over its bound, `apart` how far it is from what was found, over the same.
    """

    chosen: Choice
    title: str
    suspect: int | None
    residual: float
    nearness: float
    apart: float


@dataclass(frozen=True, slots=True)
class Reference:
    """Samples with what is expected of them and the bound of each output and sample."""

    samples: Sequence[Mapping[str, Array]]
    expected: Mapping[str, Sequence[Array]]
    bounds: Mapping[tuple[str, int], float]


def rivals(
    runner: Runner, reference: Reference, chosen: Choice, deadline: float
) -> tuple[list[Rival], bool]:
    """Whole guesses and single changes that fit as well, and whether all were tried in time.

    The runner is left with the first sample.
    """
    runner.feed(reference.samples[0])
    mine = _leaders(runner, reference, chosen)
    known: dict[tuple[Way, ...], tuple[Choice, str, int | None]] = {}
    complete = True
    for other, title, suspect in other_choices(runner, chosen):
        if time.monotonic() > deadline:
            complete = False
            break
        leaders = _leaders(runner, reference, other)
        if leaders is None or leaders == mine or leaders in known:
            continue
        if _within(runner, reference, 0, other):
            known[leaders] = (other, title, suspect)
    found = _measured(runner, reference, chosen, list(known.values()))
    runner.feed(reference.samples[0])
    return found, complete


def undecided(found: Sequence[Rival], residual: float, allowed: float) -> list[Rival]:
    """Rivals that a wide bound alone lets in: rounding cannot be told from padding there.

    Bounds are wide above `PRECISE`. A rival that gives nearly what was found does not count, nor
    one that is far from the reference by the model's own rounding and much farther than what was
    found. The nearest comes first.
    """
    if allowed <= PRECISE:
        return []
    near = [one for one in found if one.apart > PRECISE and _as_near(one, residual)]
    return sorted(near, key=lambda rival: rival.residual)


def unseen_changes(
    found: Sequence[Rival], residual: float, groups: Mapping[int, Sequence[int]]
) -> list[Rival]:
    """Rivals that pad one of these nodes otherwise, which gives other numbers there.

    `groups` are the ways to pad each node that give the same numbers as the chosen one. The
    nearest comes first.
    """
    near = [
        one
        for one in found
        if one.suspect is not None
        and one.suspect in groups
        and one.chosen[one.suspect] not in groups[one.suspect]
        and _as_near(one, residual)
    ]
    return sorted(near, key=lambda rival: rival.residual)


def _as_near(rival: Rival, residual: float) -> bool:
    return rival.nearness <= 1 / FOREIGN or rival.residual <= DOMINATED * residual


def other_choices(runner: Runner, chosen: Choice) -> Iterator[tuple[Choice, str, int | None]]:
    """Whole guesses, then changes of one suspect: the last first, which takes the least to run."""
    for guess in whole_guesses(runner.suspects):
        if guess.chosen != chosen:
            yield guess.chosen, guess.title, _only(guess.chosen, chosen)
    for number in range(len(runner.suspects) - 1, -1, -1):
        suspect = runner.suspects[number]
        state = runner.before(number, chosen)
        if isinstance(state, Broken):
            continue
        choices, sizes = runner.choices[number], runner.sizes(number, state)
        far = chosen[number] >= suspect.ordinary
        for option in choices.leaders(sizes):
            if suspect.ordinary <= option < suspect.given and not far:
                continue
            if option == chosen[number] or choices.resizes(chosen[number], option, sizes):
                continue
            title = f"{suspect.label}: {suspect.options[option].label}"
            yield changed(chosen, (number, option)), title, number


def _only(one: Choice, other: Choice) -> int | None:
    apart = [n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    return apart[0] if len(apart) == 1 else None


def _leaders(runner: Runner, reference: Reference, chosen: Choice) -> tuple[Way, ...] | None:
    """What is read, suspect by suspect; None where it does not run."""
    found: list[Way] = []
    for name in reference.expected:
        state = runner.until(name, chosen)
        if isinstance(state, Broken):
            return None
        found += state.leaders
    return tuple(found)


def _within(runner: Runner, reference: Reference, sample: int, chosen: Choice) -> bool:
    for name, values in reference.expected.items():
        state = runner.until(name, chosen)
        if isinstance(state, Broken):
            return False
        if gap(values[sample], state.tensors[name]).max_abs > reference.bounds[name, sample]:
            return False
    return True


def _measured(
    runner: Runner,
    reference: Reference,
    chosen: Choice,
    known: Sequence[tuple[Choice, str, int | None]],
) -> list[Rival]:
    """Those that fit every sample, with how far they are from the reference and from `chosen`."""
    worst = {other: (0.0, 0.0, 0.0) for other, _, _ in known}
    for sample, feeds in enumerate(reference.samples) if known else ():
        runner.feed(feeds)
        for other in list(worst):
            if not _within(runner, reference, sample, other):
                del worst[other]
                continue
            here = _distances(runner, reference, sample, (chosen, other))
            worst[other] = tuple(map(max, worst[other], here))  # type: ignore[assignment]
    return [Rival(o, title, suspect, *worst[o]) for o, title, suspect in known if o in worst]


def _distances(
    runner: Runner, reference: Reference, sample: int, pair: tuple[Choice, Choice]
) -> tuple[float, float, float]:
    residual = nearness = apart = 0.0
    for name, values in reference.expected.items():
        states = [runner.until(name, one) for one in pair]
        mine, other = (None if isinstance(s, Broken) else s.tensors[name] for s in states)
        if mine is None or other is None:
            return np.inf, np.inf, np.inf
        right, size = values[sample], size_of(values[sample])
        off = gap(right, other).max_abs
        residual = max(residual, off / size)
        nearness = max(nearness, off / (reference.bounds[name, sample] or np.inf))
        apart = max(apart, gap(mine, other).max_abs / size)
    return residual, nearness, apart
