"""Runs the reproducer of every row in the runtime itself, and every way of the site's table.

python -m tests.reproducing --scripts opencv,ncnn    each row: what its written script shows
python -m tests.reproducing --search opencv,ncnn     looks for a model for each row that is not
                                                     shown; writes onnxpad/reproducing/seen.json
python -m tests.reproducing --table opencv,ncnn      cells of the site's table that are not so

What counts is the script as it is written for users, in the newest release. Where the smallest
model does not show it, those that differ in one word are tried. A row that none shows is recorded
as such, and printed: it may be wrong. `--scripts` and `--table` end with 1 where something is not
as it is written; without names they run what has been run before.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import onnx

from onnxpad.model.assembled import with_output_shapes
from onnxpad.reproducing import SEEN, Reproducer, all_seen, showing, specimen
from onnxpad.reproducing.search import chains_of, falls_under, smallest, varied
from onnxpad.reproducing.specimens import Specimen, drafted
from onnxpad.runtimes.conditions.rows import Row
from onnxpad.runtimes.judge import failing
from onnxpad.runtimes.targets import Target, find_target
from onnxpad.validation.expected import expected
from tests.reproducing.scripts import Ran, controls, ran
from tests.reproducing.table import differing
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.judging import Outcome
from tests.runtimes.live.running import Case, run

MOST = 80
_ENDS = {"refused", "crash", "timeout"}
_RAN = {one: one for one in _ENDS} | {"ok": "not shown"}
SHOWS = {"miscomputes": {"wrong"}, "refuses": {*_ENDS, "wrong"}}
_OF_THE_ADAPTER = ("has no placeholder", "not understood", "check_model")
"""What an adapter says by itself, or of a model that is none."""


def shows(row: Row, outcome: Outcome) -> bool:
    """Whether a runtime did what the row says, or worse."""
    return outcome.verdict in SHOWS[str(row.answer)] and not _stopped_early(outcome)


def _stopped_early(outcome: Outcome) -> bool:
    """Whether the adapter did not give the model to the runtime."""
    return any(words in outcome.message for words in _OF_THE_ADAPTER)


def words_of(one: Specimen) -> dict[str, Any]:
    """What differs from a plain specimen of the operator."""
    plain = Specimen(one.operator)
    names = (field.name for field in fields(Specimen))
    changed = (name for name in names if getattr(one, name) != getattr(plain, name))
    found = {"operator": one.operator} | {name: getattr(one, name) for name in changed}
    return found | ({"value": str(one.value)} if "value" in found else {})  # JSON has no infinity


def candidates(target: Target, row: Row) -> list[Specimen]:
    """Valid models under the row, the smallest first: those under no other one, if there are any.

    What fails by another row as well does not show this one. Models to which the ONNX text gives
    no meaning are looked at where the row has no others.
    """
    found: dict[Specimen, tuple[bool, int, int]] = {}
    for operator in row.operators:
        first = smallest(target, row, operator)
        for one in dict.fromkeys((first, *varied(first))) if first else ():
            if falls_under(target, row, one) and _is_valid(one):
                rows = {other for chain in chains_of(one) for other in failing(target, chain)}
                means_nothing = not expected(*drafted(one)).outputs
                found[one] = (means_nothing, len(rows), len(words_of(one)))
    for wanted in ((False, 1), (False,), (True, 1)):
        kept = [one for one, score in found.items() if score[: len(wanted)] == wanted]
        if kept:
            return sorted(kept, key=lambda one: found[one])[:MOST]
    return sorted(found, key=lambda one: found[one])[:MOST]


def _is_valid(one: Specimen) -> bool:
    model, feeds = drafted(one)
    right = expected(model, feeds).outputs
    try:
        onnx.checker.check_model(with_output_shapes(model, right), full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def _case(one: Specimen, path: Path) -> Case:
    model, feeds = drafted(one)
    right = expected(model, feeds).outputs
    onnx.save(with_output_shapes(model, right), path)
    return Case(path, feeds, right)


def rows_of(target: Target) -> dict[str, Row]:
    """By address the rows by which its newest release fails."""
    return {address: row for address, row in target.failures.items() if row in target.rows}


def shown(name: str, address: str, made: Reproducer | None, folder: Path) -> tuple[bool, Ran]:
    """Whether the written script of a row shows it, and what it did."""
    if made is None:
        return False, Ran("no model")
    found = ran(made, RUNTIMES[name], folder / address)
    answer = find_target(name).failures[address].answer
    return found.verdict in SHOWS[str(answer)], found


def looked_for(name: str, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row of the newest release with what shows it, and what its written script shows."""
    target = find_target(name)
    for address, row in rows_of(target).items():
        one = smallest(target, row)
        made = showing(target, address, one) if one else specimen(target, address)
        is_shown, first = shown(name, address, made, folder)
        if is_shown:
            yield address, {"verdict": first.verdict}
            continue
        hit = _hit(target, address, folder)
        if hit or first.verdict in _RAN:
            yield address, hit or {"verdict": _RAN[first.verdict]}


