"""Small models for validation tests: Conv -> Relu -> Conv, with the first Conv's padding open."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

Array = NDArray[Any]
RANDOM = np.random.default_rng(7)
W1 = RANDOM.standard_normal((8, 3, 3, 3)).astype(np.float32)
B1 = RANDOM.standard_normal(8).astype(np.float32)
W2 = RANDOM.standard_normal((4, 8, 3, 3)).astype(np.float32)
node = helper.make_node


def model(
    nodes: Sequence[NodeProto],
    constants: Mapping[str, Array],
    *,
    shape: Sequence[int | str] | None = (1, 3, "H", "W"),
    dtype: int = TensorProto.FLOAT,
    out: int | None = None,
    opset: int = 17,
    input_name: str = "x",
) -> ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info(input_name, dtype, shape)],
        [helper.make_tensor_value_info(nodes[-1].output[0], dtype if out is None else out, None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def two_convs(*, w: Array = W1, before: Sequence[NodeProto] = (), **attributes: Any) -> ModelProto:
    """Conv 'c1' with these attributes and weights, Relu, Conv 'c2'; `before` makes 'xp'."""
    constants = {"W": w, "B": B1, "W2": W2, "pads": np.array([0, 0, 1, 1, 0, 0, 1, 1])}
    nodes = [
        *before,
        node("Conv", ["xp" if before else "x", "W", "B"], ["c"], name="c1", **attributes),
        node("Relu", ["c"], ["r"], name="relu"),
        node("Conv", ["r", "W2"], ["y"], name="c2", pads=[1, 1, 1, 1]),
    ]
    return model(nodes, constants)


def zero_extended(w: Array, fill: float = 0) -> Array:
    """One row and column of `fill` in front of each kernel."""
    wide = np.full((*w.shape[:2], *(k + 1 for k in w.shape[2:])), fill, w.dtype)
    wide[:, :, 1:, 1:] = w
    return wide


def renamed(original: ModelProto) -> ModelProto:
    """The same model under other tensor names."""
    copy = ModelProto()
    copy.CopyFrom(original)
    for item in copy.graph.node:
        item.input[:] = [f"n_{name}" for name in item.input]
        item.output[:] = [f"n_{name}" for name in item.output]
    for value in [*copy.graph.input, *copy.graph.output, *copy.graph.initializer]:
        value.name = f"n_{value.name}"
    return copy
