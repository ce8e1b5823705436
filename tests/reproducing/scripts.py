"""Runs the script of a reproducer, as it is written, in the environment of its runtime."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from onnxpad.reproducing import Reproducer
from tests.runtimes.live import Runtime
from tests.runtimes.live.environments import command

SECONDS = 120
_OF_THE_SCRIPT = ("ModuleNotFoundError", "ImportError", "SyntaxError")
"""What is no fault of the runtime: the script is wrong, or what it needs is not there."""


def verdict_of(found: Reproducer, runtime: Runtime, folder: Path) -> str:
    """What the written script shows: ok, wrong, refused, crash, timeout, or not understood.

    Raises RuntimeError where the script itself fails.
    """
    found.save(folder)
    program, *rest = command(runtime)
    script = "run.py"
    if runtime.worker_file.suffix == ".mjs":
        script = "run.mjs"
        (folder / "node_modules").symlink_to(Path(rest[-1]) / "node_modules")
    try:
        done = subprocess.run(
            [program, script],
            cwd=folder,
            env=os.environ | runtime.variables,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "timeout"
    if any(words in done.stderr for words in _OF_THE_SCRIPT):
        raise RuntimeError(f"{found.target} {found.row}: {done.stderr[-300:]}")
    if done.returncode == 0:
        return "ok"
    if "KeyError" in done.stderr:
        return "not understood"  # a type of elements that the script has no name for
    if done.returncode < 0:
        return "crash"
    return "wrong" if "and should be" in done.stderr else "refused"
