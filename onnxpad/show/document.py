"""A report as a document: a headline, and sections with lines, notes, a table and pictures.

One function for each verb makes it from the report. Two renderers read it: `document_text` writes
it for a terminal or a file, `onnxpad.show.pages.page` as HTML. Pictures are drawn for HTML alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from onnxpad.errors import either
from onnxpad.show.tables import Terminal, table
from onnxpad.show.wording import visible

_LONGEST, _ROWS, _NOTES = 160, 20, 8
"""Characters of a line, where the reason of a longer note has a line of its own; rows of a table
and notes of a section in a brief text."""


@dataclass(frozen=True, slots=True)
class Note:
    """A finding about nodes: what and where in `head`, why, and options that settle it."""

    head: str
    reason: str
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """A command to type next; `case` says when."""

    typed: str
    case: str = "next"


Line: TypeAlias = str | Note | Command


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headers; `caption` says what the rows are, for a page."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = "rows"


class Picture(NamedTuple):
    """A figure as SVG, with the words above it."""

    svg: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """Figures of nodes that look alike; rows of tables that begin with one of `nodes` lead to it.

    key: HTML that explains the signs in the figures.
    is_wrong: whether the nodes go wrong.
    """

    anchor: str
    title: str
    text: str
    pictures: tuple[Picture, ...]
    key: str = ""
    nodes: tuple[str, ...] = ()
    is_wrong: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document.

    title: the heading on a page; without one, the lines join the summary of the page.
    lines: what stands in front of the table; empty ones are left out.
    notes: what stands behind the table.
    cards: draws the pictures.
    windows: whether the pictures are of windows, whose signs are then explained.
    on_page_alone: whether the text leaves the section out.
    """

    anchor: str
    title: str
    lines: tuple[Line, ...] = ()
    table: Table | None = None
    notes: tuple[Line, ...] = ()
    cards: Callable[[], Iterable[Card]] = tuple
    windows: bool = False
    on_page_alone: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A report on `subject`.

    state: 'fine', 'wrong', 'open' or '' for the colour of a page.
    gap: what stands between sections of the text that have no table.
    is_brief: whether the text has only the first notes and rows of each section.
    """

    title: str
    subject: str
    headline: str
    summary: tuple[Line, ...] = ()
    sections: tuple[Section, ...] = ()
    state: str = ""
    gap: str = "\n"
    is_brief: bool = False

    def __str__(self) -> str:
        return document_text(self)


def document_text(document: Document, terminal: Terminal | None = None) -> str:
    """The document for a terminal, or for a file or pipe; an empty line stands around tables."""
    text, gap = lines_text((document.headline, *document.summary)), document.gap
    for section in document.sections:
        if section.on_page_alone:
            continue
        rows = section.table
        told = rows.rows[: _ROWS if document.is_brief else None] if rows else ()
        shown = table(rows.headers, told, terminal) if rows else ""
        left = len(rows.rows) - len(told) if rows else 0
        more = [f"and {left} more rows (--each or --json)"] if left else []
        lines = _first_notes(section.lines) if document.is_brief else section.lines
        behind = lines_text((*more, *section.notes))
        parts = [*filter(None, (lines_text(lines), shown, behind))]
        if parts:
            around = "\n\n" if shown else document.gap
            text += max(gap, around) + (around if shown else "\n").join(parts)
            gap = around
    return f"{text}\n"


def _first_notes(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines with the first notes alone, and how many there are besides."""
    count = 0
    for line in lines:
        count += isinstance(line, Note)
        if count <= _NOTES or not isinstance(line, Note):
            yield line
    if count > _NOTES:
        yield f"and {count - _NOTES} more (--each or --json)"


def lines_text(lines: Iterable[Line]) -> str:
    """The lines, without empty ones."""
    return "\n".join(filter(None, map(_line_text, lines)))


def _line_text(line: Line) -> str:
    if isinstance(line, Command):
        return visible(f"{line.case}: {line.typed}")
    if isinstance(line, str):
        return visible(line)
    lines = [f"{line.head}: {line.reason}"]
    if len(lines[0]) > _LONGEST:
        lines = [f"{line.head}:", f"  {line.reason}"]
    lines += [f"  try     {either(line.hints)}"] if line.hints else []
    return "\n".join(map(visible, lines))
