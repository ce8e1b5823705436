"""Models of a single node, and onnxruntime without its optimisations, for the tests' judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class OneNode:
    """An operator with its inputs (None: left out), of which the first is the model's input."""

    op: str
    inputs: Sequence[Array | None]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    opset: int = 21
    domain: str = ""
    outputs: int = 1

    def model(self) -> onnx.ModelProto:
        make = onnx.helper
        names = ["" if value is None else f"i{n}" for n, value in enumerate(self.inputs)]
        outputs = [f"o{n}" for n in range(self.outputs)]
        node = make.make_node(
            self.op, names, outputs, "node", domain=self.domain, **self.attributes
        )
        first = self.feed()["i0"]
        kind = make.np_dtype_to_tensor_dtype(first.dtype)
        graph = make.make_graph(
            [node],
            "one",
            [make.make_tensor_value_info("i0", kind, first.shape)],
            [make.make_empty_tensor_value_info(name) for name in outputs],
            [
                onnx.numpy_helper.from_array(value, name)
                for name, value in zip(names[1:], self.inputs[1:], strict=True)
                if value is not None
            ],
        )
        imports = [("", self.opset)] + ([(self.domain, 1)] if self.domain else [])
        return make.make_model(
            graph, ir_version=8, opset_imports=[make.make_opsetid(*pair) for pair in imports]
        )

    def feed(self) -> dict[str, Array]:
        if self.inputs[0] is None:
            raise ValueError(f"{self.op} needs a first input")
        return {"i0": self.inputs[0]}


def run_onnxruntime(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The model's outputs by name, from onnxruntime on the CPU as the graph is written."""
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = runtime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [info.name for info in model.graph.output]
    return dict(zip(names, session.run(names, dict(inputs)), strict=True))


def assert_same(found: Array, expected: Array, rtol: float = 0.0) -> None:
    """Equal type, shape and values; -inf and the lowest finite float are one value here."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if found.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected)
        return
    floor = np.finfo(found.dtype).min
    np.testing.assert_allclose(
        np.maximum(found, floor), np.maximum(expected, floor), rtol=rtol, atol=rtol
    )
