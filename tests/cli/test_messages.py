"""What messages repeat of what they were given, and whom they blame."""

from __future__ import annotations

import tokenize
from pathlib import Path

import onnx
import pytest
from onnx import helper

from onnxpad import ModelError
from onnxpad.errors import TEXT, blaming_the_file
from tests.cli.processes import SAME, onnxpad
from tests.command import run
from tests.models.text import text_model

Captured = pytest.CaptureFixture[str]
NAME = "n" * 100_000
DIGITS = "9" * 5_000


def said_by(capsys: Captured, *arguments: str) -> str:
    """The error of a command line that cannot be meant: one message, and at most one hint."""
    assert run(arguments) == 2
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert captured.out == ""
    assert lines[0].startswith("error: ")
    assert len(lines) == 1 or (len(lines) == 2 and lines[1].startswith("  try     "))
    assert all(len(line) < TEXT + 100 for line in lines)
    assert "internal error" not in captured.err
    return captured.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", NAME),
        ("explain", " ".join(NAME)),
        ("resolve", NAME, "conv", "--input", "1,3,8,8", "--kernel", "3"),
        ("resolve", "tensorflow", NAME, "--input", "1,3,8,8", "--kernel", "3"),
        ("resolve", "tensorflow", "conv", "--input", f"1,3,{DIGITS},8", "--kernel", "3"),
        ("resolve", "tensorflow", "conv", "--input", "1,3,8,8", "--kernel", DIGITS[:4000]),
        ("resolve", "tensorflow", "conv", "--input", "1,3,8,8", "--kernel", "3", "--set", NAME),
        ("resolve", "tensorflow", "conv", "--input", "1,3,8,8", "--kernel=3", "--set", f"a={NAME}"),
        ("inspect", NAME),
        ("inspect", "a" * 3_000 + "/m.onnx"),
        ("inspect", str(SAME), f"--{NAME}"),
        ("inspect", str(SAME), "--node", NAME),
        ("inspect", str(SAME), "--target", NAME),
        ("inspect", str(SAME), "--dim", NAME),
        ("inspect", str(SAME), "--dim", f"{NAME}=3"),
        ("inspect", str(SAME), "--dim", f"H={DIGITS}"),
        ("inspect", str(SAME), "--dim", f"H%{DIGITS}=0"),
        ("validate", str(SAME), str(SAME), "--samples", DIGITS),
        ("validate", str(SAME), "--data", NAME),
        ("rewrite", str(SAME), "--pass", NAME, "--check"),
        ("rewrite", str(SAME), "-o", NAME),
        ("rewrite", str(SAME), "-o", f"{NAME}/"),
        ("retarget", str(SAME), "--to", NAME, "--check"),
        ("retarget", str(SAME), "--plan", NAME, "--check"),
        ("diagnose", str(SAME), "--data", str(SAME), "--plan", NAME),
        (NAME,),
    ],
    ids=lambda arguments: " ".join(part[:20] for part in arguments),
)
def test_what_is_long_is_cut(arguments: tuple[str, ...], capsys: Captured) -> None:
    said_by(capsys, *arguments)


def test_no_escape_sequence_reaches_a_terminal(tmp_path: Path, capsys: Captured) -> None:
    model = text_model("[c] y = MaxPool <kernel_shape=[2], strides=[2]> (x)")
    evil = "\x1b]0;owned\x07\x1b[2J\r\n\x9b31m\u202e"
    model.graph.node[0].name = evil
    model.graph.node[0].attribute.append(helper.make_attribute("auto_pad", "SAME_UPPER"))
    model.graph.node[0].doc_string = evil
    model.producer_name = evil
    model.graph.input[0].type.tensor_type.shape.dim.add(dim_param=evil)
    path = tmp_path / f"m{evil[:5]}.onnx"
    onnx.save(model, path)
    done = onnxpad("inspect", path)
    said = [done.stdout.decode(), done.stderr.decode()]
    for arguments in (
        ("inspect", path, "--target", "ncnn"),
        ("inspect", path, "--dim", "H=3"),
        ("rewrite", path, "--check"),
        ("rewrite", path, "--dry-run"),
        ("rewrite", path, "--check", "--node", evil),
        ("rewrite", path, "-o", tmp_path / "absent" / "o.onnx"),
        ("rewrite", path, "-o", path / "o.onnx"),
        ("retarget", path, "--to", "pytorch", "--check"),
        ("retarget", path, "--to", evil, "--check"),
        ("explain", evil),
    ):
        run([str(one) for one in arguments])
        said += capsys.readouterr()
    assert sum(map(bool, said)) > 10
    for text in said:
        assert all(letter.isprintable() or letter == "\n" for letter in text), text


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "it needs more memory than there is"),
        (RecursionError(), "it is nested too deeply"),
        (OverflowError("Python int too large"), "a number in it is too large"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "not UTF-8"),
        (onnx.checker.ValidationError("Nodes must be topologically sorted\nContext"), "onnx refus"),
        (onnx.defs.SchemaError("No schema registered"), "onnx refuses it: No schema"),
        (onnx.shape_inference.InferenceError("[ShapeInferenceError] no"), "onnx refuses it"),
        (tokenize.TokenError("EOF in multi-line statement", (2, 0)), "a header in it cannot be re"),
        (OSError(36, "File name too long", "nnn"), "nnn: File name too long"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_fault_of_a_file_is_an_ordinary_error(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    with pytest.raises(ModelError, match=said), blaming_the_file():
        broken()
    monkeypatch.setattr("onnxpad.inspection.open_model", broken)
    assert said in said_by(capsys, "inspect", str(SAME))
