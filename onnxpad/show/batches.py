"""Many models: one line for each, and a few about all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from onnxpad.errors import counted, either, few
from onnxpad.show.edited import although_unfit_text
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
    "failing": "--each names the nodes, and the command that mends them",
    "with traps": "inspect of one of them alone names the nodes, and the command that mends them",
    "not known": "no finding unless --fail-on unknown is given; inspect of one of them alone says "
    "what is not known, and what to add",
}


def rewriting_line(
    model: str, written: str | None, found: Rewriting, validation: Validation | None
) -> str:
    """'a.onnx -> b.onnx: 6 nodes rewritten (explicit-pads 6), 0 skipped; identical'."""
    from onnxpad.show.rewritings import changes_text

    changes, fitting = changes_text(found, done=written is not None), found.fitting
    parts = [f"{route_text(model, written)}: {changes}"]
    if fitting is not None:
        for nodes, text in (
            ({one.node for one in fitting.no_way}, f"left that {found.target} may not take"),
            ({one.node for one in fitting.granted}, f"taken for granted for {found.target}"),
        ):
            parts += [f"{counted(len(nodes), 'node')} {text}"] * bool(nodes)
        parts += [one.note for one in fitting.installed]
        parts += [f"the whole model: {', '.join(fitting.whole)}"] * bool(fitting.whole)
    parts += runs_text(found.runs)
    if validation is not None:
        parts += [str(validation.verdict), *_unproved(validation)]
    return visible("; ".join(parts))


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
    """'a.onnx: 6 operators can pad, ..., 2 traps; opencv: takes 4, miscomputes 2'."""
    from onnxpad.show.inspections import counts_text
    from onnxpad.show.verdicts import answers_text

    targets = (f"{name}: {answers_text(one)}" for name, one in found.targets.items())
    notes = (one.note for one in found.installed.values())
    return visible("; ".join([f"{route_text(model)}: {counts_text(found)}", *targets, *notes]))


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
        from onnxpad.show.verdicts import main_reason, tries

        rewriting: Any = found
        reason = main_reason(unfit)
        tried = tries(rewriting)[:_TRIES_SHOWN] or ["no form that onnxpad writes is taken"]
        tried.append(although_unfit_text(rewriting))
    elif found.skips and objection.startswith("--strict"):
        skip = found.skips[0]
        more = f" and {len(found.skips) - 1} more" if found.skips[1:] else ""
        reason = f"{skip.op} '{skip.node.label}'{more}: {skip.skip.reason}"
        tried = [either(skip.skip.hints)]
    said = f"nothing written for {route_text(model)}: {objection}{f': {reason}' if reason else ''}"
    return visible(said) + "".join(f"{TRY}{visible(one)}" for one in tried if one)


def totals_text(outcomes: Sequence[Any], noun: str) -> str:
    """'30 models: 3 rewritten, 24 unchanged, 3 not written (a.onnx, b.onnx, c.onnx)'.

    Above it stands what is true of all of them, and what to do about results that need something.
    `outcomes` have the `file`, the `result` and the `record` of each model.
    """
    from onnxpad.show.verdicts import not_judged_text

    names: dict[str, list[str]] = {}
    for one in outcomes:
        names.setdefault(one.result, []).append(route_text(one.file))
    records = [one.record for one in outcomes]
    releases = [note for one in records for note in one.get("unmeasured", {}).values()]
    releases += [(one.get("target") or {}).get("unmeasured") for one in records]
    lines = [f"note: {note}" for note in sorted({*filter(None, releases)})]
    if kinds := {kind for one in records for kind in one.get("not_judged", ())}:
        lines.append(not_judged_text(sorted(kinds)))
    lines += [f"{result}: {say}" for result, say in _WHAT_TO_DO.items() if result in names]
    parts = []
    for result in sorted(names, key=lambda one: (one in _LAST, one in ("unchanged", "fine"))):
        named = f" ({few(names[result], _NAMED)})" if result in _NAMES_FOR else ""
        parts.append(f"{len(names[result])} {result}{named}")
    lines.append(f"{counted(len(outcomes), noun)}: {', '.join(parts)}")
    if skips := {
        route_text(x.file): len(x.record["skips"]) for x in outcomes if x.record.get("skips")
    }:
        where = f"{counted(len(skips), noun)} ({few([*skips], _NAMED)})"
        nodes = counted(sum(skips.values()), "node")
        lines.append(f"{nodes} skipped in {where}: one model alone, or --json, says why")
    return "\n".join(map(visible, lines))
