"""What stands on a page, and the page: one file that loads nothing, or a part of a notebook."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import NamedTuple

from onnxpad.show.pages.templates import rendered, text_of

CARDS, ROWS = 2000, 20_000
"""Drawings, and rows of a table, that a part of a page has: more are counted."""


class Link(NamedTuple):
    """A cell of a table that leads to a place on the page."""

    text: str
    to: str


class Table(NamedTuple):
    """Rows that can be sorted and searched; `name` says of what."""

    name: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str | Link, ...], ...]


class Picture(NamedTuple):
    """A figure as SVG, with the words above it."""

    svg: str
    caption: str = ""


class Card(NamedTuple):
    """Figures of one kind of node; `key` is HTML made by `legend`, `nodes` are the others.

    `state` is 'wrong' for one that goes wrong.
    """

    anchor: str
    title: str
    text: str
    pictures: tuple[Picture, ...]
    key: str = ""
    nodes: tuple[str, ...] = ()
    state: str = ""


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

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        rows = self.table and self.table.rows
        return not (self.lines or self.cards or self.graph or rows or self.notes)


class Page(NamedTuple):
    """A report: `state` is 'fine', 'wrong', 'open' or nothing, `commands` are what to type next."""

    title: str
    subject: str
    state: str
    verdict: str
    lines: tuple[str, ...]
    commands: tuple[str, ...]
    sections: tuple[Section, ...]


def page_html(page: Page, version: str) -> str:
    """A file of its own: no script but its own runs in it, and nothing is loaded."""
    script = text_of("page.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return rendered(
        "page.html",
        page=_without_empty(page),
        version=version,
        script=script,
        digest=digest,
        styles=text_of("page.css") + text_of("figures.css"),
    )


def fragment_html(page: Page) -> str:
    """The same for a notebook: without frame and scripts, its places apart from other reports'."""
    styles = text_of("notebook.css") + text_of("figures.css")
    html = rendered("notebook.html", page=_without_empty(page), styles=styles)
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
