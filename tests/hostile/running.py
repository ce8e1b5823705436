"""Cases one after the other, or on several processes, and what went wrong with them."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from tests.hostile.case import Case, Command, Place
from tests.hostile.classes import CLASSES
from tests.hostile.judge import Fault, faults, file_faults, limits_for, tree
from tests.hostile.limited import full_folder, run

_RAISED = re.compile(r"\b[A-Z]\w+(?:Error|Exception|Fail|Interrupt)\b[^\n]{0,50}")


@dataclass(frozen=True)
class Failure:
    """A command that broke a promise."""

    case: Case
    command: str
    fault: Fault

    @property
    def sort(self) -> tuple[str, str, str]:
        """Equal for failures that have probably one cause."""
        verb = next((word for word in self.command.split()[1:] if word.isalpha()), "")
        found = _RAISED.findall(self.fault.detail)
        return verb, self.fault.what, re.sub(r"\d+|'[^']*'", "*", found[-1]) if found else ""

    def __str__(self) -> str:
        return (
            f"{self.case}: {self.fault.what}\n  {self.command}\n"
            f"  {self.fault.detail.strip()[-4000:]}\n"
            f"  repeat: python -m tests.hostile --seed {self.case.seed} --only {self.case}"
        )


@dataclass
class Summary:
    """How many cases and commands of each class ran, how they ended, and what failed."""

    cases: Counter[str] = field(default_factory=Counter)
    commands: Counter[str] = field(default_factory=Counter)
    exits: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    most: dict[str, tuple[float, int]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def merge(self, other: Summary) -> None:
        self.cases.update(other.cases)
        self.commands.update(other.commands)
        self.exits.update(other.exits)
        for kind, seconds in other.seconds.items():
            self.seconds[kind] = self.seconds.get(kind, 0.0) + seconds
        for kind, found in other.most.items():
            old = self.most.get(kind, (0.0, 0))
            self.most[kind] = (max(old[0], found[0]), max(old[1], found[1]))
        self.failures += other.failures


def drawn(count: int, seed: int, kinds: Sequence[str] = ()) -> list[Case]:
    """At least `count` cases, of each class no fewer than its weight says."""
    wanted = {kind: CLASSES[kind].weight for kind in kinds or CLASSES}
    total = sum(wanted.values())
    shares = {kind: math.ceil(count * weight / total) for kind, weight in wanted.items()}
    cases = [Case(kind, n, seed) for kind, share in shares.items() for n in range(share)]
    return sorted(cases, key=lambda case: (case.number / shares[case.kind], case.kind))


def attack(
    cases: Sequence[Case], keep: Path | None = None, verbose: bool = False
) -> Iterator[Summary]:
    """Run cases in this process; what they write goes into a folder that goes away, or `keep`."""
    with tempfile.TemporaryDirectory(prefix="onnxpad-hostile-") as scratch:
        top = keep or Path(scratch)
        with full_folder(Path(scratch)) as full:
            for case in cases:
                place = Place(top / str(case).replace("/", "-"), full)
                yield _one(case, place, verbose)
                if keep is None:
                    _remove(place.root)
                if full is not None:
                    for path in full.iterdir():
                        path.unlink() if not path.is_dir() else shutil.rmtree(path)


def _one(case: Case, place: Place, verbose: bool) -> Summary:
    place.make()
    found = Summary(cases=Counter({case.kind: 1}))
    try:
        commands = CLASSES[case.kind].make(case.random(), place)
    except Exception as error:  # noqa: BLE001 - one case less, and the attack goes on
        found.failures.append(Failure(case, "", Fault("cannot be made", f"{error!r}")))
        return found
    for command in commands:
        limits = limits_for(place)
        before = tree(place)
        outcomes = run(place, command, limits)
        after = tree(place)
        said: list[Fault] = []
        for outcome in outcomes:
            found.commands[case.kind] += 1
            found.exits[case.kind, outcome.code] += 1
            found.seconds[case.kind] = found.seconds.get(case.kind, 0.0) + outcome.seconds
            old = found.most.get(case.kind, (0.0, 0))
            found.most[case.kind] = (
                max(old[0], outcome.seconds),
                max(old[1], outcome.memory),
            )
            said += faults(command, outcome, limits)
            if verbose:
                _show(command, outcome.code, outcome.seconds, outcome.memory, outcome.stderr)
        code = max(outcome.code for outcome in outcomes)
        said += file_faults(place, command, before, after, code)
        found.failures += [Failure(case, str(command), fault) for fault in dict.fromkeys(said)]
    return found


def _show(command: Command, code: int, seconds: float, memory: int, stderr: bytes) -> None:
    text = (stderr[:300] + b" ... " * (len(stderr) > 3300) + stderr[300:][-3000:]).decode(
        "utf-8", "backslashreplace"
    )
    cost = f"{seconds:.2f} s, {memory >> 20} MiB"
    sys.stdout.write(f"$ {command}\n  exit {code}, {cost}\n  {text}\n")


def _remove(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        with contextlib.suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _part(cases: Sequence[Case]) -> Summary:
    total = Summary()
    for found in attack(cases):
        total.merge(found)
    return total


def spread(cases: Sequence[Case], processes: int, part: int = 8) -> Iterator[Summary]:
    """The same on several processes."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parts = [cases[start : start + part] for start in range(0, len(cases), part)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        for done in as_completed([pool.submit(_part, one) for one in parts]):
            yield done.result()
