"""`onnxpad.each` with a ProcessPoolExecutor that forks, after this process has used onnxpad."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import onnxpad
from onnxpad import processes
from onnxpad.model.files import atomic
from tests.batch.folders import PLAIN, SAME, save

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are POSIX")
_MOST = 10


def status_of_a_fork(does: Callable[[], bool]) -> int:
    """0 where it is true in a fork of this process; one that hangs is killed."""
    pid = os.fork()
    if pid == 0:
        fine = False
        try:
            fine = does()
        finally:
            os._exit(0 if fine else 1)
    for _ in range(_MOST * 100):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_fork_lets_go_of_the_children_of_its_parent() -> None:
    with processes.limited() as work:
        child = work.child("onnxpad.sessions.served")

        def lets_go() -> bool:
            child.end()
            child.kill()
            process = child._process  # noqa: SLF001 - nothing public says what is open
            pipes = process.stdin, process.stdout
            return not child.alive and all(pipe is None or pipe.closed for pipe in pipes)

        assert status_of_a_fork(lets_go) == 0
        child.call({"do": "clear"})


def test_locks_that_were_held_at_the_fork_are_free_there(tmp_path: Path) -> None:
    def works() -> bool:
        with processes.limited() as work:
            work.child("onnxpad.sessions.served").call({"do": "clear"})
        atomic.abandon()
        return list(tmp_path.iterdir()) != []

    held = processes._LOCK  # noqa: SLF001 - another thread holds it
    with atomic.Together().create(tmp_path / "a", replace=False), held:
        assert status_of_a_fork(works) == 0


def test_models_are_done_by_forks_of_a_process_that_has_run_some(tmp_path: Path) -> None:
    folder = save(tmp_path / "in", a=SAME, b=PLAIN)
    onnxpad.each("rewrite", folder, validate=True)
    onnxpad.validate(folder / "a.onnx", onnxpad.rewrite(folder / "a.onnx").model, samples=1)
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        found = onnxpad.each("rewrite", folder, validate=True, executor=pool)
    assert found.summary == {"would be rewritten": 1, "unchanged": 1}
