"""Runs the reproducer of every row in the runtime itself and records what shows the fault.

python -m tests.reproducing --runtimes opencv,ncnn     writes onnxpad/reproducing/seen.json

Where the smallest model does not show it, those that differ in one word are tried. A row that none
shows is recorded as such, and printed: it may be wrong.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import onnx

from onnxpad.model.assembled import with_output_shapes
from onnxpad.reproducing import SEEN, specimen
from onnxpad.reproducing.search import chains_of, falls_under, smallest, varied
from onnxpad.reproducing.specimens import Specimen, drafted
from onnxpad.runtimes.conditions.rows import Row
from onnxpad.runtimes.judge import failing
from onnxpad.runtimes.targets import Target, find_target
from onnxpad.validation.expected import expected
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.judging import Outcome
from tests.runtimes.live.running import Case, run

MOST = 80
SHOWS = {"miscomputes": {"wrong"}, "refuses": {"refused", "crash", "timeout", "wrong"}}
_OF_THE_WORKER = ("has no placeholder", "has no batch axis", "not understood", "check_model")
"""What a worker of the tests says by itself, or of a model that is none."""


def shows(row: Row, outcome: Outcome) -> bool:
    """Whether a runtime did what the row says, or worse."""
    own = any(words in outcome.message for words in _OF_THE_WORKER)
    return outcome.verdict in SHOWS[str(row.answer)] and not own


def words_of(one: Specimen) -> dict[str, Any]:
    """What differs from a plain specimen of the operator."""
    plain = Specimen(one.operator)
    names = (field.name for field in fields(Specimen))
    changed = (name for name in names if getattr(one, name) != getattr(plain, name))
    found = {"operator": one.operator} | {name: getattr(one, name) for name in changed}
    return found | ({"value": str(one.value)} if "value" in found else {})  # JSON has no infinity


def candidates(target: Target, row: Row) -> list[Specimen]:
    """Valid models under the row, those that fall under no other one first, then the smallest."""
    found: dict[Specimen, tuple[int, float]] = {}
    for operator in row.operators:
        first = smallest(target, row, operator)
        for one in dict.fromkeys((first, *varied(first))) if first else ():
            if falls_under(target, row, one) and _is_valid(one):
                rows = {other for chain in chains_of(one) for other in failing(target, chain)}
                found[one] = (len(rows), len(words_of(one)))
    return sorted(found, key=lambda one: found[one])[:MOST]


def _is_valid(one: Specimen) -> bool:
    model, feeds = drafted(one)
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        return "shape" in str(error)  # that of the output, which is not known yet
    return bool(expected(model, feeds).outputs)


def _case(one: Specimen, path: Path) -> Case:
    model, feeds = drafted(one)
    right = expected(model, feeds).outputs
    onnx.save(with_output_shapes(model, right), path)
    return Case(path, feeds, right)


def looked_for(name: str, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row of the newest release with what shows it, and what the runtime did."""
    target = find_target(name)
    rows = {address: row for address, row in target.failures.items() if row in target.rows}
    firsts = {address: specimen(target, address) for address in rows}
    cases = []
    for number, made in enumerate(firsts.values()):
        if made is not None:
            path = folder / f"{number}.onnx"
            onnx.save(made.model, path)
            cases.append(Case(path, made.inputs, made.expected))
    ran = dict(zip([a for a, m in firsts.items() if m], run(RUNTIMES[name], cases), strict=True))
    for address, row in rows.items():
        if address in ran and shows(row, ran[address]):
            yield address, {"verdict": ran[address].verdict}
            continue
        others = candidates(target, row)
        files = [_case(one, folder / f"{address}-{n}.onnx") for n, one in enumerate(others)]
        hit = _first(row, others, run(RUNTIMES[name], files))
        other = ran[address].verdict if address in ran else ""
        yield address, hit or {"verdict": other if other in SHOWS["refuses"] else "not shown"}


def _first(row: Row, others: Sequence[Specimen], ran: Sequence[Outcome]) -> dict[str, Any] | None:
    for one, outcome in zip(others, ran, strict=True):
        if shows(row, outcome):
            return {"verdict": outcome.verdict, "words": words_of(one)}
    return None


def main() -> None:
    """Parse the command line, run, write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtimes", required=True, help="names, with commas")
    seen = json.loads(SEEN.read_text("utf-8")) if SEEN.exists() else {}
    for name in parser.parse_args().runtimes.split(","):
        seen.pop(name, None)
        with tempfile.TemporaryDirectory() as folder:
            found = dict(looked_for(name, Path(folder)))
        seen[name] = found
        for address, record in found.items():
            print(f"{name:16} {address:60} {record}", flush=True)
        text = json.dumps(seen, indent=1, sort_keys=True)
        SEEN.write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    main()
