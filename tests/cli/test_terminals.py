"""Colours and progress on terminals, and none of them elsewhere."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.cli.processes import COMMAND, DYNAMIC, SAME, environment

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are POSIX")


def on_a_terminal(*command: str | Path, **more: str) -> tuple[str, int]:
    """What a terminal of 100 columns receives from a command, and its exit code."""
    import fcntl
    import pty
    import struct
    import termios

    child, screen = pty.fork()
    if child == 0:
        os.execvpe(str(command[0]), [str(part) for part in command], environment() | more)  # noqa: S606
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
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


def test_tables_have_colours_and_fold() -> None:
    text, status = on_a_terminal(*COMMAND, "inspect", SAME, TERM="xterm")
    assert status == 0
    assert "\x1b[1m" in text


@pytest.mark.parametrize("setting", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_tables_are_plain_where_asked(setting: dict[str, str]) -> None:
    text, status = on_a_terminal(*COMMAND, "inspect", SAME, **({"TERM": "xterm"} | setting))
    assert status == 0
    assert "\x1b" not in text


def rewriting(folder: Path) -> tuple[str | Path, ...]:
    return (*COMMAND, "rewrite", SAME, DYNAMIC, "-o", f"{folder}/")


def test_several_models_have_a_progress_bar(tmp_path: Path) -> None:
    text, status = on_a_terminal(*rewriting(tmp_path), TERM="xterm")
    assert status == 0
    assert "models" in text
    assert "100%" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == [DYNAMIC.name, SAME.name]


def test_the_bar_is_not_in_the_report(tmp_path: Path) -> None:
    report = tmp_path / "report.txt"
    command = " ".join(map(str, rewriting(tmp_path / "out")))
    text, status = on_a_terminal("sh", "-c", f"{command} > {report}", TERM="xterm")
    assert status == 0
    assert "100%" in text
    lines = report.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith(str(SAME))
    assert lines[1].startswith(str(DYNAMIC))
    assert lines[2] == "2 models: 2 rewritten"


def test_one_model_has_none(tmp_path: Path) -> None:
    command = (*COMMAND, "rewrite", SAME, "-o", tmp_path / "o.onnx")
    text, _ = on_a_terminal(*command, TERM="xterm")
    assert "\x1b" not in text
    assert sys.executable in command
