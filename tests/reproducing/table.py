"""Holds the site's table of what works where against the runtimes themselves."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from onnxpad.reproducing.ways import Way, file_of, judged, ways
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.targets import find_target
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.running import Case, Outcome, run

_ENDS = {"refused", "crash", "timeout"}
_MEANT = {
    Answer.TAKES: {"ok"},
    Answer.FALLS_BACK: {"ok", "fallback"},
    Answer.REFUSES: {*_ENDS, "fallback"},  # on its device
    Answer.MISCOMPUTES: {"wrong"},
}


class Contradiction(NamedTuple):
    """A cell of the table, and what the runtime did with its model instead."""

    way: Way
    answer: Answer
    outcome: Outcome

    @property
    def is_other_side(self) -> bool:
        """Whether one of both says that it is right, and the other one that it is not."""
        return self.answer.fails is (self.outcome.verdict in ("ok", "fallback"))

    def __str__(self) -> str:
        said = " ".join(self.outcome.message.split())[:120]
        was = f"is {self.answer:11} and was {self.outcome.verdict:8}"
        return f"{self.way.title:62} {was} {said}".rstrip()


def differing(name: str, chosen: Sequence[Way] | None = None) -> Iterator[Contradiction]:
    """Each of the chosen ways with which a runtime does something else than its column says."""
    target, chosen = find_target(name), chosen or ways()
    with tempfile.TemporaryDirectory() as folder:
        cases = [_case(way, Path(folder)) for way in chosen]
        found = run(RUNTIMES[name], cases)
    for way, outcome in zip(chosen, found, strict=True):
        answer = judged(target, way).answer
        if outcome.verdict not in _MEANT.get(answer, {outcome.verdict}):
            yield Contradiction(way, answer, outcome)


def _case(way: Way, folder: Path) -> Case:
    model, inputs, outputs = file_of(way)
    path = folder / f"{way.name}.onnx"
    path.write_bytes(model)
    return Case(path, inputs, outputs)
