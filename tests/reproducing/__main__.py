"""Runs the reproducer of every row in the runtime itself and records what shows the fault.

python -m tests.reproducing --runtimes opencv,ncnn     writes onnxpad/reproducing/seen.json

What counts is the script as it is written for users. Where the smallest model does not show it,
those that differ in one word are tried. A row that none shows is recorded as such, and printed: it
may be wrong.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import onnx

from onnxpad.model.assembled import with_output_shapes
from onnxpad.reproducing import SEEN, all_seen, showing, specimen
from onnxpad.reproducing.search import chains_of, falls_under, smallest, varied
from onnxpad.reproducing.specimens import Specimen, drafted
from onnxpad.runtimes.conditions.rows import Row
from onnxpad.runtimes.judge import failing
from onnxpad.runtimes.targets import Target, find_target
from onnxpad.validation.expected import expected
from tests.reproducing.scripts import verdict_of
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.judging import Outcome
from tests.runtimes.live.running import Case, run

MOST = 80
_ENDS = {"refused", "crash", "timeout"}
SHOWS = {"miscomputes": {"wrong"}, "refuses": {*_ENDS, "wrong"}}
_OF_THE_WORKER = ("has no placeholder", "has no batch axis", "not understood", "check_model")
"""What a worker of the tests says by itself, or of a model that is none."""


def shows(row: Row, outcome: Outcome) -> bool:
    """Whether a runtime did what the row says, or worse."""
    return outcome.verdict in SHOWS[str(row.answer)] and not _stopped_early(outcome)


def _stopped_early(outcome: Outcome) -> bool:
    """Whether the worker did not give the model to the runtime."""
    return any(words in outcome.message for words in _OF_THE_WORKER)


def words_of(one: Specimen) -> dict[str, Any]:
    """What differs from a plain specimen of the operator."""
    plain = Specimen(one.operator)
    names = (field.name for field in fields(Specimen))
    changed = (name for name in names if getattr(one, name) != getattr(plain, name))
    found = {"operator": one.operator} | {name: getattr(one, name) for name in changed}
    return found | ({"value": str(one.value)} if "value" in found else {})  # JSON has no infinity


def candidates(target: Target, row: Row) -> list[Specimen]:
    """Valid models under the row, the smallest first: those under no other one, if there are any.

    What fails by another row as well does not show this one.
    """
    found: dict[Specimen, tuple[int, int]] = {}
    for operator in row.operators:
        first = smallest(target, row, operator)
        for one in dict.fromkeys((first, *varied(first))) if first else ():
            if falls_under(target, row, one) and _is_valid(one):
                rows = {other for chain in chains_of(one) for other in failing(target, chain)}
                found[one] = (len(rows), len(words_of(one)))
    alone = [one for one, (rows, _) in found.items() if rows == 1]
    return sorted(alone or found, key=lambda one: found[one])[:MOST]


def _is_valid(one: Specimen) -> bool:
    model, feeds = drafted(one)
    right = expected(model, feeds).outputs
    try:
        onnx.checker.check_model(with_output_shapes(model, right), full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return bool(right)


def _case(one: Specimen, path: Path) -> Case:
    model, feeds = drafted(one)
    right = expected(model, feeds).outputs
    onnx.save(with_output_shapes(model, right), path)
    return Case(path, feeds, right)


def looked_for(name: str, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row of the newest release with what shows it, and what its written script shows."""
    target = find_target(name)
    for address, row in target.failures.items():
        if row not in target.rows:
            continue
        first = specimen(target, address)
        verdict = "" if first is None else verdict_of(first, RUNTIMES[name], folder / address)
        if verdict in SHOWS[str(row.answer)]:
            yield address, {"verdict": verdict}
        else:
            hit = _hit(target, address, folder)
            yield address, hit or {"verdict": verdict if verdict in _ENDS else "not shown"}


def _hit(target: Target, address: str, folder: Path) -> dict[str, Any] | None:
    """The first model that shows a row, in the worker of the tests and in its own script."""
    row, runtime = target.failures[address], RUNTIMES[target.name]
    others = candidates(target, row)
    files = [_case(one, folder / f"{address}-{n}.onnx") for n, one in enumerate(others)]
    for number, (one, outcome) in enumerate(zip(others, run(runtime, files), strict=True)):
        if shows(row, outcome) or _stopped_early(outcome):
            made = showing(target, address, one)
            verdict = verdict_of(made, runtime, folder / f"{address}-{number}")
            if verdict in SHOWS[str(row.answer)]:
                return {"verdict": verdict, "words": words_of(one)}
    return None


def main() -> None:
    """Parse the command line, run, write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtimes", required=True, help="names, with commas")
    seen = json.loads(SEEN.read_text("utf-8")) if SEEN.exists() else {}
    for name in parser.parse_args().runtimes.split(","):
        seen.pop(name, None)
        _write(seen)
        with tempfile.TemporaryDirectory() as folder:
            found = dict(looked_for(name, Path(folder)))
        seen[name] = found
        for address, record in found.items():
            print(f"{name:16} {address:60} {record}", flush=True)
        _write(seen)


def _write(seen: Mapping[str, Any]) -> None:
    """Write what is known; the smallest models are looked for anew where nothing is."""
    SEEN.write_text(f"{json.dumps(seen, indent=1, sort_keys=True)}\n", "utf-8")
    all_seen.cache_clear()


if __name__ == "__main__":
    main()
