"""Targets by the names that people write."""

from pathlib import Path

import pytest

from onnxpad import RequestError, explain, inspect, rewrite
from onnxpad.runtimes.targets import all_targets, find_target
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
    assert find_target(written).name == name
    assert list(inspect(MODEL, target=written).targets) == [name]
    assert rewrite(MODEL, target=written).target == name


def test_a_target_given_twice_is_one() -> None:
    assert list(inspect(MODEL, target=["ort", "onnxruntime", "ncnn"]).targets) == [
        "onnxruntime",
        "ncnn",
    ]


def test_other_names_are_of_one_target_and_none_hides_another() -> None:
    others = [name for target in all_targets().values() for name in target.also]
    assert len(others) == len(set(others))
    assert not set(others) & set(all_targets())
    assert all(name == name.casefold() for name in others)


def test_explain_knows_them_too() -> None:
    assert [entry.name for entry in explain("trt")] == ["tensorrt"]


def test_what_nobody_is_called_is_refused_as_written() -> None:
    with pytest.raises(RequestError, match="no target is called 'TensorRRT': did you mean 'tenso"):
        find_target("TensorRRT")


@pytest.mark.parametrize("file", ["nobodys.py", "nobodys.toml"])
def test_a_file_of_that_name_is_meant(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(file).touch()
    with pytest.raises(RequestError, match=f"'nobodys': did you mean './{file}'"):
        find_target("nobodys")
