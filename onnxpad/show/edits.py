"""Edited models, rewritten or moved: what was done and skipped, why, and the edit script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from onnxpad.errors import counted, either, few
from onnxpad.inspection import with_far_pad
from onnxpad.model.editing.script import (
    FixSize,
    InsertNode,
    SetMetadata,
    describe_edit,
    edit_record,
)
from onnxpad.model.shapes.recorded_facts import HOLDS_WHERE
from onnxpad.padding.chain import Chain
from onnxpad.padding.effective_pads import rests_text, settling
from onnxpad.padding.expansion import Expansion, Itself
from onnxpad.retargeting.labels import label_of
from onnxpad.rewriting.costs import NOMINAL, Cost
from onnxpad.runtimes.own_targets import asked_as
from onnxpad.runtimes.targets import find_target
from onnxpad.show.document import Command, Document, Line, Note, Section, Table, tried_text
from onnxpad.show.inspections import unknown_operator_notes
from onnxpad.show.pages.cards import Changed, changes_section
from onnxpad.show.pages.heatmaps import maps_section
from onnxpad.show.verdicts import additions, main_reason, named, not_judged_text, verdict_table
from onnxpad.show.wording import (
    EACH,
    alike,
    assumed_text,
    limits_text,
    ran_text,
    route_text,
    runs_text,
    shape_text,
    visible,
)

if TYPE_CHECKING:
    from onnxpad.retargeting import Retargeting
    from onnxpad.rewriting.pipeline import Refusal
    from onnxpad.rewriting.rewrite import Rewriting
    from onnxpad.validation.distances import Distance, Distances

_NAMED, _TRIES_SHOWN = 3, 2
_HEADERS = ("node", "operator", "before", "after", "output")
_MOVED = ("sample", "output", "before", "after", "moved by", "relative", "elements")
_DONE = {"rewrite": ("rewritten", "validation"), "retarget": ("moved", "moved")}
"""What a verb calls a model that it changed, and in its record the runs of both models."""


def edited_record(  # noqa: PLR0913 - all that one record holds
    verb: str,
    model: str,
    written: str | None,
    report: Rewriting | Retargeting,
    compared: Any = None,  # noqa: ANN401 - a Validation or Distances
    *,
    script: bool = False,
    refused: str = "",
) -> dict[str, Any]:
    """The report on one model as plain data; `written` is the file, or null where nothing was.

    `refused` says what spoke against writing it. `status` is 'rewritten' or 'moved', 'would be'
    that where nothing was to be written, 'unchanged' or 'not written'.
    """
    done, runs = _DONE[verb]
    status = "not written" if refused else "unchanged"
    if report.changed and not refused:
        status = done if written else f"would be {done}"
    fate = {"status": status, "written": written, "refused": refused or None}
    record: dict[str, Any] = {"file": model} | fate | report.to_json()
    if script:
        record["script"] = [edit_record(edit) for edit in report.script]
    record[runs] = None if compared is None else compared.to_json()
    return record


def edited_document(  # noqa: PLR0913 - all that one report shows
    model: str,
    written: str | None,
    report: Any,  # noqa: ANN401 - a Rewriting or a Retargeting
    compared: Any = None,  # noqa: ANN401 - a Validation of what was rewritten, else Distances
    *,
    script: bool = False,
    objection: str = "",
    each: bool = False,
    page: bool = False,
) -> Document:
    """The report on one model; `objection` is why nothing was written.

    Nodes of which the same is said are told together, unless `each` or a `page` is asked for.
    """
    each = each or page
    rewrites = hasattr(report, "passes")
    done = written is not None and not objection
    summary = (_rewritten_text if rewrites else _moved_text)(report, done=done)
    against = f"nothing written: {objection}" if objection else ""
    told = f"{against}; {summary}" if against and (report.changed or report.skips) else against
    edits = [visible(describe_edit(edit)) for edit in report.script] if script else []
    sections = [changes_section(partial(_rewritten if rewrites else _moved, report))]
    if not rewrites:
        rows = tuple(_rows(report, each=each))
        sections.append(Section("nodes", "Nodes", table=Table(_HEADERS, rows, "padded nodes")))
    skips = tuple(_notes("skip", report.skips, getattr(report, "to", ""), each=each))
    sections.append(Section("script", "Edit script", code="\n".join(edits)))
    sections.append(Section("skips", "Left as they were", skips))
    head = f"{route_text(model, written)}: "
    brief = [f"{head}{summary}"]
    if rewrites:
        state, lines = _validated(compared)
        lines = (*_rewriting_lines(report, written if done else None), *lines)
        brief += _brief(report, compared, done=done)
        sections += _fitting(report, done=written is not None, each=each)
        sections.append(Section("tail", "", tuple(_tail(report, written))))
    else:
        state, lines = "", tuple(f"breaks: {one}" for one in report.breaks)
        sections += (_outputs(compared), maps_section(compared.rows)) if compared else ()
    sections.append(Section("model", "", tuple(_about_model(report))))
    line = "\n".join((*edits, visible("; ".join(brief))))
    if objection:
        reason, tries = _refused(report, compared, objection)
        reason = f": {reason}" if reason else ""
        line = tried_text(f"nothing written for {head}{objection}{reason}", tries)
    return Document(
        "Rewriting of" if rewrites else "Retargeting of",
        model,
        f"{head}{told or summary}",
        lines,
        tuple(sections),
        "wrong" if objection else state or ("open" if report.skips else "fine"),
        "" if each or script else EACH,
        line=line,
    )


def _validated(validation: Any) -> tuple[str, tuple[Line, ...]]:  # noqa: ANN401
    """The state of the page, and what was found; nothing where nothing was compared."""
    if validation is None:
        return "", ()
    from onnxpad.show.validations import STATES, validated_lines

    return STATES[validation.verdict], tuple(validated_lines(validation))


def _refused(report: Any, compared: Any, objection: str) -> tuple[str, list[str]]:  # noqa: ANN401
    """The first node, or what else speaks against writing a model, and what to try."""
    if not getattr(compared, "ok", True):
        return compared.reason, [either(compared.hints)]
    if stuck := getattr(report, "stuck", ()):
        tries = [one.removeprefix("try: ") for one in additions(report.fitting.opening, stuck)]
        tries = tries[:_TRIES_SHOWN] or ["no form that onnxpad writes is taken"]
        return main_reason(stuck), [*tries, _although_unfit_text(report)]
    if report.skips and objection.startswith("--strict"):
        skip = report.skips[0]
        more = f" and {len(report.skips) - 1} more" if report.skips[1:] else ""
        return f"{skip.op} '{skip.node.label}'{more}: {skip.skip.reason}", [either(skip.skip.hints)]
    run = getattr(report, "run", None)
    return (run.sentence if run and run.ok is False else ""), []


def _notes(
    kind: str, skips: tuple[Refusal, ...], by: str = "", *, each: bool = False
) -> Iterator[Note]:
    """Nodes that passes or a convention left: a note for all that were for one reason."""
    for group in alike(skips, lambda one: (getattr(one, "rule", by), one.op, one.skip), each=each):
        first, nodes = group[0], few([f"'{one.node.label}'" for one in group], _NAMED)
        head = f"{kind}: {getattr(first, 'rule', by)}, {first.op} {nodes}"
        yield Note(head, first.skip.reason, tuple(first.skip.hints))


def _about_model(report: Rewriting | Retargeting) -> Iterator[str]:
    """What was done to the model as a whole, where the result holds, and what the model says."""
    if names := few(report.inlined, 2):
        yield f"note: local functions are written out at every call: {names}"
    yield from limits_text(report.limits_met)
    if not report.changed or not report.relied_on:
        return
    fixed = [f"{edit.dimension}={edit.size}" for edit in report.script if isinstance(edit, FixSize)]
    noted = [edit.value for edit in report.script if isinstance(edit, SetMetadata)]
    says = [f"{', '.join(fixed)} in its inputs"] if fixed else []
    says += [f"{one} in its metadata ({HOLDS_WHERE})" for one in noted]
    yield assumed_text(report.relied_on)
    if says:
        yield f"the model now states this: {', '.join(says)}"


def _rewritten_text(report: Rewriting, *, done: bool) -> str:
    """'12 nodes rewritten (explicit-pads 12), 2 skipped'; 'would be' where nothing is written."""
    changes = report.changes
    counts = Counter(change.rule for change in changes)
    order = dict.fromkeys((*report.passes, *counts))
    rules = [f"{name} {counts[name]}" for name in order if counts[name]]
    new = {edit.address.id for edit in report.script if isinstance(edit, InsertNode)}
    nodes = len({change.node.id for change in changes} - new)
    text = f"{counted(nodes, 'node')} {'' if done else 'would be '}rewritten"
    text += f" ({', '.join(rules)})" if rules else ""
    return f"{text}, {len(report.skips)} skipped"


def _rewriting_lines(report: Rewriting, written: str | None) -> Iterator[str]:
    """How many operators there are, or why the model is as it was."""
    counts, fitting = report.operators, report.fitting
    if counts is not None and report.changed:
        change = ", ".join(f"{name} {number:+}" for name, number in counts.change.items())
        change = f" ({change})" if change else ""
        yield f"operators: {counts.before} before, {counts.after} after{change}"
    if report.skips or report.changes or report.changed or (fitting and fitting.no_way):
        return
    text = f"nothing to do for {', '.join(report.passes)}"
    if fitting and not report.passes:
        text = f"nothing to repair: {report.target} takes every operator that can pad as it is"
        if falling := fitting.judged - fitting.taken:
            text = f"nothing to do: {report.target} leaves {counted(falling, 'node')} to the CPU"
            text += "; --require-device looks for another form"
    yield f"{text}; the file is the input, byte for byte" if written else text


def _brief(report: Rewriting, validation: Any, *, done: bool) -> Iterator[str]:  # noqa: ANN401
    """What a line about the model says beside what was done."""
    if report.fitting is not None:
        if left := {one.node for one in report.fitting.no_way}:
            yield f"{counted(len(left), 'node')} left that {report.target} may not take"
        yield from (one.note for one in report.fitting.installed)
    yield from runs_text(report.runs)
    if validation is not None and done:
        yield str(validation.verdict)
        if validation.ok and validation.proof and validation.proof.verdict == "undecided":
            yield f"not proved: {validation.proof.obstacle}"


def _fitting(report: Rewriting, *, done: bool, each: bool) -> Iterator[Section]:
    """What was done for the target, what that costs, and nodes for which there is no way."""
    yield Section("notes", "Notes", tuple(_notes("note", report.notes)))
    fitting, target = report.fitting, report.target
    if fitting is None:
        return
    mended = [(target, one) for one in fitting.plans]
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
    notes = (cost if mended else "", taken if report.changed else "")
    yield Section("mended", f"What was mended for {target}", lines, table, notes)
    tried = _although_unfit_text(report) if report.unfit and not done else ""
    granted = alike(fitting.granted, lambda one: (one.op, one.judgement.reason))
    rest = (
        *additions(fitting.opening, fitting.no_way),
        f"try: {tried}" if tried else "",
        *(f"taken for granted: {named(g)}: {g[0].judgement.reason}" for g in granted),
        not_judged_text(report.not_judged),
    )
    table = verdict_table([(target, one) for one in fitting.no_way], each=each)
    title = f"Nodes that {target} may not take"
    yield Section("unfit", title, (f"{title}:",) * bool(table.rows), table, rest)


def _although_unfit_text(report: Rewriting) -> str:
    """What writes the nodes for which there is a way, where others are in its way; else ''."""
    plans = report.fitting.plans if report.fitting and report.unfit else ()
    helped = {one.node for one in plans} - {one.node for one in report.unfit}
    nodes = counted(len(helped), "node")
    return f"--although-unfit, which rewrites {nodes} all the same" if helped else ""


def _tail(report: Rewriting, written: str | None) -> Iterator[Line]:
    """What settles skips, and how to see that the runtime itself agrees."""
    facts, helped = settling([refusal.skip for refusal in report.skips])
    if helped > 1:
        yield f"try: {rests_text(facts)} settles {helped} of the {len(report.skips)} skips"
    yield from unknown_operator_notes(report.unknown_operators)
    yield from runs_text(report.runs)
    names = report.target.split(" + ") if report.fitting and report.changed else []
    own = any(find_target(name).has_own_rules for name in names)
    if written and names and not report.runs and not own:
        typed = ["onnxpad validate", written, *(f"--target {asked_as(name)}" for name in names)]
        yield Command(" ".join(typed), f"to run it in {report.target} itself")


def _rewritten(report: Rewriting) -> Iterator[Changed]:
    for one in report.changes:
        chain = one.after if isinstance(one.after, Chain) else None
        steps = one.after.steps if isinstance(one.after, Expansion) else ()
        names = (one.op if isinstance(step, Itself) else step.op_type for step in steps)
        is_now = label_of(chain) if chain else ", then ".join(names)
        before, after = with_far_pad(one.before), with_far_pad(chain) if chain else None
        was = label_of(one.before)
        yield Changed(one.node.label, one.op, one.rule, was, is_now, before, after)


def _moved_text(report: Retargeting, *, done: bool) -> str:
    """'3 nodes moved to tensorflow, 8 unchanged, 0 skipped'; 'would be' if nothing is written."""
    verb = "moved" if done else "would be moved"
    goal = "as planned" if report.to == "plan" else f"to {report.to}"
    may = sum(one.may_be_resized for one in report.changes)
    resized = sum(one.resized for one in report.changes) - may
    sizes = [f"{resized} with another output size"] if resized else []
    sizes += [f"{may} whose output may have another size"] if may else []
    text = f"{counted(len(report.changes), 'node')} {verb} {goal}"
    text += f" ({', '.join(sizes)})" if sizes else ""
    return f"{text}, {len(report.unchanged)} unchanged, {len(report.skips)} skipped"


def _rows(report: Retargeting, *, each: bool) -> Iterator[tuple[str, ...]]:
    """A row for each node that moves, and for those that stay, of which many are one row."""
    for move in report.changes:
        size = shape_text(move.output_after)
        if move.resized:  # in full: shortened sizes may look alike
            size = f"[{', '.join(move.output_before)}] -> [{', '.join(move.output_after)}]"
        size += ", same values" * move.same_values
        yield move.node.label, move.op, move.before, move.after, size
    for group in alike(report.unchanged, lambda one: (one.op, one.padding, one.why)):
        stays = group[0].op, group[0].padding, "unchanged", group[0].why
        nodes = [one.node.label for one in group]
        alone = each or len(nodes) <= _NAMED
        yield from ((name, *stays) for name in (nodes if alone else [f"{few(nodes, 1)} (--each)"]))


def _moved(report: Retargeting) -> Iterator[Changed]:
    for one in report.changes:
        chains = map(with_far_pad, one.chains)
        yield Changed(one.node.label, one.op, report.to, one.before, one.after, *chains)


def _outputs(moved: Distances) -> Section:
    """How far outputs moved."""
    rows = Table(_MOVED, tuple(map(_moved_row, moved.rows)), "outputs by sample")
    notes = (
        *(f"{row.output}: {row.why}" for row in moved.rows if row.why),
        *(f"warning: {warning}" for warning in moved.warnings),
        ran_text(moved.providers),
    )
    return Section("outputs", "How far outputs moved", table=rows, notes=notes)


def _moved_row(row: Distance) -> tuple[str, ...]:
    """The row of an output in a sample."""
    both = row.shape_before, row.shape_after
    shapes = ["-" if shape is None else shape_text(shape) for shape in both]
    if row.max_abs is None or row.relative is None or row.share is None:
        other = "another shape" if both[0] != both[1] and not row.why else "-"
        return str(row.sample), row.output, *shapes, other, "-", "-"
    numbers = f"{row.max_abs:.3g}", f"{row.relative:.3g}", f"{100 * row.share:.1f} %"
    return str(row.sample), row.output, *shapes, *numbers
