"""Who reads weights from a file beside the model: six ways of storing them, in 12 runtimes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnxpad import inspect
from onnxpad.runtimes.conditions.plain_facts import OUTSIDE
from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model

READ_ALL = (
    "opencv",
    "opencv-classic",
    "opencv-classic@5.0",
    "onnxruntime",
    "openvino",
    "mnn",
    "tvm",
)
READ_NONE = {
    "opencv-classic@4.8": Answer.REFUSES,
    "opencv@4.14": Answer.REFUSES,
    "ncnn@20241226": Answer.REFUSES,
    "ncnn": Answer.MISCOMPUTES,
}


def written(folder: Path, *, outside: bool) -> Path:
    model = text_model(
        "y = Conv <kernel_shape = [3, 3]> (x, w)", "float[1,2,8,8] x", outputs="float[1,4,6,6] y"
    )
    weight = np.arange(72, dtype=np.float32).reshape(4, 2, 3, 3)
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    path = folder / "model.onnx"
    onnx.save_model(
        model, path, save_as_external_data=outside, location="model.onnx.data", size_threshold=0
    )
    return path


def said(path: Path, target: str) -> dict[str, Answer]:
    (found,) = inspect(path, target=target).targets.values()
    return {one.op: one.judgement.answer for one in found}


@pytest.mark.parametrize("target", [*READ_ALL, *READ_NONE])
def test_who_reads_weights_from_another_file(target: str, tmp_path: Path) -> None:
    outside = said(written(tmp_path, outside=True), target)
    assert outside.get(OUTSIDE[0]) is READ_NONE.get(target)
    assert OUTSIDE[0] not in said(written(tmp_path, outside=False), target)
