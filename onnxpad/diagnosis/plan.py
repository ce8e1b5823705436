"""From choices per node to a plan: which of several equal ways to write, and what it says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from onnxpad.diagnosis.computed_pads import broken_same
from onnxpad.diagnosis.guesses import Choice, always_same, by_meaning, names, whole_guesses
from onnxpad.diagnosis.indistinguishable import (
    alike_here,
    by_values,
    same_here,
    same_on_every_sample,
)
from onnxpad.diagnosis.report import Alternative, NodeFinding
from onnxpad.diagnosis.rivals import Rival
from onnxpad.diagnosis.runner import Broken, Runner, State
from onnxpad.diagnosis.suspects import Sizes, Suspect, in_numbers, sizes_of, telling_size
from onnxpad.padding.chain import Chain, is_same
from onnxpad.padding.effective_pads import same_is_disputed
from onnxpad.retargeting.labels import label_of
from onnxpad.retargeting.plan import Plan, PlanEntry, settings_of, with_settings
from onnxpad.retargeting.windows_read import differs

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Settled:
    """Choices, and what each suspect reads with them; `groups` are options that give the same.

    `mended` are suspects whose Pad computes SAME wrongly at other sizes; `told` counts the values
    of the reference, of so many `samples`, that tell fills that were solved for.
    """

    chosen: Choice
    mended: tuple[int, ...]
    states: tuple[State | None, ...]
    sizes: tuple[Sizes | None, ...]
    groups: tuple[tuple[int, ...], ...]
    told: int = 0
    samples: int = 1


def settled(runner: Runner, chosen: Choice, samples: Sequence[Mapping[str, Array]] = ()) -> Settled:
    """The choices with one taken out of each group of options that give the same here.

    Here is the sample that the runner was fed with, the first of `samples`, and in the others. A
    node with fixed sizes stays as it is where that fits. Where a guess of the whole network fits,
    every node with open sizes takes it, else the convention that fits every node that has to
    change: at another size the model has to follow the same convention.
    """
    states, sizes, groups = [], [], []
    for number, suspect in enumerate(runner.suspects):
        state = runner.before(number, chosen)
        known = (
            None
            if isinstance(state, Broken) or suspect.source not in _all(runner, state)
            else state
        )
        here = None if known is None else runner.sizes(number, known)
        states.append(known)
        sizes.append(here)
        groups.append(same_here(runner, number, chosen[number], known, here))
    groups = list(same_on_every_sample(runner, samples, chosen, groups))
    shared = _shared(runner, groups)
    whole = any(guess.chosen == chosen for guess in whole_guesses(runner.suspects))
    mended = broken_same(runner, chosen, dict(enumerate(groups)))
    final = tuple(
        mended.get(number, _picked(runner, number, group, shared[:1], chosen[number], whole))
        for number, group in enumerate(groups)
    )
    return Settled(final, tuple(sorted(mended)), tuple(states), tuple(sizes), tuple(groups))


def _all(runner: Runner, state: State) -> set[str]:
    return {*state.tensors, *runner.network.initializers}


def _shared(runner: Runner, groups: Sequence[tuple[int, ...]]) -> tuple[str, ...]:
    """Conventions that write one of the ways that fit, at every node that has to change.

    Those that fit every node come first, then the frequent ones.
    """
    fits: dict[str, bool] = {}
    for name in names():
        pairs = zip(runner.suspects, groups, strict=True)
        lacking = [0 in group for one, group in pairs if _nearest(one, group, (name,)) is None]
        if all(lacking):
            fits[name] = not lacking
    if all(0 in group for group in groups):
        return ()
    return tuple(sorted(fits, key=lambda name: not fits[name]))


def frequent_first(conventions: Collection[str]) -> tuple[str, ...]:
    """Conventions in the order in which they are looked for and told."""
    return tuple(name for name in names() if name in conventions)


def _picked(
    runner: Runner,
    number: int,
    group: tuple[int, ...],
    convention: Sequence[str],
    found: int,
    whole: bool,  # noqa: FBT001
) -> int:
    """One of a group: the present way, else that of a guess or a convention, else what was found.

    `whole` says that what was found guesses the whole network.
    """
    suspect = runner.suspects[number]
    way = found if whole and found and found in group else _written_by(suspect, group, convention)
    if 0 in group and (sizes_of(suspect.chain) is not None or way is None):
        return 0
    if way is not None:
        return way
    return found if found in group else group[0]


def _written_by(suspect: Suspect, group: Sequence[int], convention: Sequence[str]) -> int | None:
    """What a convention makes of the node, or its SAME, or what changes least; None for nothing."""
    rules = (by_meaning, always_same)
    ways = (rule(suspect, name) for name in convention for rule in rules)
    return next((way for way in ways if way and way in group), _nearest(suspect, group, convention))


def _nearest(suspect: Suspect, group: Sequence[int], convention: Sequence[str]) -> int | None:
    """The one of a group that a convention writes and that changes least; None where none is."""
    options = suspect.options
    ways = [option for option in group if not {*options[option].conventions}.isdisjoint(convention)]
    return min(ways, key=lambda n: _changes(suspect.chain, options[n].chain), default=None)


def _changes(one: Chain, other: Chain) -> int:
    """How many of the things that a node says of its padding another way says otherwise."""
    return sum(
        (
            one.padding != other.padding,
            one.ceil_mode is not other.ceil_mode,
            one.counts_padding is not other.counts_padding,
            one.pad != other.pad,
        )
    )


def plans(runner: Runner, found: Settled) -> Iterator[Plan]:
    """Ways to write the choices down, the plainest first.

    SAME stays auto_pad where sizes are open; the later plans spell it out, first where runtimes
    compute it in their own way or refuse it, then everywhere.
    """
    given: set[tuple[str, ...]] = set()
    for spell in (_never, _disputed, _always):
        entries = [
            entry
            for number in range(len(runner.suspects))
            if (entry := _entry(runner, found, number, spell=spell)) is not None
        ]
        key = tuple(repr(entry) for entry in entries)
        if key not in given:
            given.add(key)
            yield Plan(tuple(entries))


def _never(_: Chain) -> bool:
    return False


def _disputed(chain: Chain) -> bool:
    return is_same(chain.padding) and same_is_disputed(chain)


def _always(chain: Chain) -> bool:
    return is_same(chain.padding)


def _entry(runner: Runner, found: Settled, number: int, *, spell: Any) -> PlanEntry | None:  # noqa: ANN401
    suspect, choice, here = runner.suspects[number], found.chosen[number], found.sizes[number]
    option = suspect.options[choice]
    chain = option.chain
    numbers = None if here is None else in_numbers(chain, here)
    if choice == 0:
        if numbers is None or not spell(chain):
            return None
        chain = numbers
    elif numbers is not None and (sizes_of(suspect.chain) is not None or spell(chain)):
        chain = numbers
    return PlanEntry(suspect.label, settings_of(chain), frequent_first(option.conventions))


def findings(
    runner: Runner, found: Settled, plan: Plan, rivals: Sequence[Rival] = ()
) -> tuple[NodeFinding, ...]:
    """Every node of the plan, and those that could as well be padded like the nodes of the plan.

    So are those where only these samples hide that another way gives something else, or where
    what is allowed for rounding does: `rivals` are choices that fit as well.
    """
    entries = {entry.node: entry for entry in plan.entries}
    shared = set(_shared(runner, found.groups))
    rows = []
    for number, suspect in enumerate(runner.suspects):
        entry, choice = entries.get(suspect.label), found.chosen[number]
        others = (*_alternatives(runner, found, number), *_rivals(runner, found, number, rivals))
        if entry is None:
            others = tuple(one for one in others if one.hidden or shared & set(one.conventions))
            if not others:
                continue
        chain = suspect.options[choice].chain
        if entry is not None and "pads" in entry.settings:
            chain = with_settings(chain, entry.settings)
        after = label_of(chain)
        if after in {one.label for one in others}:  # numbers that stand for SAME at one size
            after += (
                f": {suspect.options[choice].chain.padding} at {list(found.sizes[number] or ())}"
            )
        why = ""
        if entry is not None and choice == 0:
            why = "the same padding in numbers: runtimes refuse auto_pad here, or leave its formula"
        if entry is not None and choice >= suspect.given:
            why = (
                f"the fill was solved for, not known from a framework: {found.told} different "
                "values of the reference hang on it and agree"
            )
            if found.samples < 2:
                why += "; a second sample would tell a constant from a number of this input"
        if number in found.mended:
            why = "its Pad computes SAME at this size, and too little at others"
        rows.append(
            NodeFinding(
                suspect.label,
                suspect.chain.op.name,
                label_of(suspect.chain),
                after,
                entry is not None,
                frequent_first(
                    suspect.options[choice].conventions if entry is None else entry.conventions
                ),
                found.sizes[number] or (),
                others,
                why,
                (suspect.chain, chain),
            )
        )
    return tuple(rows)


def same_either_way(
    runner: Runner, found: Settled, plan: Plan, plain: Sequence[str]
) -> tuple[str, ...]:
    """Nodes outside the plan that the conventions of the whole plan pad as they are.

    `plain` are nodes that nobody pads in another way.
    """
    if not plan.entries:
        return ()
    shared = set.intersection(*(set(entry.conventions) for entry in plan.entries))
    named = {entry.node for entry in plan.entries}
    same = [
        suspect.label
        for suspect, choice in zip(runner.suspects, found.chosen, strict=True)
        if suspect.label not in named and shared & set(suspect.options[choice].conventions)
    ]
    return (*same, *plain)


def _alternatives(runner: Runner, found: Settled, number: int) -> Iterator[Alternative]:
    suspect, sizes = runner.suspects[number], found.sizes[number]
    mine, fixed = suspect.options[found.chosen[number]].chain, sizes_of(suspect.chain) is not None
    for option in found.groups[number]:
        other = suspect.options[option]
        if option == found.chosen[number] or sizes is None or not differs(mine, other.chain):
            continue
        leader = runner.choices[number].leader
        same = leader(option, sizes) == leader(found.chosen[number], sizes)
        if same and fixed and option >= suspect.named:
            continue  # the same numbers for the one size that there is
        tells = telling_size(mine, other.chain, sizes)
        label = label_of(other.chain) + (" (as it is)" if option == 0 else "")
        yield Alternative(label, other.conventions, tells if same else None)


def _rivals(
    runner: Runner, found: Settled, number: int, rivals: Sequence[Rival]
) -> Iterator[Alternative]:
    """Other ways that give other numbers, less apart than rounding is allowed to be."""
    sizes = found.sizes[number]
    if sizes is not None:
        told = (found.chosen[number], *found.groups[number])
        yield from by_values(runner, number, rivals, told, sizes)


def on_every_sample(
    runner: Runner, samples: Sequence[Mapping[str, Array]], found: Settled, plan: Plan
) -> tuple[Settled, Plan]:
    """The choices that the plan writes, and what gives the same as they do on every sample.

    Numbers that stand for SAME at the sizes of the first sample are another way to pad where
    sizes are open: names and other ways are those of the numbers then.
    """
    entries = {entry.node: entry for entry in plan.entries}
    chosen, groups = list(found.chosen), list(found.groups)
    for number, suspect in enumerate(runner.suspects):
        entry = entries.get(suspect.label)
        if entry is None or not _stands_for_same(suspect, chosen[number], entry):
            continue
        option = _written(suspect, chosen[number], entry)
        if option is None:
            groups[number] = (chosen[number],)
        else:
            chosen[number] = option
            groups[number] = alike_here(runner, number, tuple(chosen))
        names = () if option is None else frequent_first(suspect.options[option].conventions)
        entries[suspect.label] = replace(entry, conventions=names)
    final = tuple(chosen)
    kept = same_on_every_sample(runner, samples, final, groups)
    return replace(found, chosen=final, groups=kept), Plan(tuple(entries.values()))


def _stands_for_same(suspect: Suspect, choice: int, entry: PlanEntry) -> bool:
    same = is_same(suspect.options[choice].chain.padding)
    return same and sizes_of(suspect.chain) is None and "pads" in entry.settings


def _written(suspect: Suspect, choice: int, entry: PlanEntry) -> int | None:
    """The option that pads by the numbers of the entry at every size."""
    chain = with_settings(suspect.options[choice].chain, entry.settings)
    same = (n for n, one in enumerate(suspect.options) if not differs(one.chain, chain))
    return next(same, None)
