"""Shape inference that never ends: the verbs end, and their reports say so."""

import json
from pathlib import Path

import onnx
import pytest

from onnxpad import inspect, rewrite
from onnxpad.cli import run
from onnxpad.errors import RequestError
from tests.models import runaway

WHAT = "onnx's shape inference"


def test_a_rewrite_says_that_inference_was_ended() -> None:
    done = rewrite(runaway.rewritten_beside_a_crash())
    assert done.changed
    (said,) = done.limits_met
    assert said.startswith(f"{WHAT}: ")
    assert "crashed" in said
    assert done.to_json()["limits_met"] == [said]


def test_a_model_without_trouble_meets_no_limit() -> None:
    model = runaway.made_of(
        [runaway.node("Relu", ["x"], ["y"])], [runaway.value("x", [1, 2, 3, 4])]
    )
    assert inspect(model).limits_met == ()


def test_the_command_line_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "slice.onnx"
    onnx.save(runaway.rewritten_beside_a_crash(), path)
    run(["rewrite", "--dry-run", str(path)])
    assert f"warning: {WHAT}: " in capsys.readouterr().out
    run(["rewrite", "--dry-run", str(path), "--json"])
    assert len(json.loads(capsys.readouterr().out)["limits_met"]) == 1


def test_limits_that_are_none_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RequestError, match="timeout is -1"):
        inspect(runaway.endless_loop(), timeout=-1)
    with pytest.raises(RequestError, match="512M or 4G"):
        inspect(runaway.endless_loop(), memory="much")
    assert run(["inspect", "model.onnx", "--memory", "much"]) == 2
    assert "give a size such as 512M or 4G" in capsys.readouterr().err
