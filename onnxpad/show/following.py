"""What to type next about a model that was inspected."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from onnxpad.errors import few
from onnxpad.geometry.size_fact import NOTHING_KNOWN, SizeFact
from onnxpad.inspection import FOLLOWED, Inspection
from onnxpad.padding.effective_pads import may_be_written, told_in
from onnxpad.runtimes.own_targets import asked_as
from onnxpad.runtimes.traps import helping
from onnxpad.show.document import Command, Line, Note
from onnxpad.show.wording import given_text, open_in_file_text

_NAMED = 3
_CHOICE = "--ambiguous auto_pad"
_REWRITE = "onnxpad rewrite"


def next_lines(inspection: Inspection, model: str) -> Iterator[Line]:
    """The command that a reader most likely wants, and who explains the rest."""
    traps = [trap for node in inspection.nodes for trap in node.traps]
    failing = any(one.judgement.answer.fails for v in inspection.targets.values() for one in v)
    asked = [f"--target {asked_as(name)}" for name in inspection.targets]
    stated = [*asked, given_text(inspection.assumed)]
    follows = f"--ambiguous {inspection.ambiguous}" if inspection.ambiguous else ""
    if any(_CHOICE in node.hints for node in inspection.nodes) and len(asked) <= FOLLOWED:
        yield _rewrite(model, [*stated, _CHOICE])
        yield _rewrite(model, [*stated, "--ambiguous pads"], "or, if it was trained with its pads")
    else:
        options = _for_a_target(inspection) if asked else None
        if options is None and not failing:
            sizes = asked and open_in_file_text(inspection.assumed)
            options = stated if sizes else _for_traps(inspection)
        if options is not None:
            yield _rewrite(model, [*options, follows])
    yield from _no_rewrite(inspection, model)
    if inspection.nodes and not traps and not failing:
        typed = f"onnxpad diagnose {shlex.quote(model)} --data REF.npz"
        yield Command(typed, "if its numbers are wrong")
    if traps:
        yield "'onnxpad explain NAME' says more about a trap, and which passes help"


def commands(inspection: Inspection, model: str) -> list[str]:
    """The rewrites that a reader most likely wants."""
    lines = next_lines(inspection, model)
    typed = [line.typed for line in lines if isinstance(line, Command)]
    return [one for one in typed if one.startswith(_REWRITE)]


def _rewrite(model: str, options: Sequence[str], case: str = "next") -> Command:
    words = (_REWRITE, shlex.quote(model), *options, "-o OUT")
    return Command(" ".join(filter(None, words)), case)


def _for_traps(inspection: Inspection) -> list[str] | None:
    """What to say to `rewrite` about traps, for the targets that take all; None where no need is.

    Without traps and targets it is to write auto_pad as pads.
    """
    asked = inspection.targets
    nodes = [one for one in inspection.nodes if may_be_written(one.pads, one.hints)]
    traps = [trap for node in nodes for trap in node.traps]
    told = [name for trap in traps if (name := helping(trap.code, trap.passes)) not in ("", *asked)]
    passes = dict.fromkeys(trap.passes[0] for trap in traps if trap.passes)
    if any("in-batches" in node.forms for node in nodes):
        passes["plain-batches"] = None
    if told and len(asked) <= FOLLOWED:
        targets = [f"--target {asked_as(name)}" for name in (*asked, told[0])]
        return [*targets, given_text(inspection.assumed)]
    idle = asked or not (inspection.ambiguous or any("auto_pad" in node.forms for node in nodes))
    if passes or not idle:
        facts = given_text({**inspection.assumed, **_facts_for(inspection)})
        return [*(f"--pass {name}" for name in passes), facts]
    return None


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
    typed = [f"--target {asked_as(name)}" for name in found.targets]
    device = ["--require-device"] if found.require_device else []
    return [*typed, inspection.live, given_text(found.dims), *device]


def _no_rewrite(inspection: Inspection, model: str) -> Iterator[Line]:
    """For which targets no rewrite writes the whole model, and what writes the rest of it."""
    if inspection.following is not None or not 0 < len(inspection.targets) <= FOLLOWED:
        return
    from onnxpad.rewriting.for_target.report import NoWay, PassPlan

    for name, found in inspection.targets.items():
        left = inspection.openings[name].left
        stuck = [one for one in found if one.judgement.answer.fails and isinstance(one.way, NoWay)]
        stuck = [one for one in stuck if one.node in left] or stuck
        if not stuck:
            continue
        cures = dict.fromkeys(cure for one in stuck for cure in one.judgement.cures)
        nodes = few([f"'{one.node.label}'" for one in stuck], _NAMED)
        why = dict.fromkeys(left[one.node] for one in stuck if one.node in left)
        reasons = f", because {'; '.join(why)}" if why else ""
        yield Note(f"no rewrite for {name} is known", f"no way for {nodes}{reasons}", tuple(cures))
        if helped := sum(isinstance(one.way, PassPlan) for one in found):
            target = f"--target {asked_as(name)}"
            options = [target, "--although-unfit", given_text(inspection.assumed)]
            yield _rewrite(model, options, f"next, for {helped} of the nodes")
