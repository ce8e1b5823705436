"""Rewritings: what was done, what was skipped and why, and the edit script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from onnxpad.errors import counted, either, few
from onnxpad.model.editing.script import FixSize, InsertNode, SetMetadata
from onnxpad.padding.chain import Skip
from onnxpad.padding.effective_pads import rests_text, settling
from onnxpad.rewriting.costs import NOMINAL, Cost
from onnxpad.rewriting.pipeline import Undone
from onnxpad.rewriting.rewrite import Rewriting
from onnxpad.runtimes.own_targets import asked_as
from onnxpad.runtimes.targets import find_target
from onnxpad.show.document import lines_text
from onnxpad.show.edited import although_unfit_text, relied_lines, script_lines, skip_note
from onnxpad.show.wording import (
    STANDARD,
    bytes_text,
    idle_lines,
    limits_text,
    note,
    paragraph,
    route_text,
    runs_text,
    unknown_operators_text,
    visible,
)

if TYPE_CHECKING:
    from onnxpad.rewriting.for_target.fit import Fitted
    from onnxpad.rewriting.for_target.report import NodeVerdict
    from onnxpad.validation import Validation

_NAMED = 3


def rewriting_text(  # noqa: PLR0913 - all that one report shows
    model: str,
    written: str | None,
    rewriting: Rewriting,
    validation: Validation | None = None,
    *,
    script: bool = False,
    compared: bool = True,
    refused: bool = False,
    each: bool = False,
) -> str:
    """The report on one model: what was done, its edit script where that is wanted, and skips.

    `compared` is False where a validation was asked for and there was nothing to compare, `refused`
    says that something spoke against writing the model. Nodes of which the same is said are told
    together, unless `each` is asked for.
    """
    warnings = () if validation is None else validation.warnings
    verdict = ""
    if validation is not None:
        verdict = f"validation: {validation.verdict}: {validation.reason}"
    done = f"{route_text(model, written)}: {_summary(rewriting, written, refused=refused)}"
    done = visible(done)
    lines = [
        done,
        visible(_cost_text(rewriting, model, written)) if not refused else "",
        visible(verdict),
        *_undecided(validation),
        _nothing_to_do(rewriting, written),
        *idle_lines(in_vain=_in_vain(rewriting), compared=compared),
        lines_text(script_lines(rewriting)) if script else "",
        skips_text(rewriting),
        notes_text(rewriting),
        fitting_text(rewriting, done=written is not None, each=each),
        _rest_text(rewriting) if refused else "",
        *limits_text(rewriting.limits_met),
        *(visible(f"warning: {warning}") for warning in warnings),
        *unknown_operators_text(rewriting.unknown_operators),
        lines_text(relied_lines(rewriting)),
        *map(visible, runs_text(rewriting.runs)),
        _own_runtime_text(rewriting, written),
    ]
    return paragraph(lines) + "\n"


def _summary(rewriting: Rewriting, written: str | None, *, refused: bool) -> str:
    """What was done, or that nothing was written and what might have been."""
    if not refused:
        return changes_text(rewriting, done=written is not None)
    told = changes_text(rewriting, done=False) if rewriting.changes else ""
    return "nothing written" + (f"; {told}" if told else "")


def _own_runtime_text(rewriting: Rewriting, written: str | None) -> str:
    """How to see that the runtime itself agrees."""
    if rewriting.fitting is None or not rewriting.changed or written is None or rewriting.runs:
        return ""
    if any(find_target(name).has_own_rules for name in rewriting.target.split(" + ")):
        return "to run it where it is meant for: onnxpad validate OUT --target YOUR_PROGRAM"
    typed = " ".join(f"--target {asked_as(name)}" for name in rewriting.target.split(" + "))
    return f"to run it in {rewriting.target} itself: onnxpad validate {written} {typed}"


def _cost_text(rewriting: Rewriting, model: str, written: str | None) -> str:
    """'operators: 10 before, 11 after (Pad +2, Slice -1); file: 12.3 kB before, 12.4 kB after'."""
    counts = rewriting.operators
    if counts is None or not rewriting.changed:
        return ""
    change = ", ".join(f"{name} {number:+}" for name, number in counts.change.items())
    text = f"operators: {counts.before} before, {counts.after} after"
    text += f" ({change})" if change else ""
    return f"{text}{_files_text(model, written)}"


def _files_text(model: str, written: str | None) -> str:
    """'; file: 12.3 kB before, 12.4 kB after'."""
    if written is None or STANDARD in (model, written):
        return ""
    try:
        sizes = [Path(one).stat().st_size for one in (model, written)]
    except OSError:  # somebody has moved it
        return ""
    return "; file: {} before, {} after".format(*map(bytes_text, sizes))


def _nothing_to_do(rewriting: Rewriting, written: str | None) -> str:
    """Why the model is as it was, where that is what was asked for."""
    found = rewriting.fitting
    states = rewriting.changed and all(
        isinstance(edit, FixSize | SetMetadata) for edit in rewriting.script
    )
    if rewriting.skips or rewriting.changes or (found and found.no_way):
        return ""
    if rewriting.changed and not (states and found and not found.prepared):
        return ""
    if found and not rewriting.passes:
        takes = "take" if " + " in rewriting.target else "takes"
        said = f"{rewriting.target} {takes} every operator that can pad as it is"
        if falling := found.judged - found.taken:
            said = f"{rewriting.target} leaves {falling} of {found.judged} judged nodes to the CPU"
            said += ", where --require-device finds another form if there is one"
        if states:
            return f"no node needs rewriting: with these sizes in the file {said}"
        runs = rewriting.run is None or rewriting.run.ok is not False
        said = f"nothing to do: {said}" if runs else f"no padding to mend: {said}"
    elif states:
        return ""
    else:
        said = f"nothing to do for {', '.join(rewriting.passes)}"
    return f"{said}; the file is the input, byte for byte" if written else said


def _undecided(validation: Validation | None) -> Iterator[str]:
    """Why what was run is not proved."""
    proof = None if validation is None else validation.proof
    if (
        validation is not None
        and proof is not None
        and proof.verdict == "undecided"
        and validation.ok
    ):
        yield visible(f"not proved and not refuted: {proof.obstacle}")


def skips_text(rewriting: Rewriting) -> str:
    """What every pass left as it was, and facts about sizes that settle several nodes at once."""
    lines = [lines_text([skip_note(skip, skip.rule)]) for skip in rewriting.skips]
    facts, helped = settling([refusal.skip for refusal in rewriting.skips])
    if helped > 1:
        which = f"all {helped}" if helped == len(lines) else f"{helped} of the {len(lines)} skips"
        lines.append(visible(f"try: {rests_text(facts)} settles {which}"))
    return paragraph(lines)


def notes_text(rewriting: Rewriting) -> str:
    """What else is worth a word: one line for all nodes of which it is true."""
    groups: dict[tuple[str, Skip], list[str]] = {}
    for found in rewriting.notes:
        groups.setdefault((found.rule, found.skip), []).append(f"{found.op} '{found.node.label}'")
    lines = []
    for (rule, skip), nodes in groups.items():
        tried = f"; try {either(skip.hints)}" if skip.hints else ""
        lines.append(f"note: {rule}, {few(nodes, _NAMED)}: {skip.reason}{tried}")
    lines += [
        f"note: {one.op} '{one.node.label}' is as before: {_undone(rewriting, one)}"
        for one in rewriting.undone
    ]
    return paragraph(visible(line) for line in lines)


def _undone(rewriting: Rewriting, one: Undone) -> str:
    """Which passes undo each other, or what of the user's passes the target takes back."""
    own = [rule for rule in one.rules if rule in rewriting.passes]
    rest = [rule for rule in one.rules if rule not in own]
    for plan in rewriting.fitting.plans if rewriting.fitting else ():
        if plan.node == one.node and own and rest:
            said = f"{rewriting.target} {plan.judgement.sentence}"
            return f"{' and '.join(rest)} undoes {' and '.join(own)}, as {said}"
    more = f"; onnxpad explain {one.form} says what goes together" if one.form else ""
    return f"{' and '.join(one.rules)} undo each other{more}"


