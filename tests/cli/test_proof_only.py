"""onnxpad validate --proof-only: options, what is printed, exit codes, files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from onnxpad.cli import run
from tests.proof.small_models import text

Captured = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]
CONV = """g (float[1,1,H] x) => (float[a,b,c] y) <float[1,1,3] w = {{1, 2, 3}}>
    {{ y = Conv<{}>(x, w) }}"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """same.onnx, pads.onnx with the same pads, and wrong.onnx with others."""
    monkeypatch.chdir(tmp_path)
    pads = {"same": 'auto_pad = "SAME_UPPER"', "pads": "pads = [1, 1]", "wrong": "pads = [0, 2]"}
    for name, written in pads.items():
        onnx.save(text(CONV.format(written)), f"{name}.onnx")
    return tmp_path


def test_refuted_with_an_input_that_shows_it(files: Path, capsys: Captured) -> None:
    line = ["validate", "same.onnx", "wrong.onnx", "--proof-only", "--counterexample", "x.npz"]
    assert run(line) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("different: y[0, 0, ")
    assert "in the first model and" in first
    with np.load(files / "x.npz", allow_pickle=False) as shown:
        assert f"at H={shown['x'].shape[2]}" in first
    pytest.importorskip("onnxruntime")
    assert run(["validate", "same.onnx", "wrong.onnx", "--inputs", "x.npz", "--device", "cpu"]) == 1


def test_no_runtime_is_loaded(files: Path) -> None:
    line = ["validate", "same.onnx", "wrong.onnx", "--proof-only", "--counterexample", "x.npz"]
    code = (
        f"import sys\nfrom onnxpad.cli import run\ncode = run({line!r})\n"
        "print(code, 'onnxruntime' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=files, env={"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "1 False"
