"""What stands on the page of one entry: its text, its facts with links, tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from onnxpad.explaining import Explanation, entries
from onnxpad.padding.forms import Form, forms_of
from onnxpad.reproducing.ways import Way, ways
from onnxpad.runtimes.conditions.rows import Row
from onnxpad.runtimes.releases import held
from onnxpad.runtimes.targets import find_target
from onnxpad.show.explanations import cells_of
from onnxpad.show.site.conformance import (
    WORDS,
    WORST_FIRST,
    Linked,
    Table,
    address_of,
    counted_words,
    facts_of,
)
from onnxpad.show.site.drawings import Shown, of_convention, of_form, of_pass

_OF_TARGETS = ("releases", "older releases", "note", "source")
"""Facts that a target's page has beside its tables."""


class Block(NamedTuple):
    """A paragraph, a piece of text as it stands, or a table: `kind` says which."""

    kind: str
    text: str = ""
    headers: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def page_of(entry: Explanation, table: Table) -> dict[str, Any]:
    """What the page of one entry is filled in with."""
    is_target = entry.kind == "target"
    about = [*entry.facts_by_name.items(), *([("source", entry.source)] if entry.source else [])]
    about = [one for one in about if not is_target or one[0] in _OF_TARGETS]
    cells = table.of_target(entry.name) if is_target else []
    return {
        "title": entry.name,
        "kind": entry.kind,
        "blocks": tuple(blocks_of(entry.text)),
        "facts": [(name, list(_linked(value, entry.kind))) for name, value in about],
        "shown": list(_shown(entry)),
        "target_facts": list(_target_facts(entry.name)) if is_target else [],
        "cells": cells,
        "outcomes": counted_words(cell for _, cell in cells),
        "ways": [way for way in ways() if _is_about(entry, way)],
    }


def _shown(entry: Explanation) -> Iterator[Shown]:
    match entry.kind:
        case "pass":
            yield from of_pass(entry.name)
        case "form":
            yield from of_form(Form(entry.name))
        case "convention":
            yield from of_convention(entry.name)


def _is_about(entry: Explanation, way: Way) -> bool:
    if entry.kind == "form":
        return any(entry.name in forms_of(chain) for chain in way.chains)
    return entry.kind == "operator" and way.operator == entry.name


def _target_facts(name: str) -> Iterator[dict[str, Any]]:
    target = find_target(name)
    many = len(target.releases) > 1
    always = "every known release" if many else "the only known release"
    for anchor, row in sorted(facts_of(target), key=lambda one: WORST_FIRST.index(_word(one[1]))):
        shown = row.answer.fails and not row.unshown
        yield {
            "anchor": anchor,
            "word": _word(row),
            "what": row.what,
            "releases": held(row) or always,
            "evidence": str(row.evidence),
            "command": f"onnxpad explain {name} --reproduce {anchor} -o DIR" if shown else "",
            "unshown": row.unshown,
        }


def _word(row: Row) -> str:
    return WORDS[row.answer]


def blocks_of(text: str) -> Iterator[Block]:
    """A text by its empty lines: tables begin with a bar, what stands as it is with four blanks."""
    for part in text.strip("\n").split("\n\n"):
        lines = part.splitlines()
        if part.startswith("| "):
            headers, *rows = cells_of(part)
            yield Block("table", "", headers, tuple(rows))
        elif all(line.startswith("    ") for line in lines):
            yield Block("code", "\n".join(line[4:] for line in lines))
        else:
            yield Block("text", " ".join(lines))


def _linked(value: str, kind: str) -> Iterator[Linked]:
    """A value, with names of passes, forms and targets in it as links."""
    pages = _pages() if kind in ("pass", "form", "target", "trap") else {}
    for number, word in enumerate(value.split(", ")):
        yield from [Linked(", ")] * bool(number)
        yield Linked(word, pages.get(word, ""))


@cache
def _pages() -> dict[str, str]:
    """The page of each name, the first where two kinds have one."""
    found: dict[str, str] = {}
    for entry in entries():
        if entry.kind != "topic":
            found.setdefault(entry.name, address_of(entry.kind, entry.name))
    return found
