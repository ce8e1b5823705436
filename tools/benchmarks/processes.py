"""CPU time and peak memory of child processes."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPILED = str(Path(tempfile.gettempdir()) / "onnxpad-benchmarks-compiled")
"""Where byte code is kept, as an installed package has it; warm-ups write it."""
_WATCH = 0.002


@dataclass(frozen=True)
class Cost:
    """CPU seconds (user and system) and peak memory in MB."""

    cpu: float
    peak_mb: float


def whole_process(arguments: Sequence[str], *, may_fail: bool = False) -> Cost:
    """Run this Python with `arguments`; a child that prints its own cost is believed."""
    child = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT.anchor,  # where no project has settings of its own
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if may_fail else None,
    )
    output = child.stdout.read() if child.stdout else b""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode and not may_fail:
        raise RuntimeError(f"{arguments[:2]} failed with exit code {child.returncode}")
    if b'"cpu"' in output and b"tools.benchmarks.timed" in " ".join(arguments).encode():
        return Cost(**json.loads(output.splitlines()[-1]))
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def whole_tree(arguments: Sequence[str]) -> Cost:
    """The same with all its children: their time, and the most that all take at one moment."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT.anchor, env=_environment(), stdin=subprocess.DEVNULL
    )
    peak = 0
    while child.poll() is None:
        peak = max(peak, sum(map(_resident, _family(child.pid))))
        time.sleep(_WATCH)
    if child.returncode:
        raise RuntimeError(f"{arguments[:2]} failed with exit code {child.returncode}")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = usage.ru_utime + usage.ru_stime - before.ru_utime - before.ru_stime
    return Cost(spent, peak / 2**20)


def _family(pid: int) -> list[int]:
    found = [pid]
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text(encoding="ascii").split():
                found += _family(int(child))
    return found


def _resident(pid: int) -> int:
    """Bytes of resident memory, 0 where the process has gone."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * resource.getpagesize()


def _environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    found = {**os.environ, "PYTHONPATH": path, "PYTHONPYCACHEPREFIX": COMPILED}
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    return found


def interleaved(
    ours: Callable[[], Cost], theirs: Callable[[], Cost], runs: int
) -> tuple[Cost, Cost]:
    """Medians of both sides, run in turn after one warm-up each."""
    ours(), theirs()
    pairs = [(ours(), theirs()) for _ in range(runs)]
    return median([one for one, _ in pairs]), median([other for _, other in pairs])


def median(costs: Sequence[Cost]) -> Cost:
    """The run in the middle by CPU time."""
    return sorted(costs, key=lambda cost: cost.cpu)[len(costs) // 2]
