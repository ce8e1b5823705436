"""What targets do with nodes, as tables and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from onnxpad.errors import counted, either, few, together
from onnxpad.model.graph.nodes import Address
from onnxpad.padding.effective_pads import facts_text
from onnxpad.rewriting.costs import Cost
from onnxpad.rewriting.for_target.report import NodeVerdict, NoWay, Opening, PassPlan, can_pad
from onnxpad.runtimes.conditions.rows import Answer, Certainty, OpenBatch
from onnxpad.runtimes.judge import cures
from onnxpad.runtimes.targets import find_target
from onnxpad.show.document import Line, Note, Section, Table
from onnxpad.show.wording import visible

if TYPE_CHECKING:
    from onnxpad.probing.live import RuntimeRan

_HEADERS = ("node", "operator", "verdict", "why", "rewrite writes")
_OVERVIEW = ("target", "operators that can pad", "rewrite --target", "known from")
_SHOWN, _KINDS = 3, 5
_SETTLES = "try: "
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

    What a target does with every node of an operator is said once, and what it says of many nodes
    alike. `everything` shows nodes that it takes as well, `each` one row for each. Many targets are
    a line each, unless one of these is asked for.
    """
    if are_many(targets) and not (everything or each):
        lines = tuple(
            (name, _answers(found), _mended(found), _known_from(found))
            for name, found in targets.items()
        )
        yield Section("targets", "Targets", table=Table(_OVERVIEW, lines, whole=_OVERVIEW[:1]))
        return
    for number, (name, found) in enumerate(targets.items()):
        opening = openings.get(name, Opening())
        rows, notes = _told(name, found, opening, everything=everything, each=each)
        does = either(list(dict.fromkeys(_DOES[o.judgement.answer] for o in found if _is_told(o))))
        caption = f"nodes that {name} {does}"
        shown = Table(_HEADERS, tuple(rows), caption, ("node",), ("operator", "verdict"))
        label = f"{name}:" if len(targets) > 1 else ""
        title = f"What {name} does"
        yield Section(f"target-{number}", title, table=shown, notes=tuple(notes), label=label)


_DOES = {
    Answer.TAKES: "takes",
    Answer.REFUSES: "refuses",
    Answer.MISCOMPUTES: "computes wrongly",
    Answer.FALLS_BACK: "leaves to the CPU",
    Answer.UNKNOWN: "may not take",
}


def _is_told(verdict: NodeVerdict) -> bool:
    return verdict.judgement.answer is not Answer.TAKES


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
    """What each target does with the model, or with how many targets there is nothing to do.

    `ran` are the runtimes that were asked, by target.
    """
    if not are_many(targets):
        for name, found in targets.items():
            here = f"{name} ({ran[name].evidence})" if name in ran else named_release(name)
            yield f"target {here}: {_summary(found)}"
        return
    failing = sum(any(map(_fails, found)) for found in targets.values())
    fine = sum(
        not any(one.judgement.answer.fails or one.judgement.answer.is_open for one in found)
        for found in targets.values()
    )
    unsure = len(targets) - failing - fine
    leave = any(one.judgement.answer is Answer.FALLS_BACK for v in targets.values() for one in v)
    parts = [
        f"{fine} take all that is judged{', or leave it to the CPU' if leave else ''}",
        f"{failing} refuse or miscompute some" if failing else "",
        f"of {unsure} it is not known" if unsure else "",
    ]
    yield f"{len(targets)} targets: {', '.join(filter(None, parts))}"
    yield "--target NAME alone says which nodes, why, and how that is known"


def named_release(name: str) -> str:
    """A target with the release that it is judged by, if any is known: 'openvino 2026.4'."""
    if "@" in name:
        return name
    releases = find_target(name).releases
    return f"{name} {releases[-1]}" if releases else name


def _known_from(found: Sequence[NodeVerdict]) -> str:
    """How what is said of the nodes is known: 'measured', 'measured, read in source'."""
    ways = {row.evidence.certainty for one in found for row in one.judgement.rows}
    if any(one.judgement.measured for one in found):
        return "measured here"
    return ", ".join(way for way in Certainty if way in ways) or "-"


def _fails(verdict: NodeVerdict) -> bool:
    return verdict.judgement.answer.fails


