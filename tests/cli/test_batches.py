"""Many models on one command line: lines, sums, exit codes, workers, and their end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.batch.folders import PLAIN, SAME, STUCK, leftovers, save
from tests.cli.processes import COMMAND, environment


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return save(tmp_path / "in", a=SAME, b=PLAIN, c="", deep__d=SAME)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_ctrl_c_ends_all_workers_and_leaves_nothing(folder: Path) -> None:
    """Both workers are in the middle of writing a file."""
    (folder.parent / "sitecustomize.py").write_text(STUCK)
    paths = os.pathsep.join([str(folder.parent), environment()["PYTHONPATH"]])
    with subprocess.Popen(
        [*COMMAND, "rewrite", "in", "-o", "out", "-j", "2"],
        env=environment() | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    ) as process:
        while len(leftovers(folder.parent / "out")) < 2:
            assert process.poll() is None
            time.sleep(0.02)
        children = Path(f"/proc/{process.pid}/task").glob("*/children")
        workers = [int(pid) for path in children for pid in path.read_text().split()]
        assert len(workers) == 2
        os.killpg(process.pid, signal.SIGINT)
        start = time.monotonic()
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - start < 30
    assert errors == b""
    assert [pid for pid in workers if alive(pid)] == []
    assert list((folder.parent / "out").rglob("*.*")) == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_workers_end_tidily_when_their_parent_is_killed(folder: Path) -> None:
    (folder.parent / "sitecustomize.py").write_text(STUCK)
    paths = os.pathsep.join([str(folder.parent), environment()["PYTHONPATH"]])
    with subprocess.Popen(
        [*COMMAND, "rewrite", "in", "-o", "out", "-j", "2"],
        env=environment() | {"PYTHONPATH": paths},
        stderr=subprocess.DEVNULL,
    ) as process:
        while len(leftovers(folder.parent / "out")) < 2:
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    deadline = time.monotonic() + 60
    while leftovers(folder.parent / "out") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert leftovers(folder.parent / "out") == []
