"""What is written for users: the README and the topics of `explain`, with commands that run.

python -m tests.house.documents [NAME...]      writes what their commands print into them
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import onnxpad
from onnxpad import cli

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
TOPICS = Path(onnxpad.__file__).parent / "topics"
DOCUMENTS = {path.stem: path for path in (README, *sorted(TOPICS.glob("*.txt")))}

_FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?:^ {4}.*\n|^\n(?= {4}))+", re.MULTILINE)
_BEGINS = {
    "$ ": "console",
    "import ": "python",
    "{": "json",
    "[tool": "toml",
    "repos:": "yaml",
    "on:": "yaml",
}


class Block(NamedTuple):
    """A part of a document that is no prose: its language, its text, and where it stands."""

    language: str
    text: str
    begin: int
    end: int


def blocks(document: str) -> list[Block]:
    """The blocks of one of the documents, by its name."""
    text = DOCUMENTS[document].read_text(encoding="utf-8")
    if DOCUMENTS[document] == README:
        return [Block(one[1], one[2], one.start(2), one.end(2)) for one in _FENCED.finditer(text)]
    found = []
    for one in _INDENTED.finditer(text):
        inside = textwrap.dedent(one[0].strip("\n")) + "\n"
        languages = [name for begin, name in _BEGINS.items() if inside.startswith(begin)]
        found.append(Block(languages[0] if languages else "text", inside, one.start(), one.end()))
    return found


def of(document: str, language: str) -> list[str]:
    """The texts of the blocks in one language."""
    return [block.text for block in blocks(document) if block.language == language]


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console, and what is shown below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def run(command: str, folder: Path) -> str:
    """What a command prints, both streams."""
    binaries = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": binaries, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command}: exit {done.returncode}: {done.stderr}")
    return done.stdout + done.stderr


def shown(command: str, folder: Path) -> str:
    """The same as `run`, without a process where the command is one of onnxpad alone."""
    name, *line = shlex.split(command)
    if name != "onnxpad" or set(command) & set("|&;<>()$`*?[]~#\n"):
        return run(command, folder)
    out, err, before = io.StringIO(), io.StringIO(), Path.cwd()
    os.chdir(folder)
    try:
        with (
            mock.patch.dict(os.environ, {"COLUMNS": "200"}),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            status = cli.run(line)
    finally:
        os.chdir(before)
    if status:
        raise RuntimeError(f"{command}: exit {status}: {err.getvalue()}")
    return out.getvalue() + err.getvalue()


def with_models(folder: Path) -> Path:
    """The folder, with the models that the commands name."""
    shutil.copytree(ROOT / "models", folder / "models")
    return folder


def _refreshed(document: str, folder: Path) -> None:
    """Write what the commands of a document print into it."""
    text = DOCUMENTS[document].read_text(encoding="utf-8")
    margin = "" if DOCUMENTS[document] == README else " " * 4
    new = {}
    for block in blocks(document):
        if block.language == "console":
            told = (
                f"$ {command}\n{run(command, folder).strip()}".strip() + "\n"
                for command, _ in commands(block.text)
            )
            new[block] = textwrap.indent("".join(told), margin)
    for block in reversed(new):
        gap = "\n" if margin and text[block.begin : block.end].startswith("\n") else ""
        text = text[: block.begin] + gap + new[block] + text[block.end :]
    DOCUMENTS[document].write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or DOCUMENTS:
        with tempfile.TemporaryDirectory() as made:
            _refreshed(name, with_models(Path(made)))