def _mended(found: Sequence[NodeVerdict]) -> str:
    """What a rewrite would do about nodes that fail: 'mends 4, no way for 1'."""
    stuck = [one for one in found if _fails(one) and isinstance(one.way, NoWay)]
    mended = sum(map(_fails, found)) - len(stuck)
    open_ = sum(bool(one.facts) for one in stuck)
    parts = [f"mends {mended}" if mended else ""]
    parts.append(f"mends {open_} once sizes are said (--dim)" if open_ else "")
    parts.append(f"no way for {len(stuck) - open_}" if len(stuck) > open_ else "")
    falling = sum(one.judgement.answer is Answer.FALLS_BACK for one in found)
    parts.append(f"{falling} left to the CPU (--require-device)" if falling else "")
    return ", ".join(filter(None, parts)) or "nothing to do"


def _told(
    name: str, found: Sequence[NodeVerdict], opening: Opening, *, everything: bool, each: bool
) -> tuple[list[tuple[str, ...]], list[Line]]:
    """Rows of nodes, and what stands below them."""
    blanket = [one for one in found if one.judgement.is_blanket and isinstance(one.way, NoWay)]
    blanket = [] if each else blanket
    apart = [one for one in found if one not in blanket]
    waiting = [] if each else [one for one in apart if one.judgement.open_batch]
    shown = [one for one in apart if everything or (_is_told(one) and one not in waiting)]
    rows = [_row(one) for one in shown] if everything or each else _rows(shown)
    notes = [_blanket_note(name, op, blanket) for op in dict.fromkeys(b.op for b in blanket)]
    return rows, [*notes, *_evidence(found), *opening_lines(name, opening, found, of="rewrite ")]


def _summary(found: Sequence[NodeVerdict]) -> str:
    count, others = len(worst_by_node(found)), others_in(found)
    nodes = counted(count - others, "operator that can pad", "operators that can pad")
    if others:
        nodes = f"{count}: {nodes} and {counted(others, 'other', 'others')}"
    unproven = _unproven(found)
    known = f" ({unproven})" if unproven else ""
    until = until_text(found)
    if until and all(one.judgement.answer.is_open for one in found):
        return f"nothing known of {nodes} {until}"
    return f"{_answers(found)} of {nodes}{known}" if found else "nothing"


def _answers(found: Sequence[NodeVerdict]) -> str:
    """'takes 4, miscomputes 2'."""
    counts = Counter(worst_by_node(found))
    return ", ".join(f"{answer} {counts[answer]}" for answer in Answer if counts[answer]) or "-"


def worst_by_node(found: Iterable[NodeVerdict]) -> list[Answer]:
    """What a target does with each node: what it says of the file stands at a node as well."""
    worst: dict[Address, Answer] = {}
    for one in found:
        answer = one.judgement.answer
        worst[one.node] = max(worst.get(one.node, answer), answer, key=lambda each: each.rank)
    return list(worst.values())


def others_in(found: Iterable[NodeVerdict]) -> int:
    """How many nodes no verdict on padding is about."""
    nodes: dict[Address, bool] = {}
    for one in found:
        nodes[one.node] = nodes.get(one.node, False) or can_pad(one.op)
    return sum(not pads for pads in nodes.values())


def _unproven(found: Sequence[NodeVerdict]) -> str:
    """How it is known that nodes are taken, where nobody ran it: 'read in source, not run'."""
    taken = [one.judgement for one in found if one.judgement.answer is Answer.TAKES]
    taken = [one for one in taken if not one.measured]
    certain = [{row.evidence.certainty for row in one.rows} for one in taken]
    unproven = [ways for ways in certain if Certainty.MEASURED not in ways]
    elsewhere = sum(all(row.evidence.other_than for row in one.rows) for one in taken if one.rows)
    if not unproven and elsewhere:
        return f"{elsewhere} of those it takes: measured with another release"
    if not unproven:
        return ""
    how = " and ".join(way for way in Certainty if any(way in ways for ways in unproven))
    if len(unproven) < len(taken):
        return f"{len(unproven)} of those it takes: {how}, not run"
    return f"{how}, not run" if len(taken) == len(found) else f"takes: {how}, not run"


