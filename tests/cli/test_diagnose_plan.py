"""onnxpad diagnose --plan: where plans go, and what they never replace."""

from __future__ import annotations

import json
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


def test_a_plan_that_cannot_be_written_is_an_error(small: Path, capsys: Captured) -> None:
    target = small / "file" / "plan.json"
    target.parent.touch()
    assert run(["diagnose", WRONG, "--data", DATA, "--plan", str(target)]) == 2
    assert "plan" in capsys.readouterr().err


@pytest.mark.parametrize("plan", ["model.onnx", "./model.onnx", "link.onnx", "hard.onnx"])
def test_a_plan_never_replaces_the_model(
    plan: str, small: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(small)
    Path("link.onnx").symlink_to("model.onnx")
    Path("hard.onnx").hardlink_to("model.onnx")
    before = Path("model.onnx").read_bytes()
    assert run(["diagnose", "model.onnx", "--data", "names.npz", "--plan", plan]) == 2
    assert f"'{plan}' is an input, which is never overwritten" in capsys.readouterr().err
    assert Path("model.onnx").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "plan"),
    [
        (["--data", "names.npz", "--data", "samples.npz"], "samples.npz"),
        (["--inputs", "x.npy", "--outputs", "y.npy"], "./x.npy"),
        (["--inputs", "x.npy", "--outputs", "y.npy"], "y.npy"),
        (["--data", "data/test_data_set_1"], "data/test_data_set_1/input_0.pb"),
        (["--data", "data"], "data/test_data_set_1/output_0.pb"),
    ],
)
def test_a_plan_never_replaces_the_data(
    options: list[str],
    plan: str,
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    monkeypatch.chdir(small)
    before = Path(plan).read_bytes()
    assert run(["diagnose", "model.onnx", *options, "--plan", plan]) == 2
    assert "is an input, which is never overwritten: give another --plan" in capsys.readouterr().err
    assert Path(plan).read_bytes() == before


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
    assert "the plan: cannot write '" in said.err
    assert plan.read_text(encoding="utf-8") == "an older one"
    assert list(tmp_path.iterdir()) == [plan]


def test_a_plan_on_standard_output_has_it_alone(capsys: Captured) -> None:
    assert run(["diagnose", WRONG, "--data", DATA, "--plan", "-"]) == 0
    said = capsys.readouterr()
    assert [one["node"] for one in json.loads(said.out)["nodes"]] == NODES
    assert "wrote the plan to standard output: 4 nodes to change" in said.err


def test_a_plan_and_a_json_report_are_never_mixed(capsys: Captured) -> None:
    assert run(["diagnose", WRONG, "--data", DATA, "--plan", "-", "--json"]) == 0
    said = capsys.readouterr()
    assert set(json.loads(said.out)) == {"schema", "nodes"}
    assert json.loads(said.err)["plan"] == json.loads(said.out)


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
