"""Targets by the names that people write."""

from pathlib import Path

import pytest

from onnxpad import RequestError, inspect, rewrite
from tests.models.text import text_model

MODEL = text_model("y = Neg (x)")


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("TensorRT", "tensorrt"),
        ("trt", "tensorrt"),
        ("ORT", "onnxruntime"),
        ("OpenVINO", "openvino"),
        ("onnxruntime_web", "onnxruntime-web"),
        ("cv2", "opencv"),
        ("Portable", "portable"),
    ],
)
def test_other_spellings_are_understood(written: str, name: str) -> None:
    assert list(inspect(MODEL, target=written).targets) == [name]
    assert rewrite(MODEL, target=written).target == name


@pytest.mark.parametrize("file", ["nobodys.py", "nobodys.toml"])
def test_a_file_of_that_name_is_meant(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(file).touch()
    with pytest.raises(RequestError, match=f"'nobodys': did you mean './{file}'"):
        inspect(MODEL, target="nobodys")
