"""Exit codes and streams, as a shell sees them."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from tests.cli.processes import SAME, onnxpad
from tests.command import run


def test_a_shell_can_complete_verbs_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_ONNXPAD_COMPLETE", "bash_source")
    assert b"_ONNXPAD_COMPLETE=bash_complete" in onnxpad().stdout
    monkeypatch.setenv("_ONNXPAD_COMPLETE", "bash_complete")
    for words, place, found in (
        ("onnxpad re", "1", {b"resolve", b"retarget", b"rewrite"}),
        ("onnxpad rewrite --in-", "2", {b"--in-place"}),
        ("onnxpad rewrite m.onnx --pass symmetric-pads-by-k", "4", {b"symmetric-pads-by-kernel"}),
        ("onnxpad inspect m.onnx --target tensorr", "4", {b"tensorrt"}),
        ("onnxpad explain exit", "2", {b"exit-codes"}),
        ("onnxpad retarget m.onnx --to pyt", "4", {b"pytorch"}),
    ):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", place)
        assert {line.partition(b",")[2] for line in onnxpad().stdout.splitlines()} == found


def test_names_in_any_script_can_be_printed(tmp_path: Path) -> None:
    model = onnx.load(SAME)
    model.graph.node[0].name = "卷积/é"
    onnx.save(model, tmp_path / "m.onnx")
    ascii_only = onnxpad("inspect", tmp_path / "m.onnx", PYTHONIOENCODING="ascii")
    assert ascii_only.returncode == 0
    assert b"\\u5377\\u79ef/\\xe9 " in ascii_only.stdout
    read = json.loads(
        onnxpad("inspect", tmp_path / "m.onnx", "--json", PYTHONIOENCODING="ascii").stdout
    )
    assert read["nodes"][0]["node"] == "卷积/é"


def test_rewrite_from_standard_input_to_standard_output(tmp_path: Path) -> None:
    onnxpad("rewrite", SAME, "-o", tmp_path / "out.onnx")
    done = onnxpad("rewrite", "-", "-o", "-", stdin=SAME.read_bytes())
    assert done.returncode == 0
    assert done.stdout == (tmp_path / "out.onnx").read_bytes()
    assert b"standard input -> standard output: 6 nodes rewritten" in done.stderr
    with_json = onnxpad("rewrite", "-", "-o", "-", "--json", stdin=SAME.read_bytes())
    assert with_json.stdout == done.stdout
    assert json.loads(with_json.stderr)["written"] == "-"


def test_what_nobody_foresaw_is_one_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("surprise")

    monkeypatch.setattr("onnxpad.inspection.inspect", broken)
    assert run(["inspect", str(SAME)]) == 2
    said = capsys.readouterr().err
    assert "internal error; nothing was written" in said
    assert "KeyError: 'surprise'" in said
    assert "Traceback" not in said
