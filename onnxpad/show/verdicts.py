"""What targets do with nodes, as a table and notes, and what to add to the request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from onnxpad.errors import counted, either, few
from onnxpad.model.graph.nodes import Address
from onnxpad.padding.effective_pads import facts_text
from onnxpad.rewriting.costs import Cost
from onnxpad.rewriting.for_target.report import NodeVerdict, NoWay, Opening, PassPlan
from onnxpad.runtimes.conditions.rows import Answer, Certainty
from onnxpad.runtimes.judge import cures
from onnxpad.runtimes.targets import find_target
from onnxpad.show.document import Line, Section, Table
from onnxpad.show.wording import alike

if TYPE_CHECKING:
    from onnxpad.inspection import Inspection

_SHOWN, _KINDS, _IN_FULL = 3, 5, 3
"""Names of nodes and of operators that are listed; targets that are told node by node."""


def targets_section(inspection: Inspection, *, everything: bool, each: bool) -> Section:
    """The nodes that targets do not take, how that is known, and what to add to the request.

    Nodes of which the same is said are a row, unless `each` is asked for. `everything` shows nodes
    that a target takes as well. Many targets are a line each, unless one of these is given.
    """
    targets = inspection.targets
    if are_many(targets) and not (everything or each):
        said = "--target NAME alone says which nodes, why, and what to do"
        return Section("targets", "", (said,))
    shown: list[tuple[str, NodeVerdict]] = []
    notes: list[Line] = []
    for name, found in targets.items():
        told = [one for one in found if one.judgement.answer is not Answer.TAKES]
        shown += ((name, one) for one in (found if everything else told))
        evidence = (line for one in told for line in one.judgement.evidence)
        notes += (f"evidence: {line}" for line in dict.fromkeys(evidence))
        notes += additions(inspection.openings.get(name, Opening()), found, "rewrite ")
    title = f"What {' and '.join(targets)} {'do' if len(targets) > 1 else 'does'}"
    table = verdict_table(shown, each=each or everything)
    return Section("targets", title, table=table, notes=tuple(notes))


def verdict_table(found: Iterable[tuple[str, NodeVerdict]], *, each: bool) -> Table:
    """Verdicts of targets, those of which the same is said in one row, unless `each` is."""
    groups = alike(found, lambda one: (one[0], _said(one[1])), each=each)
    several = len({group[0][0] for group in groups}) > 1
    rows = []
    for group in groups:
        (target, first), verdicts = group[0], [verdict for _, verdict in group]
        nodes = few(list(dict.fromkeys(one.node.label for one in verdicts)), _SHOWN)
        ops = ", ".join(dict.fromkeys(one.op for one in verdicts))
        rows.append((nodes, ops, *[target] * several, *_said(first)))
    headers = ("node", "operator", *["target"] * several, "verdict", "why", "rewrite")
    return Table(headers, tuple(rows), "nodes")


def are_many(targets: Collection[str]) -> bool:
    """Whether there are so many that each is told in a line."""
    return len(targets) > _IN_FULL


def not_judged_text(kinds: Sequence[str]) -> str:
    """How far verdicts go, and the kinds of operators that were not looked at."""
    beyond = f"; not judged: {few(kinds, _KINDS)}" if kinds else ""
    return f"only padding and known faults are judged{beyond}"


def headlines(inspection: Inspection) -> Iterator[str]:
    """What each target does with the model."""
    ran = inspection.ran
    for name, found in inspection.targets.items():
        here = f"{name} ({ran[name].evidence})" if name in ran else _named_release(name)
        certainty = _known_from(found)
        how = f" ({certainty})" if certainty not in ("", "measured", "measured here") else ""
        nodes = counted(len({one.node for one in found}), "node")
        yield f"target {here}: {answers_text(found)} of {nodes}{how}"


def _named_release(name: str) -> str:
    """A target with the release that it is judged by, if any is known: 'openvino 2026.4'."""
    releases = () if "@" in name else find_target(name).releases
    return f"{name} {releases[-1]}" if releases else name


def answers_text(found: Sequence[NodeVerdict]) -> str:
    """'takes 4, miscomputes 2': what is said of the file stands at a node as well."""
    worst: dict[Address, Answer] = {}
    for one in found:
        answer = one.judgement.answer
        worst[one.node] = max(worst.get(one.node, answer), answer, key=lambda each: each.rank)
    counts = Counter(worst.values())
    parts = (f"{answer} {counts[answer]}" for answer in Answer if counts[answer])
    return ", ".join(parts) or "nothing to judge"


def _known_from(found: Sequence[NodeVerdict]) -> str:
    """How what is said of the nodes is known: 'measured', 'measured, read in source'."""
    if any(one.judgement.measured for one in found):
        return "measured here"
    ways = {row.evidence.certainty for one in found for row in one.judgement.rows}
    return ", ".join(way for way in Certainty if way in ways)


def _said(verdict: NodeVerdict) -> tuple[str, str, str]:
    judged = verdict.judgement
    wrote = f" (written by {verdict.brought_by})" if verdict.brought_by else ""
    return str(judged.answer), f"{judged.why or '-'}{wrote}", way_text(verdict)


def way_text(verdict: NodeVerdict) -> str:
    """What a rewrite does about a node, with its cost; '-' where nothing is to be done."""
    way, judged = verdict.way, verdict.judgement
    if isinstance(way, PassPlan):
        costs = "" if way.cost == Cost() else f": {way.cost}"
        return f"{way.steps or 'nothing: what is done beside it settles it'}{costs}"
    if way is None:
        falls = judged.answer is Answer.FALLS_BACK
        return ("no way" if verdict.on_device is False else "with --require-device") * falls or "-"
    if judged.answer.is_open and not verdict.facts:
        settled = either(judged.settled_by)
        return f"with {settled}" if settled else "left as it is"
    passes = ", ".join(way.passes)
    if verdict.facts:
        then = ", ".join(verdict.then) or passes or "taken as it is"
        return f"with the sizes below: {then}"
    if verdict.waits_for_knowledge:
        return f"{passes} with --allow-unknown"
    left = dict.fromkeys(f"{one.op}: {one.judgement.reason}" for one in way.remaining)
    tried = way.passes or judged.measured
    nearest = f"; nearest: {passes or 'other forms'}, but {'; '.join([*left][:_SHOWN])}"
    return f"no way{nearest if tried and left else ''}"


def named(found: Sequence[NodeVerdict]) -> str:
    """'a', 'b', 'c' and 4 more."""
    return few([f"'{one.node.label}'" for one in found], _SHOWN)


def main_reason(found: Sequence[NodeVerdict]) -> str:
    """The first node with its reason, and how many others there are."""
    others = len({one.node for one in found}) - 1
    more = f"; {counted(others, 'other')} as well" if others else ""
    return f"{found[0].op} '{found[0].node.label}': {found[0].judgement.sentence}{more}"


def additions(opening: Opening, found: Sequence[NodeVerdict], verb: str = "") -> Iterator[str]:
    """What to add to the request, and how many of the nodes without a way that settles.

    `verb` is 'rewrite ' where another verb says so, in front of an option that it does not have.
    """
    if opening.facts:
        settled = f"settles {_of(opening.settled, opening.stuck)}"
        settled += "" if opening.writes else "; others have no way even so"
        yield f"try: {facts_text(opening.facts)} {settled}"
    blocking = (one for one in found if isinstance(one.way, NoWay) and one.judgement.answer.fails)
    if opening.granted and all(one.waits_for_knowledge for one in blocking):
        settled = f"settles {_of(opening.granted, opening.stuck)}"
        yield f"try: {verb}--allow-unknown, which trusts what is not known, {settled}"
    stuck = [one for one in found if isinstance(one.way, NoWay) and not one.facts]
    yield from (
        f"try: {hint}"
        for hint in dict.fromkeys(h for one in stuck for h in cures(one.judgement.rows))
    )


def _of(number: int, everything: int) -> str:
    if number < everything:
        return f"{number} of the {everything}"
    return f"all {everything}" if everything > 1 else "it"
