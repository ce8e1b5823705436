"""From choices per node to a plan: which of several equal ways to write, and what else would do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from onnxpad.diagnosis.guesses import Choice, always_same, by_meaning, convention_names
from onnxpad.diagnosis.options import Sizes, Suspect, in_numbers, telling_size
from onnxpad.diagnosis.report import Alternative, NodeFinding
from onnxpad.diagnosis.runner import Array, Feeds, Runner
from onnxpad.diagnosis.score import Reference, scored, size_of
from onnxpad.geometry.size import Symbol
from onnxpad.padding.chain import Chain, Pads, is_same
from onnxpad.padding.effective_pads import same_is_disputed
from onnxpad.probing.agreement import gap
from onnxpad.retargeting.labels import label_of
from onnxpad.retargeting.plan import Plan, PlanEntry, settings_of, with_settings
from onnxpad.retargeting.windows_read import differs

_FARTHEST_GROWN = 3
_FREQUENT = 3


@dataclass(frozen=True, slots=True)
class Settled:
    """Choices with one way taken of those that read the same.

    groups: for each suspect, the listed ways that read the same in every sample.
    reads: spatial sizes that each suspect reads in every sample, () where that is not known.
    """

    chosen: Choice
    groups: tuple[frozenset[int], ...]
    reads: tuple[tuple[Sizes, ...], ...]


def settled(runner: Runner, chosen: Choice, *, is_whole: bool = False) -> Settled:
    """The choices with one way taken out of each group that reads the same in every sample.

    A node with fixed sizes stays as it is where that fits. A node with open sizes takes what a
    guess of the whole network has for it (`is_whole`), else the way of the convention that fits
    every node that has to change: at other sizes the network follows the same convention.
    """
    suspects = runner.suspects
    groups, reads = list[frozenset[int]](), list[tuple[Sizes, ...]]()
    for number, (suspect, way) in enumerate(zip(suspects, chosen, strict=True)):
        sizes = runner.reads(number, chosen)
        reads.append(sizes if len(sizes) == len(runner.samples) else ())
        options = range(suspect.listed if reads[-1] else 0)
        mine = suspect.leading(way, sizes)
        alike = (one for one in options if suspect.leading(one, sizes) == mine)
        groups.append(frozenset({way, *alike}))
    convention, picked = _convention(suspects, groups), list[int]()
    for suspect, group, way in zip(suspects, groups, chosen, strict=True):
        meant = way if is_whole else 0
        if not meant and convention:
            meant = _written_by(suspect, group, convention) or 0
        stays = 0 in group and not (meant and suspect.has_open_sizes)
        picked.append(0 if stays else meant or way)
    return Settled(tuple(picked), tuple(groups), tuple(reads))


def _convention(suspects: Sequence[Suspect], groups: Sequence[frozenset[int]]) -> str:
    """The convention that writes a way that fits at every node that has to change, '' for none.

    One that fits all nodes comes first, then the frequent ones.
    """
    rows = list(zip(suspects, groups, strict=True))
    to_change = [(suspect, group) for suspect, group in rows if 0 not in group]
    for needed in (rows, to_change) if to_change else ():
        for name in convention_names():
            if all(_written_by(suspect, group, name) is not None for suspect, group in needed):
                return name
    return ""


def _written_by(suspect: Suspect, group: frozenset[int], convention: str) -> int | None:
    """What a convention makes of a node, or its SAME, or its plainest way; None for none."""
    for way in (by_meaning(suspect, convention), always_same(suspect, convention)):
        if way and way in group:
            return way
    ways = (way for way in group if convention in suspect.conventions(way))
    return min(ways, default=None)


def plans(runner: Runner, found: Settled) -> Iterator[Plan]:
    """Ways to write the choices down, the plainest first.

    SAME stays auto_pad where sizes are open. Later plans spell it out in numbers, first where
    runtimes compute it in their own way or refuse it, then everywhere.
    """
    written = set()
    for spelled in (lambda _: False, same_is_disputed, lambda _: True):
        rows = zip(runner.suspects, found.chosen, found.reads, strict=True)
        entries = (_entry(*row, spelled) for row in rows)
        plan = Plan(tuple(entry for entry in entries if entry is not None))
        if repr(plan.entries) not in written:
            written.add(repr(plan.entries))
            yield plan


def _entry(
    suspect: Suspect, choice: int, reads: tuple[Sizes, ...], spelled: Callable[[Chain], bool]
) -> PlanEntry | None:
    chain, names = suspect.options[choice], suspect.conventions(choice)
    numbers = in_numbers(chain, reads[0]) if reads and is_same(chain.padding) else None
    if numbers is not None and (spelled(chain) or (choice and not suspect.has_open_sizes)):
        is_of_one_size = suspect.has_open_sizes and differs(chain, numbers)
        chain, names = numbers, () if is_of_one_size else names
    elif not choice:
        return None
    return PlanEntry(suspect.label, settings_of(chain), _frequent_first(names))


def _frequent_first(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in convention_names() if name in names)


class Rival(NamedTuple):
    """Another choice that gives every reference; `suspect` changes alone, if it is not None.

    residual: its largest difference from a reference over the largest value.
    nearness: that difference over its tolerance.
    apart: the largest difference from what was found over the largest value.
    """

    chosen: Choice
    title: str
    suspect: int | None
    residual: float
    nearness: float
    apart: float


def rivals(
    runner: Runner, references: Sequence[Reference], chosen: Choice, deadline: float
) -> tuple[list[Rival], bool]:
    """Other ways that give the references too, and whether all were tried before `deadline`.

    Those are what frequent conventions make of the network, and frameworks' other ways of single
    nodes that keep the sizes.
    """
    found: list[Rival] = []
    for other, title, suspect in _others(runner, chosen):
        if time.monotonic() > deadline:
            return found, False
        if other == chosen or not scored(runner, references, other).matches:
            continue
        residual = nearness = apart = 0.0
        for sample, name, right, tolerance in references:
            mine, its = (runner.tensor(name, one, sample) for one in (chosen, other))
            if mine is not None and its is not None:
                off, size = gap(right, its).max_abs, size_of(right)
                residual = max(residual, off / size)
                nearness = max(nearness, off / (tolerance or np.inf))
                apart = max(apart, gap(mine, its).max_abs / size)
        found.append(Rival(other, title, suspect, residual, nearness, apart))
    return found, True


def _others(runner: Runner, chosen: Choice) -> Iterator[tuple[Choice, str, int | None]]:
    for name in convention_names()[:_FREQUENT]:
        other = tuple(by_meaning(suspect, name) for suspect in runner.suspects)
        changes = [n for n, (a, b) in enumerate(zip(chosen, other, strict=True)) if a != b]
        yield other, f"all nodes as {name}", changes[0] if len(changes) == 1 else None
    for number in range(len(runner.suspects) - 1, -1, -1):  # the last take the least to run
        suspect, reads = runner.suspects[number], runner.reads(number, chosen)
        mine = suspect.leading(chosen[number], reads)
        for ways, option in suspect.leaders(reads).items():
            pair = [suspect.output_sizes(one, reads[0]) for one in (chosen[number], option)]
            if option < suspect.named and ways != mine and pair[0] == pair[1]:
                title = f"{suspect.label}: {label_of(suspect.options[option])}"
                yield (*chosen[:number], option, *chosen[number + 1 :]), title, number


def findings(
    runner: Runner, found: Settled, plan: Plan, others: Sequence[Rival] = ()
) -> tuple[NodeFinding, ...]:
    """Every node of the plan, and those of which another way would give the same here."""
    entries = {entry.node: entry for entry in plan.entries}
    rows = []
    for number, suspect in enumerate(runner.suspects):
        entry, way = entries.get(suspect.label), found.chosen[number]
        names, sizes = suspect.conventions(way), found.reads[number][:1]
        same = tuple(_alternatives(runner, found, number, others, planned=entry is not None))
        if entry is None and not same:
            continue
        chain = suspect.options[way]
        chain = with_settings(chain, entry.settings) if entry else chain
        after = label_of(chain)
        if after in {one.label for one in same}:  # numbers that stand for SAME at one size
            after += f": {suspect.options[way].padding} at {[*map(list, sizes)]}"
        rows.append(
            NodeFinding(
                node=suspect.label,
                op=suspect.chain.op.name,
                before=label_of(suspect.chain),
                after=after,
                changed=entry is not None,
                conventions=entry.conventions if entry else _frequent_first(names),
                sizes=sizes[0] if sizes else (),
                alternatives=same,
                why=_why(suspect, way, len(runner.samples)) if entry else "",
                chains=(suspect.chain, chain),
            )
        )
    return tuple(rows)


def _why(suspect: Suspect, way: int, samples: int) -> str:
    if suspect.computes_pads and is_same(suspect.options[way].padding):
        return "its Pad computes SAME at this size, and may add too little at others"
    if not way:
        return "the same padding in numbers: runtimes refuse auto_pad here, or leave its formula"
    if way < suspect.listed:
        return ""
    more = "; a second sample would tell a constant from a number of this input"
    return f"the fill was solved for, not known from a framework{more if samples < 2 else ''}"


def _alternatives(
    runner: Runner, found: Settled, number: int, others: Sequence[Rival], *, planned: bool
) -> Iterator[Alternative]:
    """Other ways that read the same here, then those that give nearly the same."""
    suspect, way, reads = runner.suspects[number], found.chosen[number], found.reads[number]
    for option in sorted(found.groups[number] - {way}) if reads else ():
        names = suspect.conventions(option)
        tells = telling_size(suspect.options[way], suspect.options[option], reads[0])
        if tells is not None and (names or (planned and suspect.has_open_sizes)):
            yield Alternative(_label(suspect, option), names, tells)
    told = {suspect.leader(way, reads[0])} if reads else set()
    for rival in others if reads else ():
        option = suspect.leader(rival.chosen[number], reads[0])
        if rival.suspect in (number, None) and option not in told:
            told.add(option)
            more = "" if rival.suspect == number else f" ({rival.title})"
            names = suspect.conventions(option)
            yield Alternative(_label(suspect, option) + more, names, None, nearly=bool(rival.apart))


def _label(suspect: Suspect, option: int) -> str:
    return label_of(suspect.options[option]) + (" (as it is)" if option == 0 else "")


def mended(runner: Runner, references: Sequence[Reference], chosen: Choice) -> Choice:
    """The choices with SAME where a Pad computes it at these sizes, and too little at others.

    torch exports `-(-n // s)` with a Div that rounds towards zero, so odd sizes lose a cell, and
    the operator gives fewer than ceil(size/stride) windows. One export writes all of them alike.
    """
    same = {
        number: option
        for number, suspect in enumerate(runner.suspects)
        if suspect.computes_pads and not chosen[number]
        if (option := _padding_same(suspect, runner.sizes(number, chosen)))
    }
    other = tuple(same.get(number, way) for number, way in enumerate(chosen))
    if not same or not scored(runner, references, other).matches:
        return chosen
    count = len(runner.samples)
    runner.samples += _grown(runner, runner.samples[0])
    samples = range(count, len(runner.samples))
    broken = any(_loses(runner, number, chosen, sample) for sample in samples for number in same)
    del runner.samples[count:]
    return other if broken else chosen


def _padding_same(suspect: Suspect, sizes: Sizes | None) -> int:
    """The option that is SAME, where that pads anything at these sizes; else 0."""
    for option, one in enumerate(suspect.options[: suspect.named]):
        here = in_numbers(one, sizes) if sizes and is_same(one.padding) else None
        if here is not None and isinstance(here.padding, Pads) and any(here.padding.flat):
            return option
    return 0


def _loses(runner: Runner, number: int, chosen: Choice, sample: int) -> bool:
    """Whether the node as it is gives fewer windows than SAME."""
    sizes, made = runner.sizes(number, chosen, sample), runner.result(number, chosen, sample)
    if sizes is None or made is None:
        return False
    chain = runner.suspects[number].chain
    rows = zip(made.shape[chain.spatial], sizes, chain.axes, strict=True)
    return any(got < -(-size // axis.stride) for got, size, axis in rows)


def _grown(runner: Runner, feeds: Feeds) -> Iterator[dict[str, Array]]:
    """The sample with its last cells repeated along axes that the model leaves open."""
    types = runner.network.input_types()
    for more in range(1, _FARTHEST_GROWN + 1):
        grown = dict(feeds)
        for name, value in feeds.items():
            dims = types[name].dims or ()
            is_open = [bool(axis) and isinstance(size, Symbol) for axis, size in enumerate(dims)]
            if value.ndim == len(dims) > 2 and any(is_open):
                grown[name] = np.pad(value, [(0, more * one) for one in is_open], mode="edge")
        if any(grown[name].shape != feeds[name].shape for name in feeds):
            yield grown