def _hit(target: Target, address: str, folder: Path) -> dict[str, Any] | None:
    """The first model that shows a row, in the runtime itself and by its own script."""
    row, runtime = target.failures[address], RUNTIMES[target.name]
    others = candidates(target, row)
    files = [_case(one, folder / f"{address}-{n}.onnx") for n, one in enumerate(others)]
    for number, (one, outcome) in enumerate(zip(others, run(runtime, files), strict=True)):
        if shows(row, outcome) or _stopped_early(outcome) or outcome.verdict == "unjudged":
            made = showing(target, address, one)
            verdict = ran(made, runtime, folder / f"{address}-{number}").verdict
            if verdict in SHOWS[str(row.answer)]:
                return {"verdict": verdict, "words": words_of(one)}
    return None


def scripts(name: str) -> bool:
    """Print for each row of the newest release what its script does; False where one is not so.

    Models that the runtime takes go first: a script that fails on them shows nothing.
    """
    target, good, found = find_target(name), True, 0
    with tempfile.TemporaryDirectory() as folder:
        for made in controls(target):
            did = ran(made, RUNTIMES[name], Path(folder) / made.row)
            good &= did.verdict == "ok"
            _print(name, f"(taken) {made.row}", did, "fine" if did.verdict == "ok" else "NOT TAKEN")
        for address in rows_of(target):
            known = all_seen(name).get(address, {}).get("verdict", "never run")
            is_shown, did = shown(name, address, specimen(target, address), Path(folder))
            good &= is_shown or known in (did.verdict, "not shown")
            found += is_shown
            _print(name, address, did, "shown" if is_shown else f"NOT SHOWN ({known})")
    print(f"{target.version}: {found} of {len(rows_of(target))} rows are shown", flush=True)
    return good


def _print(name: str, address: str, did: Ran, state: str) -> None:
    print(f"{name:16} {address:60} {did.verdict:9} {state:10} {did.said[-160:]}", flush=True)


def search(name: str) -> bool:
    """Look for what shows each row, and write it."""
    seen = json.loads(SEEN.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        found = dict(looked_for(name, Path(folder)))
    for address, record in found.items():
        print(f"{name:16} {address:60} {record}", flush=True)
    seen[name] = {"version": find_target(name).version, "rows": found}
    SEEN.write_text(f"{json.dumps(seen, indent=1, sort_keys=True)}\n", "utf-8")
    return True


def table(name: str) -> bool:
    """Print the cells of the site's table that the runtime contradicts; False where there are."""
    found = list(differing(name))
    for one in found:
        print(f"{name:16} {one}", flush=True)
    print(f"{find_target(name).version}: {len(found)} cells differ", flush=True)
    return not found


_DOES: Mapping[str, Callable[[str], bool]] = {"scripts": scripts, "search": search, "table": table}


def main() -> None:
    """Parse the command line, and do what it says with each runtime."""
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=style)
    group = parser.add_mutually_exclusive_group(required=True)
    for word, what in _DOES.items():
        group.add_argument(f"--{word}", nargs="?", const="", metavar="NAMES", help=what.__doc__)
    options = vars(parser.parse_args())
    word = next(one for one in _DOES if options[one] is not None)
    names = options[word].split(",") if options[word] else list(json.loads(SEEN.read_text("utf-8")))
    results = [_DOES[word](name) for name in names]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
