"""Runs the reproducer of every row in the runtime itself, and every way of the site's table.

python -m tests.reproducing --scripts opencv,ncnn    each row: what its written script shows
python -m tests.reproducing --record opencv,ncnn     the same; writes onnxpad/reproducing/seen.json
python -m tests.reproducing --table opencv,ncnn      cells of the site's table that are not so

What counts is the script as it is written for users, in the newest release. Where the smallest
stored model does not show it, the others are tried. A row that none shows is recorded as such, and
printed: it may be wrong. `--scripts` and `--table` end with 1 where something is not
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

from onnxpad.reproducing import SEEN, Reproducer, all_seen, showing, specimen
from onnxpad.reproducing.specimens import Specimen
from onnxpad.reproducing.ways import falls_under, smallest, specimens
from onnxpad.runtimes.conditions.rows import Row
from onnxpad.runtimes.targets import Target, find_target
from tests.reproducing.scripts import Ran, controls, ran
from tests.reproducing.table import differing
from tests.runtimes.live import RUNTIMES

SHOWS = {"miscomputes": {"wrong"}, "refuses": {"refused", "crash", "timeout", "wrong"}}


def words_of(one: Specimen) -> dict[str, Any]:
    """What differs from a plain specimen of the operator."""
    plain = Specimen(one.operator)
    names = (field.name for field in fields(Specimen))
    changed = (name for name in names if getattr(one, name) != getattr(plain, name))
    found = {"operator": one.operator} | {name: getattr(one, name) for name in changed}
    return found | ({"value": str(one.value)} if "value" in found else {})  # JSON has no infinity


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


def recorded(name: str, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row of the newest release with what its written script did.

    Where the smallest stored model does not show the row, the others under it are tried.
    """
    target = find_target(name)
    for address, row in rows_of(target).items():
        under = [one for one in specimens() if falls_under(target, row, one)]
        first = smallest(target, row)
        verdicts: dict[Specimen, str] = {}
        for one in dict.fromkeys([first, *under]) if first else ():
            made = showing(target, address, one)
            verdicts[one] = ran(made, RUNTIMES[name], folder / f"{address}-{len(verdicts)}").verdict
            if verdicts[one] in SHOWS[str(row.answer)]:
                words = {} if one == first else {"words": words_of(one)}
                yield address, {"verdict": verdicts[one], **words}
                break
        else:
            if first and verdicts[first] == "ok":
                yield address, {"verdict": "not shown"}


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


def record(name: str) -> bool:
    """Write what the script of each row did."""
    seen = json.loads(SEEN.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        found = dict(recorded(name, Path(folder)))
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


_DOES: Mapping[str, Callable[[str], bool]] = {"scripts": scripts, "record": record, "table": table}


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