def _in_vain(rewriting: Rewriting) -> bool:
    """Whether a pass had something to do, and the model is as it was."""
    return not rewriting.changed and bool(rewriting.skips or rewriting.undone)


def fitting_text(rewriting: Rewriting, *, done: bool, each: bool = False) -> str:
    """What was done for the target, what that costs, and nodes for which there is no way."""
    found = rewriting.fitting
    if found is None:
        return ""
    from onnxpad.show.verdicts import (
        granted_text,
        named,
        no_way_text,
        not_judged_text,
        opening_text,
        way_text,
    )

    undone = {one.node for one in rewriting.undone}
    plans = [one for one in found.plans if one.node not in undone]
    alike: dict[tuple[str, str, int], list[NodeVerdict]] = {}
    for number, one in enumerate(plans):
        said = one.op, f"{one.judgement.sentence}; {way_text(one)}", number if each else 0
        alike.setdefault(said, []).append(one)
    mended = "mended" if done else "to be mended"
    lines = [note("note", found.unmeasured)] if found.unmeasured else []
    lines += [visible(one.note) for one in found.installed]
    lines += [visible(f"{rewriting.target}: {said}") for said in _prepared(found, done=done)]
    lines += [
        visible(f"{mended} for {rewriting.target}: {op} {named(nodes)}: {said}")
        for (op, said, _), nodes in alike.items()
    ]
    if plans:
        sizes = f"; open sizes ({', '.join(found.open_sizes)}) were taken as {NOMINAL}"
        at = visible(sizes) if found.open_sizes else ""
        lines.append(f"cost: {'nothing' if found.cost == Cost() else f'{found.cost}{at}'}")
    lines.append(taken_text(rewriting))
    lines.append(granted_text(rewriting.target, found.granted))
    lines.append(no_way_text(rewriting.target, found.no_way, each=each))
    lines.append(opening_text(rewriting.target, found.opening, found.no_way))
    lines += [_elsewhere(rewriting.target, one) for one in found.elsewhere]
    lines.append(visible(not_judged_text(rewriting.not_judged)))
    return paragraph(lines)


