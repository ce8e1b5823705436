"""Single layers of public posts: padding is called padding, rounding is called rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from onnxpad.diagnosis import Cause, Diagnosis, diagnose
from onnxpad.retargeting import retarget
from tests.retargeting.running import Array, outputs, relative


def layer(op: str, x: Array, weight: Array | None = None, **attributes: Any) -> ModelProto:
    """One node that reads x, with open spatial sizes of its output."""
    info = helper.make_tensor_value_info
    held = [] if weight is None else [numpy_helper.from_array(weight, "w")]
    names = ["x", *(one.name for one in held)]
    node = helper.make_node(op, names, ["y"], "layer", **attributes)
    kind = TensorProto.FLOAT
    graph = helper.make_graph(
        [node], "g", [info("x", kind, x.shape)], [info("y", kind, None)], held
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def run(model: object, x: Array) -> Array:
    assert isinstance(model, ModelProto)
    return outputs(model, x)[0]


def fitted(model: ModelProto, x: Array, y: Array) -> Diagnosis:
    """The diagnosis, after its plan was applied and gave the reference."""
    found = diagnose(model, inputs={"x": x}, outputs={"y": y})
    assert found.explained, found.reason
    assert found.cause is Cause.PADDING
    mended = retarget(model, plan=found.plan)
    assert not mended.skips
    assert relative(run(mended.model, x), y) < 1e-5
    return found


def test_two_outputs_against_three() -> None:
    """TensorFlow gives [2, 4]; PyTorch with padding=1 gives [1, 3, 0]."""
    x = np.array([[[1, 2, 3, 4]]], np.float32)
    weight = np.array([[[0, 1]]], np.float32)
    torch = layer("Conv", x, weight, strides=[2], pads=[1, 1])
    assert run(torch, x).tolist() == [[[1, 3, 0]]]
    found = fitted(torch, x, np.array([[[2, 4]]], np.float32))
    assert found.before is None
    assert found.plan.entries[0].settings["pads"] == [0, 1]  # SAME; the last cell is not read
    lower = fitted(torch, x, np.array([[[1, 3]]], np.float32))
    assert lower.plan.entries[0].settings["pads"] == [1, 0]


def test_a_sum_of_6400_terms_is_rounding_and_wrong_pads_are_padding() -> None:
    """The post sees more than 1e-3 and suspects padding: relative to the outputs it is 1e-6."""
    random = np.random.RandomState(0)
    x = random.rand(1, 256, 8, 8).astype(np.float32)
    weight = random.rand(32, 256, 5, 5).astype(np.float32)
    right = layer("Conv", x, weight, strides=[2, 2], pads=[1, 1, 2, 2])
    wrong = layer("Conv", x, weight, strides=[2, 2], pads=[2] * 4)
    reference = summed_naively(np.pad(x, [(0, 0), (0, 0), (1, 2), (1, 2)]), weight)
    assert 1e-3 < np.abs(run(right, x) - reference).max() < 1e-1
    found = diagnose(right, inputs={"x": x}, outputs={"y": reference})
    assert found.explained, found.reason
    assert found.cause is Cause.ROUNDING
    assert not found.plan.entries
    assert found.residual is not None
    assert found.residual < 2e-5
    padded = fitted(wrong, x, reference)
    assert padded.before is not None
    assert padded.before > 0.1
    assert padded.plan.entries[0].settings["pads"] == [1, 1, 2, 2]


def summed_naively(x: Array, weight: Array) -> Array:
    """A convolution of stride 2 that adds 6,400 float32 products one after another."""
    size = (x.shape[2] - 5) // 2 + 1
    found = np.zeros((1, weight.shape[0], size, size), np.float32)
    for row in range(size):
        for column in range(size):
            window = x[0, :, 2 * row : 2 * row + 5, 2 * column : 2 * column + 5]
            products = (weight * window).reshape(weight.shape[0], -1)
            found[0, :, row, column] = np.cumsum(products, axis=1, dtype=np.float32)[:, -1]
    return found
