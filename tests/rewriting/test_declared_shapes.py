"""What a rewrite or a retarget leaves stated of sizes: what the model checker takes, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, shape_inference

import onnxpad
from onnxpad import OnnxpadError

PASSES = ("floor-pool", "explicit-pads", "split-pads", "plain-transpose", "slice-transpose")


def network(op: str, size: int, **attributes: Any) -> onnx.ModelProto:
    """One operator and a Relu, opset 13, with all sizes stated as inference has them."""
    weights, inputs = [], ["x"]
    if op == "ConvTranspose":
        values = np.arange(attributes["kernel_shape"][0] * 4, dtype=np.float32).reshape(2, 2, -1)
        weights, inputs = [numpy_helper.from_array(values - 3, "w")], ["x", "w"]
    graph = helper.make_graph(
        [
            helper.make_node(op, inputs, ["a"], name="node", **attributes),
            helper.make_node("Relu", ["a"], ["y"], name="relu"),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    stated: onnx.ModelProto = shape_inference.infer_shapes(model)
    return stated


def networks() -> Iterator[onnx.ModelProto]:
    """Pools that round up, and transposed convolutions that state their size or say SAME."""
    for op, size, kernel, stride, end in product(
        ("MaxPool", "AveragePool"), (5, 7, 8), (1, 2, 3), (2, 3), (0, 1)
    ):
        if end < kernel:
            numbers: dict[str, Any] = {"kernel_shape": [kernel], "strides": [stride]}
            yield network(op, size, **numbers, pads=[0, end], ceil_mode=1)
            yield network(op, size, **numbers, auto_pad="SAME_UPPER", ceil_mode=1)
    for kernel, stride in product((1, 2, 3), (1, 2, 3)):
        numbers = {"kernel_shape": [kernel], "strides": [stride]}
        yield network("ConvTranspose", 5, **numbers, auto_pad="SAME_LOWER")
        yield network("ConvTranspose", 5, **numbers, output_shape=[5 * stride])


def is_sound(model: onnx.ModelProto) -> bool:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, shape_inference.InferenceError):
        return False
    return True


@pytest.mark.parametrize("name", [*PASSES, "pytorch"])
def test_the_checker_takes_behind_what_it_took_before(name: str) -> None:
    written = 0
    for model in filter(is_sound, networks()):
        try:
            if name in PASSES:
                done: Any = onnxpad.rewrite(model, passes=name)
            else:
                done = onnxpad.retarget(model, to=name)
        except OnnxpadError:
            continue
        written += done.changed
        assert is_sound(done.model), onnx.printer.to_text(model)
    assert written
