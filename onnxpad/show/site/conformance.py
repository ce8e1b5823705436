"""What works where: every way of padding in every release of every runtime."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from onnxpad.reproducing.ways import Way, judged, ways
from onnxpad.runtimes.conditions.rows import Answer, Row
from onnxpad.runtimes.targets import Target, all_targets, find_target

WORDS = {
    Answer.TAKES: "right",
    Answer.FALLS_BACK: "on the CPU",
    Answer.MISCOMPUTES: "wrong",
    Answer.REFUSES: "refused",
    Answer.UNKNOWN: "unknown",
}
SIGNS = {"right": "✓", "on the CPU": "C", "wrong": "✗", "refused": "–", "unknown": "?"}  # noqa: RUF001
"""A sign for each, so that no colour is needed to tell them apart."""
WORST_FIRST = ("wrong", "refused", "on the CPU", "unknown", "right")
_NO_RUNTIME = "portable"  # which stands for what all of them take


_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class Linked(NamedTuple):
    """Words, with the address that they lead to where there is one."""

    text: str
    link: str = ""


def address_of(kind: str, name: str) -> str:
    """The file of a page, below the folder of the site."""
    return f"{kind}/{_UNSAFE.sub('-', name)}.html"


def anchor_of(text: str) -> str:
    """The id of a place on a page."""
    return _UNSAFE.sub("-", text).strip("-").casefold()


@dataclass(frozen=True)
class Cell:
    """What one release of a runtime does with one way of padding.

    It is `assumed` where none of its facts was measured with this release; `evidence` leads to
    facts on the target's page.
    """

    target: str
    word: str
    reason: str
    evidence: tuple[Linked, ...]
    assumed: bool = False

    @property
    def sign(self) -> str:
        """One letter for it."""
        return SIGNS[self.word]

    @property
    def state(self) -> str:
        """What style sheets call it."""
        return anchor_of(self.word)

    @property
    def anchor(self) -> str:
        """The id of its row on the page of the way."""
        return anchor_of(self.target)


@dataclass(frozen=True)
class Table:
    """Cells by the name of a way and the name of a target, releases with theirs."""

    targets: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]

    @property
    def newest(self) -> tuple[str, ...]:
        """The runtimes, each in the newest release alone."""
        return tuple(name for name in self.targets if "@" not in name and name != _NO_RUNTIME)

    @property
    def operators(self) -> tuple[str, ...]:
        """Operators of which there are ways."""
        return tuple(dict.fromkeys(way.operator for way in ways()))

    def of_way(self, way: Way, *, newest: bool = False) -> tuple[Cell, ...]:
        """What each release, or the newest of each runtime, does with a way."""
        names = self.newest if newest else [one for one in self.targets if one != _NO_RUNTIME]
        return tuple(self.cells[way.name, name] for name in names)

    def of_target(self, target: str) -> list[tuple[Way, Cell]]:
        """What a target does with each way, the worst first."""
        found = [(way, self.cells[way.name, target]) for way in ways()]
        return sorted(found, key=lambda one: WORST_FIRST.index(one[1].word))

    def of_operator(self, operator: str) -> list[tuple[Way, tuple[Cell, ...]]]:
        """Its ways, and what the newest release of each runtime does with them."""
        return [(w, self.of_way(w, newest=True)) for w in ways() if w.operator == operator]


def conformance() -> Table:
    """Every way in every release that is known: each target, and behind it its older releases."""
    names = [
        name
        for target in all_targets().values()
        for name in (target.name, *(f"{target.name}@{one}" for one in target.releases[-2::-1]))
    ]
    found: dict[tuple[str, str], Cell] = {}
    for name in names:
        target = find_target(name)
        page = address_of("target", target.runtime)
        links = {row: f"{page}#{anchor}" for anchor, row in facts_of(target)}
        for way in ways():
            judgement = judged(target, way)
            rows = judgement.rows
            proofs = dict.fromkeys(
                Linked(str(row.evidence), links[row]) for row in rows if row in links
            )
            assumed = bool(rows) and all(row.evidence.other_than for row in rows)
            word, reason = WORDS[judgement.answer], judgement.sentence
            found[way.name, name] = Cell(name, word, reason, tuple(proofs), assumed)
    return Table(tuple(names), found)


def facts_of(target: Target) -> Iterator[tuple[str, Row]]:
    """Every row of every release with the id that it has on the target's page."""
    addresses = {row: address for address, row in target.failures.items()}
    for number, row in enumerate(target.history or target.rows):
        yield addresses.get(row, f"fact-{number}"), row


def counted_words(cells: Iterable[Cell]) -> str:
    """'3 right, 2 wrong': how many of the cells say what."""
    counts = Counter(cell.word for cell in cells)
    return ", ".join(f"{counts[word]} {word}" for word in SIGNS if counts[word])
