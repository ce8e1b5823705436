"""What is said to a person is lines: a line break in a sentence would be printed as its escape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from onnxpad.cli import run
from tests.retargeting.running import signed
from tests.validation.test_unrunnable import PADS, twins

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def unrunnable(tmp_path: Path) -> tuple[Path, Path]:
    """A model that onnxruntime does not open, and what it should give."""
    model = twins(**PADS)
    path, data = tmp_path / "twins.onnx", tmp_path / "data.npz"
    onnx.save(model, path)
    np.savez(data, x=signed(0, 1, 3, 5, 5), y=signed(1, 1, 4, 5, 5))
    return path, data


@pytest.mark.parametrize("verb", ["validate", "diagnose"])
def test_a_model_that_does_not_run_and_its_data(
    verb: str, unrunnable: tuple[Path, Path], capsys: Captured
) -> None:
    path, data = map(str, unrunnable)
    assert run([verb, path, "--data", data, "--device", "cpu"]) == 1
    said = "".join(capsys.readouterr())
    assert r"\n" not in said
    if verb == "validate":
        assert "unverified: onnxruntime does not open the model: " in said
        assert "\n  try     onnxpad rewrite --target onnxruntime, and validate" in said


def test_the_first_line_of_what_an_exception_says() -> None:
    from onnxpad.errors import headline

    assert headline(ValueError("\n one: two \n  try     three")) == "one: two"
    assert headline(ValueError()) == "ValueError"
