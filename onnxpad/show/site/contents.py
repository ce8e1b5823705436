"""What stands on the page of one entry: its text, its facts with links, tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from onnxpad.explaining import Explanation, entries
from onnxpad.padding.forms import Form, forms_of
from onnxpad.reproducing import last_run
from onnxpad.reproducing.ways import Way, ways
from onnxpad.runtimes.conditions.rows import Row
from onnxpad.runtimes.releases import held
from onnxpad.runtimes.targets import find_target
from onnxpad.show.site.conformance import WORDS, WORST_FIRST, Cell, Table, counted_words, facts_of
from onnxpad.show.site.drawings import Shown, of_convention, of_form, of_pass
from onnxpad.show.site.links import address_of


class Block(NamedTuple):
    """A paragraph, a piece of text as it stands, or a table: `kind` says which."""

    kind: str
    text: str = ""
    headers: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class Word(NamedTuple):
    """A word of a fact, with the page that it leads to where there is one."""

    text: str
    link: str = ""


class Fact(NamedTuple):
    """One fact about a runtime, as the page of the target lists it.

    `unshown` says why no small model shows it.
    """

    anchor: str
    word: str
    what: str
    releases: str
    evidence: str
    command: str
    ran: str
    unshown: str
    operators: tuple[str, ...]
    """All of them where `what` does not name them all."""


@dataclass(frozen=True)
class Page:
    """The page of one entry."""

    address: str
    title: str
    kind: str
    blocks: tuple[Block, ...]
    facts: tuple[tuple[str, tuple[Word, ...]], ...] = ()
    shown: tuple[Shown, ...] = ()
    target_facts: tuple[Fact, ...] = ()
    cells: tuple[tuple[Way, Cell], ...] = ()
    outcomes: tuple[tuple[str, int], ...] = ()
    ways: tuple[Way, ...] = field(default=())


def page_of(entry: Explanation, table: Table) -> Page:
    """The page of one entry."""
    about = [*entry.facts_by_name.items()]
    if entry.source:
        about.append(("source", entry.source))
    if entry.kind == "target":
        told = {"releases", "older releases", "note", "source"}
        about = [(name, value) for name, value in about if name in told]
    cells = table.of_target(entry.name) if entry.kind == "target" else ()
    return Page(
        address_of(entry.kind, entry.name),
        entry.name,
        entry.kind,
        tuple(blocks_of(entry.text)),
        tuple((name, tuple(_linked(value, entry.kind))) for name, value in about),
        tuple(_shown(entry)),
        tuple(_target_facts(entry.name)) if entry.kind == "target" else (),
        cells,
        counted_words([cell for _, cell in cells]),
        tuple(_ways_of(entry)),
    )


def _shown(entry: Explanation) -> Iterator[Shown]:
    match entry.kind:
        case "pass":
            yield from of_pass(entry.name)
        case "form":
            yield from of_form(Form(entry.name))
        case "convention":
            yield from of_convention(entry.name)


def _ways_of(entry: Explanation) -> Iterator[Way]:
    for way in ways():
        if entry.kind == "form" and any(entry.name in forms_of(chain) for chain in way.chains):
            yield way
        if entry.kind == "operator" and way.operator == entry.name:
            yield way


def _target_facts(name: str) -> Iterator[Fact]:
    target = find_target(name)
    rank = [WORST_FIRST.index(WORDS[row.answer]) for row in target.history or target.rows]
    for _, (anchor, row) in sorted(zip(rank, facts_of(target), strict=True), key=lambda o: o[0]):
        command = f"onnxpad explain {name} --reproduce {anchor} -o DIR"
        evidence, shown = str(row.evidence), row.answer.fails and not row.unshown
        seen = command if shown else "", last_run(name, anchor), row.unshown
        releases = held(row, target.releases) or _all_of(target.releases)
        operators = row.operators if len(row.operators) > _NAMED else ()
        yield Fact(
            anchor, WORDS[row.answer], brief(row), releases, evidence, *seen, tuple(operators)
        )


_NAMED = 6


def brief(row: Row) -> str:
    """'Conv, ConvInteger ... and 48 more where auto_pad is set'."""
    if len(row.operators) <= _NAMED:
        return row.what
    names, everything = list(row.operators)[: _NAMED - 1], ", ".join(row.operators)
    more = len(row.operators) - len(names)
    return f"{', '.join(names)} and {more} more{row.what.removeprefix(everything)}"


def _all_of(releases: Sequence[str]) -> str:
    return "every known release" if len(releases) > 1 else "the only known release"


def blocks_of(text: str) -> Iterator[Block]:
    """A text by its empty lines: tables begin with a bar, what stands as it is with four blanks."""
    for part in text.strip("\n").split("\n\n"):
        lines = part.splitlines()
        if part.startswith("| "):
            cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
            headers, *rows = [row for row in cells if set("".join(row)) != {"-"}]
            yield Block("table", "", tuple(headers), tuple(map(tuple, rows)))
        elif all(line.startswith("    ") for line in lines):
            yield Block("code", "\n".join(line[4:] for line in lines))
        else:
            yield Block("text", " ".join(lines))


def _linked(value: str, kind: str) -> Iterator[Word]:
    """A value, with names of passes, forms and targets in it as links."""
    pages = _pages() if kind in ("pass", "form", "target", "trap") else {}
    words = value.split(", ")
    for number, word in enumerate(words):
        yield Word(word, pages.get(word, ""))
        if number < len(words) - 1:
            yield Word(", ")


@cache
def _pages() -> dict[str, str]:
    """The page of each name, the first where two kinds have one."""
    found: dict[str, str] = {}
    for entry in entries():
        if entry.kind != "topic":
            found.setdefault(entry.name, address_of(entry.kind, entry.name))
    return found
