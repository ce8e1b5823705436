"""A report as a document: a headline, and sections with lines, notes, a table and pictures.

One function for each verb makes it from the report. Two renderers read it: `document_text` writes
it for a terminal or a file, `onnxpad.show.pages.page` as HTML. Pictures are drawn for HTML alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from textwrap import TextWrapper
from typing import NamedTuple, TypeAlias

from onnxpad.errors import TRY, either
from onnxpad.show.tables import Terminal, row_texts
from onnxpad.show.wording import visible

WIDE, MOST = 160, 16
"""Characters of a line of a sentence or table in a file; rows or notes of a brief text."""


@dataclass(frozen=True, slots=True)
class Note:
    """A finding about nodes: what and where in `head`, why, and options that settle it."""

    head: str
    reason: str
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """A command to type next, on one line; `case` says when."""

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

    is_wrong: whether the nodes go wrong.
    """

    anchor: str
    title: str
    text: str
    pictures: tuple[Picture, ...]
    nodes: tuple[str, ...] = ()
    is_wrong: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document: lines, text, a table, code, then notes and pictures.

    title: the heading on a page; without one, the lines join the summary of the page.
    text: a paragraph in lines of its own.
    code: what stands as it is.
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
    text: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A report on `subject`.

    state: 'fine', 'wrong', 'open' or '' for the colour of a page.
    rest: where long tables and lists are cut, what shows the rest of them; '' for all.
    line: the report on one of many models; why it was not written, and what to try.
    """

    title: str
    subject: str
    headline: str
    summary: tuple[Line, ...] = ()
    sections: tuple[Section, ...] = ()
    state: str = ""
    rest: str = ""
    line: str = ""

    def __str__(self) -> str:
        return document_text(self)

    @property
    def commands(self) -> list[str]:
        """What to type next about the model."""
        commands = (line.typed for line in self.summary if isinstance(line, Command))
        return [one for one in commands if one.startswith("onnxpad rewrite")]


class _Block(NamedTuple):
    """Texts below each other; `fixed` are never cut, and an empty line stands around some."""

    texts: list[str]
    stands_apart: bool = False
    fixed: int = 0

    def cut(self, rest: str) -> _Block:
        """The first texts, and how many more `rest` shows; all of them where it is ''."""
        shown = self.fixed + MOST
        more = len(self.texts) - shown
        if not rest or more < 2 or self.fixed == len(self.texts):
            return self
        return self._replace(texts=[*self.texts[:shown], f"and {more} more ({rest})"])


def document_text(document: Document, terminal: Terminal | None = None) -> str:
    """The document for a terminal, or for a file or pipe."""
    head = list(filter(None, map(_line_text, (document.headline, *document.summary))))
    blocks = [_Block(head, fixed=len(head)), *_blocks(document.sections, terminal)]
    text, follows_apart = "", False
    for block in (one.cut(document.rest) for one in blocks):
        gap = "\n\n" if block.stands_apart or follows_apart else "\n"
        text += f"{gap if text else ''}{chr(10).join(block.texts)}"
        follows_apart = block.stands_apart
    return f"{text}\n"


def _blocks(sections: Iterable[Section], terminal: Terminal | None) -> Iterator[_Block]:
    for section in sections:
        rows = section.table.rows if section.table else ()
        table = section.table and row_texts(section.table.headers, rows, terminal or Terminal(WIDE))
        parts = (
            _Block(list(filter(None, map(_line_text, section.lines)))),
            _Block(_as_it_stands(section.text), stands_apart=True, fixed=1),
            _Block(table or [], stands_apart=True, fixed=1),
            _Block(_as_it_stands(section.code), stands_apart=True, fixed=1),
            _Block(list(filter(None, map(_line_text, section.notes)))),
        )
        yield from (part for part in parts if part.texts and not section.on_page_alone)


def _as_it_stands(text: str) -> list[str]:
    return ["\n".join(map(visible, text.split("\n")))] if text else []


def tried_text(message: str, tries: Iterable[str]) -> str:
    """The message, with what to try on lines of their own."""
    return TRY.join(map(visible, filter(None, (message, *tries))))


def _line_text(line: Line) -> str:
    if isinstance(line, Command):
        return visible(f"{line.case}: {line.typed}")
    if isinstance(line, str):
        return _wrapped("", visible(line))
    lines = [visible(f"{line.head}: {line.reason}")]
    if len(lines[0]) > WIDE:
        lines = [_wrapped("", visible(f"{line.head}:")), _wrapped("  ", visible(line.reason))]
    lines += [_wrapped("  try     ", visible(either(line.hints)))] if line.hints else []
    return "\n".join(lines)


def _wrapped(begin: str, text: str) -> str:
    """The text behind `begin`; on several lines, which stand further right, where it is long."""
    if len(begin) + len(text) <= WIDE:
        return begin + text
    margin = " " * max(2, len(begin))
    lines = TextWrapper(WIDE, begin, margin, break_long_words=False, break_on_hyphens=False)
    return lines.fill(text)
