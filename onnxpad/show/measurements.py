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
_VERDICTS = ("right", "fell back", "wrong", "refused", "crash", "timeout")


def measurement_document(found: Measurement, written: str | None = None) -> Document:
    """Counts by operator, the ways that are not right, and the rules; `written` is their file."""
    settled = f", {found.precision}" if found.precision else ""
    seen = [one for one in _VERDICTS if any(one in counts for counts in found.counts.values())]
    counts = tuple(
        (operator, *(str(counts.get(verdict, "")) for verdict in seen))
        for operator, counts in found.counts.items()
    )
    headers = ("rule", "operators", "where", "models", "false alarms", "for example")
    rules = Table(headers, tuple(map(_rule, found.rules)), "rules")
    none = () if found.rules else ("No rules: every model came out right.",)
    return Document(
        "Measurement of",
        found.version,
        f"{found.version} on {found.machine}{settled}: {counted(found.models, 'model')} "
        f"of seed {found.seed}",
        sections=(
            Section("counts", "Models by operator", table=Table(("operator", *seen), counts)),
            Section("ways", "Ways of padding that are not right", table=_ways(found)),
            Section("rules", "Rules", none, rules),
            Section("next", "The rules as a file", tuple(_next(written))),
        ),
    )


def _ways(found: Measurement) -> Table:
    """By verdict and operator the ways of padding that are not right, and operators beside them."""
    rows: list[tuple[str, str, str]] = []
    for verdict in _VERDICTS[1:]:
        ways: dict[str, list[str]] = {}
        for title in (title for title, came_out in found.ways.items() if came_out == verdict):
            operator = title.replace(",", " ").split()[0]
            ways.setdefault(operator, []).append(title.removeprefix(operator).lstrip(", "))
        rows += [(verdict, operator, "; ".join(titles)) for operator, titles in ways.items()]
        beside = [name for name, came_out in found.beside.items() if came_out == verdict]
        rows += [(verdict, "others", ", ".join(beside))] * bool(beside)
    return Table(("verdict", "operator", "ways of padding"), tuple(rows))


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
