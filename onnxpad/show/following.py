"""What to type next about a model that was inspected."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from onnxpad.errors import counted, either, few
from onnxpad.geometry.size_fact import NOTHING_KNOWN, SizeFact
from onnxpad.inspection import FOLLOWED, Inspection
from onnxpad.padding.effective_pads import may_be_written, told_in
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.own_targets import asked_as
from onnxpad.runtimes.traps import helping
from onnxpad.show.document import Command, Line
from onnxpad.show.wording import given_text, open_in_file_text

if TYPE_CHECKING:
    from onnxpad.rewriting.for_target.report import NodeVerdict

_CHOICE = "--ambiguous auto_pad"
_NAMES_SHOWN = 3


def next_lines(inspection: Inspection, model: str) -> Iterator[Line]:
    """The command that a reader most likely wants, and who explains the rest."""
    traps = [trap for node in inspection.nodes for trap in node.traps]
    failing = any(one.judgement.answer.fails for v in inspection.targets.values() for one in v)
    options = _for_a_target(inspection) if inspection.targets else None
    asked = [f"--target {asked_as(name)}" for name in inspection.targets]
    contradicting = any(_CHOICE in node.hints for node in inspection.nodes)
    behind = ""
    if contradicting and len(asked) <= FOLLOWED:
        options = [*asked, given_text(inspection.assumed), _CHOICE]
        behind = ", or --ambiguous pads: whichever the model was trained with"
    elif options is None and not failing and asked and open_in_file_text(inspection.assumed):
        options = [*asked, given_text(inspection.assumed)]
    elif options is None and not failing:
        options = _for_traps(inspection)
    if options is not None:
        follows = f"--ambiguous {inspection.ambiguous}" if inspection.ambiguous else ""
        words = ["onnxpad rewrite", shlex.quote(model), *options, follows, "-o OUT"]
        yield Command(_typed(*words), "next", behind)
    yield from _no_rewrite(inspection, model)
    if inspection.nodes and not traps and not failing:
        typed = f"onnxpad diagnose {shlex.quote(model)} --data REF.npz"
        yield Command(typed, "if its numbers are wrong")
    if traps:
        yield "'onnxpad explain NAME' says more about a trap, and which passes help"


def _for_traps(inspection: Inspection) -> list[str] | None:
    """What to say to `rewrite` about traps, for the targets that take all; None where no need is.

    Without traps and targets it is to write auto_pad as pads.
    """
    asked = inspection.targets
    nodes = [one for one in inspection.nodes if may_be_written(one.pads, one.hints)]
    traps = [trap for node in nodes for trap in node.traps]
    told = [name for trap in traps if (name := helping(trap.code, trap.passes)) not in ("", *asked)]
    passes = dict.fromkeys(trap.passes[0] for trap in traps if trap.passes)
    if told and len(asked) <= FOLLOWED:
        return [f"--target {asked_as(name)}" for name in (*asked, told[0])] + [
            given_text(inspection.assumed)
        ]
    idle = asked or not (inspection.ambiguous or any("auto_pad" in node.forms for node in nodes))
    if passes or not idle:
        facts = given_text({**inspection.assumed, **_facts_for(inspection)})
        return [*(f"--pass {name}" for name in passes), facts]
    return None


def _typed(*words: str) -> str:
    return " ".join(filter(None, words))


def _facts_for(inspection: Inspection) -> dict[str, int | str]:
    """Facts without which a pass has nothing to do at some nodes: what makes their pads known.

    Numbers only where a trap is to be mended: divisors leave the sizes open.
    """
    numbers: dict[str, int] = {}
    rests: dict[str, SizeFact] = {}
    trapped = [node for node in inspection.nodes if any(trap.passes for trap in node.traps)]
    for node in trapped or inspection.nodes:
        hint = node.hints[-1] if node.pads is None and node.hints else ""
        for name, fact in told_in(hint).items():
            if fact.number is None:
                rests[name] = rests.get(name, fact).and_also(fact) or fact
            elif trapped:
                numbers[name] = fact.number
    said = {name: rests.get(name, NOTHING_KNOWN).near(size) for name, size in numbers.items()}
    return {name: fact.told for name, fact in rests.items()} | said


def _for_a_target(inspection: Inspection) -> list[str] | None:
    """What to say to `rewrite` for the targets that it was tried for; None where none is helped."""
    found = inspection.following
    if found is None:
        return None
    device = ["--require-device"] if found.require_device else []
    typed = [f"--target {asked_as(name)}" for name in found.targets]
    return [*typed, inspection.live, given_text(found.dims), *device]


def _no_rewrite(inspection: Inspection, model: str) -> Iterator[Line]:
    """For which targets no rewrite was found that writes the model, and for which nodes' sake.

    Where there is a way for others, the command that writes those.
    """
    if inspection.following is not None or not inspection.targets:
        return
    from onnxpad.rewriting.for_target.report import NoWay, PassPlan
    from onnxpad.show.verdicts import are_many

    if are_many(inspection.targets):
        return
    for name, found in inspection.targets.items():
        stuck = [one for one in found if one.judgement.answer.fails and isinstance(one.way, NoWay)]
        left = inspection.openings[name].left
        alike: dict[str, list[NodeVerdict]] = {}
        for one in [one for one in stuck if one.node in left] or stuck:
            judged = one.judgement
            is_number = judged.answer is Answer.MISCOMPUTES and judged.measured and not judged.rows
            # Each node's numbers are its own.
            why = f"it {judged.does}" if is_number else judged.reason
            alike.setdefault(left.get(one.node, why), []).append(one)
        if alike:
            why, nodes = max(alike.items(), key=lambda one: len(one[1]))
            others = sum(map(len, alike.values())) - len(nodes)
            more = f"; {counted(others, 'other')} for another reason" if others else ""
            cures = dict.fromkeys(cure for one in nodes for cure in one.judgement.cures)
            tried = f". Outside of onnxpad: {either(tuple(cures))}" if cures else ""
            named = few([f"'{one.node.label}'" for one in nodes], _NAMES_SHOWN)
            yield (
                f"no rewrite for {name} is known, whatever is said of sizes: no way for {named}, "
                f"because {why}{more}{tried}"
            )
            if helped := sum(isinstance(one.way, PassPlan) for one in found):
                typed = _typed(
                    *("onnxpad rewrite", shlex.quote(model), f"--target {asked_as(name)}"),
                    *("--although-unfit", given_text(inspection.assumed), "-o OUT"),
                )
                yield Command(typed, f"next, for {helped} of the nodes")
