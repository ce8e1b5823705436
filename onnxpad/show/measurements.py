"""Measured runtimes: what came out by operator and way, and the rules that were learned."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from textwrap import shorten

from onnxpad.errors import counted
from onnxpad.measuring import Learned, Measurement
from onnxpad.runtimes.rule_files import ALL
from onnxpad.show.document import Command, Document, Line, Section, Table
from onnxpad.show.wording import STANDARD

_LONGEST = 100
"""Characters of what a runtime said."""
_WAYS = ("verdict", "operator", "ways of padding")
_RULES = ("rule", "operators", "where", "models", "false alarms", "for example")
_VERDICTS = ("right", "fell back", "wrong", "refused", "crash", "timeout")


def measurement_document(found: Measurement, written: str | None = None) -> Document:
    """Counts by operator, the ways that are not right, and the rules; `written` is their file."""
    settled = f", {found.precision}" if found.precision else ""
    seen = [one for one in _VERDICTS if any(one in counts for counts in found.counts.values())]
    counts = tuple(
        (operator, *(str(counts.get(verdict, "")) for verdict in seen))
        for operator, counts in found.counts.items()
    )
    ways = tuple(
        (verdict, operator, "; ".join(titles))
        for verdict in _VERDICTS[1:]
        for operator, titles in _ways(found, verdict).items()
    )
    rules = tuple(map(_rule, found.rules))
    none = () if rules else ("No rules: every model came out right.",)
    return Document(
        "Measurement of",
        found.version,
        f"{found.version} on {found.machine}{settled}: {counted(found.models, 'model')} "
        f"of seed {found.seed}",
        sections=(
            Section("counts", "Models by operator", table=Table(("operator", *seen), counts)),
            Section("ways", "Ways of padding that are not right", table=Table(_WAYS, ways)),
            Section("rules", "Rules", none, Table(_RULES, rules, "rules")),
            Section("next", "The rules as a file", tuple(_next(written))),
        ),
    )


def _ways(found: Measurement, verdict: str) -> dict[str, list[str]]:
    """By operator the ways of padding that came out so; operators that do not pad are others."""
    ways: dict[str, list[str]] = {}
    for title in (title for title, came_out in found.ways.items() if came_out == verdict):
        operator = title.replace(",", " ").split()[0]
        ways.setdefault(operator, []).append(title.removeprefix(operator).lstrip(", "))
    beside = [name for name, came_out in found.beside.items() if came_out == verdict]
    return ways | ({"others": beside} if beside else {})


def _rule(one: Learned) -> tuple[str, ...]:
    operators, alarms = ", ".join(one.operators) or ALL, str(one.false_alarms or "")
    said = shorten(one.message, _LONGEST)
    return str(one.answer), operators, ", ".join(one.words), str(one.models), alarms, said


def _next(written: str | None) -> Iterator[Line]:
    if written is None:
        yield "Nothing was written: -o FILE.toml makes a target of these rules."
    elif written != STANDARD:
        yield f"written to {written}"
        yield Command(f"onnxpad inspect MODEL --target {shlex.quote(written)}")
