"""onnxpad diagnose --plan: where plans go, and what they never replace."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from tests.command import run

Captured = pytest.CaptureFixture[str]
PAIR = Path(__file__).parents[1] / "retargeting" / "pairs" / "p10_conv1d"
WRONG, DATA = str(PAIR / "wrong.onnx"), str(PAIR / "reference.npz")


def test_a_plan_never_replaces_external_weights(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(small)
    model = onnx.load("model.onnx")
    onnx.save(model, "apart.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    before = Path("w.bin").read_bytes()
    assert run(["diagnose", "apart.onnx", "--data", "names.npz", "--plan", "w.bin"]) == 2
    assert "'w.bin' is a file of another kind" in capsys.readouterr().err
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
