"""onnxpad validate --proof-only: options, what is printed, exit codes, files."""

from __future__ import annotations

import json
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


def test_proved(files: Path, capsys: Captured) -> None:
    del files
    assert run(["validate", "same.onnx", "pads.onnx", "--proof-only"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "proved: both are the same function, for all values of the inputs and all sizes of H"
    )
    assert lines[2].split("  ")[0] == "changed tensor"
    assert lines[3].startswith("y ")
    assert lines[-1].startswith("1 changed part proved over the reals, with a probability of error")
    assert lines[-1].endswith("; nothing was run")


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


def test_no_counterexample_is_said_and_an_older_file_stays(files: Path, capsys: Captured) -> None:
    (files / "x.npz").write_bytes(b"older")
    line = ["validate", "same.onnx", "pads.onnx", "--proof-only", "--counterexample", "x.npz"]
    assert run(line) == 0
    said = "warning: there is no counterexample: 'x.npz' was not written"
    assert said in capsys.readouterr().out
    assert (files / "x.npz").read_bytes() == b"older"


def test_a_dimension_that_is_stated(files: Path, capsys: Captured) -> None:
    del files
    assert run(["validate", "same.onnx", "pads.onnx", "--proof-only", "--dim", "H=9"]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith("of the inputs, where H=9")


@pytest.mark.parametrize(
    ("after", "verdict", "code"), [("pads", "proved", 0), ("wrong", "different", 1)]
)
def test_json(after: str, verdict: str, code: int, files: Path, capsys: Captured) -> None:
    del files
    assert run(["validate", "same.onnx", f"{after}.onnx", "--proof-only", "--json"]) == code
    read = json.loads(capsys.readouterr().out)
    assert (read["verdict"], read["schema"], read["run"]) == (verdict, 3, None)
    assert read["proof"]["verdict"] == {"different": "refuted"}.get(verdict, verdict)
    assert read["proof"]["open_sizes"] == ["H"]


def test_both_are_made_unless_one_is_asked_for(files: Path, capsys: Captured) -> None:
    pytest.importorskip("onnxruntime")
    line = ["validate", "same.onnx", "pads.onnx", "--device", "cpu", "--json"]
    assert run(line) == 0
    read = json.loads(capsys.readouterr().out)
    found = read["verdict"], read["proof"]["verdict"], read["run"]["verdict"]
    assert found == ("proved", "proved", "identical")
    assert run([*line, "--run-only"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["verdict"], read["proof"]) == ("identical", None)
    assert run(["validate", "same.onnx", "wrong.onnx", "--counterexample", "x.npz"]) == 1
    assert (files / "x.npz").exists()


def test_bad_lines_come_first_and_the_rest_is_one_line(files: Path, capsys: Captured) -> None:
    pytest.importorskip("onnxruntime")
    del files
    assert run(["validate", "same.onnx", "pads.onnx", "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["proved:", "", "1", "device"]
    assert lines[3].endswith("; 2 comparisons without a difference")
    assert run(["validate", "same.onnx", "wrong.onnx", "--device", "cpu"]) == 1
    lines = capsys.readouterr().out.splitlines()
    gaps = [float(line.rpartition("]")[2].split()[0]) for line in lines[3:9]]
    assert lines[0].startswith("different: y[0, 0, ")
    assert lines[2].startswith("sample ")
    assert gaps == sorted(gaps, reverse=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--proof-only", "--samples", "3"], "--samples does nothing here: --proof-only runs"),
        (["--proof-only", "--device", "cpu"], "--device does nothing here: --proof-only runs"),
        (["--run-only", "--counterexample", "x.npz"], "does nothing here: --run-only proves not"),
        (["--run-only", "--proof-only"], "contradict each other: without both, the models are"),
        (["--proof-only", "--counterexample", "same.onnx"], "is an input, which is never overw"),
        (["--proof-only", "--counterexample", "-"], "--counterexample needs the name of a file"),
        (["--proof-only", "--counterexample", "same.onnx/x.npz"], "Not a directory"),
        (["--proof-only", "--dim", "Z=3"], "no dimension is called 'Z'"),
    ],
)
def test_options_that_do_not_fit(
    options: list[str], said: str, files: Path, capsys: Captured
) -> None:
    assert run(["validate", "same.onnx", "wrong.onnx", *options]) == 2
    assert said in capsys.readouterr().err
    assert not (files / "x.npz").exists()


def test_a_reference_proves_nothing(files: Path, capsys: Captured) -> None:
    np.savez(files / "r.npz", x=np.zeros((1, 1, 5), np.float32), y=np.zeros((1, 1, 5), np.float32))
    for options in (["--run-only"], ["--counterexample", "c.npz"]):
        assert run(["validate", "same.onnx", "--data", "r.npz", *options]) == 2
        assert f"{options[0]} does nothing here: a reference" in capsys.readouterr().err


def test_the_help_says_what_decides(capsys: Captured) -> None:
    assert run(["validate", "--help"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "What a run shows to be different is different, proved or not." in printed


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
