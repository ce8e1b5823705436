"""How many channels convolutions say that an input has."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnxpad.model.comparing.networks import Network
from onnxpad.validation.request import input_channels

Nodes = list[onnx.NodeProto]
CONV = helper.make_node("Conv", ["a", "w"], ["y"])


def found(nodes: Nodes) -> dict[str, tuple[int, int, int]]:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [None] * 4)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    stored: dict[str, np.ndarray[Any, Any]] = {
        "w": np.ones((8, 3, 3, 3), np.float32),
        "half": np.array([0.5], np.float32),
        "means": np.ones((3, 1, 1), np.float32),
        "pads": np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64),
        "deep": np.array([0, 1, 1, 1, 0, 0, 1, 1], np.int64),
    }
    initializers = [numpy_helper.from_array(value, name) for name, value in stored.items()]
    graph = helper.make_graph(nodes, "one", [x], [y], initializers)
    return input_channels(Network(helper.make_model(graph)))


ROUTES: dict[str, tuple[Nodes, dict[str, tuple[int, int, int]]]] = {
    "scaled": ([helper.make_node("Mul", ["half", "x"], ["a"]), CONV], {"x": (1, 3, 4)}),
    "padded": ([helper.make_node("Pad", ["x", "pads"], ["a"]), CONV], {"x": (1, 3, 4)}),
    "turned": (
        [helper.make_node("Transpose", ["x"], ["a"], perm=[0, 3, 1, 2]), CONV],
        {"x": (3, 3, 4)},
    ),
    "turned twice": (
        [
            helper.make_node("Transpose", ["x"], ["b"], perm=[0, 3, 1, 2]),
            helper.make_node("Transpose", ["b"], ["a"], perm=[0, 2, 1, 3]),
            CONV,
        ],
        {"x": (1, 3, 4)},
    ),
    "grouped": (
        [helper.make_node("Conv", ["x", "w"], ["y"], group=2)],
        {"x": (1, 6, 4)},
    ),
    "transposed": ([helper.make_node("ConvTranspose", ["x", "w"], ["y"])], {"x": (1, 8, 4)}),
    "broadcast": ([helper.make_node("Sub", ["x", "means"], ["a"]), CONV], {}),
    "padded channels": ([helper.make_node("Pad", ["x", "deep"], ["a"]), CONV], {}),
    "another operator": ([helper.make_node("Concat", ["x", "x"], ["a"], axis=1), CONV], {}),
    "another domain": ([helper.make_node("Relu", ["x"], ["a"], domain="own"), CONV], {}),
    "a weight that is computed": (
        [
            helper.make_node("Relu", ["w"], ["v"]),
            helper.make_node("Conv", ["x", "v"], ["y"]),
        ],
        {"x": (1, 3, 4)},
    ),
    "a quantised weight": (
        [
            helper.make_node("DequantizeLinear", ["w", "half"], ["v"]),
            helper.make_node("Conv", ["x", "v"], ["y"]),
        ],
        {"x": (1, 3, 4)},
    ),
    "as the weight": ([helper.make_node("Conv", ["w", "x"], ["y"])], {}),
    "two answers": (
        [
            helper.make_node("Conv", ["x", "w"], ["z"]),
            helper.make_node("ConvTranspose", ["x", "w"], ["y"]),
        ],
        {},
    ),
}


@pytest.mark.parametrize(("nodes", "known"), ROUTES.values(), ids=ROUTES)
def test_channels_are_followed_only_where_they_stay(
    nodes: Nodes, known: dict[str, tuple[int, int, int]]
) -> None:
    assert found(nodes) == known


@pytest.mark.parametrize(
    "odd",
    [
        helper.make_node("Pad", ["x"], ["a"], pads=numpy_helper.from_array(np.zeros(8, np.int64))),
        helper.make_node("Conv", ["x", "w"], ["a"], group=helper.make_graph([], "g", [], [])),
        helper.make_node("Conv", [], ["a"]),
        helper.make_node("Transpose", ["x"], ["a"], perm=3),
    ],
    ids=["pads are a tensor", "group is a graph", "no inputs", "perm is a number"],
)
def test_attributes_and_inputs_that_no_operator_has_say_nothing(odd: onnx.NodeProto) -> None:
    assert found([odd, CONV]) == {}
