"""What works where: every way of padding in every release of every runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from onnxpad.reproducing.ways import Way, file_of, judged, ways
from onnxpad.runtimes.conditions.rows import Answer, Row
from onnxpad.runtimes.targets import Target, all_targets, find_target
from onnxpad.show.site.links import address_of, anchor_of
from onnxpad.validation.kernel_verdict import arrays_file

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


@dataclass(frozen=True)
class Proof:
    """A fact behind a cell: its words, and where it stands on the target's page."""

    text: str
    link: str


@dataclass(frozen=True)
class Cell:
    """What one release of a runtime does with one way of padding.

    It is `assumed` where none of its facts was measured with this release.
    """

    target: str
    word: str
    reason: str
    evidence: tuple[Proof, ...]
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

    def of_way(self, way: Way) -> tuple[Cell, ...]:
        """What each release does with a way."""
        names = (name for name in self.targets if name != _NO_RUNTIME)
        return tuple(self.cells[way.name, name] for name in names)

    def of_target(self, target: str) -> tuple[tuple[Way, Cell], ...]:
        """What a target does with each way, the worst first."""
        found = ((way, self.cells[way.name, target]) for way in ways())
        return tuple(sorted(found, key=lambda one: WORST_FIRST.index(one[1].word)))

    @cached_property
    def operators(self) -> tuple[str, ...]:
        """Operators of which there are ways."""
        return tuple(dict.fromkeys(way.operator for way in ways()))

    def of_operator(self, operator: str) -> tuple[tuple[Way, tuple[Cell, ...]], ...]:
        """Its ways, and what the newest release of each runtime does with them."""
        return tuple(
            (way, tuple(self.cells[way.name, name] for name in self.newest))
            for way in ways()
            if way.operator == operator
        )


def conformance() -> Table:
    """Every way in every release that is known."""
    found: dict[tuple[str, str], Cell] = {}
    names = tuple(_releases())
    for name in names:
        target = find_target(name)
        anchors = {row: anchor for anchor, row in facts_of(target)}
        for way in ways():
            found[way.name, name] = _cell(target, way, anchors)
    return Table(names, found)


def _releases() -> Iterator[str]:
    """Each target, and behind it its older releases, the newest of them first."""
    for target in all_targets().values():
        yield target.name
        for release in target.releases[-2::-1]:
            yield f"{target.name}@{release}"


def facts_of(target: Target) -> Iterator[tuple[str, Row]]:
    """Every row of every release with the id that it has on the target's page."""
    addresses = {row: address for address, row in target.failures.items()}
    for number, row in enumerate(target.history or target.rows):
        yield addresses.get(row, f"fact-{number}"), row


def _cell(target: Target, way: Way, anchors: Mapping[Row, str]) -> Cell:
    found = judged(target, way)
    page = address_of("target", target.runtime)
    proofs = dict.fromkeys(
        Proof(str(row.evidence), f"{page}#{anchors[row]}") for row in found.rows if row in anchors
    )
    assumed = bool(found.rows) and all(row.evidence.other_than for row in found.rows)
    return Cell(target.name, WORDS[found.answer], found.sentence, tuple(proofs), assumed)


def outcomes_of(table: Table, way: Way) -> Sequence[tuple[str, int]]:
    """How many of the newest releases do what with it."""
    return counted_words([table.cells[way.name, name] for name in table.newest])


def counted_words(cells: Sequence[Cell]) -> tuple[tuple[str, int], ...]:
    """How many of the cells say what."""
    words = [cell.word for cell in cells]
    return tuple((word, words.count(word)) for word in SIGNS if word in words)


def downloads(way: Way) -> Iterator[tuple[str, bytes]]:
    """The model of a way, an input for it, and what it computes by the ONNX text."""
    model, inputs, outputs = file_of(way)
    yield f"models/{way.name}.onnx", model
    yield f"models/{way.name}-input.npz", arrays_file(inputs)
    yield f"models/{way.name}-expected.npz", arrays_file(outputs)