def _rows(found: Sequence[NodeVerdict]) -> list[tuple[str, ...]]:
    """One for each node, and one for many of which the same is said."""
    rows = []
    for nodes in _few_or_all(found, lambda one: _row(one)[2:]):
        label, op, *said = _row(nodes[0])
        if len(nodes) > 1:
            label, op = (
                f"{len(nodes)} nodes: {named(nodes)}",
                ", ".join(dict.fromkeys(one.op for one in nodes)),
            )
        rows.append((label, op, *said))
    return rows


def _few_or_all(
    found: Sequence[NodeVerdict], said: Callable[[NodeVerdict], object]
) -> Iterator[list[NodeVerdict]]:
    """Each alone, and together those of which the same is said where they are many."""
    alike: dict[object, list[NodeVerdict]] = {}
    for one in found:
        alike.setdefault(said(one), []).append(one)
    for one in found:
        mine = alike[said(one)]
        if len(mine) <= _SHOWN:
            yield [one]
        elif one is mine[0]:
            yield mine


def _row(verdict: NodeVerdict) -> tuple[str, ...]:
    found = verdict.judgement
    return (
        verdict.node.label,
        verdict.op,
        str(found.answer),
        found.why or "-",
        way_text(verdict),
    )


def way_text(verdict: NodeVerdict) -> str:
    """What a rewrite does about a node, with its cost; '-' where nothing is to be done."""
    match verdict.way:
        case PassPlan(cost=cost, alone=alone) as plan:
            costs = "" if cost == Cost() else f": {cost}"
            limits = " (not for onnxruntime)" if alone else ""
            steps = plan.steps or "nothing: what is done beside it settles it"
            return f"{steps}{limits}{costs}"
        case None if verdict.judgement.answer is Answer.FALLS_BACK:
            return "no way" if verdict.on_device is False else "Fix: add --require-device."
        case NoWay() if verdict.judgement.answer.is_open and not verdict.then:
            settled = either(verdict.judgement.settled_by)
            return f"with {settled}" if settled else "left as it is"
        case NoWay(passes) if batches := verdict.open_batches:
            return f"{_where_it_is_one(batches)}: {', '.join(passes)}"
        case NoWay(passes) if verdict.facts:
            granted = f"; {', '.join(passes)} with --allow-unknown"
            return f"{_with_sizes(verdict)}{granted if verdict.waits_for_knowledge else ''}"
        case NoWay(passes) if verdict.waits_for_knowledge:
            return f"no way; {', '.join(passes)} with --allow-unknown"
        case NoWay(passes, remaining):
            stops = f"; after {', '.join(passes)}: " if passes and remaining else ""
            return f"no way{stops}{remaining[0].judgement.reason if stops else ''}"
        case _:
            return "-"


def _with_sizes(verdict: NodeVerdict) -> str:
    """'with --dim 'height%2=0': explicit-pads'."""
    passes = ", ".join(verdict.then) or "taken as it is"
    return f"with {visible(facts_text(verdict.facts))}: {passes}"


def _where_it_is_one(batches: Sequence[OpenBatch]) -> str:
    """'with --dim N=1', or that there is no dimension to say it of."""
    names = dict.fromkeys(one.name for one in batches)
    if not all(names):
        return "no way; where the batch is 1"
    return f"with {_batches_of_one(names)}"


def _batches_of_one(names: Iterable[str]) -> str:
    return " ".join(f"--dim {quote(f'{name}=1')}" for name in names if name)


def until_text(found: Sequence[NodeVerdict]) -> str:
    """'until the batch is 1: add --dim N=1' where nothing else is missing of what is not known."""
    unknown = [one for one in found if one.judgement.answer.is_open]
    names = dict.fromkeys(batch.name for one in unknown for batch in one.open_batches)
    if not unknown or not all(one.open_batches for one in unknown) or not all(names):
        return ""
    return f"until the batch is 1: add {_batches_of_one(names)}"


def _blanket_note(target: str, op: str, found: Sequence[NodeVerdict]) -> Note:
    mine = [one for one in found if one.op == op]
    verb, by = mine[0].judgement.answer, mine[0].judgement.by or (target,)
    said = " and ".join(f"{name} {verb.does}" for name in by)
    return Note(f"no way: {op}", f"{said} in every form; {named(mine)}")


