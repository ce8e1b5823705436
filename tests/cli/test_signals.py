"""Signals and pipes that close: onnxpad as a well-behaved process."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.processes import COMMAND, MODELS, environment


@pytest.fixture
def _interrupts() -> Iterator[None]:
    """A shell's background jobs ignore SIGINT, and so would what the tests start there."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.usefixtures("_interrupts")
def test_an_interrupt_ends_with_130_and_without_a_traceback() -> None:
    with subprocess.Popen(
        [*COMMAND, "inspect", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment() | {"PYTHONVERBOSE": ""},
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"\x08\x0a")
        process.stdin.flush()
        _wait_until_it_reads(process.pid)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in errors


def _wait_until_it_reads(pid: int) -> None:
    """Wait until the process sleeps in a read of its standard input, so that it is in the verb."""
    maps = Path(f"/proc/{pid}/maps")
    for _ in range(600):
        if not maps.exists() or "onnx_cpp2py_export" in maps.read_text(encoding="utf-8"):
            time.sleep(1)
            return
        time.sleep(0.05)


@pytest.mark.parametrize(
    "arguments", [("inspect", *sorted(MODELS.glob("*.onnx"))), ("explain",), ("--help",)]
)
def test_a_reader_that_goes_away_is_no_news(arguments: tuple[object, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdout=writing, stderr=subprocess.PIPE, env=environment()
    )
    os.close(writing)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 141
    assert errors == b""
