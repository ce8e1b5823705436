"""Rewritings: what was done, what was skipped and why, and the edit script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

from onnxpad.errors import OnnxpadError, counted, either, few
from onnxpad.inspection import with_far_pad
from onnxpad.model.editing.script import FixSize, InsertNode, SetMetadata
from onnxpad.model.opened import Model
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.padding.chain import Chain, Skip
from onnxpad.padding.effective_pads import rests_text, settling
from onnxpad.padding.expansion import Expansion, Itself, Step
from onnxpad.retargeting.labels import label_of
from onnxpad.rewriting.costs import NOMINAL, Cost
from onnxpad.rewriting.pipeline import Change, Undone
from onnxpad.rewriting.rewrite import Rewriting
from onnxpad.runtimes.own_targets import asked_as
from onnxpad.runtimes.targets import find_target
from onnxpad.show.document import Command, Document, Line, Medium, Note, Section
from onnxpad.show.edited import (
    although_unfit_text,
    inlined_text,
    relied_lines,
    script_lines,
    skip_note,
)
from onnxpad.show.inspections import unknown_operator_notes
from onnxpad.show.pages.changes import Changed, changes_section
from onnxpad.show.wording import (
    STANDARD,
    bytes_text,
    idle_lines,
    limits_text,
    route_text,
    runs_text,
)

if TYPE_CHECKING:
    from onnxpad.rewriting.for_target.fit import Fitted
    from onnxpad.rewriting.for_target.report import NodeVerdict
    from onnxpad.validation import Validation

_NAMED = 3


def rewriting_document(  # noqa: PLR0913 - all that one report shows
    model: str,
    written: str | None,
    rewriting: Rewriting,
    validation: Validation | None = None,
    *,
    script: bool = False,
    compared: bool = True,
    objection: str = "",
    each: bool = False,
) -> Document:
    """The report on one model: what was done, its edit script where that is wanted, and skips.

    `compared` is False where a validation was asked for and there was nothing to compare,
    `objection` is why nothing was written. Nodes of which the same is said are told together,
    unless `each` is asked for.
    """
    done = written is not None
    state, verdict = _verdict(rewriting, validation, objection, done=done)
    tail: tuple[Line, ...] = (
        _rest_text(rewriting) if objection else "",
        inlined_text(rewriting),
        *limits_text(rewriting.limits_met),
        *(f"warning: {warning}" for warning in (validation.warnings if validation else ())),
        *unknown_operator_notes(rewriting.unknown_operators),
        *relied_lines(rewriting),
        *runs_text(rewriting.runs),
        *_own_runtime(rewriting, written),
    )
    return Document(
        "Rewriting of",
        model,
        f"{route_text(model, written)}: {_summary(rewriting, written, refused=bool(objection))}",
        (
            "" if objection else _cost_text(rewriting, model, written),
            *_validated(validation),
            _nothing_to_do(rewriting, written),
            *idle_lines(in_vain=_in_vain(rewriting), compared=compared),
        ),
        (
            changes_section(partial(_changes, rewriting)),
            Section("script", "Edit script", tuple(script_lines(rewriting)) if script else ()),
            Section("skips", "Left as they were", tuple(_skips(rewriting))),
            Section("notes", "Notes", tuple(_notes(rewriting))),
            *_fitting(rewriting, done=done, each=each),
            Section("tail", "", tail),
            Section("next", "", tuple(_next(model, written, validation)), medium=Medium.PAGE),
            *_validation_sections(validation),
        ),
        state,
        verdict,
        gap="\n",
    )


def _verdict(
    rewriting: Rewriting, validation: Validation | None, objection: str, *, done: bool
) -> tuple[str, str]:
    """The colour of a page, and what it says first."""
    if objection:
        return "wrong", f"nothing was written: {objection}"
    said = "; ".join(filter(None, (changes_text(rewriting, done=done), _taken_text(rewriting))))
    if validation is not None:
        from onnxpad.show.validations import STATES

        return STATES[validation.verdict], f"{said}; {validation.verdict}"
    return "open" if rewriting.skips else "fine", said


def _validated(validation: Validation | None) -> Iterator[str]:
    """The verdict, and why what was run is not proved."""
    if validation is None:
        return
    yield f"validation: {validation.verdict}: {validation.reason}"
    proof = validation.proof
    if validation.ok and proof is not None and proof.verdict == "undecided":
        yield f"not proved and not refuted: {proof.obstacle}"


def _validation_sections(validation: Validation | None) -> Iterator[Section]:
    if validation is not None:
        from onnxpad.show.validations import basis_sections, validation_sections

        *_, basis = basis_sections(validation)
        for section in (*validation_sections(validation, each=True), basis):
            yield replace(section, medium=Medium.PAGE)


def _next(model: str, written: str | None, validation: Validation | None) -> Iterator[Command]:
    if written and validation is None and "-" not in (model, written) and model != written:
        yield Command(join(["onnxpad", "validate", model, written]))


def _summary(rewriting: Rewriting, written: str | None, *, refused: bool) -> str:
    """What was done, or that nothing was written and what might have been."""
    if not refused:
        return changes_text(rewriting, done=written is not None)
    told = changes_text(rewriting, done=False) if rewriting.changes else ""
    return "nothing written" + (f"; {told}" if told else "")


def _own_runtime(rewriting: Rewriting, written: str | None) -> Iterator[Command]:
    """How to see that the runtime itself agrees."""
    if rewriting.fitting is None or not rewriting.changed or written is None or rewriting.runs:
        return
    names = rewriting.target.split(" + ")
    if any(find_target(name).has_own_rules for name in names):
        typed = "onnxpad validate OUT --target YOUR_PROGRAM"
        yield Command(typed, "to run it where it is meant for")
        return
    targets = " ".join(f"--target {asked_as(name)}" for name in names)
    case = f"to run it in {rewriting.target} itself"
    yield Command(f"onnxpad validate {written} {targets}", case)


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


def _skips(rewriting: Rewriting) -> Iterator[Line]:
    """What every pass left as it was, and facts about sizes that settle several nodes at once."""
    yield from (skip_note(skip, skip.rule) for skip in rewriting.skips)
    facts, helped = settling([refusal.skip for refusal in rewriting.skips])
    if helped > 1:
        count = len(rewriting.skips)
        which = f"all {helped}" if helped == count else f"{helped} of the {count} skips"
        yield f"try: {rests_text(facts)} settles {which}"


def _notes(rewriting: Rewriting) -> Iterator[Note]:
    """What else is worth a word: one for all nodes of which it is true."""
    groups: dict[tuple[str, Skip], list[str]] = {}
    for found in rewriting.notes:
        groups.setdefault((found.rule, found.skip), []).append(f"{found.op} '{found.node.label}'")
    for (rule, skip), nodes in groups.items():
        tried = f"; try {either(skip.hints)}" if skip.hints else ""
        yield Note(f"note: {rule}, {few(nodes, _NAMED)}", f"{skip.reason}{tried}")
    for one in rewriting.undone:
        yield Note(f"note: {one.op} '{one.node.label}' is as before", _undone(rewriting, one))


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


def _fitting(rewriting: Rewriting, *, done: bool, each: bool) -> Iterator[Section]:
    """What was done for the target, what that costs, and nodes for which there is no way."""
    found = rewriting.fitting
    if found is None:
        return
    from onnxpad.show.verdicts import granted_notes, no_way_notes, not_judged_text, opening_lines

    target = rewriting.target
    undone = {one.node for one in rewriting.undone}
    plans = [one for one in found.plans if one.node not in undone]
    mended: tuple[Line, ...] = (
        *([Note("note", found.unmeasured)] if found.unmeasured else []),
        *(one.note for one in found.installed),
        *(f"{target}: {said}" for said in _prepared(found, done=done)),
        *_mended(f"{'mended' if done else 'to be mended'} for {target}", plans, each=each),
        _cost_of(found) if plans else "",
        _taken_text(rewriting),
        *granted_notes(target, found.granted),
    )
    yield Section("mended", f"What was mended for {target}", mended)
    no_way = tuple(no_way_notes(target, found.no_way, each=each))
    opening = opening_lines(target, found.opening, found.no_way)
    yield Section("unfit", f"Nodes that {target} does not take", (*no_way, *opening))
    elsewhere = (_elsewhere(target, one) for one in found.elsewhere)
    yield Section("elsewhere", "", (*elsewhere, not_judged_text(rewriting.not_judged)))


def _mended(head: str, plans: Sequence[NodeVerdict], *, each: bool) -> Iterator[Note]:
    """A note for all nodes of an operator of which the same is said, or for each node."""
    from onnxpad.show.verdicts import named, way_text

    alike: dict[tuple[str, str, int], list[NodeVerdict]] = {}
    for number, one in enumerate(plans):
        said = one.op, f"{one.judgement.sentence}; {way_text(one)}", number if each else 0
        alike.setdefault(said, []).append(one)
    for (op, why, _), nodes in alike.items():
        yield Note(f"{head}: {op} {named(nodes)}", why)


def _cost_of(found: Fitted) -> str:
    sizes = f"; open sizes ({', '.join(found.open_sizes)}) were taken as {NOMINAL}"
    at = sizes if found.open_sizes else ""
    return f"cost: {'nothing' if found.cost == Cost() else f'{found.cost}{at}'}"


def _rest_text(rewriting: Rewriting) -> str:
    """What writes the nodes for which there is a way, where nothing is written for others' sake."""
    writes = although_unfit_text(rewriting)
    return f"try: {writes}" if writes else ""


