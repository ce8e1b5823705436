"""Measured runtimes: what came out by operator and way, and the rules that were learned."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from textwrap import shorten

from onnxpad.errors import counted
from onnxpad.measuring import Learned, Measurement
from onnxpad.runtimes.rule_files import ALL
from onnxpad.show.tables import Terminal, table
from onnxpad.show.wording import STANDARD, visible

_LONGEST = 100
"""Characters of what a runtime said."""
_VERDICTS = ("right", "fell back", "wrong", "refused", "crash", "timeout")


def measurement_text(
    found: Measurement, terminal: Terminal | None = None, written: str | None = None
) -> str:
    """Counts by operator, the ways that are not right, and the rules; `written` is their file."""
    parts = [
        _headline(found),
        table(("operator", *_seen(found)), list(_counts(found)), terminal),
        table(("", "operator", "ways of padding"), list(_ways(found)), terminal),
        *_rules(found, terminal),
        *_next(written),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _headline(found: Measurement) -> str:
    settled = f", {found.precision}" if found.precision else ""
    where = f"{found.version} on {found.machine}{settled}"
    return visible(f"{where}: {counted(found.models, 'model')} of seed {found.seed}")


def _seen(found: Measurement) -> list[str]:
    """The verdicts that there are."""
    return [one for one in _VERDICTS if any(one in counts for counts in found.counts.values())]


def _counts(found: Measurement) -> Iterator[list[str]]:
    for operator, counts in found.counts.items():
        yield [operator, *(str(counts.get(verdict, "")) for verdict in _seen(found))]


def _ways(found: Measurement) -> Iterator[tuple[str, str, str]]:
    """By verdict and operator the ways of padding that are not right, and operators beside them."""
    for verdict in _VERDICTS[1:]:
        ways: dict[str, list[str]] = {}
        for title, came_out in found.ways.items():
            if came_out == verdict:
                operator = title.replace(",", " ").split()[0]
                ways.setdefault(operator, []).append(title.removeprefix(operator).lstrip(", "))
        first = verdict
        for operator, titles in ways.items():
            yield first, operator, "; ".join(titles)
            first = ""
        beside = [name for name, came_out in found.beside.items() if came_out == verdict]
        if beside:
            yield first, "others", ", ".join(beside)


def _rules(found: Measurement, terminal: Terminal | None) -> Iterator[str]:
    if not found.rules:
        yield "No rules: every model came out right."
        return
    rows = [_rule(one) for one in found.rules]
    headers = ("rule", "operators", "where", "models", "false alarms", "for example")
    yield table(headers, rows, terminal)


def _rule(one: Learned) -> list[str]:
    alarms = str(one.false_alarms or "")
    operators = ", ".join(one.operators) or ALL
    said = shorten(one.message, _LONGEST)
    return [str(one.answer), operators, ", ".join(one.words), str(one.models), alarms, said]


def _next(written: str | None) -> Iterator[str]:
    if written is not None and written != STANDARD:
        path = shlex.quote(written)
        yield f"written  {visible(path)}\nnext     onnxpad inspect MODEL --target {visible(path)}"
    elif written is None:
        yield "Nothing was written: -o FILE.toml makes a target of these rules."