def _rest_text(rewriting: Rewriting) -> str:
    """What writes the nodes for which there is a way, where nothing is written for others' sake."""
    writes = although_unfit_text(rewriting)
    return f"try: {writes}" if writes else ""


def _prepared(found: Fitted, *, done: bool) -> Sequence[str]:
    """What was done to the model as a whole; where nothing is written, what would be."""
    if done or not found.whole:
        return found.prepared
    return [f"the model would have {', '.join(found.whole)}", *found.kept]


def taken_text(rewriting: Rewriting) -> str:
    """'as rewritten, opencv takes 6 of the 6 nodes that were judged'."""
    found = rewriting.fitting
    if found is None or not rewriting.changed:
        return ""
    return (
        f"as rewritten, {rewriting.target} takes {found.taken} of the {found.judged} nodes judged"
    )


def _elsewhere(target: str, one: NodeVerdict) -> str:
    """What onnxruntime does with a node that the target takes."""
    return visible(
        f"note: {one.op} '{one.node.label}' is written for {target} alone: onnxruntime "
        f"{one.judgement.sentence}"
    )


def changes_text(rewriting: Rewriting, *, done: bool) -> str:
    """'12 nodes rewritten (explicit-pads 12), 2 skipped'; 'would be' where nothing is written."""
    undone = {one.node for one in rewriting.undone}
    changes = [change for change in rewriting.changes if change.node not in undone]
    counts = Counter(change.rule for change in changes)
    order = dict.fromkeys((*rewriting.passes, *counts))
    rules = [f"{name} {counts[name]}" for name in order if counts[name]]
    made = {edit.address.id for edit in rewriting.script if isinstance(edit, InsertNode)}
    nodes = len({c.node.id for c in changes} - made)
    text = f"{counted(nodes, 'node')} {'' if done else 'would be '}rewritten"
    text += f" ({', '.join(rules)})" if rules else ""
    return f"{text}, {len(rewriting.skips)} skipped"