def _evidence(found: Iterable[NodeVerdict]) -> Iterable[str]:
    """How the facts behind failures are known, each once."""
    failing = [one for one in found if one.judgement.answer is not Answer.TAKES]
    lines = (line for one in failing for line in one.judgement.evidence)
    return (f"evidence: {line}" for line in dict.fromkeys(lines))


def no_way_notes(
    target: str, found: Iterable[NodeVerdict], *, each: bool = False
) -> Iterator[Note]:
    """Why nodes cannot be written for a target, and what comes nearest; operators once.

    What is said of many nodes alike is a line, unless `each` is asked for.
    Those that wait for the size of the batch alone are told by `opening_lines`.
    """
    everything = [one for one in found if not one.open_batches]
    verdicts = [one for one in everything if not one.brought_by]
    blanket = [one for one in verdicts if one.judgement.is_blanket]
    yield from (_blanket_note(target, op, blanket) for op in dict.fromkeys(b.op for b in blanket))
    yield from _no_way_notes(target, [one for one in verdicts if one not in blanket], each=each)
    alike: dict[tuple[str, str, str], list[NodeVerdict]] = {}
    for one in (one for one in everything if one.brought_by):
        alike.setdefault((one.op, one.brought_by, one.judgement.reason), []).append(one)
    yield from (_brought_note(target, nodes) for nodes in alike.values())


def _brought_note(target: str, found: Sequence[NodeVerdict]) -> Note:
    one = found[0]
    head = f"no way: {target}, {one.op} {named(found)}, which {one.brought_by} writes"
    if one.judgement.answer.is_open or one.judgement.by:
        return Note(head, one.judgement.reason)
    return Note(head, f"{target} {one.judgement.does}: {one.judgement.reason}")


def granted_notes(target: str, found: Sequence[NodeVerdict]) -> Iterator[Note]:
    """What of a rewrite nobody has seen the target run."""
    alike: dict[tuple[str, str], list[NodeVerdict]] = {}
    for one in found:
        alike.setdefault((one.op, one.judgement.reason), []).append(one)
    for (op, reason), nodes in alike.items():
        yield Note(f"taken for granted: {target}, {op} {named(nodes)}", reason)


def named(found: Sequence[NodeVerdict], *, of_many_models: bool = False) -> str:
    """'a', 'b', 'c' and 4 more (--each)', which names them all of one model."""
    more = "" if of_many_models or len(found) <= _SHOWN else " (--each)"
    return few([f"'{one.node.label}'" for one in found], _SHOWN) + more


def _no_way_notes(target: str, found: Sequence[NodeVerdict], *, each: bool) -> list[Note]:
    """One for each node, and one for many of an operator of which the same is said."""
    said = partial(_no_way_note, target, nodes="")
    groups = _few_or_all(found, lambda one: id(one) if each else (one.op, said(one)))
    return [_no_way_note(target, nodes[0], named(nodes)) for nodes in groups]


def _no_way_note(target: str, verdict: NodeVerdict, nodes: str) -> Note:
    if verdict.judgement.answer is Answer.UNKNOWN:
        head = f"unknown: {target}, {verdict.op} {nodes}"
        options = verdict.judgement.settled_by
        left = "" if options else " (left as it is)"
        return Note(head, f"{verdict.judgement.why}{left}", hints=tuple(options))
    found = verdict.judgement
    if verdict.facts:
        head = f"not as it is: {target}, {verdict.op} {nodes}"
        said = found.sentence if found.by else f"{target} {found.sentence}"
        written = f"{together(verdict.then)} writes it"
        then = written if verdict.then else f"{target} takes it"
        hint = f"{facts_text(verdict.facts)}, with which {then}"
        return Note(head, said, hints=(hint, *cures(found.rows)))
    head = f"no way: {target}, {verdict.op} {nodes}"
    reason = found.reason if found.by else f"{target} {found.does}: {found.reason}"
    hints = cures(verdict.judgement.rows)
    if isinstance(verdict.way, NoWay) and verdict.way.passes:
        left = "; ".join(
            _blocked(op, reason)
            for op, reason in dict.fromkeys(
                (obstacle.op, obstacle.judgement.reason) for obstacle in verdict.way.remaining
            )
        )
        nearest = f"The nearest form is that of {' and '.join(verdict.way.passes)}"
        reason += f". {nearest}; what still stands in its way: {left}"
    return Note(head, reason, hints=tuple(hints))


