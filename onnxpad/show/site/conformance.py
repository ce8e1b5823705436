"""What works where: every way of padding in every release of every runtime."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from onnxpad.reproducing.ways import Way, judged, ways
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.targets import all_targets, find_target

WORDS = {
    Answer.TAKES: "right",
    Answer.FALLS_BACK: "on the CPU",
    Answer.MISCOMPUTES: "wrong",
    Answer.REFUSES: "refused",
    Answer.UNKNOWN: "unknown",
}
SIGNS = {"right": "✓", "on the CPU": "C", "wrong": "✗", "refused": "–", "unknown": "?"}  # noqa: RUF001
"""A sign for each, so that no colour is needed to tell them apart."""
_WORST_FIRST = ("wrong", "refused", "on the CPU", "unknown", "right")
_NO_RUNTIME = "portable"  # which stands for what all of them take


def address_of(kind: str, name: str) -> str:
    """The file of a page, below the folder of the site."""
    safe = "".join(letter if letter.isascii() and _is_plain(letter) else "-" for letter in name)
    return f"{kind.replace(' ', '-')}/{safe}.html"


def _is_plain(letter: str) -> bool:
    return letter.isalnum() or letter in "._-"


class Cell(NamedTuple):
    """What one release of a runtime does with one way of padding.

    It is `assumed` where none of its facts was measured with this release.
    """

    target: str
    word: str
    reason: str
    evidence: tuple[str, ...]
    assumed: bool = False

    @property
    def text(self) -> str:
        """'✗ wrong'."""
        return f"{SIGNS[self.word]} {self.word}{', assumed' * self.assumed}"


@dataclass(frozen=True)
class Conformance:
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
        return sorted(found, key=lambda one: _WORST_FIRST.index(one[1].word))

    def of_operator(self, operator: str) -> list[tuple[Way, tuple[Cell, ...]]]:
        """Its ways, and what the newest release of each runtime does with them."""
        return [(w, self.of_way(w, newest=True)) for w in ways() if w.operator == operator]


def conformance() -> Conformance:
    """Every way in every release that is known: each target, and behind it its older releases."""
    names = [
        name
        for target in all_targets().values()
        for name in (target.name, *(f"{target.name}@{one}" for one in target.releases[-2::-1]))
    ]
    cells: dict[tuple[str, str], Cell] = {}
    for name in names:
        target = find_target(name)
        for way in ways():
            judgement = judged(target, way)
            evidence = [row.evidence for row in judgement.rows]
            assumed = bool(evidence) and all(one.other_than for one in evidence)
            proofs = tuple(dict.fromkeys(map(str, evidence)))
            word = WORDS[judgement.answer]
            cells[way.name, name] = Cell(name, word, judgement.sentence, proofs, assumed)
    return Conformance(tuple(names), cells)


def counted_words(cells: Iterable[Cell]) -> str:
    """'3 right, 2 wrong': how many of the cells say what."""
    counts = Counter(cell.word for cell in cells)
    return ", ".join(f"{counts[word]} {word}" for word in SIGNS if counts[word])
