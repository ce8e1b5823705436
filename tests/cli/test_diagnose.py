"""onnxpad diagnose: what it prints, writes and refuses."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from onnxpad.cli import run

Captured = pytest.CaptureFixture[str]
PAIR = Path(__file__).parents[1] / "retargeting" / "pairs" / "p10_conv1d"
WRONG, DATA = str(PAIR / "wrong.onnx"), str(PAIR / "reference.npz")
NODES = ["/Conv", "/Conv_1", "/MaxPool", "/Conv_2"]


@pytest.mark.sweep
def test_the_verdict_comes_first_and_then_what_to_type(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(small)
    Path("wrong.onnx").write_bytes(Path(WRONG).read_bytes())
    Path("my data.npz").write_bytes(Path(DATA).read_bytes())
    asked = ["diagnose", "wrong.onnx", "--data", "my data.npz"]
    for more in (["--plan", "plan.json"], []):
        assert run([*asked, *more]) == 0
        first, numbers, typed, *_ = capsys.readouterr().out.splitlines()
        assert first.startswith("explained: padding: with 4 nodes padded otherwise")
        assert numbers.startswith("relative error ")
        commands = typed.removeprefix("next: ").split(" && ")
        assert len(commands) == (2 if more else 3)
        for command in commands:
            assert run(shlex.split(command)[1:]) == 0, command
        assert Path("wrong-fixed.onnx").exists()
        Path("wrong-fixed.onnx").unlink()
        capsys.readouterr()


def test_the_nearest_plan_is_written_where_that_is_asked_for(
    tmp_path: Path, capsys: Captured
) -> None:
    stored = dict(np.load(DATA))
    other = {key: value * (1.001 if "ref" in key else 1) for key, value in stored.items()}
    np.savez(tmp_path / "o.npz", **{k: v.astype(stored[k].dtype) for k, v in other.items()})
    plan = tmp_path / "plan.json"
    asked = ["diagnose", WRONG, "--data", str(tmp_path / "o.npz"), "--budget", "6"]
    assert run([*asked, "--plan", str(plan)]) == 1
    said = capsys.readouterr().out
    assert "no plan was written: what comes nearest is not the whole cause; --nearest" in said
    assert not plan.exists()
    assert run([*asked, "--plan", str(plan), "--nearest"]) == 1
    said = capsys.readouterr().out
    assert (
        f"wrote {plan}: 4 nodes to change, which comes nearest and is not the whole cause" in said
    )
    assert [one["node"] for one in json.loads(plan.read_text())["nodes"]] == NODES
    assert run([*asked, "--nearest"]) == 2


def test_requests_that_cannot_be_meant(small: Path, capsys: Captured) -> None:
    assert run(["diagnose", str(small / "model.onnx"), "--data", str(small / "x.npy")]) == 2
    assert "give the inputs as --inputs" in capsys.readouterr().err