def _blocked(op: str, reason: str) -> str:
    return reason if reason.startswith(f"{op} ") else f"{op}: {reason}"


def tries(target: str, found: Opening, verdicts: Sequence[NodeVerdict]) -> tuple[str, ...]:
    """What to do about nodes without a way, what settles most of them first."""
    lines = opening_lines(target, found, verdicts)
    settling = [line.removeprefix(_SETTLES) for line in lines if line.startswith(_SETTLES)]
    hints = dict.fromkeys(hint for one in verdicts for hint in one.judgement.cures)
    return tuple(settling or lines or hints)


def opening_lines(
    target: str, found: Opening, verdicts: Sequence[NodeVerdict], of: str = ""
) -> list[str]:
    """What to add to the request, and how many of the nodes without a way that settles.

    What writes the model comes first. Where taking for granted what is not known leaves nodes
    that the target fails, nothing would be written, and it is not offered. `of` is 'rewrite ' where
    another verb says so, in front of options that it does not have.
    """
    waiting = [one for one in verdicts if one.open_batches]
    batch_alone = bool(waiting and found.facts) and all(fact == 1 for _, fact in found.facts)
    if batch_alone and found.settled == found.stuck:
        return _batch_lines(target, found, waiting, of)
    lines = _batch_lines(target, found, waiting, of, () if batch_alone else tuple(found.dims))
    offers = []
    if found.facts:
        offers.append(_facts_offer(found, verdicts))
    if found.granted and all(one.waits_for_knowledge for one in verdicts if _stops(one)):
        granted = (
            f"{_SETTLES}{of}--allow-unknown, which takes for granted what is not known of "
            f"{target}, settles {_of(found.granted, found.stuck)}"
        )
        offers.insert(len(offers) if found.writes else 0, granted)
    return [*lines, *offers]


def _facts_offer(found: Opening, verdicts: Sequence[NodeVerdict]) -> str:
    """What facts settle; of those that lead to no model that is written, which nodes stay."""
    told, settled = facts_text(found.facts), _of(found.settled, found.stuck)
    left = [one for one in verdicts if one.node in found.left and one.judgement.answer.fails]
    if found.writes or not any(one.judgement.is_blanket for one in left):
        return f"{_SETTLES}{told} settles {settled}"
    staying = few([f"{one.op} '{one.node.label}'" for one in left], _SHOWN)
    stays = "stays" if len(left) == 1 else "stay"
    return f"{told} would settle {settled}; nothing is written even so: {staying} {stays}"


def _stops(verdict: NodeVerdict) -> bool:
    """Whether nothing is written for its sake: what is only not known is left as it is."""
    is_unknown = verdict.judgement.answer.is_open and not verdict.brought_by
    return isinstance(verdict.way, NoWay) and not is_unknown


def _batch_lines(
    target: str,
    opening: Opening,
    found: Sequence[NodeVerdict],
    of: str,
    told: Sequence[str] = (),
) -> list[str]:
    """One sentence for all nodes that wait for the batch, and one for those that it does not help.

    Of dimensions that are `told` in a line of their own, with others, it is not said what to add.
    Of a batch that no dimension is, what is in front loses it: where the option does not settle
    it either, the operator is named.
    """
    batches = [batch for one in found for batch in one.open_batches]
    names = dict.fromkeys(batch.name for batch in batches if batch.name)
    several = dict.fromkeys(name for one in found for name in one.judgement.by)
    target, take = " and ".join(several) or target, "take" if len(several) > 1 else "takes"
    lines = []
    if names:
        add = "" if set(names) <= set(told) else f" Add {_batches_of_one(names)}."
        lines.append(f"Batch size is open; {target} {take} only 1.{add}")
    tried = set(names) <= set(opening.dims)
    left = [one for one in found if one.node in opening.left or not (names and tried)]
    lost = dict.fromkeys(batch.lost for one in left for batch in one.open_batches if batch.lost)
    if lost:
        lines.append(
            f"Behind {' and '.join(lost)} the batch size is not known; {target} {take} only 1, "
            f"which {of}--allow-unknown takes for granted."
        )
    return lines


def _of(number: int, everything: int) -> str:
    if number < everything:
        return f"{number} of the {everything}"
    return f"all {everything}" if everything > 1 else "it"
