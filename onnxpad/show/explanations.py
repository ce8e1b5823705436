"""Explanations, and the reproducers of facts, as text."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from onnxpad.errors import few
from onnxpad.explaining import KINDS, Explanation
from onnxpad.show.tables import Terminal, table
from onnxpad.show.wording import visible

if TYPE_CHECKING:
    from onnxpad.reproducing import Reproducer

PLURALS = {kind: "passes" if kind == "pass" else f"{kind}s" for kind in KINDS}
_LEGIBLE, _FEW, _OPERATORS = 20, 6, 3
"""Columns that facts have at least; names of each kind on the first screen; operators of a rule."""
_FIRST_TOPICS = (
    *("recipes", "targets", "own-runtime", "measured", "sizes"),
    *("ci", "python", "diagnose", "installation", "words"),
)
"""The topics that people need, in the order in which they need them."""


def explanation_text(
    explanation: Explanation, terminal: Terminal | None = None, *, everything: bool = True
) -> str:
    """One entry; tables of its text are aligned, and a terminal breaks facts between words.

    Long facts are cut, unless `everything` is wanted. The version that a fact is known from stands
    in it where it is not that of the source.
    """
    source, told = explanation.source, explanation.facts
    facts = [(name, value.replace(f": {source}, ", ": ")) for name, value in told]
    if source:
        shortened = facts != [*told]
        facts.append(("source", f"{source}, where no other is named" if shortened else source))
    brief = [(name, value if everything else _shortened(value)) for name, value in facts]
    if brief != facts:
        name = shlex.quote(explanation.name)
        more = f"onnxpad explain {name} WORD, such as Pad, has the rules with that word in full"
        brief.append(("more", f"{more}; --all has all of them"))
    width = max((len(name) for name, _ in brief), default=0)
    lines = "\n".join(_fact(f"{name.ljust(width)}  ", value, terminal) for name, value in brief)
    blocks = (_block(one, terminal) for one in explanation.text.split("\n\n"))
    parts = [f"{explanation.name} ({explanation.kind})", *blocks, lines]
    return "\n\n".join(filter(None, parts)) + "\n"


def _shortened(rule: str) -> str:
    """'Conv, MaxPool, Pad and 9 more where auto_pad is set [measured]', in brief."""
    what, bracket, known = rule.rpartition(" [")
    if not bracket:
        return rule
    operators, where, condition = what.partition(" where ")
    certain = [part.partition(":")[0] for part in known.rstrip("]").split("; ")]
    return f"{few(operators.split(', '), _OPERATORS)}{where}{condition} [{'; '.join(certain)}]"


def _fact(name: str, value: str, terminal: Terminal | None) -> str:
    room = terminal.width - len(name) if terminal else 0
    if room < _LEGIBLE:
        return f"{name}{value}"
    lines = wrap(value, room, break_long_words=False, break_on_hyphens=False) or [""]
    return name + f"\n{' ' * len(name)}".join(lines)


def _block(text: str, terminal: Terminal | None) -> str:
    """A paragraph, or a table."""
    if not text.startswith("| "):
        return text
    headers, *rows = cells_of(text)
    return table(headers, rows, terminal)


def cells_of(text: str) -> list[tuple[str, ...]]:
    """The rows of a table in a text, whose lines begin and end with bars; headers first."""
    lines = (line.strip("|").split("|") for line in text.splitlines())
    rows = [tuple(cell.strip() for cell in line) for line in lines]
    return [row for row in rows if set("".join(row)) != {"-"}]


def overview_text(entries: Sequence[Explanation], terminal: Terminal | None = None) -> str:
    """One screen: the topics that people need, and a few names of each kind."""
    topics = {entry.name: entry.headline for entry in entries if entry.kind == "topic"}
    first = [(name, topics[name]) for name in _FIRST_TOPICS]
    rows = []
    for kind in KINDS:
        names = [one.name for one in entries if one.kind == kind and one.name not in _FIRST_TOPICS]
        rows.append(("more topics" if kind == "topic" else PLURALS[kind], few(names, _FEW)))
    parts = [table(("topics", ""), first, terminal), table(("names", ""), rows, terminal)]
    parts.append("'onnxpad explain NAME' explains one of them, --all lists them all")
    return "\n\n".join(parts) + "\n"


def list_text(entries: Sequence[Explanation], terminal: Terminal | None = None) -> str:
    """Every entry with its first sentence, kind by kind."""
    rows = {kind: [(e.name, e.headline) for e in entries if e.kind == kind] for kind in KINDS}
    parts = (table((PLURALS[kind], ""), told, terminal) for kind, told in rows.items())
    return "\n\n".join(filter(None, parts)) + "\n"


def reproducer_text(found: Reproducer) -> str:
    """What it shows, the model line by line, and what to type in its folder."""
    lines = [
        f"{found.target} {found.answer}: {found.what}",
        f"evidence: {found.evidence}",
        "",
        *(f"  {line}" for line in found.model_lines),
        "",
        *(f"note: {line}" for line in found.about),
        f"onnxruntime without optimisations {found.agrees}",
        f"written to {found.folder}: {', '.join(found.files())}",
        f"to see it, in that folder: {found.steps.replace('`', '')}",
    ]
    return "\n".join(map(visible, lines)) + "\n"
