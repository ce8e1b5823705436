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
    assert {one.verdict for one in said} <= {"unknown", "refuses", "miscomputes"}
    (verdict, *_) = found.targets["onnxruntime"]
    assert verdict.verdict == "refuses"
    assert verdict.reason.startswith("auto_pad is 'SAME', which ONNX does not have: SAME_UPPER,")


OTHERS = (
    ('Pad <mode = "mirror"> (x, p)', "the ONNX text knows no mode 'mirror'"),
    ('Pad <mode = ""> (x, p)', "the ONNX text knows no mode ''"),
    ("MaxPool <kernel_shape = [3], storage_order = 5> (x)", "storage_order is 5, the ONNX text"),
    ("MaxPool <kernel_shape = [3], ceil_mode = 2> (x)", "ceil_mode is 2, the ONNX text knows"),
    ("Conv <group = 0> (x, w)", "group is 0, the ONNX text knows 1 and more"),
)


@pytest.mark.parametrize(("node", "reason"), OTHERS)
def test_no_target_takes_other_values_that_onnx_lacks(node: str, reason: str) -> None:
    model = text_model(
        f"y = {node}",
        "float[1,1,8] x",
        constants="float[1,1,3] w = {1, 2, 3}, int64[6] p = {0, 0, 1, 0, 0, 1}",
        opset=19,
    )
    found = inspect(model, target="all")
    said = [one for verdicts in found.targets.values() for one in verdicts if one.op in node]
    assert {one.verdict for one in said} <= {"unknown", "refuses", "miscomputes"}
    assert not {"its pads are computed", "its pads are an input of the model"} & {
        one.reason for one in said
    }
    (verdict, *_) = found.targets["onnxruntime"]
    assert verdict.verdict == "refuses"
    assert verdict.reason.startswith(reason)
