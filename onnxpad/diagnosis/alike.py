"""Options of a place that give what the chosen one gives: on one sample, and on all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from onnxpad.diagnosis.hypotheses import Choice
from onnxpad.diagnosis.running import Broken, Runner, State
from onnxpad.diagnosis.sites import Sizes
from onnxpad.validation.agreement import relative_gap

Array = NDArray[Any]
Group = tuple[int, ...]
_ALIKE = 1e-6


def alike(
    runner: Runner, number: int, choice: int, state: State | None, sizes: Sizes | None
) -> Group:
    """Options that give what the chosen one gives, to rounding, the chosen one included."""
    if state is None or sizes is None:
        return (choice,)
    choices = runner.choices[number]
    same = choices.alike(choice, sizes)
    mine = runner.local(number, choice, state)
    for leader in choices.leaders(sizes):
        if leader in same or mine is None or choices.resizes(choice, leader, sizes):
            continue
        other = runner.local(number, leader, state)
        if other is not None and relative_gap(mine, other) <= _ALIKE:
            same += choices.alike(leader, sizes)
    return tuple(sorted(same))


def alike_everywhere(
    runner: Runner,
    samples: Sequence[Mapping[str, Array]],
    chosen: Choice,
    groups: Sequence[Group],
) -> tuple[Group, ...]:
    """What is left of groups on the first sample when the others are read as well.

    The runner is left with the first sample.
    """
    kept = [set(group) for group in groups]
    for feeds in samples[1:]:
        runner.feed(feeds)
        for number, group in enumerate(kept):
            if len(group) > 1:
                group &= {chosen[number], *_here(runner, number, chosen)}
    if samples[1:]:
        runner.feed(samples[0])
    return tuple(tuple(sorted(group)) for group in kept)


def _here(runner: Runner, number: int, chosen: Choice) -> Group:
    state = runner.before(number, chosen)
    if isinstance(state, Broken):
        return ()
    return alike(runner, number, chosen[number], state, runner.sizes(number, state))
