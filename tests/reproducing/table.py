"""Holds the site's table of what works where against the runtimes themselves."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import onnx

from onnxpad.model.assembled import with_output_shapes
from onnxpad.probing.expected import expected
from onnxpad.reproducing.specimens import drafted
from onnxpad.reproducing.ways import Way, judged, ways
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.targets import find_target
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.running import Case, run

_ENDS = {"refused", "crash", "timeout"}
_MEANT = {
    Answer.TAKES: {"ok"},
    Answer.FALLS_BACK: {"ok", "fallback"},
    Answer.REFUSES: _ENDS,
    Answer.MISCOMPUTES: {"wrong"},
}


def differing(name: str) -> Iterator[str]:
    """Each way of padding with which a runtime does something else than its column says."""
    target = find_target(name)
    with tempfile.TemporaryDirectory() as folder:
        cases = [_case(way, Path(folder)) for way in ways()]
        found = run(RUNTIMES[name], cases)
    for way, outcome in zip(ways(), found, strict=True):
        answer = judged(target, way).answer
        if outcome.verdict not in _MEANT.get(answer, {outcome.verdict}):
            said = " ".join(outcome.message.split())[:120]
            yield f"{way.title:62} is {answer:11} and was {outcome.verdict:8} {said}".rstrip()


def _case(way: Way, folder: Path) -> Case:
    model, feeds = drafted(way.specimen)
    right = expected(model, feeds).outputs
    path = folder / f"{way.name}.onnx"
    onnx.save(with_output_shapes(model, right), path)
    return Case(path, feeds, right)
