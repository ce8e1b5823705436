"""Many models: one line for each, and one about all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from onnxpad.errors import counted, either, few
from onnxpad.show.edited import although_unfit_text
from onnxpad.show.wording import route_text, runs_text, visible

if TYPE_CHECKING:
    from onnxpad.inspection import Inspection
    from onnxpad.retargeting import Retargeting
    from onnxpad.rewriting.for_target.report import NodeVerdict
    from onnxpad.rewriting.rewrite import Rewriting
    from onnxpad.validation import Validation

TRY = "\n  try     "
_NAMED = 3
_LAST = ("not written", "error")
_NAMES_FOR = (*_LAST, "failing", "different", "unverified", "not known")
"""Results whose models are named at the end."""
_TRAPS_SHOWN = 3
_TRIES_SHOWN = 2
_WHAT_TO_DO = {
    "with traps": "inspect of one of them alone names the nodes, and the command that mends them "
    "where there is one",
    "not known": "no finding unless --fail-on unknown is given; inspect of one of them alone says "
    "what is not, and what to add where something helps",
}


def rewriting_line(
    model: str, written: str | None, found: Rewriting, validation: Validation | None
) -> str:
    """'a.onnx -> b.onnx: 6 nodes rewritten (explicit-pads 6), 0 skipped; identical'."""
    from onnxpad.show.rewritings import changes_text

    done = written is not None
    text = f"{route_text(model, written)}: {changes_text(found, done=done)}"
    text += "".join(f"; {said}" for said in _written_besides(found, done=done))
    return visible(text if validation is None else f"{text}; {_verdict(validation)}")


def _written_besides(found: Rewriting, *, done: bool) -> Iterator[str]:
    """What the file says, or would say, otherwise than before, other than in its nodes."""
    from onnxpad.show.edited import stated_in

    fixed, noted = stated_in(found)
    would = "" if done else "that would be "
    if fixed:
        yield f"sizes {would}written: {', '.join(fixed)}"
    if noted:
        yield f"facts {would}noted in its metadata: {', '.join(noted)}"
    left = found.fitting.no_way if found.fitting and not found.unfit else ()
    if done and found.unfit:
        nodes = counted(len({one.node for one in found.unfit}), "node")
        yield f"{nodes} left that {found.target} does not take"
    if left:
        from onnxpad.show.verdicts import until_text

        nodes = counted(len({one.node for one in left}), "node")
        yield f"{nodes} left as before, unknown for {found.target} {until_text(left)}".rstrip()
    yield from runs_text(found.runs)
    if found.fitting and found.fitting.granted:
        yield f"{counted(len(found.fitting.granted), 'node')} taken for granted for {found.target}"
    if found.fitting and found.fitting.whole:
        yield f"the model {'has' if done else 'would have'} {', '.join(found.fitting.whole)}"


def _verdict(found: Validation) -> str:
    """'proved', and that onnxruntime runs neither model where that is so."""
    refused = found.run.refused if found.run else ""
    return f"{found.verdict}{f'; {refused}' if refused else ''}{_unproved(found)}"


def _unproved(found: Validation) -> str:
    """'; not proved: why' where runs agree, and the proof came to nothing."""
    proof = found.proof
    undecided = found.ok and proof is not None and proof.verdict == "undecided"
    return f"; not proved: {proof.obstacle}" if undecided and proof else ""


def retargeting_line(model: str, written: str | None, found: Retargeting) -> str:
    """'a.onnx -> b.onnx: 3 nodes moved to tensorflow, 8 unchanged, 0 skipped'."""
    from onnxpad.show.retargetings import summary_text

    return visible(f"{route_text(model, written)}: {summary_text(found, done=written is not None)}")


def inspection_line(model: str, found: Inspection) -> str:
    """'a.onnx: 6 operators can pad, 5 do, 6 with auto_pad, 3 asymmetric, 2 traps (...)'."""
    from onnxpad.show.inspections import traps_texts

    counts = found.summary
    parts = [f"{counted(counts['nodes'], 'operator')} can pad, {counts['padding']} do"]
    for name, number in (
        ("with auto_pad", counts["forms"]["auto_pad"]),
        ("asymmetric", counts["asymmetric"]),
        ("not known", counts["unknown"]),
    ):
        parts += [f"{number} {name}"] if number else []
    parts += traps_texts(found, _TRAPS_SHOWN)
    text = ", ".join(parts) if counts["nodes"] else "no operator that can pad"
    for target, verdicts in found.targets.items():
        text += f"; {target}: {_answers(verdicts)}"
    return visible(f"{route_text(model)}: {text}")


def _answers(verdicts: Sequence[NodeVerdict]) -> str:
    """'takes 4, unknown 3 until the batch is 1: add --dim N=1'."""
    from onnxpad.show.verdicts import others_in, until_text, worst_by_node

    answers = Counter(str(answer) for answer in worst_by_node(verdicts))
    unknown = answers.pop("unknown", 0)
    parts = [f"{answer} {number}" for answer, number in answers.items()]
    if unknown:
        parts.append(f"unknown {unknown} {until_text(verdicts)}".rstrip())
    others, total = others_in(verdicts), answers.total() + unknown
    more = f" ({others} of the {total} cannot pad)" if 0 < others < total else ""
    return f"{', '.join(parts)}{more}" if parts else "nothing to judge"


def refusal_text(
    model: str, objection: str, found: Rewriting | Retargeting, failed: Validation | None = None
) -> str:
    """'nothing written for a.onnx: opencv would refuse 2 of its nodes: Conv 'c': why', and a try.

    What speaks against a model names a node with its reason, and what to type about it, or the
    command that has all of them. `failed` is the validation that it did not pass.
    """
    reason = ""
    tried: Sequence[str] = ()
    if failed is not None:
        reason, tried = failed.reason, [either(failed.hints)]
    elif unfit := getattr(found, "stuck", ()):
        reason, tried = _why_unfit(cast("Rewriting", found), unfit)
    elif found.skips and objection.startswith("--strict"):
        skip = found.skips[0]
        more = f" and {len(found.skips) - 1} more" if found.skips[1:] else ""
        reason = f"{skip.op} '{skip.node.label}'{more}: {skip.skip.reason}"
        tried = [either(skip.skip.hints)]
    said = f"nothing written for {route_text(model)}: {objection}{f': {reason}' if reason else ''}"
    return visible(said) + "".join(f"{TRY}{visible(one)}" for one in tried if one)


def _why_unfit(found: Rewriting, unfit: Sequence[NodeVerdict]) -> tuple[str, Sequence[str]]:
    """The reason that most of the nodes have, and what settles most of them."""
    from onnxpad.show.verdicts import named, tries

    alike: dict[str, list[NodeVerdict]] = {}
    for one in unfit:
        judged = one.judgement
        is_number = str(judged.answer) == "miscomputes" and judged.measured and not judged.rows
        # Each node's numbers are its own.
        alike.setdefault(judged.does if is_number else judged.sentence, []).append(one)
    reason, nodes = max(alike.items(), key=lambda one: len(one[1]))
    ops = ", ".join(dict.fromkeys(one.op for one in nodes))
    others = len({one.node for one in unfit} - {one.node for one in nodes})
    more = f"; {counted(others, 'other')} for another reason" if others else ""
    opening = found.fitting.opening if found.fitting else None
    said = tries(found.target, opening, unfit) if opening else ()
    tried = [*said[:_TRIES_SHOWN]] or [_nearest(found, unfit)]
    tried += filter(None, [although_unfit_text(found)])
    return f"{ops} {named(nodes, of_many_models=True)}: {reason}{more}", tried


def _nearest(found: Rewriting, unfit: Sequence[NodeVerdict]) -> str:
    """That nothing is to be done about nodes, and what says which form is nearest."""
    from onnxpad.rewriting.for_target.report import NoWay
    from onnxpad.runtimes.own_targets import asked_as

    stuck = "no form that onnxpad writes is taken"
    if any(one.way.passes for one in unfit if isinstance(one.way, NoWay)):
        return (
            f"{stuck}; --target {asked_as(found.target)} with this model alone says what is nearest"
        )
    return stuck


def validation_line(before: str, after: str | None, found: Validation) -> str:
    """'a.onnx, b.onnx: identical: all outputs are bit-equal'."""
    refused = found.run.refused if found.run else ""
    why = f"{found.reason} ({refused})" if refused else found.reason
    files = ", ".join(filter(None, (before, after)))
    return visible(f"{files}: {found.verdict}: {why}{_unproved(found)}")


class Told(Protocol):
    """What is known of each model."""

    @property
    def file(self) -> str:
        """The model."""

    @property
    def result(self) -> str:
        """What became of it."""

    @property
    def record(self) -> Mapping[str, Any]:
        """Its report."""


def _unrun(record: Mapping[str, Any]) -> bool:
    """Whether onnxruntime ran neither of two models that were compared."""
    compared = record.get("validation") or record
    return bool((compared.get("run") or {}).get("refused"))


def _is_unfit(told: Told) -> bool:
    """Whether nodes of a rewritten model are such as nothing is written for otherwise."""
    left = (told.record.get("target") or {}).get("no_way", ())
    return any(
        one["verdict"] in ("refuses", "miscomputes") or "--ambiguous pads" in one["try"]
        for one in left
    )


def _target_notes(outcomes: Sequence[Told]) -> Iterator[str]:
    """What is not known of the releases of targets, and what installed ones do with how many."""
    from onnxpad.runtimes.installed import OnInstalled

    alone: dict[str, None] = {}
    files: dict[tuple[str, str], list[str]] = {}
    nodes: dict[tuple[str, str], Counter[str]] = {}
    for one in outcomes:
        fitted = one.record.get("target") or {}
        unmeasured = (*one.record.get("unmeasured", {}).values(), fitted.get("unmeasured", ""))
        alone |= {f"note: {said}": None for said in unmeasured if said}
        for it in (*one.record.get("installed", {}).values(), *fitted.get("installed", ())):
            key = it["package"], it["target"]
            files.setdefault(key, []).append(route_text(one.file))
            nodes.setdefault(key, Counter()).update(it["nodes"])
    yield from alone
    for key, names in files.items():
        where = f"{counted(len(names), 'model')} ({few(names, _NAMED)})"
        yield OnInstalled(*key, nodes[key]).about(f"the nodes in {where}")


def totals_text(outcomes: Sequence[Told], noun: str) -> str:
    """'30 models: 3 rewritten, 24 unchanged, 3 not written (a.onnx, b.onnx, c.onnx)'.

    Above it stands what to do about results that need something.
    """
    names: dict[str, list[str]] = {}
    for one in outcomes:
        names.setdefault(one.result, []).append(route_text(one.file))
    parts = []
    for result in sorted(names, key=lambda one: (one in _LAST, one in ("unchanged", "fine"))):
        text = f"{len(names[result])} {result}"
        parts.append(f"{text} ({few(names[result], _NAMED)})" if result in _NAMES_FOR else text)
    text = visible(f"{counted(len(outcomes), noun)}: {', '.join(parts)}")
    more = "".join(f"{result}: {say}\n" for result, say in _WHAT_TO_DO.items() if result in names)
    text = more + text
    text = "".join(f"{visible(said)}\n" for said in _target_notes(outcomes)) + text
    kinds = {kind for one in outcomes for kind in one.record.get("not_judged", ())}
    if kinds:
        from onnxpad.show.verdicts import not_judged_text

        text = f"{visible(not_judged_text(sorted(kinds)))}\n{text}"
    unrun = [route_text(one.file) for one in outcomes if _unrun(one.record)]
    if unrun:
        told = f"{counted(len(unrun), noun)} that onnxruntime runs in neither form"
        text = f"{visible(f'{told} ({few(unrun, _NAMED)})')}: the line of each says why\n{text}"
    unfit = [
        route_text(one.file) for one in outcomes if one.record.get("written") and _is_unfit(one)
    ]
    if unfit:
        where = f"{counted(len(unfit), noun)} ({few(unfit, _NAMED)})"
        text += f"\n{visible(f'nodes are left that the target does not take, in {where}')}"
    skips = {one.file: len(one.record["skips"]) for one in outcomes if one.record.get("skips")}
    if skips:
        where = (
            f"in {counted(len(skips), noun)} ({few([route_text(one) for one in skips], _NAMED)})"
        )
        told = f"{counted(sum(skips.values()), 'node')} skipped {where}"
        text += f"\n{visible(told)}: the same with one model alone, or --json, says why"
    return text
