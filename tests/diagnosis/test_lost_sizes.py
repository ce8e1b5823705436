"""What a model loses besides pads: output_padding and ceil_mode, which the sizes tell first."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from onnxpad.diagnosis import diagnose
from onnxpad.retargeting import retarget
from tests.retargeting.running import outputs, relative, signed

X = signed(0, 1, 3, 33, 33)
CHANNELS = 4


def network(lost: frozenset[str], growth: tuple[int, int] = (1, 1)) -> ModelProto:
    """Two pools that round up, three transposed layers of kernel 4: those of `lost` do not."""
    nodes, weights, tensor = list[onnx.NodeProto](), list[TensorProto](), "x"
    random = np.random.default_rng(0)

    def weight(name: str, inputs: int, kernel: int) -> str:
        values = random.standard_normal((CHANNELS, inputs, kernel, kernel)) / (3 * inputs)
        weights.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def add(op: str, name: str, *inputs: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    for number in range(2):
        kernel = weight(f"w{number}", CHANNELS if number else 3, 3)
        tensor = add("Conv", f"conv{number}", tensor, kernel, pads=[1, 1, 1, 1])
        name = f"pool{number}"
        window = {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": int(name not in lost)}
        tensor = add("MaxPool", name, tensor, **window)
    for number in range(3):
        name = f"up{number}"
        grown = {} if name in lost else {"output_padding": list(growth)}
        kernel = weight(f"u{number}", CHANNELS, 4)
        tensor = add("ConvTranspose", name, tensor, kernel, strides=[2, 2], pads=[1] * 4, **grown)
        tensor = add("Tanh", f"tanh{number}", tensor)
    shapes: dict[str, list[Any]] = {"x": [1, 3, 33, 33], tensor: ["n", "c", "h", "w"]}
    ends = [helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.sweep
@pytest.mark.parametrize("lost", ["up0 up2", "pool0"])
def test_what_the_sizes_tell_is_tried_first(lost: str) -> None:
    right, wrong = network(frozenset()), network(frozenset(lost.split()))
    reference = outputs(right, X)[0]
    assert outputs(wrong, X)[0].shape != reference.shape
    found = diagnose(wrong, inputs={"x": X}, outputs={"tanh2": reference})
    assert found.explained, found.reason
    assert found.tried < 100
    assert {one.node for one in found.plan.entries} == set(lost.split())
    assert relative(outputs(retarget(wrong, plan=found.plan).model, X)[0], reference) < 1e-5


def test_output_padding_of_one_axis_is_found() -> None:
    right, wrong = network(frozenset(), (1, 0)), network(frozenset(("up2",)), (1, 0))
    reference = outputs(right, X)[0]
    found = diagnose(wrong, inputs={"x": X}, outputs={"tanh2": reference})
    assert found.explained, found.reason
