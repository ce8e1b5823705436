"""A document as HTML: one file that loads nothing, or a part of a notebook."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

from onnxpad.errors import either
from onnxpad.show import document as data
from onnxpad.show.document import Card, Command, Document, Line, Medium, Note
from onnxpad.show.pages.templates import rendered, text_of
from onnxpad.show.wording import visible

CARDS, ROWS = 2000, 20_000
"""Drawings, and rows of a table, that a part of a page has: more are counted."""
_NOTES = ("note", "why", "reads", "try")


class Link(NamedTuple):
    """A cell of a table that leads to a place on the page."""

    text: str
    to: str


class Table(NamedTuple):
    """Rows that can be sorted and searched; `name` says of what."""

    name: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str | Link, ...], ...]


class Section(NamedTuple):
    """A part of a page under a heading."""

    anchor: str
    title: str
    lines: tuple[str, ...] = ()
    table: Table | None = None
    cards: tuple[Card, ...] = ()
    windows: bool = False
    """Whether its cards draw windows, whose signs are then explained."""
    wide: bool = False
    """Whether its cards have pictures side by side."""
    graph: str = ""
    """A picture that may be larger than the page."""
    notes: tuple[str, ...] = ()
    """Lines behind the table."""
    noted: Table | None = None
    """Notes on nodes as rows."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        rows = self.table and self.table.rows
        return not (self.lines or self.cards or self.graph or rows or self.notes or self.noted)


class Page(NamedTuple):
    """A report: `state` is 'fine', 'wrong', 'open' or nothing, `commands` are what to type next."""

    title: str
    subject: str
    state: str
    verdict: str
    lines: tuple[str, ...]
    commands: tuple[str, ...]
    sections: tuple[Section | data.Section, ...]
    noted: Table | None = None


def page_html(page: Page | Document, version: str) -> str:
    """A file of its own: no script but its own runs in it, and nothing is loaded."""
    script = text_of("page.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return rendered(
        "page.html",
        page=_without_empty(_page_of(page)),
        version=version,
        script=script,
        digest=digest,
        styles=text_of("page.css") + text_of("figures.css"),
    )


def fragment_html(page: Page | Document) -> str:
    """The same for a notebook: without frame and scripts, its places apart from other reports'."""
    styles = text_of("notebook.css") + text_of("figures.css")
    html = rendered("notebook.html", page=_without_empty(_page_of(page)), styles=styles)
    own = f"onnxpad-{sha256(html.encode()).hexdigest()[:8]}-"
    drawn = {*re.findall(r"url\(#([^)]+)\)", html)}  # of figures: unique as they are

    def apart(found: re.Match[str]) -> str:
        return found[0] if found[2] in drawn else f'{found[1]}{own}{found[2]}"'

    return re.sub(r'( id="| href="#| aria-labelledby=")([^"]+)"', apart, html)


def _without_empty(page: Page) -> Page:
    sections = tuple(_cut(one) for one in page.sections if not one.is_empty)
    return page._replace(lines=page.lines[:ROWS], sections=sections)


def _cut(section: Section) -> Section:
    """The section without what is beyond all reading, and how much that is."""
    table, lines, notes = section.table, section.lines, section.notes
    left = sum(max(0, len(some) - ROWS) for some in (lines, notes))
    left += max(0, len(section.cards) - CARDS)
    if table is not None:
        left += max(0, len(table.rows) - ROWS)
        table = table._replace(rows=table.rows[:ROWS])
    said = (f"and {left} more, not shown here: --node shows some alone",) if left else ()
    cards = section.cards[:CARDS]
    lines = (*lines[:ROWS], *said)
    return section._replace(lines=lines, cards=cards, table=table, notes=notes[:ROWS])


def _page_of(document: Page | Document) -> Page:
    """What the templates fill in."""
    if isinstance(document, Page):
        new = [one for one in document.sections if isinstance(one, data.Section)]
        drawn = {id(one): tuple(islice(one.cards(), CARDS + 1)) for one in new}
        return document._replace(
            sections=tuple(
                _section_of(one, drawn[id(one)], {}) if isinstance(one, data.Section) else one
                for one in document.sections
            )
        )
    every = [one for one in document.sections if one.medium is not Medium.TERMINAL]
    shown = [one for one in every if one.title]
    cards = [tuple(islice(one.cards(), CARDS + 1)) for one in shown]
    leads = {node: card.anchor for drawn in cards for card in drawn for node in card.nodes}
    verdict = document.verdict or document.headline
    first = (document.headline, *document.summary)
    first += tuple(line for one in every if not one.title for line in (*one.lines, *one.notes))
    summary = [one for one in first if one and one != verdict]
    lines = [*summary, *(line for one in shown for line in (*one.lines, *one.notes))]
    typed = [line.typed for line in lines if isinstance(line, Command)]
    return Page(
        document.title,
        visible(document.subject),
        document.state,
        visible(verdict),
        _said(summary),
        tuple(map(visible, [*document.hints, *typed])),
        tuple(_section_of(one, drawn, leads) for one, drawn in zip(shown, cards, strict=True)),
        _noted(summary),
    )


def _section_of(
    section: data.Section, drawn: tuple[Card, ...], leads: Mapping[str, str]
) -> Section:
    view = Section(
        section.anchor,
        section.title,
        _said(section.lines),
        _linked(section.table, leads) if section.table and section.table.rows else None,
        drawn,
        section.windows,
        section.wide,
        section.graph(),
        _said(section.notes),
        _noted((*section.lines, *section.notes)),
    )
    return view if view.is_empty else view._replace(lines=(*section.about, *view.lines))


def _linked(table: data.Table, leads: Mapping[str, str]) -> Table:
    """The rows, with the cells of the first column as links to the picture of their node."""
    rows = [tuple(map(visible, row)) for row in table.rows]
    linked = tuple((_link(row[0], leads), *row[1:]) for row in rows)
    return Table(visible(table.caption), table.headers, linked)


def _link(cell: str, leads: Mapping[str, str]) -> str | Link:
    return Link(cell, leads[cell]) if cell in leads else cell


def _said(lines: Iterable[Line]) -> tuple[str, ...]:
    return tuple(visible(line) for line in lines if isinstance(line, str) and line)


def _noted(lines: Iterable[Line]) -> Table | None:
    """The notes as a table, without the columns that all of them leave empty."""
    notes = [line for line in lines if isinstance(line, Note)]
    rows = [
        tuple(map(visible, (one.head, one.reason, one.read * bool(one.hints), either(one.hints))))
        for one in notes
    ]
    used = [place for place in range(len(_NOTES)) if any(row[place] for row in rows)]
    shown = tuple(tuple(row[place] for place in used) for row in rows)
    return Table("notes", tuple(_NOTES[place] for place in used), shown) if rows else None