def _prepared(found: Fitted, *, done: bool) -> Sequence[str]:
    """What was done to the model as a whole; where nothing is written, what would be."""
    if done or not found.whole:
        return found.prepared
    return [f"the model would have {', '.join(found.whole)}", *found.kept]


def _taken_text(rewriting: Rewriting) -> str:
    """'as rewritten, opencv takes 6 of the 6 nodes that were judged'."""
    found = rewriting.fitting
    if found is None or not rewriting.changed:
        return ""
    return (
        f"as rewritten, {rewriting.target} takes {found.taken} of the {found.judged} nodes judged"
    )


def _elsewhere(target: str, one: NodeVerdict) -> str:
    """What onnxruntime does with a node that the target takes."""
    head = f"note: {one.op} '{one.node.label}' is written for {target} alone"
    return f"{head}: onnxruntime {one.judgement.sentence}"


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


def _changes(found: Rewriting) -> Iterator[Changed]:
    sites = _sites(found)
    for one in found.changes:
        last = ""
        if isinstance(one.after, Chain):
            after, is_now = one.after, label_of(one.after)
        else:
            after, is_now = None, _steps(one)
            if site := _last(one, sites):
                after, last = site.chain, site.address.label
        yield Changed(
            one.node.label,
            one.op,
            one.rule,
            label_of(one.before),
            is_now,
            with_far_pad(one.before),
            None if after is None else with_far_pad(after),
            last,
        )


