"""Options that several models share, and options that would do nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest

from onnxpad import validation
from onnxpad.cli import run
from tests.cli.processes import COMMAND, SAME
from tests.cli.test_terminals import on_a_terminal
from tests.models.text import text_model

Captured = pytest.CaptureFixture[str]


def test_a_terminal_gets_no_model() -> None:
    text, status = on_a_terminal(*COMMAND, "rewrite", SAME, "-o", "-", TERM="xterm")
    assert status == 2
    assert "standard output is a terminal" in text
    assert "\x08" not in text


def test_errors_and_notes_are_escaped(capsys: Captured, tmp_path: Path) -> None:
    model = text_model("[c] y = MaxPool <kernel_shape=[2]> (x)")
    model.graph.node[0].name = "\x1b[31mred\nerror: forged"
    onnx.save(model, tmp_path / "m.onnx")
    assert run(["inspect", str(tmp_path / "m.onnx"), "--node", "x*"]) == 2
    error = capsys.readouterr().err
    assert r"\x1b[31mred\nerror: forged" in error
    assert len(error.splitlines()) == 1


def test_ambiguous_reaches_the_validation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def asked(*_: object, ambiguous: str | None = None, **__: object) -> None:
        given["ambiguous"] = ambiguous
        raise KeyboardInterrupt

    monkeypatch.setattr(validation, "validate", asked)
    options = ["--validate", "--ambiguous", "pads", "-o", str(tmp_path / "o.onnx")]
    assert run(["rewrite", str(SAME), *options]) == 130
    assert given == {"ambiguous": "pads"}
