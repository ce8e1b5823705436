"""Measured runtimes: what came out by operator and way, and the rules that were learned."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from textwrap import shorten

from onnxpad.errors import counted
from onnxpad.measuring import Learned, Measurement
from onnxpad.runtimes.rule_files import ALL
from onnxpad.show.document import Document, Section, Table
from onnxpad.show.wording import STANDARD

_LONGEST = 100
"""Characters of what a runtime said."""
_VERDICTS = ("right", "fell back", "wrong", "refused", "crash", "timeout")


def measurement_document(found: Measurement, written: str | None = None) -> Document:
    """Counts by operator, the ways that are not right, and the rules; `written` is their file."""
    settled = f", {found.precision}" if found.precision else ""
    where = f"{found.version} on {found.machine}{settled}"
    seen = [one for one in _VERDICTS if any(one in counts for counts in found.counts.values())]
    counts = tuple(
        (operator, *(str(counts.get(verdict, "")) for verdict in seen))
        for operator, counts in found.counts.items()
    )
    return Document(
        "Measurement of",
        found.version,
        f"{where}: {counted(found.models, 'model')} of seed {found.seed}",
        sections=(
            Section("counts", "Models by operator", table=Table(("operator", *seen), counts)),
            Section("ways", "Ways of padding that are not right", table=_ways(found)),
            _rules(found),
            Section("next", "The rules as a file", tuple(_next(written))),
        ),
    )


def _ways(found: Measurement) -> Table:
    """By verdict and operator the ways of padding that are not right, and operators beside them."""
    rows: list[tuple[str, str, str]] = []
    for verdict in _VERDICTS[1:]:
        ways: dict[str, list[str]] = {}
        for title, came_out in found.ways.items():
            if came_out == verdict:
                operator = title.replace(",", " ").split()[0]
                ways.setdefault(operator, []).append(title.removeprefix(operator).lstrip(", "))
        told = [(operator, "; ".join(titles)) for operator, titles in ways.items()]
        beside = [name for name, came_out in found.beside.items() if came_out == verdict]
        told += [("others", ", ".join(beside))] * bool(beside)
        rows += [("" if number else verdict, *one) for number, one in enumerate(told)]
    return Table(("", "operator", "ways of padding"), tuple(rows))


def _rules(found: Measurement) -> Section:
    none = () if found.rules else ("No rules: every model came out right.",)
    headers = ("rule", "operators", "where", "models", "false alarms", "for example")
    rows = Table(headers, tuple(map(_rule, found.rules)))
    return Section("rules", "Rules", none, rows)


def _rule(one: Learned) -> tuple[str, ...]:
    alarms = str(one.false_alarms or "")
    operators = ", ".join(one.operators) or ALL
    said = shorten(one.message, _LONGEST)
    return str(one.answer), operators, ", ".join(one.words), str(one.models), alarms, said


def _next(written: str | None) -> Iterator[str]:
    if written is None:
        yield "Nothing was written: -o FILE.toml makes a target of these rules."
    elif written != STANDARD:
        path = shlex.quote(written)
        yield f"written  {path}"
        yield f"next     onnxpad inspect MODEL --target {path}"
