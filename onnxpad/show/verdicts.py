"""What targets do with nodes, as tables and notes, and what to add to the request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from onnxpad.errors import counted, either, few, together
from onnxpad.model.graph.nodes import Address
from onnxpad.padding.effective_pads import facts_text
from onnxpad.rewriting.costs import Cost
from onnxpad.rewriting.for_target.report import NodeVerdict, NoWay, Opening, PassPlan
from onnxpad.runtimes.conditions.rows import Answer, Certainty
from onnxpad.runtimes.judge import cures
from onnxpad.runtimes.targets import find_target
from onnxpad.show.document import Line, Note, Section, Table
from onnxpad.show.wording import alike, visible

if TYPE_CHECKING:
    from onnxpad.probing.live import RuntimeRan
    from onnxpad.rewriting.rewrite import Rewriting

_HEADERS = ("node", "operator", "verdict", "why", "rewrite writes")
_OVERVIEW = ("target", "operators that can pad", "known from")
_SHOWN, _KINDS = 3, 5
_OTHER_WAYS = (
    "to add one of these to the runtime",
    "'onnxpad retarget MODEL --to pytorch', which pads evenly and changes values",
)
_IN_FULL = 3
"""How many targets are told node by node; of more, each is a line."""


def target_sections(
    targets: Mapping[str, Sequence[NodeVerdict]],
    openings: Mapping[str, Opening],
    *,
    everything: bool,
    each: bool,
) -> Iterator[Section]:
    """For each target the nodes that it does not take, and how that is known.

    Many nodes of which the same is said are a row, unless `each` is asked for. `everything` shows
    nodes that the target takes as well. Many targets are a line each, unless one of these is given.
    """
    if are_many(targets) and not (everything or each):
        rows = tuple(
            (name, answers_text(found), _known_from(found) or "-")
            for name, found in targets.items()
        )
        yield Section("targets", "Targets", table=Table(_OVERVIEW, rows, "targets"))
        return
    for number, (name, found) in enumerate(targets.items()):
        told = [one for one in found if one.judgement.answer is not Answer.TAKES]
        shown = found if everything else told
        label = f"{name}:" if len(targets) > 1 else ""
        notes = (
            *_evidence(told),
            *opening_lines(openings.get(name, Opening()), found, "rewrite "),
        )
        nodes = tuple(_rows(shown, each=each or everything))
        table = Table(_HEADERS, nodes, f"nodes in {name}")
        lines = (label,) if nodes or notes else ()
        yield Section(f"target-{number}", f"What {name} does", lines, table, notes)


def are_many(targets: Collection[str]) -> bool:
    """Whether there are so many that each is told in a line."""
    return len(targets) > _IN_FULL


def not_judged_text(kinds: Sequence[str]) -> str:
    """How far verdicts go, and the kinds of operators of which they say nothing else."""
    named = few(kinds, len(kinds) if len(kinds) <= _KINDS else _SHOWN)
    beyond = f"; nothing else is known of {named}" if kinds else ""
    return f"only padding and known faults are judged{beyond}"


def headlines(
    targets: Mapping[str, Sequence[NodeVerdict]], ran: Mapping[str, RuntimeRan]
) -> Iterator[str]:
    """What each target does with the model; `ran` are runtimes by target."""
    for name, found in () if are_many(targets) else targets.items():
        here = f"{name} ({ran[name].evidence})" if name in ran else named_release(name)
        known = _known_from(found)
        how = f" ({known})" if known not in ("", "measured", "measured here") else ""
        nodes = counted(len({one.node for one in found}), "node")
        yield f"target {here}: {answers_text(found)} of {nodes}{how}"
    if are_many(targets):
        yield f"{len(targets)} targets: --target NAME alone says which nodes, why, and what to do"


def named_release(name: str) -> str:
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
    ways = {row.evidence.certainty for one in found for row in one.judgement.rows}
    if any(one.judgement.measured for one in found):
        return "measured here"
    return ", ".join(way for way in Certainty if way in ways)


def _rows(found: Sequence[NodeVerdict], *, each: bool) -> Iterator[tuple[str, ...]]:
    """One for each node, and one for many of which the same is said."""
    for group in alike(found, _said, each=each):
        if len(group) <= _SHOWN:
            yield from ((one.node.label, one.op, *_said(one)) for one in group)
        else:
            ops = ", ".join(dict.fromkeys(one.op for one in group))
            yield f"{len(group)} nodes: {named(group)}", ops, *_said(group[0])


def _said(verdict: NodeVerdict) -> tuple[str, str, str]:
    judged = verdict.judgement
    return str(judged.answer), judged.why or "-", way_text(verdict)


def way_text(verdict: NodeVerdict) -> str:
    """What a rewrite does about a node, with its cost; '-' where nothing is to be done."""
    way, is_open = verdict.way, verdict.judgement.answer.is_open
    if isinstance(way, PassPlan):
        costs = "" if way.cost == Cost() else f": {way.cost}"
        return f"{way.steps or 'nothing: what is done beside it settles it'}{costs}"
    if way is None:
        falls = verdict.judgement.answer is Answer.FALLS_BACK
        return ("no way" if verdict.on_device is False else "with --require-device") * falls or "-"
    if is_open and not verdict.facts:
        settled = either(verdict.judgement.settled_by)
        return f"with {settled}" if settled else "left as it is"
    passes = ", ".join(way.passes)
    granted = f"; {passes} with --allow-unknown" if verdict.waits_for_knowledge else ""
    if verdict.facts:
        then = ", ".join(verdict.then) or "taken as it is"
        return f"with {visible(facts_text(verdict.facts))}: {then}{granted}"
    left = way.remaining[0].judgement.reason if way.remaining and passes and not granted else ""
    also = "" if left or granted else _other_forms(verdict)
    return f"no way{granted}" + (f"; after {passes}: {left}" if left else also and f"; {also}")


def _other_forms(verdict: NodeVerdict) -> str:
    """What a runtime has against the other forms that it was asked to run; '' for a table."""
    way, own = verdict.way, verdict.judgement
    if not (isinstance(way, NoWay) and own.measured):
        return ""
    reasons = dict.fromkeys(one.judgement.reason for one in way.remaining)
    listed = [one for one in reasons if one and one != own.reason]
    return f"other forms: {'; '.join(listed[:_SHOWN])}" if listed else ""


def _evidence(failing: Iterable[NodeVerdict]) -> Iterator[str]:
    """How the facts behind failures are known, each once."""
    lines = (line for one in failing for line in one.judgement.evidence)
    return (f"evidence: {line}" for line in dict.fromkeys(lines))


def no_way_notes(
    target: str, found: Iterable[NodeVerdict], *, each: bool = False
) -> Iterator[Note]:
    """Why nodes cannot be written for a target, and what comes nearest."""
    kinds = alike(found, lambda one: (one.op, one.brought_by, _reason(target, one)), each=each)
    for nodes in kinds:
        word, reason, hints = _reason(target, nodes[0])
        brought = nodes[0].brought_by
        wrote = f", which {brought} writes" if brought else ""
        yield Note(f"{word}: {target}, {nodes[0].op} {named(nodes)}{wrote}", reason, hints)


def _reason(target: str, verdict: NodeVerdict) -> tuple[str, str, tuple[str, ...]]:
    """'no way', 'not as it is' or 'unknown', why, and what to try."""
    judged, way = verdict.judgement, verdict.way
    if judged.answer.is_open and not verdict.brought_by:
        as_it_is = "" if judged.settled_by else " (left as it is)"
        return "unknown", f"{judged.why}{as_it_is}", judged.settled_by
    reason = judged.sentence if judged.by else f"{target} {judged.sentence}"
    hints = tuple(cures(judged.rows))
    if verdict.facts:
        then = f"{together(verdict.then)} writes it" if verdict.then else f"{target} takes it"
        hint = f"{facts_text(verdict.facts)}, with which {then}"
        return "not as it is", reason, (hint, *hints)
    if isinstance(way, NoWay) and way.passes:
        left = dict.fromkeys(f"{one.op}: {one.judgement.reason}" for one in way.remaining)
        reason += f". Nearest: {' and '.join(way.passes)}, but {'; '.join(left)}"
    if other := _other_forms(verdict):
        reason += f"; {other}"
        hints = (*hints, *_OTHER_WAYS)
    return "no way", reason, hints


def granted_notes(target: str, found: Sequence[NodeVerdict]) -> Iterator[Note]:
    """What of a rewrite nobody has seen the target run."""
    for nodes in alike(found, lambda one: (one.op, one.judgement.reason)):
        head = f"taken for granted: {target}, {nodes[0].op} {named(nodes)}"
        yield Note(head, nodes[0].judgement.reason)


def named(found: Sequence[NodeVerdict]) -> str:
    """'a', 'b', 'c' and 4 more (--each), which names them all."""
    more = "" if len(found) <= _SHOWN else " (--each)"
    return few([f"'{one.node.label}'" for one in found], _SHOWN) + more


def main_reason(found: Sequence[NodeVerdict]) -> str:
    """The first node with its reason, and how many others there are."""
    others = len({one.node for one in found}) - 1
    more = f"; {counted(others, 'other')} as well" if others else ""
    return f"{found[0].op} '{found[0].node.label}': {found[0].judgement.sentence}{more}"


def opening_lines(opening: Opening, found: Sequence[NodeVerdict], verb: str = "") -> Iterator[Line]:
    """What to add to the request, and how many of the nodes without a way that settles.

    `verb` is 'rewrite ' where another verb says so, in front of an option that it does not have.
    """
    if opening.facts:
        facts, settled = facts_text(opening.facts), _of(opening.settled, opening.stuck)
        even_so = f"{facts} would settle {settled}; nothing is written even so"
        yield f"try: {facts} settles {settled}" if opening.writes else even_so
    if opening.granted and all(one.waits_for_knowledge for one in found if _stops(one)):
        settled = _of(opening.granted, opening.stuck)
        yield f"try: {verb}--allow-unknown, which trusts what is not known, settles {settled}"


def tries(found: Rewriting) -> list[str]:
    """What settles nodes that a target does not take: what to add, or what helps elsewhere."""
    fitting = found.fitting
    lines = map(str, opening_lines(fitting.opening, found.stuck) if fitting else ())
    tried = [line.removeprefix("try: ") for line in lines if line.startswith("try: ")]
    return tried or [*dict.fromkeys(hint for one in found.stuck for hint in one.judgement.cures)]


def _stops(verdict: NodeVerdict) -> bool:
    """Whether nothing is written for its sake: what is only not known is left as it is."""
    is_unknown = verdict.judgement.answer.is_open and not verdict.brought_by
    return isinstance(verdict.way, NoWay) and not is_unknown


def _of(number: int, everything: int) -> str:
    if number < everything:
        return f"{number} of the {everything}"
    return f"all {everything}" if everything > 1 else "it"
