"""Where onnxruntime is not installed everything works but running models."""

import sys
from pathlib import Path

import pytest

from onnxpad import sessions
from tests.command import run

MODELS = Path(__file__).resolve().parents[2] / "models"
SAME = str(MODELS / "k_avgnet_tflite_autopad.onnx")


@pytest.fixture(autouse=True)
def _no_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    sessions._require_library.cache_clear()  # noqa: SLF001 - it remembers that there is one
    sessions.cuda_problem.cache_clear()


@pytest.mark.parametrize(
    "command",
    [
        ["inspect", SAME, "--target", "ncnn"],
        ["rewrite", SAME, "--target", "opencv", "-o", "out.onnx"],
        ["retarget", SAME, "--to", "pytorch", "-o", "out.onnx"],
        ["resolve", "keras", "Conv2D", "--input", "1,3,8,8", "--kernel", "3", "--padding", "same"],
        ["explain", "onnxruntime"],
        ["validate", SAME, SAME, "--proof-only"],
    ],
    ids=lambda command: str(command[0]),
)
def test_nothing_else_needs_it(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(command) in {0, 1}


@pytest.mark.parametrize(
    "command",
    [["inspect", SAME, "--device", "cpu"], ["validate", SAME, SAME, "--device", "cuda"]],
    ids=lambda command: str(command[0]),
)
def test_a_run_says_what_to_install(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command) == 2
    said = capsys.readouterr().err
    assert "onnxruntime is not installed" in said
    assert "pip install onnxruntime-gpu" in said
