"""Cases one after the other, or on several processes, and what went wrong with them."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tools.hostile import data, lines, models
from tools.hostile.case import Case, Maker, Place
from tools.hostile.judge import Fault, faults, file_faults, limits_for, tree
from tools.hostile.limited import run

PART = 8


class Class(NamedTuple):
    """Makes the files of a case and its commands; `weight` is its share of all cases."""

    make: Maker
    weight: int


CLASSES = {
    "damaged": Class(models.damaged, 8),
    "mutants": Class(models.mutants, 14),
    "blow-ups": Class(models.blow_ups, 14),
    "running": Class(models.running, 4),
    "external": Class(models.external, 6),
    "archives": Class(data.archives, 5),
    "plans": Class(data.plans, 4),
    "words": Class(lines.words, 7),
    "places": Class(lines.places, 6),
    "signals": Class(lines.signals, 3),
    "concurrency": Class(lines.concurrency, 2),
}


@dataclass(frozen=True)
class Failure:
    """A command that broke a promise."""

    case: Case
    command: str
    fault: Fault

    def __str__(self) -> str:
        return (
            f"{self.case}: {self.fault.what}\n  {self.command}\n"
            f"  {self.fault.detail.strip()[-3000:]}\n"
            f"  repeat: python -m tools.hostile --seed {self.case.seed} --only {self.case}"
        )


@dataclass
class Summary:
    """How many commands of each class ended with which exit code, and what failed."""

    exits: Counter[tuple[str, int]] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def merge(self, other: Summary) -> None:
        self.exits.update(other.exits)
        self.failures += other.failures

    def __str__(self) -> str:
        rows = []
        for kind in CLASSES:
            codes = {code: n for (of, code), n in sorted(self.exits.items()) if of == kind}
            rows.append(f"{kind:<12} " + ", ".join(f"exit {code}: {codes[code]}" for code in codes))
        rows.append(f"{self.exits.total()} commands, {len(self.failures)} failures")
        return "\n".join(rows)


def drawn(count: int, seed: int, kinds: Sequence[str] = ()) -> list[Case]:
    """At least `count` cases, of each class no fewer than its weight says."""
    wanted = {kind: CLASSES[kind].weight for kind in kinds or CLASSES}
    total = sum(wanted.values())
    shares = {kind: math.ceil(count * weight / total) for kind, weight in wanted.items()}
    cases = [Case(kind, n, seed) for kind, share in shares.items() for n in range(share)]
    return sorted(cases, key=lambda case: (case.number / shares[case.kind], case.kind))


def attack(cases: Sequence[Case], keep: Path | None = None) -> Summary:
    """Run cases in this process; what they write goes into a folder that goes away, or `keep`."""
    total = Summary()
    with tempfile.TemporaryDirectory(prefix="onnxpad-hostile-") as scratch:
        for case in cases:
            place = Place((keep or Path(scratch)) / str(case).replace("/", "-"))
            total.merge(_one(case, place))
            if keep is None:
                _remove(place.root)
    return total


def _one(case: Case, place: Place) -> Summary:
    place.make()
    found = Summary()
    for command in CLASSES[case.kind].make(case.random(), place):
        limits = limits_for(place)
        before = tree(place)
        outcomes = run(place, command, limits)
        after = tree(place)
        seen = [fault for outcome in outcomes for fault in faults(command, outcome, limits)]
        found.exits.update((case.kind, outcome.code) for outcome in outcomes)
        code = max(outcome.code for outcome in outcomes)
        seen += file_faults(place, command, before, after, code)
        found.failures += [Failure(case, str(command), fault) for fault in dict.fromkeys(seen)]
    return found


def _remove(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        with contextlib.suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def spread(cases: Sequence[Case], processes: int) -> Iterator[Summary]:
    """The same on several processes, a part of the cases after the other."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parts = [cases[start : start + PART] for start in range(0, len(cases), PART)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        for done in as_completed([pool.submit(attack, one) for one in parts]):
            yield done.result()
