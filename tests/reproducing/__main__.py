"""Runs the reproducer of every row in the runtime itself: python -m tests.reproducing opencv ncnn

Writes onnxpad/reproducing/seen.json. What counts is the script as it is written for users, in the
newest release. Where the smallest stored model does not show a row, the others are tried. A row
that none shows is recorded as such, and printed: it may be wrong.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from onnxpad.reproducing import SEEN, showing
from onnxpad.reproducing.specimens import Specimen
from onnxpad.reproducing.ways import falls_under, smallest, specimens
from onnxpad.runtimes.targets import find_target
from tests.reproducing.scripts import ran
from tests.runtimes.live import RUNTIMES

SHOWS = {"miscomputes": {"wrong"}, "refuses": {"refused", "crash", "timeout", "wrong"}}


def words_of(one: Specimen) -> dict[str, Any]:
    """What differs from a plain specimen of the operator."""
    plain = Specimen(one.operator)
    names = (field.name for field in fields(Specimen))
    changed = (name for name in names if getattr(one, name) != getattr(plain, name))
    found = {"operator": one.operator} | {name: getattr(one, name) for name in changed}
    return found | ({"value": str(one.value)} if "value" in found else {})  # JSON has no infinity


def recorded(name: str, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row of the newest release with what its written script did."""
    target = find_target(name)
    for address, row in target.failures.items():
        if row not in target.rows:
            continue
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


def main() -> None:
    """Record what the scripts of these runtimes did; without names, of all that are recorded."""
    seen = json.loads(SEEN.read_text("utf-8"))
    for name in sys.argv[1:] or list(seen):
        with tempfile.TemporaryDirectory() as folder:
            rows = dict(recorded(name, Path(folder)))
        for address, record in rows.items():
            print(f"{name:16} {address:60} {record}", flush=True)
        seen[name] = {"version": find_target(name).version, "rows": rows}
        SEEN.write_text(f"{json.dumps(seen, indent=1, sort_keys=True)}\n", "utf-8")


if __name__ == "__main__":
    main()
