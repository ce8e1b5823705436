"""Signals and streams that close or are full: onnxpad as a well-behaved process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.processes import COMMAND, MODELS, SAME, environment, onnxpad

LONG = 600
"""Seconds that no machine needs, however busy it is."""


@pytest.fixture
def _interrupts() -> Iterator[None]:
    """A shell's background jobs ignore SIGINT, nohup SIGHUP, and so would what the tests start."""
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler)}
    if os.name != "nt":
        before[signal.SIGHUP] = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


posix = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")


def _wait_until_it_has_read(pipe: int) -> None:
    """Wait until a pipe is empty: the process is in the verb then, and waits for more input."""
    import fcntl
    import termios

    for _ in range(LONG * 20):
        if not any(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))):
            return
        time.sleep(0.05)
    pytest.fail("the process never read its standard input")


@posix
@pytest.mark.usefixtures("_interrupts")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_with_its_code_and_without_a_traceback(number: int) -> None:
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
        process.send_signal(number)
        _, errors = process.communicate(timeout=LONG)
    os.close(reading)
    os.close(writing)
    assert process.returncode == 128 + number
    assert errors == b""


def test_signals_are_heard_before_anything_is_loaded() -> None:
    """Until then Python answers a Ctrl+C with its own traceback."""
    code = (
        "import os, sys; before = {*sys.modules}; import onnxpad.__main__; "
        "print(*sorted({*sys.modules} - before))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env=environment(), capture_output=True, check=True
    )
    assert done.stdout.split() == [b"onnxpad", b"onnxpad.__main__"]


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


def shell(
    command: str, folder: Path, *, stdin: bytes = b"", **more: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash in which `onnxpad` is this one."""
    line = f"onnxpad() {{ '{sys.executable}' -m onnxpad \"$@\"; }}; {command}"
    return subprocess.run(
        ["/bin/bash", "-c", line],
        input=stdin,
        capture_output=True,
        check=False,
        env=environment() | more,
        cwd=folder,
    )


STREAMS = [
    (">/dev/full", "cannot write"),
    (">/dev/full 2>/dev/full", ""),
    (">&-", "standard output is closed"),
    (">&- 2>&-", ""),
    ("<&- >&- 2>&-", ""),
    ("1</dev/null", "the system refuses: Bad file descriptor"),
]
COMMANDS = ("--help", "--version", "explain", "inspect {model}", "rewrite {model} -o -")


@pytest.mark.part(4)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(("streams", "said"), STREAMS)
@pytest.mark.parametrize("command", COMMANDS)
def test_streams_that_take_nothing_end_with_2_and_one_message(
    command: str, streams: str, said: str, tmp_path: Path
) -> None:
    done = shell(f"onnxpad {command.format(model=SAME)} {streams}", tmp_path)
    assert done.returncode == 2
    if "write to standard" not in done.stderr.decode():
        assert said in done.stderr.decode()
    assert len(done.stderr.splitlines()) == bool(said)


def test_no_output_gets_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    """What is said on a closed stderr would stand in the model otherwise."""
    done = shell(f"onnxpad rewrite '{SAME}' -o out.onnx <&- 2>&-", tmp_path)
    assert done.returncode == 0
    assert onnxpad("rewrite", SAME, "-o", tmp_path / "other.onnx").returncode == 0
    assert (tmp_path / "out.onnx").read_bytes() == (tmp_path / "other.onnx").read_bytes()


@posix
@pytest.mark.parametrize(
    "command", ["onnxpad rewrite '{model}' -o -", "_ONNXPAD_COMPLETE=bash_source onnxpad"]
)
def test_a_model_into_a_closed_pipe_is_no_news(command: str, tmp_path: Path) -> None:
    line = f"({command.format(model=SAME)}; echo $? >code) | true"
    done = shell(line, tmp_path)
    assert (tmp_path / "code").read_text() == "141\n"
    assert done.stderr == b""
