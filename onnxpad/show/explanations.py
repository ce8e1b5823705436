"""Explanations, and the reproducers of facts, as documents."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from onnxpad.errors import few
from onnxpad.explaining import KINDS, Explanation
from onnxpad.show.document import Document, Section, Table, document_text
from onnxpad.show.tables import Terminal

if TYPE_CHECKING:
    from onnxpad.reproducing import Reproducer

PLURALS = {kind: "passes" if kind == "pass" else f"{kind}s" for kind in KINDS}
_FEW, _OPERATORS = 6, 3
"""Names of each kind on the first screen; operators of a rule."""
_FIRST_TOPICS = (
    *("recipes", "targets", "own-runtime", "measured", "sizes"),
    *("ci", "python", "diagnose", "installation", "words"),
)
"""The topics that people need, in the order in which they need them."""


def explanation_document(entry: Explanation, *, everything: bool = True) -> Document:
    """One entry: its text, tables of it, and its facts, of which a screen unless `everything`.

    The version that a fact is known from stands in it where it is not that of the source.
    """
    source, word = entry.source, f"onnxpad explain {shlex.quote(entry.name)} WORD"
    facts = [(name, value.replace(f": {source}, ", ": ")) for name, value in entry.facts]
    brief = facts != [*entry.facts]
    facts += [("source", f"{source}, where no other is named" if brief else source)] * bool(source)
    everything = everything or entry.kind == "topic"
    if not everything:
        facts = [(name, _shortened(value)) for name, value in facts]
    table = Table(("fact", ""), tuple(facts), "facts")
    rest = "" if everything else f"{word}, such as Pad, has those with that word; --all has all"
    sections = (*_blocks(entry.text), Section("facts", "Facts", table=table))
    headline = f"{entry.name} ({entry.kind})"
    return Document(entry.kind, entry.name, headline, sections=sections, rest=rest)


def _shortened(rule: str) -> str:
    """'Conv, MaxPool, Pad and 9 more where auto_pad is set [measured]', in brief."""
    what, bracket, evidence = rule.rpartition(" [")
    if not bracket:
        return rule
    operators, where, condition = what.partition(" where ")
    certain = [part.partition(":")[0] for part in evidence.rstrip("]").split("; ")]
    return f"{few(operators.split(', '), _OPERATORS)}{where}{condition} [{'; '.join(certain)}]"


def _blocks(text: str) -> Iterator[Section]:
    """A text by its empty lines: tables begin with a bar, everything else stands as it is."""
    for part in text.strip("\n").split("\n\n"):
        if part.startswith("| "):
            lines = (line.strip("|").split("|") for line in part.splitlines())
            headers, *rows = (tuple(cell.strip() for cell in line) for line in lines)
            yield Section("", "", table=Table(headers, tuple(rows)))
        elif part.startswith("    "):
            yield Section("", "", code=part)
        else:
            yield Section("", "", text=part)


def explanation_text(
    entry: Explanation, terminal: Terminal | None = None, *, everything: bool = True
) -> str:
    """One entry as text."""
    return document_text(explanation_document(entry, everything=everything), terminal)


def listing_text(
    entries: Sequence[Explanation], terminal: Terminal | None = None, *, everything: bool = False
) -> str:
    """Every entry with its first sentence; or the topics that people need, and a few names."""
    listed = {kind: [one for one in entries if one.kind == kind] for kind in KINDS}
    if everything:
        tables = {
            PLURALS[kind]: tuple((one.name, one.headline) for one in of_kind)
            for kind, of_kind in listed.items()
        }
    else:
        topics = {one.name: one.headline for one in listed["topic"]}
        rest = [one.name for one in listed.pop("topic") if one.name not in _FIRST_TOPICS]
        names = {"more topics": rest}
        names |= {PLURALS[kind]: [one.name for one in of_kind] for kind, of_kind in listed.items()}
        tables = {
            "topic": tuple((name, topics[name]) for name in _FIRST_TOPICS),
            "names": tuple((kind, few(of_kind, _FEW)) for kind, of_kind in names.items()),
        }
    sections = (Section("", "", table=Table((name, ""), rows)) for name, rows in tables.items())
    more = "" if everything else ", --all lists everything"
    headline = f"'onnxpad explain NAME' explains one of these{more}"
    return document_text(Document("", "", headline, sections=tuple(sections)), terminal)


def reproducer_text(found: Reproducer) -> str:
    """A reproducer as text: the fault, its model line by line, and the commands to run."""
    headline = f"{found.target} {found.answer}: {found.what}"
    notes = (
        *(f"note: {line}" for line in found.about),
        f"onnxruntime without optimisations {found.agrees}",
        f"written to {found.folder}: {', '.join(found.files())}",
        f"to see it, in that folder: {found.steps.replace('`', '')}",
    )
    model = Section("model", "", code="\n".join(found.model_lines), notes=notes)
    summary = (f"evidence: {found.evidence}",)
    return document_text(Document("", "", headline, summary, (model,)))
