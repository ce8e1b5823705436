"""onnxpad validate against a reference: it reads files as diagnose does."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from tests.command import run
from tests.diagnosis.texts import END, deep

Captured = pytest.CaptureFixture[str]
FORMATS = {
    "names": (["--data", "names.npz"], 1),
    "places": (["--data", "places.npz"], 1),
    "samples": (["--data", "samples.npz"], 2),
    "npy": (["--inputs", "x.npy", "--outputs", "y.npy"], 1),
    "one folder": (["--data", "data/test_data_set_1"], 1),
    "folders": (["--data", "data"], 2),
    "two of them": (["--data", "data/test_data_set_0", "--data", "names.npz"], 2),
}


@pytest.fixture
def right(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of `small` beside the model that gave them, right.onnx."""
    monkeypatch.chdir(small)
    onnx.save(deep(END), "right.onnx")
    return small


@pytest.mark.parametrize(("options", "samples"), FORMATS.values(), ids=FORMATS)
def test_every_format_of_samples(
    options: list[str], samples: int, right: Path, capsys: Captured
) -> None:
    del right
    assert run(["validate", "right.onnx", *options, "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert len(read["input_shapes"]) == samples
    assert run(["validate", "model.onnx", *options]) == 1
