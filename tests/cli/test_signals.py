"""Signals and pipes that close: onnxpad as a well-behaved process."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.cli.processes import COMMAND, MODELS, environment

LONG = 600
"""Seconds that no machine needs, however busy it is."""


@pytest.fixture
def _interrupts() -> Iterator[None]:
    """A shell's background jobs ignore SIGINT, and so would what the tests start there."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.usefixtures("_interrupts")
def test_an_interrupt_ends_with_130_and_without_a_traceback() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"\x08\x0a")
    with subprocess.Popen(
        [*COMMAND, "inspect", "-"],
        stdin=reading,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment() | {"PYTHONVERBOSE": ""},
    ) as process:
        _wait_until_it_has_read(reading)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=LONG)
    os.close(reading)
    os.close(writing)
    assert process.returncode == 130
    assert b"Traceback" not in errors


def _wait_until_it_has_read(pipe: int) -> None:
    """Wait until a pipe is empty: the process is in the verb then, and waits for more input."""
    import fcntl
    import termios

    for _ in range(LONG * 20):
        if not any(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))):
            return
        time.sleep(0.05)
    pytest.fail("the process never read its standard input")


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
    _, errors = process.communicate(timeout=LONG)
    assert process.returncode == 141
    assert errors == b""
