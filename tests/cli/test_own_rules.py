"""A file of rules as --target, from the command line: what is typed, found, kept and suggested."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from onnxpad.cli import run
from tests.cli.processes import SAME

Captured = pytest.CaptureFixture[str]
PATH = "my npu.toml"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rule = '[[rule]]\noperators = "all"\nanswer = "refuses"\nwhen = '
    Path(PATH).write_text(f'name = "npu"\ntakes = "all"\n{rule}["auto_pad"]\n')
    Path("models").mkdir()
    for name in ("a", "b"):
        shutil.copy(SAME, f"models/{name}.onnx")
    return tmp_path


def test_what_is_to_be_typed_names_the_file(capsys: Captured) -> None:
    assert run(["inspect", "models/a.onnx", "--target", PATH]) == 1
    assert f"onnxpad rewrite models/a.onnx --target '{PATH}'" in capsys.readouterr().out
    assert run(["rewrite", "models/a.onnx", "--target", PATH, "-o", "out.onnx"]) == 0
    assert run(["inspect", "out.onnx", "--target", PATH]) == 0


def test_many_models_and_a_baseline(capsys: Captured) -> None:
    asked = ["inspect", "models", "-j", "2", "--target", PATH, "--baseline", "known.json"]
    assert run([*asked, "--write-baseline"]) == 0
    assert "npu:refused" in Path("known.json").read_text()
    assert run(asked) == 0
    capsys.readouterr()
    assert run([*asked[:-2], "--sarif"]) == 1
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert {one["properties"]["target"] for one in results} == {"npu"}


def test_a_wrong_file_ends_before_any_model_is_read(capsys: Captured) -> None:
    Path(PATH).write_text('takes = "all"\n[[rule]]\noperators = ["Conv"]\nanswer = "no"\n')
    assert run(["rewrite", "models", "--target", PATH, "-o", "out"]) == 2
    assert f"{PATH}, line 4, answer: " in capsys.readouterr().err
    assert run(["inspect", "models/a.onnx", "--target", "npu2.toml"]) == 2
    assert "'npu2.toml'" in capsys.readouterr().err
