"""Slices of inputs in ncnn: right in a model with a convolution or a pool, wrong without one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from onnxpad import rewrite
from tests.models.text import text_model
from tests.runtimes.live.layers import verdicts_on

_FROM_ONE = "int64[1] one = {1}, int64[1] far = {99}, int64[1] two = {2}"
RIGHT = (
    "s = Slice (x, one, far, two) y = Conv (s, w)",
    "s = Slice (x, one, far, one) y = MaxPool <kernel_shape=[3, 3]> (s)",
    "s = Slice (x, one, far, two) y = AveragePool <kernel_shape=[3, 3]> (s)",
    "s = Slice (x, one, far, two) y = ConvTranspose (s, w)",
    "s = Slice (x, one, far, two) r = Relu (s) y = Conv (r, w)",
)
WRONG = (
    "y = Slice (x, one, far, two)",
    "s = Slice (x, one, far, two) y = Relu (s)",
)


def model(nodes: str) -> onnx.ModelProto:
    made = text_model(nodes, "float[1,4,9,10] x", outputs="float[a,b,c,d] y", constants=_FROM_ONE)
    weight = np.random.default_rng(0).normal(size=(4, 4, 3, 3)).astype(np.float32)
    made.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    return made


@pytest.mark.parametrize(
    ("reader", "is_written"), [("y = Conv (p, k)", True), ("y = Relu (p)", False)]
)
def test_a_crop_of_an_input_is_written_beside_a_convolution(
    reader: str, *, is_written: bool
) -> None:
    made = text_model(
        f'p = Pad <mode="constant"> (x, q) {reader}',
        "float[1,1,8,8] x",
        outputs="float[1,1,a,b] y",
        constants="float[1,1,1,1] k = {2}, int64[8] q = {0, 0, -1, 1, 0, 0, 0, -1}",
    )
    written = rewrite(made, target="ncnn").model
    assert any(node.op_type == "Slice" for node in written.graph.node) is is_written


@pytest.mark.sweep
def test_ncnn_does_what_is_written_here(tmp_path: Path) -> None:
    x = np.random.default_rng(1).normal(size=(1, 4, 9, 10)).astype(np.float32)
    models = {nodes: (model(nodes), {"x": x}) for nodes in (*RIGHT, *WRONG)}
    found = verdicts_on("ncnn", models, tmp_path)
    assert {nodes for nodes, said in found.items() if said == "ok"} == set(RIGHT)
    assert {said for nodes, said in found.items() if nodes in WRONG} == {"wrong"}
