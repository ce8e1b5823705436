"""Explanations as text."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from onnxpad.explaining import KINDS, Explanation
from onnxpad.show.tables import Terminal, table

_LEGIBLE = 20
"""Columns: facts are not broken into fewer."""
PLURALS = {kind: "passes" if kind == "pass" else f"{kind}s" for kind in KINDS}
_FIRST_TOPICS = (
    *("recipes", "targets", "own-runtime", "measured", "sizes"),
    *("ci", "python", "diagnose", "installation", "words"),
)
"""The topics that people need, in the order in which they need them."""
_COLUMNS = 100
_INDENT = "  "


def explanation_text(
    explanation: Explanation, terminal: Terminal | None = None, *, everything: bool = True
) -> str:
    """One entry, in brief unless `everything` is wanted; tables of its text are aligned.

    The version that a fact is known from stands in it where it is not that of the source. A
    terminal breaks facts between words.
    """
    source, told = explanation.source, explanation.facts
    if explanation.brief and not everything:
        told = explanation.brief
    facts = [(name, value.replace(f": {source}, ", ": ")) for name, value in told]
    if source:
        shortened = facts != [*told]
        facts.append(("source", f"{source}, where no other is named" if shortened else source))
    width = max((len(name) for name, _ in facts), default=0)
    lines = "\n".join(_fact(f"{name.ljust(width)}  ", value, terminal) for name, value in facts)
    blocks = (_block(one, terminal) for one in explanation.text.split("\n\n"))
    parts = [f"{explanation.name} ({explanation.kind})", *blocks, lines]
    return "\n\n".join(part for part in parts if part) + "\n"


def _fact(name: str, value: str, terminal: Terminal | None) -> str:
    room = terminal.width - len(name) if terminal else 0
    if room < _LEGIBLE:
        return f"{name}{value}"
    lines = wrap(value, room, break_long_words=False, break_on_hyphens=False)
    return f"\n{' ' * len(name)}".join([f"{name}{lines[0] if lines else ''}", *lines[1:]])


def _block(text: str, terminal: Terminal | None) -> str:
    """A paragraph, or a table."""
    if not text.startswith("| "):
        return text
    cells = (line.strip("|").split("|") for line in text.splitlines())
    headers, *rows = [[cell.strip() for cell in row] for row in cells]
    rows = [row for row in rows if set("".join(row)) != {"-"}]
    return table(headers, rows, terminal)


def overview_text(entries: Sequence[Explanation], terminal: Terminal | None = None) -> str:
    """One screen: the topics that people need, and the names of all other entries by kind."""
    topics = {entry.name: entry.headline for entry in entries if entry.kind == "topic"}
    rows = [(name, topics[name]) for name in _FIRST_TOPICS]
    parts = [table(("topics", ""), rows, terminal)]
    width = min(_COLUMNS, terminal.width) if terminal else _COLUMNS
    for kind in KINDS:
        names = [one.name for one in entries if one.kind == kind and one.name not in _FIRST_TOPICS]
        head = "more topics" if kind == "topic" else PLURALS[kind]
        listed = wrap(", ".join(names), width - len(_INDENT), break_on_hyphens=False)
        parts.append("\n".join([head, *(f"{_INDENT}{line}" for line in listed)]))
    parts.append(
        "'onnxpad explain NAME' explains one of them, 'onnxpad explain --all' lists them all"
    )
    return "\n\n".join(parts) + "\n"


def list_text(entries: Sequence[Explanation], terminal: Terminal | None = None) -> str:
    """Every entry with its first sentence, kind by kind."""
    parts = []
    for kind in KINDS:
        rows = [(entry.name, entry.headline) for entry in entries if entry.kind == kind]
        parts.append(table((PLURALS[kind], ""), rows, terminal))
    return "\n\n".join(part for part in parts if part) + "\n"
