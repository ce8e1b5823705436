"""What targets do with nodes, as tables and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from onnxpad.acceptance.rows import Answer
from onnxpad.costs import Cost
from onnxpad.planning.verdicts import NoWay, Plan, Verdict
from onnxpad.render.tables import Terminal, table
from onnxpad.render.wording import counted, note, paragraph

_HEADERS = ("node", "operator", "verdict", "why", "rewrite --target writes")
_SHOWN = 3


def verdicts_text(
    targets: Mapping[str, Sequence[Verdict]],
    terminal: Terminal | None = None,
    *,
    everything: bool = False,
) -> str:
    """For each target the nodes that it does not take, and how that is known.

    What a target does with every node of an operator is said once. `everything` shows nodes that
    it takes as well.
    """
    parts = (
        _target_text(name, found, terminal, everything=everything)
        for name, found in targets.items()
    )
    return "\n\n".join(part for part in parts if part)


def _target_text(
    name: str, found: Sequence[Verdict], terminal: Terminal | None, *, everything: bool
) -> str:
    blanket = [one for one in found if one.judgement.is_blanket and isinstance(one.way, NoWay)]
    told = [one for one in found if one not in blanket]
    rows = [_row(one) for one in told if everything or one.judgement.answer is not Answer.TAKES]
    parts = [
        f"target {name}: {_summary(found)}",
        table(_HEADERS, rows, terminal, names=("node",), whole=("operator", "verdict")),
        paragraph(_blanket_text(name, op, blanket) for op in dict.fromkeys(b.op for b in blanket)),
        paragraph(_evidence(found)),
    ]
    return "\n\n".join(part for part in parts if part)


def _summary(found: Sequence[Verdict]) -> str:
    counts = Counter(one.judgement.answer for one in found)
    parts = [f"{answer} {counts[answer]}" for answer in Answer if counts[answer]]
    return f"{', '.join(parts)} of {counted(len(found), 'padded operator')}" if found else "nothing"


def _row(verdict: Verdict) -> tuple[str, ...]:
    found = verdict.judgement
    return verdict.node.label, verdict.op, str(found.answer), found.reason or "-", way_text(verdict)


def way_text(verdict: Verdict) -> str:
    """What a rewrite does about a node, with its cost; '-' where nothing is to be done."""
    match verdict.way:
        case Plan(passes, cost):
            costs = "" if cost == Cost() else f": {cost}"
            return f"{', '.join(passes)}{costs}"
        case NoWay():
            return "no way"
        case _:
            return "-"


def _blanket_text(target: str, op: str, found: Sequence[Verdict]) -> str:
    mine = [one for one in found if one.op == op]
    names = ", ".join(f"'{one.node.label}'" for one in mine[:_SHOWN])
    more = f" and {len(mine) - _SHOWN} more" if len(mine) > _SHOWN else ""
    verb = mine[0].judgement.answer
    return note(f"no way: {op}", f"{target} {verb} it in every form; {names}{more}")


def _evidence(found: Iterable[Verdict]) -> Iterable[str]:
    """How the facts behind failures are known, each once."""
    failing = [one for one in found if one.judgement.answer is not Answer.TAKES]
    lines = (line for one in failing for line in one.judgement.evidence)
    return (f"evidence: {line}" for line in dict.fromkeys(lines))


def no_way_text(target: str, found: Iterable[Verdict]) -> str:
    """Why nodes cannot be written for a target, and what comes nearest; operators once."""
    verdicts = list(found)
    blanket = [one for one in verdicts if one.judgement.is_blanket]
    notes = [_blanket_text(target, op, blanket) for op in dict.fromkeys(b.op for b in blanket)]
    notes += [_no_way_note(target, one) for one in verdicts if one not in blanket]
    return paragraph(notes)


def _no_way_note(target: str, verdict: Verdict) -> str:
    if verdict.judgement.answer is Answer.UNKNOWN:
        head = f"unknown: {target}, {verdict.op} '{verdict.node.label}'"
        return note(head, f"{verdict.judgement.reason}; it is left as it is")
    head = f"no way: {target}, {verdict.op} '{verdict.node.label}'"
    reason = f"{target} {verdict.judgement.answer} it: {verdict.judgement.reason}"
    if isinstance(verdict.way, NoWay) and verdict.way.passes:
        left = "; ".join(
            f"{obstacle.op}: {obstacle.judgement.reason}"
            for obstacle in dict.fromkeys(verdict.way.remaining)
        )
        return note(
            head, f"{reason}. Nearest: {', '.join(verdict.way.passes)}, which leaves {left}"
        )
    return note(head, reason)
