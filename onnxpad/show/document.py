"""A report as a document: a headline, and sections with lines, notes, a table and pictures.

One function for each verb makes it from the report. Two renderers read it: `document_text` writes
it for a terminal or a file, `onnxpad.show.pages.page` as HTML. Pictures are drawn for HTML alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile
from typing import TypeAlias

from onnxpad.errors import either
from onnxpad.show.tables import Terminal, table
from onnxpad.show.wording import visible

_NARROW = 100
"""Columns: a terminal with fewer is narrow."""


@dataclass(frozen=True, slots=True)
class Note:
    """A finding about nodes.

    head: what was found, and at which nodes.
    read: the tensor that the node reads, with its window; empty where it does not matter.
    hints: options, each of which settles it.
    """

    head: str
    reason: str
    read: str = ""
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """A command to type next; `case` says when, `remark` stands behind it."""

    typed: str
    case: str = "next"
    remark: str = ""


Line: TypeAlias = str | Note | Command


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headers.

    caption: what the rows are, for a page.
    names: headers of columns that a narrow terminal breaks anywhere.
    whole: headers of columns that a narrow terminal does not break.
    optional: header of a last column that a narrow terminal leaves out.
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    names: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    optional: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
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


class Medium(Enum):
    """Where a section is shown."""

    EVERYWHERE = "everywhere"
    PAGE = "page"
    TERMINAL = "terminal"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document.

    title: the heading on a page; without one, a page shows the lines in its summary, and the text
        too where no section with a title stands in front.
    lines: what stands in front of the table; empty ones are left out.
    notes: what stands behind the table.
    about: how to read the section, for a page.
    cards: draws the pictures.
    graph: draws a picture that may be larger than the page.
    windows: whether the pictures are of windows, whose signs are then explained.
    wide: whether pictures stand side by side.
    label: what the text says above the section, where a page has the title.
    """

    anchor: str
    title: str
    lines: tuple[Line, ...] = ()
    table: Table | None = None
    notes: tuple[Line, ...] = ()
    about: tuple[str, ...] = ()
    cards: Callable[[], Iterable[Card]] = tuple
    graph: Callable[[], str] = str
    windows: bool = False
    wide: bool = False
    label: str = ""
    medium: Medium = Medium.EVERYWHERE


@dataclass(frozen=True, slots=True)
class Document:
    """A report on `subject`.

    headline: the first line of the text.
    summary: the lines below it.
    state: 'fine', 'wrong', 'open' or '' for the colour of a page.
    verdict: what a page says first instead of the headline.
    hints: options or commands, each of which settles it.
    gap: what stands between sections in the text.
    """

    title: str
    subject: str
    headline: str
    summary: tuple[Line, ...] = ()
    sections: tuple[Section, ...] = ()
    state: str = ""
    verdict: str = ""
    hints: tuple[str, ...] = ()
    gap: str = "\n\n"

    def __str__(self) -> str:
        return document_text(self)


def document_text(document: Document, terminal: Terminal | None = None) -> str:
    """The document for a terminal, or for a file or pipe."""
    shown = [one for one in document.sections if one.medium is not Medium.PAGE]
    tried = f"  try     {either(document.hints)}" if document.hints else ""
    joined = list(takewhile(lambda one: not one.title, shown))
    head = [
        document.headline,
        tried,
        *document.summary,
        *(line for one in joined for line in one.lines),
    ]
    parts = [
        lines_text(head),
        *(part for one in shown[len(joined) :] for part in _section_texts(one, terminal)),
    ]
    return document.gap.join(filter(None, parts)) + "\n"


def _section_texts(section: Section, terminal: Terminal | None) -> Iterable[str]:
    parts = [
        lines_text(section.lines),
        _table_text(section.table, terminal),
        lines_text(section.notes),
    ]
    shown = [part for part in parts if part]
    yield from [f"{section.label}\n{shown[0]}", *shown[1:]] if section.label and shown else shown


def _table_text(rows: Table | None, terminal: Terminal | None) -> str:
    if rows is None:
        return ""
    headers, cells = rows.headers, rows.rows
    if headers[-1] == rows.optional and terminal and terminal.width < _NARROW:
        headers, cells = headers[:-1], tuple(row[:-1] for row in cells)
    return table(headers, cells, terminal, names=rows.names, whole=rows.whole)


def lines_text(lines: Iterable[Line]) -> str:
    """The lines, without empty ones."""
    return "\n".join(filter(None, map(_line_text, lines)))


def _line_text(line: Line) -> str:
    if isinstance(line, Command):
        return visible(f"{line.case}: {line.typed}{line.remark}")
    if isinstance(line, str):
        return visible(line)
    lines = [f"{line.head}: {line.reason}"]
    if line.hints:
        lines += [f"  input   {line.read}"] * bool(line.read)
        lines.append(f"  try     {either(line.hints)}")
    return "\n".join(map(visible, lines))
