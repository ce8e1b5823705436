"""Ways to pad a node that these samples cannot tell apart, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from onnxpad.diagnosis.guesses import Choice
from onnxpad.diagnosis.report import Alternative, NodeFinding
from onnxpad.diagnosis.rivals import Rival
from onnxpad.diagnosis.runner import Broken, Runner, State
from onnxpad.diagnosis.suspects import Sizes, Suspect, telling_size
from onnxpad.retargeting.labels import label_of
from onnxpad.retargeting.windows_read import differs
from onnxpad.validation.agreement import relative_gap

Array = NDArray[Any]
Group = tuple[int, ...]
_ALIKE = 1e-6


def other_ways(
    runner: Runner, samples: Sequence[Mapping[str, Array]], rivals: Sequence[Rival]
) -> tuple[NodeFinding, ...]:
    """Nodes of a model that fits as it is, with what fits as well.

    What reads the same at the sizes of every sample counts where a framework writes it; `rivals`
    read otherwise and give the reference on these samples.
    """
    known = _sizes(runner, samples)
    rows = []
    for number, suspect in enumerate(runner.suspects):
        if not known[number]:
            continue
        sizes = known[number][0]
        others = (
            *_by_sizes(runner, number, known[number]),
            *by_values(runner, number, rivals, (0,), sizes),
        )
        if others:
            before = label_of(suspect.chain)
            names = suspect.options[0].conventions
            op = suspect.chain.op.name
            rows.append(
                NodeFinding(suspect.label, op, before, before, False, names, sizes, others)  # noqa: FBT003
            )
    return tuple(rows)


def _sizes(runner: Runner, samples: Sequence[Mapping[str, Array]]) -> list[list[Sizes]]:
    """What each suspect reads in every sample; the runner is left with the first one."""
    found: list[list[Sizes]] = [[] for _ in runner.suspects]
    for feeds in (*samples[1:], samples[0]):
        runner.feed(feeds)
        for number, sizes in enumerate(found):
            state = runner.before(number, (0,) * len(runner.suspects))
            if not isinstance(state, Broken):
                sizes.insert(0, runner.sizes(number, state))
    return found


def _by_sizes(runner: Runner, number: int, known: Sequence[Sizes]) -> Iterator[Alternative]:
    suspect, choices, sizes = runner.suspects[number], runner.choices[number], known[0]
    mine = suspect.options[0].chain
    for option in sorted(set.intersection(*(set(choices.alike(0, one)) for one in known))):
        other = suspect.options[option]
        if not option or not other.conventions or not differs(mine, other.chain):
            continue
        tells = telling_size(mine, other.chain, sizes)
        if tells is not None:
            yield Alternative(label_of(other.chain), other.conventions, tells)


def by_values(
    runner: Runner, number: int, rivals: Sequence[Rival], known: Group, sizes: Sizes
) -> Iterator[Alternative]:
    """Options that read otherwise at these sizes, alone or together with other nodes.

    `known` are the option that was found, first, and others that are told already.
    """
    suspect, leader = runner.suspects[number], runner.choices[number].leader
    done = set(known)
    for option in sorted({r.chosen[number] for r in rivals if r.suspect == number} - done):
        done.add(option)
        other = suspect.options[option]
        yield Alternative(_labelled(suspect, option), other.conventions, None, nearly=True)
    for rival in rivals:
        option = rival.chosen[number]
        same = leader(option, sizes) == leader(known[0], sizes)
        if rival.suspect is None and option not in done and not same:
            done.add(option)
            label = f"{_labelled(suspect, option)} ({rival.title})"
            names = suspect.options[option].conventions
            yield Alternative(label, names, None, nearly=True)


def _labelled(suspect: Suspect, option: int) -> str:
    return label_of(suspect.options[option].chain) + (" (as it is)" if option == 0 else "")


def same_here(
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


def same_on_every_sample(
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
                group &= {chosen[number], *alike_here(runner, number, chosen)}
    if samples[1:]:
        runner.feed(samples[0])
    return tuple(tuple(sorted(group)) for group in kept)


def alike_here(runner: Runner, number: int, chosen: Choice) -> Group:
    """Options of a suspect that give what the chosen one gives; none where it is not reached."""
    state = runner.before(number, chosen)
    if isinstance(state, Broken):
        return ()
    return same_here(runner, number, chosen[number], state, runner.sizes(number, state))
