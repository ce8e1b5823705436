"""Rewritings: what was done, what was skipped and why, and the edit script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from shlex import join
from typing import TYPE_CHECKING

from onnxpad.errors import counted, few
from onnxpad.inspection import with_far_pad
from onnxpad.model.editing.script import InsertNode
from onnxpad.padding.chain import Chain
from onnxpad.padding.effective_pads import rests_text, settling
from onnxpad.padding.expansion import Expansion, Itself
from onnxpad.retargeting.labels import label_of
from onnxpad.rewriting.costs import NOMINAL, Cost
from onnxpad.rewriting.rewrite import Rewriting
from onnxpad.runtimes.own_targets import asked_as
from onnxpad.runtimes.targets import find_target
from onnxpad.show.document import Command, Document, Line, Note, Section
from onnxpad.show.edited import (
    although_unfit_text,
    inlined_text,
    relied_lines,
    script_lines,
    skip_note,
)
from onnxpad.show.inspections import unknown_operator_notes
from onnxpad.show.pages.cards import Changed, changes_section
from onnxpad.show.wording import alike, idle_lines, limits_text, route_text, runs_text

if TYPE_CHECKING:
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
    in_vain = not rewriting.changed and bool(rewriting.skips or rewriting.undone)
    state = "open" if rewriting.skips else "fine"
    validated: tuple[str, ...] = ()
    if validation is not None:
        from onnxpad.show.validations import STATES, validated_lines

        state = STATES[validation.verdict]
        validated = tuple(validated_lines(validation))
    summary = changes_text(rewriting, done=done and not objection)
    if objection:
        summary = f"nothing written; {summary}" if rewriting.changes else "nothing written"
    return Document(
        "Rewriting of",
        model,
        f"{route_text(model, written)}: {summary}",
        (
            "" if objection else _cost_text(rewriting),
            *validated,
            _nothing_to_do(rewriting, written),
            *idle_lines(in_vain=in_vain, compared=compared),
        ),
        (
            changes_section(partial(_changes, rewriting)),
            Section("script", "Edit script", tuple(script_lines(rewriting)) if script else ()),
            Section("skips", "Left as they were", tuple(_skips(rewriting))),
            Section("notes", "Notes", tuple(_notes(rewriting))),
            *_fitting(rewriting, done=done, each=each, refused=bool(objection)),
            Section("tail", "", tuple(_tail(rewriting, written))),
            Section("next", "", _next(model, written, objection), on_page_alone=True),
        ),
        "wrong" if objection else state,
        is_brief=not each,
    )


def _tail(rewriting: Rewriting, written: str | None) -> Iterator[Line]:
    """Where the result holds, and how to see that the runtime itself agrees."""
    yield inlined_text(rewriting)
    yield from limits_text(rewriting.limits_met)
    yield from unknown_operator_notes(rewriting.unknown_operators)
    yield from relied_lines(rewriting)
    yield from runs_text(rewriting.runs)
    names = rewriting.target.split(" + ") if rewriting.fitting and rewriting.changed else []
    own = any(find_target(name).has_own_rules for name in names)
    if written and names and not rewriting.runs and not own:
        typed = ["onnxpad validate", written, *(f"--target {asked_as(name)}" for name in names)]
        yield Command(" ".join(typed), f"to run it in {rewriting.target} itself")


def _next(model: str, written: str | None, objection: str) -> tuple[Line, ...]:
    """What a page says beside the text: why nothing was written, or how to prove what was."""
    if objection:
        return (f"nothing was written: {objection}",)
    if not written or "-" in (model, written) or model == written:
        return ()
    return (Command(join(["onnxpad", "validate", model, written])),)


def _cost_text(rewriting: Rewriting) -> str:
    """'operators: 10 before, 11 after (Pad +2, Slice -1)'."""
    counts = rewriting.operators
    if counts is None or not rewriting.changed:
        return ""
    change = ", ".join(f"{name} {number:+}" for name, number in counts.change.items())
    text = f"operators: {counts.before} before, {counts.after} after"
    return f"{text} ({change})" if change else text


def _nothing_to_do(rewriting: Rewriting, written: str | None) -> str:
    """Why the model is as it was, where that is what was asked for."""
    found = rewriting.fitting
    if rewriting.skips or rewriting.changes or rewriting.changed or (found and found.no_way):
        return ""
    said = f"nothing to do for {', '.join(rewriting.passes)}"
    if found and not rewriting.passes:
        said = f"nothing to do: {rewriting.target} takes every operator that can pad as it is"
        if rewriting.run is not None and rewriting.run.ok is False:
            said = said.replace("nothing to do", "no padding to mend")
        if falling := found.judged - found.taken:
            said = f"nothing to do: {rewriting.target} leaves {counted(falling, 'node')} to the CPU"
            said += "; --require-device looks for another form"
    return f"{said}; the file is the input, byte for byte" if written else said


def _skips(rewriting: Rewriting) -> Iterator[Line]:
    """What every pass left as it was, and facts about sizes that settle several nodes at once."""
    yield from (skip_note(skip, skip.rule) for skip in rewriting.skips)
    facts, helped = settling([refusal.skip for refusal in rewriting.skips])
    if helped > 1:
        yield f"try: {rests_text(facts)} settles {helped} of the {len(rewriting.skips)} skips"


def _notes(rewriting: Rewriting) -> Iterator[Note]:
    """What else is worth a word: one for all nodes of which it is true."""
    for group in alike(rewriting.notes, lambda one: (one.rule, one.skip)):
        nodes = few([f"{one.op} '{one.node.label}'" for one in group], _NAMED)
        skip = group[0].skip
        yield Note(f"note: {group[0].rule}, {nodes}", skip.reason, tuple(skip.hints))
    for one in rewriting.undone:
        said = f"{' and '.join(one.rules)} undo each other"
        yield Note(f"note: {one.op} '{one.node.label}' is as before", said)


def _fitting(rewriting: Rewriting, *, done: bool, each: bool, refused: bool) -> Iterator[Section]:
    """What was done for the target, what that costs, and nodes for which there is no way."""
    found, target = rewriting.fitting, rewriting.target
    if found is None:
        return
    from onnxpad.show.verdicts import granted_notes, no_way_notes, not_judged_text, opening_lines

    undone = {one.node for one in rewriting.undone}
    plans = [one for one in found.plans if one.node not in undone]
    sizes = f"; open sizes ({', '.join(found.open_sizes)}) were taken as {NOMINAL}"
    cost = "nothing" if found.cost == Cost() else f"{found.cost}{sizes * bool(found.open_sizes)}"
    taken = f"as rewritten, {target} takes {found.taken} of the {found.judged} nodes judged"
    mended: tuple[Line, ...] = (
        *([Note("note", found.unmeasured)] if found.unmeasured else []),
        *(one.note for one in found.installed),
        *(f"{target}: {text}" for text in found.prepared),
        *_mended(f"{'mended' if done else 'to be mended'} for {target}", plans, each=each),
        f"cost: {cost}" if plans else "",
        taken if rewriting.changed else "",
        *granted_notes(target, found.granted),
    )
    yield Section("mended", f"What was mended for {target}", mended)
    unfit = (
        *no_way_notes(target, found.no_way, each=each),
        *opening_lines(found.opening, found.no_way),
        although_unfit_text(rewriting) if refused else "",
    )
    yield Section("unfit", f"Nodes that {target} does not take", unfit)
    yield Section("elsewhere", "", (not_judged_text(rewriting.not_judged),))


def _mended(head: str, plans: Sequence[NodeVerdict], *, each: bool) -> Iterator[Note]:
    """A note for all nodes of an operator of which the same is said, or for each node."""
    from onnxpad.show.verdicts import named, way_text

    said = [(one.op, f"{one.judgement.sentence}; {way_text(one)}", one) for one in plans]
    for group in alike(said, lambda one: one[:2], each=each):
        op, why, _ = group[0]
        yield Note(f"{head}: {op} {named([one for *_, one in group])}", why)


def changes_text(rewriting: Rewriting, *, done: bool) -> str:
    """'12 nodes rewritten (explicit-pads 12), 2 skipped'; 'would be' where nothing is written."""
    undone = {one.node for one in rewriting.undone}
    changes = [change for change in rewriting.changes if change.node not in undone]
    counts = Counter(change.rule for change in changes)
    order = dict.fromkeys((*rewriting.passes, *counts))
    rules = [f"{name} {counts[name]}" for name in order if counts[name]]
    made = {edit.address.id for edit in rewriting.script if isinstance(edit, InsertNode)}
    nodes = len({change.node.id for change in changes} - made)
    text = f"{counted(nodes, 'node')} {'' if done else 'would be '}rewritten"
    text += f" ({', '.join(rules)})" if rules else ""
    return f"{text}, {len(rewriting.skips)} skipped"


def _changes(found: Rewriting) -> Iterator[Changed]:
    for one in found.changes:
        chain = one.after if isinstance(one.after, Chain) else None
        steps = one.after.steps if isinstance(one.after, Expansion) else ()
        names = (one.op if isinstance(step, Itself) else step.op_type for step in steps)
        is_now = label_of(chain) if chain else ", then ".join(names)
        before, after = with_far_pad(one.before), with_far_pad(chain) if chain else None
        was = label_of(one.before)
        yield Changed(one.node.label, one.op, one.rule, was, is_now, before, after)
