"""Many models: one line for each, and a few about all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from onnxpad.errors import counted, either, few
from onnxpad.show.edited import although_unfit_text, stated_in
from onnxpad.show.wording import route_text, runs_text, visible

if TYPE_CHECKING:
    from onnxpad.inspection import Inspection
    from onnxpad.retargeting import Retargeting
    from onnxpad.rewriting.rewrite import Rewriting
    from onnxpad.validation import Validation

TRY = "\n  try     "
_NAMED, _TRIES_SHOWN = 3, 2
_LAST = ("not written", "error")
_NAMES_FOR = (*_LAST, "failing", "different", "unverified", "not known")
"""Results whose models are named at the end."""
_WHAT_TO_DO = {
    "with traps": "inspect of one of them alone names the nodes, and the command that mends them",
    "not known": "no finding unless --fail-on unknown is given; inspect of one of them alone says "
    "what is not known, and what to add",
}


def rewriting_line(
    model: str, written: str | None, found: Rewriting, validation: Validation | None
) -> str:
    """'a.onnx -> b.onnx: 6 nodes rewritten (explicit-pads 6), 0 skipped; identical'."""
    from onnxpad.show.rewritings import changes_text

    done = written is not None
    changes = changes_text(found, done=done)
    parts = [f"{route_text(model, written)}: {changes}", *_written_besides(found, done=done)]
    if validation is not None:
        parts += [str(validation.verdict), *_unproved(validation)]
    return visible("; ".join(parts))


def _written_besides(found: Rewriting, *, done: bool) -> Iterator[str]:
    """What the file says, or would say, otherwise than before, other than in its nodes."""
    fixed, noted = stated_in(found)
    would = "" if done else "that would be "
    if fixed:
        yield f"sizes {would}written: {', '.join(fixed)}"
    if noted:
        yield f"facts {would}noted in its metadata: {', '.join(noted)}"
    fitting = found.fitting
    left = fitting.no_way if fitting and (done or not found.unfit) else ()
    if left:
        nodes = counted(len({one.node for one in left}), "node")
        does = "does not take" if found.unfit else "may not take"
        yield f"{nodes} left that {found.target} {does}"
    yield from runs_text(found.runs)
    if fitting and fitting.granted:
        yield f"{counted(len(fitting.granted), 'node')} taken for granted for {found.target}"
    yield from (one.note for one in fitting.installed) if fitting else ()
    if fitting and fitting.whole:
        yield f"the model {'has' if done else 'would have'} {', '.join(fitting.whole)}"


def _unproved(found: Validation) -> Iterator[str]:
    """That onnxruntime runs neither model, and why what agrees is not proved."""
    if found.run is not None and found.run.refused:
        yield found.run.refused
    if found.ok and found.proof is not None and found.proof.verdict == "undecided":
        yield f"not proved: {found.proof.obstacle}"


def retargeting_line(model: str, written: str | None, found: Retargeting) -> str:
    """'a.onnx -> b.onnx: 3 nodes moved to tensorflow, 8 unchanged, 0 skipped'."""
    from onnxpad.show.retargetings import summary_text

    return visible(f"{route_text(model, written)}: {summary_text(found, done=written is not None)}")


def inspection_line(model: str, found: Inspection) -> str:
    """'a.onnx: 6 operators can pad, 5 do, ..., 2 traps; opencv: takes 4, miscomputes 2 of 6'."""
    from onnxpad.show.inspections import counts_text

    parts = [f"{route_text(model)}: {counts_text(found)}"]
    if found.targets:
        from onnxpad.show.verdicts import answers_text

        parts += [f"{name}: {answers_text(one)}" for name, one in found.targets.items()]
        parts += [one.note for one in found.installed.values()]
    return visible("; ".join(parts))


def validation_line(before: str, after: str | None, found: Validation) -> str:
    """'a.onnx, b.onnx: identical: all outputs are bit-equal'."""
    files = ", ".join(filter(None, (before, after)))
    return visible("; ".join([f"{files}: {found.verdict}: {found.reason}", *_unproved(found)]))


def refusal_text(
    model: str, objection: str, found: Rewriting | Retargeting, failed: Validation | None = None
) -> str:
    """'nothing written for a.onnx: opencv would refuse 2 of its nodes: Conv 'c': why', and a try.

    What speaks against a model names a node with its reason, and what to type about it. `failed` is
    the validation that it did not pass.
    """
    reason, tried = "", []
    unfit = getattr(found, "stuck", ())
    if failed is not None:
        reason, tried = failed.reason, [either(failed.hints)]
    elif unfit:
        from onnxpad.show.verdicts import main_reason

        reason, tried = main_reason(unfit), _tries(found)
    elif found.skips and objection.startswith("--strict"):
        skip = found.skips[0]
        more = f" and {len(found.skips) - 1} more" if found.skips[1:] else ""
        reason = f"{skip.op} '{skip.node.label}'{more}: {skip.skip.reason}"
        tried = [either(skip.skip.hints)]
    said = f"nothing written for {route_text(model)}: {objection}{f': {reason}' if reason else ''}"
    return visible(said) + "".join(f"{TRY}{visible(one)}" for one in tried if one)


def _tries(found: Any) -> list[str]:  # noqa: ANN401 - a rewriting for a target
    """What settles nodes that a target does not take: what to add, or what helps elsewhere."""
    from onnxpad.show.verdicts import opening_lines

    fitting = found.fitting
    lines = map(str, opening_lines(found.target, fitting.opening, found.stuck) if fitting else ())
    tried = [line.removeprefix("try: ") for line in lines if line.startswith("try: ")]
    tried = tried or [*dict.fromkeys(hint for one in found.stuck for hint in one.judgement.cures)]
    tried = tried[:_TRIES_SHOWN] or ["no form that onnxpad writes is taken"]
    return [*tried, although_unfit_text(found).removeprefix("try: ")]


def totals_text(outcomes: Sequence[Any], noun: str) -> str:
    """'30 models: 3 rewritten, 24 unchanged, 3 not written (a.onnx, b.onnx, c.onnx)'.

    Above it stands what is true of all of them, and what to do about results that need something.
    `outcomes` have the `file`, the `result` and the `record` of each model.
    """
    names: dict[str, list[str]] = {}
    for one in outcomes:
        names.setdefault(one.result, []).append(route_text(one.file))
    parts = []
    for result in sorted(names, key=lambda one: (one in _LAST, one in ("unchanged", "fine"))):
        named = f" ({few(names[result], _NAMED)})" if result in _NAMES_FOR else ""
        parts.append(f"{len(names[result])} {result}{named}")
    targets = (one.record.get("target") or {} for one in outcomes)
    notes = {said for one in outcomes for said in one.record.get("unmeasured", {}).values()}
    notes |= {one.get("unmeasured", "") for one in targets}
    lines = [f"note: {said}" for said in sorted(notes) if said]
    if kinds := {kind for one in outcomes for kind in one.record.get("not_judged", ())}:
        from onnxpad.show.verdicts import not_judged_text

        lines.append(not_judged_text(sorted(kinds)))
    lines += [f"{result}: {say}" for result, say in _WHAT_TO_DO.items() if result in names]
    lines.append(f"{counted(len(outcomes), noun)}: {', '.join(parts)}")
    skips = {one.file: len(one.record["skips"]) for one in outcomes if one.record.get("skips")}
    if skips:
        where = f"{counted(len(skips), noun)} ({few([*map(route_text, skips)], _NAMED)})"
        nodes = counted(sum(skips.values()), "node")
        lines.append(f"{nodes} skipped in {where}: one model alone, or --json, says why")
    return "\n".join(map(visible, lines))
