"""Runs the script of a reproducer, as it is written, in the environment of its runtime."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import NamedTuple

from onnxpad.reproducing import Reproducer
from tests.runtimes.live import Runtime
from tests.runtimes.live.environments import place

SECONDS = 120
_OF_THE_SCRIPT = ("ModuleNotFoundError", "ImportError", "SyntaxError", "NameError")
"""What is no fault of the runtime: the script is wrong, or what it needs is not there."""
_OF_THE_COMPARISON = ("and should be ", " is not what it should be ")
_NO_TYPE = ("KeyError", "has no placeholder")
"""A type of elements that the script has no name for."""


class Ran(NamedTuple):
    """What a script showed, and the last lines that it or the runtime printed."""

    verdict: str
    said: str = ""


def ended(line: list[str], folder: Path) -> subprocess.CompletedProcess[str] | None:
    """What a script came to, as in an activated environment; None where it does not end in time.

    What it started ends with it: compilers run on for long.
    """
    own = [str(Path(line[0]).parent)] if Path(line[0]).is_absolute() else []
    path = os.pathsep.join([*own, os.environ.get("PATH", "")])
    with subprocess.Popen(
        line,
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            said, wrong = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None
    return subprocess.CompletedProcess(line, process.returncode, said, wrong)


def ran(found: Reproducer, runtime: Runtime, folder: Path) -> Ran:
    """What the written script shows: ok, wrong, refused, crash, timeout, or not understood.

    Raises RuntimeError where the script itself fails.
    """
    found.save(folder)
    where, (program, script) = place(runtime), found.program.split()
    if program == "node":
        (folder / "node_modules").symlink_to(where / "node_modules")
    done = ended([program if program == "node" else str(where), script], folder)
    if done is None:
        return Ran("timeout")
    said = " ".join((done.stderr.strip() or done.stdout.strip())[-400:].split())
    if any(words in done.stderr for words in _OF_THE_SCRIPT):
        raise RuntimeError(f"{found.target} {found.row}: {said}")
    if done.returncode == 0:
        return Ran("ok", said)
    if any(words in done.stderr for words in _NO_TYPE):
        return Ran("not understood", said)
    if any(words in done.stderr for words in _OF_THE_COMPARISON):
        return Ran("wrong", said)  # even if the runtime crashes while it is unloaded
    if done.returncode < 0:
        return Ran("crash", f"signal {-done.returncode}; {said}")
    return Ran("refused", said)
