"""A document as HTML: one file that loads nothing, or a part of a notebook."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

from onnxpad.errors import either
from onnxpad.show.document import Card, Command, Document, Line, Note, Section, Table
from onnxpad.show.pages.templates import rendered, text_of
from onnxpad.show.wording import visible

CARDS, ROWS = 2000, 20_000
"""Drawings, and rows of a table, that a part of a page has: more are counted."""


class Part(NamedTuple):
    """A section as the templates fill it in: `lines` stand in front of its tables."""

    section: Section
    lines: Sequence[str]
    cards: Sequence[Card]
    tables: Sequence[Table]
    notes: Sequence[str]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not any(self[1:])


def page_html(document: Document, version: str) -> str:
    """A file of its own: no script but its own runs in it, and nothing is loaded."""
    script = text_of("page.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    styles = text_of("page.css") + text_of("figures.css")
    given = {"version": version, "script": script, "digest": digest, "styles": styles}
    return rendered("page.html", **_values(document), **given)


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
    """What the templates read: lines of sections without a title join the summary."""
    untitled = [one for one in document.sections if not one.title]
    parts = [one for one in document.sections if one.title]
    summary = (*document.summary, *(line for one in untitled for line in (*one.lines, *one.notes)))
    cards = [tuple(islice(one.cards(), CARDS + 1)) for one in parts]
    leads = {node: card.anchor for drawn in cards for card in drawn for node in card.nodes}
    filled = list(map(_part, parts, cards))
    return {
        "document": document,
        "subject": visible(document.subject),
        "verdict": visible(document.headline),
        "lines": _texts(summary)[:ROWS],
        "tables": _notes(summary),
        "commands": [_typed(line) for line in summary if isinstance(line, Command)],
        "parts": [part for part in filled if not part.is_empty],
        "leads": leads,
    }


def _part(section: Section, cards: Sequence[Card]) -> Part:
    """The section without what is beyond all reading, and how much that is."""
    lines, notes, table = _texts(section.lines), _texts(section.notes), section.table
    rows = table.rows if table else ()
    left = sum(max(0, len(some) - ROWS) for some in (lines, notes, rows))
    left += max(0, len(cards) - CARDS)
    more = [f"and {left} more, not shown here: --node shows some alone"] * bool(left)
    tables = _notes((*section.lines, *section.notes))
    if table and rows:
        shown = tuple(tuple(map(visible, row)) for row in rows[:ROWS])
        tables.insert(0, Table(table.headers, shown, visible(table.caption)))
    return Part(section, [*lines[:ROWS], *more], cards[:CARDS], tables, notes[:ROWS])


def _typed(command: Command) -> str:
    """The command, below a comment on when it is to be typed."""
    case = [f"# {command.case.removeprefix('next, ')}"] * (command.case != "next")
    return "\n".join(map(visible, [*case, command.typed]))


def _texts(lines: Iterable[Line]) -> list[str]:
    return [visible(line) for line in lines if isinstance(line, str) and line]


def _notes(lines: Iterable[Line]) -> list[Table]:
    """The notes as a table."""
    notes = [line for line in lines if isinstance(line, Note)][:ROWS]
    columns = 3 if any(one.hints for one in notes) else 2
    cells = ((one.head, one.reason, either(one.hints))[:columns] for one in notes)
    rows = tuple(tuple(map(visible, row)) for row in cells)
    return [Table(("note", "why", "try")[:columns], rows, "notes")] if rows else []
