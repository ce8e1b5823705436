"""A document as HTML: one file that loads nothing, or a part of a notebook."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

from onnxpad.errors import either
from onnxpad.show.document import Card, Command, Document, Line, Medium, Note, Section, Table
from onnxpad.show.pages.templates import rendered, text_of
from onnxpad.show.wording import visible

CARDS, ROWS = 2000, 20_000
"""Drawings, and rows of a table, that a part of a page has: more are counted."""
_NOTES = ("note", "why", "reads", "try")


class Link(NamedTuple):
    """A cell of a table that leads to a place on the page."""

    text: str
    to: str


class Rows(NamedTuple):
    """A table as the templates fill it in."""

    caption: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str | Link]]


class Part(NamedTuple):
    """A section as the templates fill it in: `lines` stand in front of its tables."""

    section: Section
    lines: Sequence[str]
    cards: Sequence[Card]
    graph: str
    tables: Sequence[Rows]
    notes: Sequence[str]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not any(self[1:])


def page_html(document: Document, version: str) -> str:
    """A file of its own: no script but its own runs in it, and nothing is loaded."""
    script = text_of("page.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return rendered(
        "page.html",
        **_values(document),
        version=version,
        script=script,
        digest=digest,
        styles=text_of("page.css") + text_of("figures.css"),
    )


def fragment_html(document: Document) -> str:
    """The same for a notebook: without frame and scripts, its places apart from other reports'."""
    styles = text_of("notebook.css") + text_of("figures.css")
    html = rendered("notebook.html", **_values(document), styles=styles)
    own = f"onnxpad-{sha256(html.encode()).hexdigest()[:8]}-"
    drawn = {*re.findall(r"url\(#([^)]+)\)", html)}  # of figures: unique as they are

    def apart(found: re.Match[str]) -> str:
        return found[0] if found[2] in drawn else f'{found[1]}{own}{found[2]}"'

    return re.sub(r'( id="| href="#| aria-labelledby=")([^"]+)"', apart, html)


def _values(document: Document) -> dict[str, object]:
    """What the templates read."""
    every = [one for one in document.sections if one.medium is not Medium.TERMINAL]
    shown = [one for one in every if one.title]
    cards = [tuple(islice(one.cards(), CARDS + 1)) for one in shown]
    leads = {node: card.anchor for drawn in cards for card in drawn for node in card.nodes}
    verdict = document.verdict or document.headline
    first = (document.headline, *document.summary)
    first += tuple(line for one in every if not one.title for line in (*one.lines, *one.notes))
    summary = [one for one in first if one and one != verdict]
    lines = [*summary, *(line for one in shown for line in (*one.lines, *one.notes))]
    typed = [text for line in lines if isinstance(line, Command) for text in _typed(line)]
    parts = [_part(one, drawn, leads) for one, drawn in zip(shown, cards, strict=True)]
    return {
        "document": document,
        "subject": visible(document.subject),
        "verdict": visible(verdict),
        "lines": _texts(summary)[:ROWS],
        "tables": _notes(summary),
        "commands": list(map(visible, [*document.hints, *typed])),
        "parts": [part for part in parts if not part.is_empty],
    }


def _part(section: Section, cards: Sequence[Card], leads: Mapping[str, str]) -> Part:
    """The section without what is beyond all reading, and how much that is."""
    lines, notes = _texts(section.lines), _texts(section.notes)
    rows = section.table.rows if section.table else ()
    left = sum(max(0, len(some) - ROWS) for some in (lines, notes, rows))
    left += max(0, len(cards) - CARDS)
    more = [f"and {left} more, not shown here: --node shows some alone"] * bool(left)
    tables = [_linked(section.table, leads)] if section.table and rows else []
    tables += _notes((*section.lines, *section.notes))
    drawn, graph = cards[:CARDS], section.graph()
    part = Part(section, [*lines[:ROWS], *more], drawn, graph, tables, notes[:ROWS])
    return part if part.is_empty else part._replace(lines=[*section.about, *part.lines])


def _linked(table: Table, leads: Mapping[str, str]) -> Rows:
    """The rows, with the cells of the first column as links to the picture of their node."""
    rows = [list(map(visible, row)) for row in table.rows[:ROWS]]
    linked = [[_link(first, leads), *rest] for first, *rest in rows]
    return Rows(visible(table.caption), table.headers, linked)


def _link(cell: str, leads: Mapping[str, str]) -> str | Link:
    return Link(cell, leads[cell]) if cell in leads else cell


def _typed(command: Command) -> Iterator[str]:
    """The command, below a comment on when it is to be typed."""
    if command.case != "next":
        yield f"# {command.case.removeprefix('next, ')}"
    yield f"{command.typed}{command.remark.replace(', or ', '  # or ')}"


def _texts(lines: Iterable[Line]) -> list[str]:
    return [visible(line) for line in lines if isinstance(line, str) and line]


def _notes(lines: Iterable[Line]) -> list[Rows]:
    """The notes as a table, without the columns that all of them leave empty."""
    notes = [line for line in lines if isinstance(line, Note)][:ROWS]
    rows = [(one.head, one.reason, one.read * bool(one.hints), either(one.hints)) for one in notes]
    used = [place for place in range(len(_NOTES)) if any(row[place] for row in rows)]
    shown = [[visible(row[place]) for place in used] for row in rows]
    return [Rows("notes", [_NOTES[place] for place in used], shown)] if rows else []
