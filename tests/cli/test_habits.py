"""What people who know other tools type and expect: words, tolerances, lines for many targets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onnxpad.cli import run
from onnxpad.cli.values import parse_shapes
from onnxpad.retargeting import retarget
from tests.cli.processes import DYNAMIC, MODELS, SAME

Captured = pytest.CaptureFixture[str]
EVEN = MODELS / "kt_net_even.onnx"
REFERENCE = MODELS / "kt_net_even.npz"


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    """A model that differs from its reference by its padding."""
    retarget(EVEN, to="pytorch").save(tmp_path / "my model.onnx")
    return tmp_path / "my model.onnx"


def test_a_tolerance_on_the_command_line(moved: Path, capsys: Captured) -> None:
    line = ["validate", str(moved), "--data", str(REFERENCE)]
    assert run([*line, "--rtol", "0.5", "--atol", "0.3"]) == 0
    said = capsys.readouterr().out
    assert "tolerance: atol 0.3, rtol 0.5; the largest difference" in said
    assert said.startswith("tolerated: within the tolerance asked for")
    assert run([*line, "--atol", "0.001"]) == 1
    assert run([*line, "--atol", "-1"]) == 2
    assert run(["validate", str(SAME), str(SAME), "--proof-only", "--rtol", "1"]) == 2
    assert "--rtol does nothing here" in capsys.readouterr().err


def test_a_failing_reference_names_the_command_that_looks_for_the_padding(
    moved: Path, capsys: Captured
) -> None:
    assert run(["validate", str(moved), "--data", str(REFERENCE)]) == 1
    hint = capsys.readouterr().out.splitlines()[1].split(maxsplit=1)[1]
    assert hint == f"onnxpad diagnose '{moved}' --data {REFERENCE} --plan plan.json"


def test_shapes_of_inputs_on_the_command_line(capsys: Captured) -> None:
    line = ["validate", str(DYNAMIC), str(DYNAMIC), "--samples", "1", "--run-only", "--json"]
    assert run([*line, "--input-shape", "input=1,32,32,3"]) == 0
    assert json.loads(capsys.readouterr().out)["input_shapes"] == [{"input": [1, 32, 32, 3]}]
    assert run([*line, "--input-shape", "input=1,32,32,4"]) == 2
    assert parse_shapes(["a=1x3x8", "b=[2, 4]"]) == {"a": (1, 3, 8), "b": (2, 4)}
    assert run([*line, "--input-shape", f"input=[{'9' * 5000}]"]) == 2
