"""What is installed beside onnxpad is judged too where it is another release."""

from __future__ import annotations

import pytest

from onnxpad import inspect, rewrite
from onnxpad.runtimes import installed
from tests.models.text import text_model

POOLED = """
    p = Pad (x, ends)
    y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (p)
"""
AS_DATA = {
    "package": "onnxruntime-gpu 1.31.1",
    "target": "onnxruntime@1.31",
    "nodes": {"miscomputes": 1},
}


NOTE = (
    "installed here: onnxruntime-gpu 1.31.1, which miscomputes 1 of them: --target onnxruntime@1.31"
)


def pooled() -> object:
    return text_model(
        POOLED,
        inputs="float[1, 1, 5, 5] x",
        outputs="float[1, 1, 3, 3] y",
        constants="int64[8] ends = {0, 0, 0, 0, 0, 0, 1, 1}",
    )


@pytest.fixture
def having(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    found: dict[str, str] = {}
    monkeypatch.setattr(installed, "release_of", found.get)
    return found


def test_the_header_names_the_release_and_a_note_what_the_installed_one_does(
    having: dict[str, str],
) -> None:
    having["onnxruntime-gpu"] = "1.31.1"
    found = inspect(pooled(), target="onnxruntime")
    assert found.target_notes == {"onnxruntime": NOTE}
    assert found.to_json()["installed"] == {"onnxruntime": AS_DATA}
    text = found.to_text()
    assert text.startswith(f"target onnxruntime 1.32: takes 2 of 2 nodes\n{NOTE}\n")
    assert "up to 1.31 onnxruntime's default optimisations fold the Pad(0)" in text
    assert not inspect(pooled(), target="onnxruntime@1.32").target_notes


def test_a_rewrite_says_what_the_installed_one_does_with_what_it_wrote(
    having: dict[str, str],
) -> None:
    having["onnxruntime-gpu"] = "1.31.1"
    found = rewrite(pooled(), target="onnxruntime")
    assert found.fitting is not None
    assert found.fitting.note == NOTE
    assert found.to_json()["target"]["installed"] == [AS_DATA]
    assert NOTE in found.to_text("m.onnx").splitlines()
    mended = rewrite(pooled(), target="onnxruntime@1.31").model
    assert rewrite(mended, target=["onnxruntime", "opencv"]).fitting.note == ""  # type: ignore[union-attr]


@pytest.mark.parametrize("version", ["1.32.0", "1.32.4", "1.33.0", ""])
def test_nothing_is_said_where_the_newest_counts(having: dict[str, str], version: str) -> None:
    having["onnxruntime"] = version
    assert not inspect(pooled(), target="onnxruntime").target_notes


def test_nothing_is_said_where_it_does_the_same(having: dict[str, str]) -> None:
    having["onnxruntime"] = "1.31.1"
    model = text_model("y = MaxPool <kernel_shape = [2], pads = [0, 1]> (x)", "float[1,1,8] x")
    assert not inspect(model, target="onnxruntime").target_notes


@pytest.mark.parametrize(
    ("target", "package", "version", "asked"),
    [
        ("openvino", "openvino", "2024.6.0", "openvino@2024.6"),
        ("openvino", "openvino", "2025.1.0", "openvino@2025.1.0"),
        ("ncnn", "ncnn", "1.0.20241226", "ncnn@20241226"),
        ("opencv", "opencv-python-headless", "4.12.0.88", "opencv-classic@4.12"),
        ("opencv-classic", "opencv-python", "4.10.0.84", "opencv-classic@4.10"),
    ],
)
def test_the_release_that_counts(
    having: dict[str, str], target: str, package: str, version: str, asked: str
) -> None:
    having[package] = version
    found = installed.otherwise_installed(target)
    assert found is not None
    assert (found.package, found.target.name) == (f"{package} {version}", asked)
