"""onnxpad diagnose --plan: where plans go, and what they never replace."""

from __future__ import annotations

from errno import ENOSPC
from pathlib import Path

import numpy as np
import onnx
import pytest

from onnxpad.cli import run

Captured = pytest.CaptureFixture[str]
PAIR = Path(__file__).parents[1] / "retargeting" / "pairs" / "p10_conv1d"
WRONG, DATA = str(PAIR / "wrong.onnx"), str(PAIR / "reference.npz")
NODES = ["/Conv", "/Conv_1", "/MaxPool", "/Conv_2"]


def test_a_plan_never_replaces_external_weights(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(small)
    model = onnx.load("model.onnx")
    onnx.save(model, "apart.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    before = Path("w.bin").read_bytes()
    assert run(["diagnose", "apart.onnx", "--data", "names.npz", "--plan", "w.bin"]) == 2
    assert "'w.bin' is an input" in capsys.readouterr().err
    assert Path("w.bin").read_bytes() == before


def test_where_a_plan_cannot_go_is_said_before_the_search(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def searched(*_: object, **__: object) -> None:
        raise AssertionError("the search has started")

    monkeypatch.setattr("onnxpad.diagnosis.diagnose", searched)
    (small / "file").touch()
    for plan in (small / "file" / "plan.json", small):
        assert run(["diagnose", WRONG, "--data", DATA, "--plan", str(plan)]) == 2


def test_the_report_is_printed_where_the_plan_cannot_be_written_after_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    plan = tmp_path / "plan.json"
    plan.write_text("an older one", encoding="utf-8")
    assert run(["diagnose", WRONG, "--data", DATA, "--plan", str(plan)]) == 2
    said = capsys.readouterr()
    assert "explained: padding" in said.out
    assert "wrote" not in said.out
    assert "--plan: cannot write '" in said.err
    assert plan.read_text(encoding="utf-8") == "an older one"
    assert list(tmp_path.iterdir()) == [plan]


@pytest.mark.parametrize("as_json", [False, True])
def test_a_plan_of_an_earlier_run_is_called_an_older_one(
    as_json: bool, tmp_path: Path, capsys: Captured
) -> None:
    stored = dict(np.load(DATA))
    shuffled = {key: value[..., ::-1] if "ref" in key else value for key, value in stored.items()}
    np.savez(tmp_path / "other.npz", **shuffled)
    plan = tmp_path / "plan.json"
    asked = ["diagnose", WRONG, "--data", str(tmp_path / "other.npz"), "--plan", str(plan)]
    asked += ["--budget", "1", *["--json"] * as_json]
    assert run(asked) == 1
    captured = capsys.readouterr()
    said = (captured.err if as_json else captured.out).splitlines()
    assert "no plan was written" in said
    plan.write_text("older")
    assert run(asked) == 1
    captured = capsys.readouterr()
    said = (captured.err if as_json else captured.out).splitlines()
    assert f"no plan was written, {plan} is an older one" in said
    assert plan.read_text() == "older"
