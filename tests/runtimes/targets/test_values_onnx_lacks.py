"""Of a value that ONNX does not have, nobody has seen what a runtime makes."""

from __future__ import annotations

import pytest

from onnxpad import inspect
from tests.models.text import text_model

NODES = ('Conv <auto_pad = "SAME"> (x, w)', 'MaxPool <kernel_shape = [3], auto_pad = "SAME"> (x)')


@pytest.mark.parametrize("node", NODES)
def test_no_target_takes_an_auto_pad_that_onnx_lacks(node: str) -> None:
    model = text_model(f"y = {node}", "float[1,1,8] x", constants="float[1,1,3] w = {1, 2, 3}")
    found = inspect(model, target="all")
    said = [one for verdicts in found.targets.values() for one in verdicts if one.op in node]
    assert {one.verdict for one in said} <= {"unknown", "refuses"}
    (verdict, *_) = found.targets["onnxruntime"]
    assert verdict.verdict == "unknown"
    assert verdict.reason.startswith("auto_pad is 'SAME', which ONNX does not have: SAME_UPPER,")
