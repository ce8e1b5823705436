"""Recorded sessions of the command line: text files that are replayed, or recorded anew.

A session is a file `*.txt` of steps in one empty folder:

    @ FILE                  and indented lines: a text file, or a model in ONNX text (*.onnx)
    $ onnxpad ARGUMENTS     a command; `< FILE` feeds it, `| a.b, c` prints fields of its JSON alone
    $ cp A B                files are copied, `ln A B` links, `rm` removes one, `cat` prints it,
                            `ls` lists the folder, `html` prints what a page says
    > LINE                  standard output
    ! LINE                  standard error
    = CODE                  the exit code, where it is not 0

`MODELS` are there under short names. Seconds, versions, tiny numbers, hashes and the folder are
written as words.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import onnx.parser
import pytest

from tests.command import run
from tests.show.pages.documents import Document as Page

HERE = Path(__file__).parent
SESSIONS = sorted(HERE.glob("*.txt"))
MODELS = {
    "avg": "k_avgnet_tflite_autopad",
    "bytes": "t_avgpool_both_ts_op11_qoperator",
    "calls": "t_ssd_mobilenet_ts_op11_attr_functions",
    "cond": "tf_cond_conv_op13",
    "even": "kt_net_even",
    "same": "pd_same_static_op13",
    "strings": "t_same_string_ts",
    "unet": "k_unet_dyn_op13",
    "yolo": "k_yolo_tiny_op15",
    "wrong": "../tests/retargeting/pairs/p10_conv1d/wrong",
    "reference": "../tests/retargeting/pairs/p10_conv1d/reference",
}
_ANSWERS = (">", "!", "=")
_SECONDS = re.compile(r"\b\d+(\.\d+)? s\b")
_VERSIONS = re.compile(r"\b(onnxruntime|onnx|onnxpad) \d+(\.\d+)+")
_TINY = re.compile(r"\b\d\.\d+e-\d+\b|\b[0-9a-f]{16}(?=\.\.\.)")
"""Rounding and hashes, which follow from versions."""
_COPIES = Path(__file__).parents[2] / "models"


class Step(NamedTuple):
    """A line `$ COMMAND` or `@ FILE` (or a remark), and the indented lines of the file."""

    line: str
    content: tuple[str, ...] = ()


def steps(text: str) -> list[Step]:
    """What a session does, without its answers."""
    found: list[Step] = []
    for line in text.splitlines():
        if line.startswith("    "):
            last = found.pop()
            found.append(Step(last.line, (*last.content, line[4:])))
        elif not line.startswith(_ANSWERS):
            found.append(Step(line))
    return found


def replayed(session: Path, folder: Path, capture: pytest.CaptureFixture[str]) -> str:
    """The session with the answers of today; the working folder is `folder`, and empty."""
    text = session.read_text(encoding="utf-8")
    for short, name in MODELS.items():
        for suffix in (".onnx", ".npz"):
            copy = _COPIES / f"{name}{suffix}"
            if f" {short}{suffix}" in text and copy.exists():
                shutil.copy(copy, folder / f"{short}{suffix}")
    lines: list[str] = []
    for step in steps(text):
        lines += [step.line, *(f"    {line}".rstrip() for line in step.content)]
        if step.line.startswith("@ "):
            _write(folder / step.line[2:], "\n".join(step.content))
        elif step.line.startswith("$ onnxpad "):
            lines += _answers(step.line[len("$ onnxpad ") :], folder, capture)
        elif step.line.startswith("$ "):
            lines += [f"> {line}" for line in _shell(*shlex.split(step.line[2:]))]
    return "\n".join(lines) + "\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".onnx" and text.startswith("<"):
        onnx.save(onnx.parser.parse_model(text), path)
    else:
        path.write_text(f"{text}\n", encoding="utf-8")


def _answers(command: str, folder: Path, capture: pytest.CaptureFixture[str]) -> Iterator[str]:
    command, _, fields = command.partition(" | ")
    command, _, source = command.partition(" < ")
    given = Path(source).read_bytes() if source else b""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        code = run(shlex.split(command))
    captured = capture.readouterr()
    out = captured.out
    if fields:
        lines = out.splitlines() if out.startswith('{"') else [out]
        records = [json.loads(line) for line in lines if line]
        out = "".join(_selected(record, fields) for record in records)
    for sign, said in ((">", out), ("!", captured.err)):
        yield from (f"{sign} {line}".rstrip() for line in _normal(said, folder).splitlines())
    if code:
        yield f"= {code}"


def _selected(record: object, fields: str) -> str:
    """A line for each field of a report: its path, and its value as JSON."""
    lines = []
    for path in fields.split(", "):
        value = record
        for name in path.split("."):
            value = value[int(name)] if isinstance(value, list) else value[name]  # type: ignore[index]
        lines.append(f"{path}: {json.dumps(value, ensure_ascii=False)}\n")
    return "".join(lines)


def _normal(text: str, folder: Path) -> str:
    text = text.replace(str(folder), "FOLDER")
    return _TINY.sub("N", _SECONDS.sub("N s", _VERSIONS.sub(r"\1 VERSION", text)))


def _shell(verb: str, *names: str) -> list[str]:
    if verb == "ls":
        found = (path.relative_to(Path.cwd()) for path in Path.cwd().rglob("*") if path.is_file())
        return sorted(path.as_posix() for path in found)
    if verb == "cat":
        return Path(names[0]).read_text(encoding="utf-8").splitlines()
    if verb == "html":
        text = Path(names[0]).read_text(encoding="utf-8").partition("<body>")[2]
        text = re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)
        page = Page(re.sub("</t[dh]>", r" \g<0>", text)).said
        lines = map(str.strip, page.partition("Written by")[0].splitlines())
        return [_normal(line, Path.cwd()) for line in lines if line]
    if verb == "rm":
        Path(names[0]).unlink()
        return []
    if verb == "cp":
        Path(names[1]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(names[0], names[1])
        return []
    if verb == "ln":
        Path(names[1]).symlink_to(names[0])
        return []
    raise ValueError(verb)
