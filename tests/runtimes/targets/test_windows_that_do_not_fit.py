"""Windows larger than what they slide over: the ONNX text gives no cell, and no target takes them.

What runtimes do with them was measured by running (eleven of them): with a negative size all but
MNN's pools stop, with 0 cells some give an empty tensor (IREE, TVM), the others stop or make a
cell up.
"""

from __future__ import annotations

import pytest
from onnx import ModelProto

from onnxpad import inspect
from tests.models.text import text_model

WORDS = "kernel_shape=[5,5], strides=[{0},{0}], pads=[0,0,0,0]"
CASES = {
    "Conv, -1": ("Conv", 1, 3, -1),
    "Conv, 0": ("Conv", 2, 3, 0),
    "MaxPool, -1": ("MaxPool", 1, 3, -1),
    "AveragePool, 0": ("AveragePool", 2, 4, 0),
}


def model(op: str, stride: int, size: int, more: int = 0) -> ModelProto:
    words = WORDS.format(stride).replace("pads=[0,0,0,0]", f"pads=[{more},{more},{more},{more}]")
    reads = "x, w" if op == "Conv" else "x"
    weight = "float[2, 2, 5, 5] w" if op == "Conv" else ""
    inputs = f"float[1, 2, {size}, {size}] x{', ' if weight else ''}{weight}"
    made = f"y = {op} <{words}> ({reads})"
    return text_model(made, inputs, outputs="float[1, 2, H, W] y")


@pytest.mark.parametrize(("op", "stride", "size", "cells"), CASES.values(), ids=CASES)
def test_no_target_takes_them_and_the_sizes_are_named(
    op: str, stride: int, size: int, cells: int
) -> None:
    found = inspect(model(op, stride, size), target="all")
    (node,) = found.nodes
    assert [trap.code for trap in node.traps] == ["input-shorter-than-window"]
    for name, (verdict,) in found.targets.items():
        assert verdict.judgement.answer not in ("takes", "falls back"), name
    sentence = found.targets["openvino"][0].judgement.sentence
    told = f"axis 2 has {size} cells, with pads 0,0 fewer than the window's 5: its output would "
    assert told + f"have {cells} cells there" in sentence
    assert "is the model made for larger inputs?" in sentence
