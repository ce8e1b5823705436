"""A document as HTML: one file that loads nothing, a part of a notebook, or a page of the site."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

from onnxpad.errors import either
from onnxpad.show.document import Card, Command, Document, Line, Note, Section, Table
from onnxpad.show.pages.templates import rendered, text_of

CARDS, ROWS = 2000, 20_000
"""Drawings, and rows of a table, that a part of a page has: more are counted."""


class Part(NamedTuple):
    """A section as the templates fill it in."""

    section: Section
    lines: tuple[str, ...]
    cards: tuple[Card, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]


def page_html(document: Document, version: str) -> str:
    """A file of its own: no script but its own runs in it, and nothing is loaded."""
    script = text_of("page.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    styles = text_of("page.css") + text_of("figures.css")
    given = {"version": version, "script": script, "digest": digest, "styles": styles}
    return rendered("page.html", **filled(document), **given)


def fragment_html(document: Document) -> str:
    """The same for a notebook: without frame and scripts, its places apart from other reports'."""
    styles = text_of("notebook.css") + text_of("figures.css")
    prefix = f"onnxpad-{sha256(str(document).encode(errors='replace')).hexdigest()[:8]}-"
    return rendered("notebook.html", **filled(document, prefix), styles=styles)


def filled(
    document: Document, prefix: str = "", links: Mapping[str, str] | None = None
) -> dict[str, object]:
    """The values of the templates. Lines of sections without a title join the summary.

    prefix: what the anchors of the page begin with.
    links: addresses of the names in table cells.
    """
    sections = document.sections
    untitled = [s for s in sections if not (s.title or s.table or s.text or s.code)]
    summary = (*document.summary, *(line for s in untitled for line in (*s.lines, *s.notes)))
    parts = [_part(section) for section in sections if section not in untitled]
    leads = {
        node: f"#{prefix}{card.anchor}" for p in parts for card in p.cards for node in card.nodes
    }
    return {
        "document": document,
        "lines": _texts(summary),
        "tables": _notes(summary),
        "commands": [line for line in summary if isinstance(line, Command)],
        "parts": [
            part for part in parts if any(part[1:]) or part.section.text or part.section.code
        ],
        "links": leads if links is None else links,
        "prefix": prefix,
        "most": ROWS,
    }


def _part(section: Section) -> Part:
    cards = tuple(islice(section.cards(), CARDS + 1))
    more = ("and more pictures, not shown here: --node shows some alone",)
    table = (section.table,) if section.table and section.table.rows else ()
    tables = (*table, *_notes((*section.lines, *section.notes)))
    lines = _texts(section.lines) + more * (len(cards) > CARDS)
    return Part(section, lines, cards[:CARDS], tables, _texts(section.notes))


def _texts(lines: Iterable[Line]) -> tuple[str, ...]:
    return tuple(line for line in lines if isinstance(line, str) and line)


def _notes(lines: Iterable[Line]) -> tuple[Table, ...]:
    """The notes as a table."""
    notes = [line for line in lines if isinstance(line, Note)]
    columns = 3 if any(one.hints for one in notes) else 2
    rows = tuple((one.head, one.reason, either(one.hints))[:columns] for one in notes)
    return (Table(("note", "why", "try")[:columns], rows, "notes"),) if rows else ()