def _sites(found: Rewriting) -> Sequence[Site]:
    """What pads in the model as it is now, where several nodes took the place of one."""
    several = any(isinstance(one.after, Expansion) for one in found.changes)
    if not several or not isinstance(found.edited, Model):
        return ()
    fixed = {edit.dimension for edit in found.script if isinstance(edit, FixSize)}
    dims = {name: fact for name, fact in found.assumed.items() if name not in fixed}
    folder = found.source.folder if found.source else None
    try:
        return Survey(found.edited, dims=dims, folder=folder).sites_now()
    except OnnxpadError:  # then no picture shows it
        return ()


def _last(change: Change, sites: Sequence[Site]) -> Site | None:
    """The last of the nodes in the place of one that pads or has windows."""
    made = {edit.name for edit in change.edits if isinstance(edit, InsertNode)}
    mine = [
        site
        for site in sites
        if site.address.scope == change.node.scope
        and site.address.label in {change.node.label, *made}
    ]
    return mine[-1] if mine else None


_SHOWN = ("kernel_shape", "strides", "dilations", "pads")


def _steps(change: Change) -> str:
    """'Slice, then Conv with pads [0, 0]': what each gets, and keeps where nothing is said."""
    steps = change.after.steps if isinstance(change.after, Expansion) else ()
    return ", then ".join(_step(change, one) for one in steps)


def _step(change: Change, one: Step | Itself) -> str:
    name, written = (
        (change.op, one.sets) if isinstance(one, Itself) else (one.op_type, one.attributes)
    )
    given = {key: value for key, value in written if isinstance(value, tuple)}
    parts = [f"{key} {list(given[key])}" for key in _SHOWN if key in given]
    return f"{name} with {', '.join(parts)}" if parts else name
