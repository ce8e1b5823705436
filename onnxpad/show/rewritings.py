"""Rewritings: what was done, what was skipped and why, and the edit script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
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
from onnxpad.show.edited import although_unfit_text, edited_lines, script_lines, skips_section
from onnxpad.show.inspections import unknown_operator_notes
from onnxpad.show.pages.cards import Changed, changes_section
from onnxpad.show.wording import EACH, alike, idle_lines, route_text, runs_text

if TYPE_CHECKING:
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
    in_vain = not rewriting.changed and bool(rewriting.skips or rewriting.undone)
    state = "wrong" if objection else "open" if rewriting.skips else "fine"
    validated: tuple[str, ...] = ()
    if validation is not None:
        from onnxpad.show.validations import STATES, validated_lines

        state = "wrong" if objection else STATES[validation.verdict]
        validated = tuple(validated_lines(validation))
    summary = changes_text(rewriting, done=written is not None and not objection)
    if objection:
        summary = f"nothing written: {objection}{f'; {summary}' * bool(rewriting.changes)}"
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
            Section("script", "Edit script", code="\n".join(script_lines(rewriting)) * script),
            skips_section(rewriting),
            Section("notes", "Notes", tuple(_notes(rewriting))),
            *_fitting(rewriting, done=written is not None, each=each),
            Section("tail", "", tuple(_tail(rewriting, written))),
        ),
        state,
        "" if each or script else EACH,
    )


def _tail(rewriting: Rewriting, written: str | None) -> Iterator[Line]:
    """Where the result holds, and how to see that the runtime itself agrees."""
    facts, helped = settling([refusal.skip for refusal in rewriting.skips])
    if helped > 1:
        yield f"try: {rests_text(facts)} settles {helped} of the {len(rewriting.skips)} skips"
    yield from edited_lines(rewriting)
    yield from unknown_operator_notes(rewriting.unknown_operators)
    yield from runs_text(rewriting.runs)
    names = rewriting.target.split(" + ") if rewriting.fitting and rewriting.changed else []
    own = any(find_target(name).has_own_rules for name in names)
    if written and names and not rewriting.runs and not own:
        typed = ["onnxpad validate", written, *(f"--target {asked_as(name)}" for name in names)]
        yield Command(" ".join(typed), f"to run it in {rewriting.target} itself")


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
    fitting, target = rewriting.fitting, rewriting.target
    if rewriting.skips or rewriting.changes or rewriting.changed or (fitting and fitting.no_way):
        return ""
    text = f"nothing to do for {', '.join(rewriting.passes)}"
    if fitting and not rewriting.passes:
        text = f"no padding to mend: {target} takes every operator that can pad as it is"
        if falling := fitting.judged - fitting.taken:
            text = f"nothing to do: {target} leaves {counted(falling, 'node')} to the CPU"
            text += "; --require-device looks for another form"
    return f"{text}; the file is the input, byte for byte" if written else text


def _notes(rewriting: Rewriting) -> Iterator[Note]:
    """What else is worth a word: one for all nodes of which it is true."""
    for group in alike(rewriting.notes, lambda one: (one.rule, one.skip)):
        nodes = few([f"{one.op} '{one.node.label}'" for one in group], _NAMED)
        skip = group[0].skip
        yield Note(f"note: {group[0].rule}, {nodes}", skip.reason, tuple(skip.hints))
    for one in rewriting.undone:
        said = f"{' and '.join(one.rules)} undo each other"
        yield Note(f"note: {one.op} '{one.node.label}' is as before", said)


def _fitting(rewriting: Rewriting, *, done: bool, each: bool) -> Iterator[Section]:
    """What was done for the target, what that costs, and nodes for which there is no way."""
    fitting, target = rewriting.fitting, rewriting.target
    if fitting is None:
        return
    from onnxpad.show.verdicts import additions, named, not_judged_text, verdict_table

    undone = {one.node for one in rewriting.undone}
    mended = [(target, one) for one in fitting.plans if one.node not in undone]
    sizes = f"; open sizes ({', '.join(fitting.open_sizes)}) were taken as {NOMINAL}"
    spent = f"{fitting.cost}{sizes * bool(fitting.open_sizes)}"
    cost = "cost: nothing" if fitting.cost == Cost() else f"cost: {spent}"
    taken = f"as rewritten, {target} takes {fitting.taken} of the {fitting.judged} nodes judged"
    lines = (
        f"note: {fitting.unmeasured}" if fitting.unmeasured else "",
        *(one.note for one in fitting.installed),
        *(f"{target}: {text}" for text in fitting.prepared),
        f"{'mended' if done else 'to be mended'} for {target}:" if mended else "",
    )
    table = verdict_table(mended, each=each)
    notes = (cost if mended else "", taken if rewriting.changed else "")
    yield Section("mended", f"What was mended for {target}", lines, table, notes)
    stuck = [(target, one) for one in fitting.no_way]
    tried = although_unfit_text(rewriting) if rewriting.unfit and not done else ""
    granted = alike(fitting.granted, lambda one: (one.op, one.judgement.reason))
    rest = (
        *additions(fitting.opening, fitting.no_way),
        f"try: {tried}" if tried else "",
        *(f"taken for granted: {named(g)}: {g[0].judgement.reason}" for g in granted),
    )
    table, title = verdict_table(stuck, each=each), f"Nodes that {target} may not take"
    yield Section("unfit", title, (f"{title}:",) * bool(stuck), table, rest)
    yield Section("elsewhere", "", (not_judged_text(rewriting.not_judged),))


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


def _changes(rewriting: Rewriting) -> Iterator[Changed]:
    for one in rewriting.changes:
        chain = one.after if isinstance(one.after, Chain) else None
        steps = one.after.steps if isinstance(one.after, Expansion) else ()
        names = (one.op if isinstance(step, Itself) else step.op_type for step in steps)
        is_now = label_of(chain) if chain else ", then ".join(names)
        before, after = with_far_pad(one.before), with_far_pad(chain) if chain else None
        was = label_of(one.before)
        yield Changed(one.node.label, one.op, one.rule, was, is_now, before, after)
