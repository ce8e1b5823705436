"""Colours, widths and signs of life on terminals; what pipes get, and what variables change."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from onnxpad import inspect
from tests.cli.processes import COMMAND, DYNAMIC, MODELS, SAME, environment, onnxpad

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are POSIX")


STYLE = re.compile(r"\x1b\[[0-9;]*m")
_SOON = """
import onnxpad.__main__, onnxpad.show.progress as shown
shown._PATIENCE = shown._BEAT = 0.01
onnxpad.__main__.main()
"""
IMPATIENT = (sys.executable, "-c", _SOON)
"""The command line that shows what it does from the start: how fast a machine is tests nothing."""
TARGET = ("inspect", MODELS / "t_same_string_ts.onnx", "--target", "opencv")


def on_a_terminal(*command: str | Path, columns: int = 100, **more: str) -> tuple[str, int]:
    """What a terminal receives from a command, and its exit code."""
    import fcntl
    import pty
    import struct
    import termios

    child, screen = pty.fork()
    if child == 0:
        os.execvpe(str(command[0]), [str(part) for part in command], environment() | more)  # noqa: S606
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    received = b""
    while True:
        try:
            part = os.read(screen, 65536)
        except OSError:
            break
        if not part:
            break
        received += part
    os.close(screen)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return received.decode(), status


def test_colour_says_what_is_wrong_and_what_was_refused() -> None:
    text, status = on_a_terminal(*COMMAND, *TARGET, TERM="xterm")
    assert status == 1
    assert "\x1b[31mmiscomputes\x1b[0m" in text
    assert "\x1b[33mtrap\x1b[0m: same-with-dilation" in text
    model = on_a_terminal(*COMMAND, "validate", SAME, SAME, "--proof-only", TERM="xterm")[0]
    assert "\x1b[32mproved\x1b[0m: " in model
    assert (
        "\x1b[31merror\x1b[0m: " in on_a_terminal(*COMMAND, "inspect", "no.onnx", TERM="xterm")[0]
    )


def test_a_pipe_gets_colours_where_they_are_forced_and_nothing_else_changes() -> None:
    plain, forced = onnxpad(*TARGET), onnxpad(*TARGET, FORCE_COLOR="1")
    assert b"\x1b" not in plain.stdout
    assert b"\x1b[31mmiscomputes\x1b[0m" in forced.stdout
    assert STYLE.sub("", forced.stdout.decode()) == plain.stdout.decode()
    assert onnxpad(*TARGET, FORCE_COLOR="1", NO_COLOR="1").stdout == plain.stdout


@pytest.mark.parametrize("columns", [80, 200])
def test_no_line_of_a_table_is_wider_than_the_terminal_and_addresses_are_whole(
    columns: int,
) -> None:
    model = MODELS / "k_yolo_tiny_op15.onnx"
    text = on_a_terminal(*COMMAND, "inspect", model, columns=columns, TERM="dumb")[0]
    table = text.replace("\r", "").partition("\n\n")[2].partition("\n\n")[0].splitlines()
    names = {node.node for node in inspect(model).nodes}
    wide = [line for line in table if len(line) > columns]
    assert set(wide) <= {line for line in wide if line.split(" and ")[0] in names}
    assert sum(line.split()[0] in names for line in table if line.strip()) > 3


def test_a_terminal_gets_no_model() -> None:
    text, status = on_a_terminal(*COMMAND, "rewrite", SAME, "-o", "-", TERM="xterm")
    assert status == 2
    assert "standard output is a terminal" in text
    assert "\x08" not in text


def rewriting(folder: Path) -> tuple[str | Path, ...]:
    return (*IMPATIENT, "rewrite", DYNAMIC, SAME, "-o", f"{folder}/", "--validate")


def test_several_models_say_how_many_are_done(tmp_path: Path) -> None:
    text, status = on_a_terminal(*rewriting(tmp_path), TERM="xterm")
    assert status == 0
    assert "0 s  models 0/2" in text
    assert "2 models: 2 rewritten" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == [DYNAMIC.name, SAME.name]
