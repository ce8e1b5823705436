"""onnxpad retarget: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from onnxpad import retarget
from onnxpad.cli import run
from onnxpad.errors import RequestError
from tests.cli.processes import onnxpad

Captured = pytest.CaptureFixture[str]
PAIR = Path(__file__).parents[1] / "retargeting" / "pairs" / "p10_conv1d" / "wrong.onnx"


def test_validate_shows_how_far_outputs_moved(capsys: Captured) -> None:
    command = ["retarget", str(PAIR), "--to", "tensorflow", "--check", "--validate", "--json"]
    assert run([*command, "--samples", "2"]) == 1
    rows = json.loads(capsys.readouterr().out)["moved"]["rows"]
    assert [row["sample"] for row in rows] == [0, 0, 1, 1]
    assert all(0.01 < row["relative"] < 10 for row in rows)
    assert run(["retarget", str(PAIR), "--to", "pytorch", "--check", "--validate"]) == 0
    assert "moved by" not in capsys.readouterr().out


def test_a_pipe_carries_the_model() -> None:
    done = onnxpad("retarget", "-", "--to", "tensorflow", "-o", "-", stdin=PAIR.read_bytes())
    assert done.returncode == 0
    onnx.checker.check_model(onnx.load_from_string(done.stdout))
    assert b"standard input -> standard output: 4 nodes moved" in done.stderr


def test_python_refuses_the_same() -> None:
    with pytest.raises(RequestError, match="a convention to move to, or a plan"):
        retarget(PAIR)
    with pytest.raises(RequestError, match="source and plan exclude each other"):
        retarget(PAIR, plan={"nodes": []}, source="tf")
    with pytest.raises(RequestError, match="cannot read the plan"):
        retarget(PAIR, plan=PAIR.parent / "nothing.json")
    assert not retarget(PAIR, plan={"nodes": []}).changed


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b'{"nodes": [{"node": "/MaxPool", "pads": [1' + b"0" * 9999 + b"]}]}"]
)
def test_a_plan_that_no_parser_takes_is_named(
    text: bytes, tmp_path: Path, capsys: Captured
) -> None:
    plan = tmp_path / "plan.json"
    plan.write_bytes(text)
    assert run(["retarget", str(PAIR), "--plan", str(plan), "--check"]) == 2
    assert f"the plan '{plan}' is no JSON: " in capsys.readouterr().err
