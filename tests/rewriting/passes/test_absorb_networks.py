"""Pads, what they may cross and what may pad in their place, drawn at random, by onnxruntime."""

from typing import Any

import numpy as np
import onnx
import pytest
from numpy.random import Generator
from onnx import NodeProto, TensorProto, helper, numpy_helper

from onnxpad.rewriting.rewrite import rewrite
from tests.oracle.onnxruntime_levels import Array, ran

X = np.random.default_rng(7).permutation(np.arange(-14, 14, dtype=np.float32)).reshape(1, 2, 14)
CROSSED = ("Relu", "Neg", "Abs", "Identity", "Clip", "Tanh", "Mul", "Add", "QDQ", "Sigmoid", "Pad")
ENDS = ("Conv", "MaxPool", "AveragePool", "LpPool", "ConvTranspose")


class Network:
    """A tree: some tensors are read by several, all ends are outputs."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.outputs: list[str] = []
        made = ["x"]
        for _ in range(6):
            made.append(self.crossed(self.rng, str(self.rng.choice(["x", made[-1], made[-1]]))))
        for _ in range(3):
            self.end(self.rng, str(self.rng.choice(made[1:])))

    def constant(self, value: Any, dtype: str = "float32") -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        number = len(self.nodes)
        self.nodes.append(helper.make_node(op, inputs, [f"t{number}"], f"n{number}", **attributes))
        return f"t{number}"

    def crossed(self, rng: Generator, source: str) -> str:
        op = str(rng.choice(["Pad"] * 6 + list(CROSSED)))
        if op == "Pad":
            ends = rng.integers(-1 if rng.integers(4) == 0 else 0, 3, 2)
            pads = self.constant([0, 0, ends[0], 0, 0, ends[1]], "int64")
            return self.add("Pad", source, pads, self.constant(rng.choice([0, 0, 0, -np.inf, 2])))
        if op == "Clip":
            return self.add("Clip", source, self.constant(rng.choice([-3, 0, 1])))
        if op in ("Mul", "Add"):
            return self.add(op, source, self.constant(rng.choice([0, -2, 0.5])))
        if op == "QDQ":
            scales = [self.constant(0.25), self.constant(rng.choice([0, 128]), "uint8")]
            return self.add(
                "DequantizeLinear", self.add("QuantizeLinear", source, *scales), *scales
            )
        return self.add(op, source)

    def end(self, rng: Generator, source: str) -> None:
        op, kernel = str(rng.choice(ENDS)), int(rng.integers(1, 5))
        found: dict[str, Any] = {"kernel_shape": [kernel], "strides": [int(rng.integers(1, 3))]}
        if rng.integers(3) and kernel > 1:
            found["pads"] = rng.integers(0, kernel, 2).tolist()
        elif rng.integers(2):
            found["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
        if op.endswith("Pool") and op != "LpPool" and rng.integers(2):
            found["ceil_mode"] = 1
        if op == "AveragePool" and rng.integers(2):
            found["count_include_pad"] = 1
        inputs = [source]
        if op.startswith("Conv"):
            inputs.append(self.constant(rng.integers(-3, 4, (2, 2, kernel))))
        self.outputs.append(self.add(op, *inputs, **found))

    def model(self) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "network",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", "c", f"{name}_size"])
                for name in self.outputs
            ],
            self.constants,
        )
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 20)])


def result(model: onnx.ModelProto, output: int, *, optimised: bool) -> Array | str:
    alone = onnx.ModelProto()
    alone.CopyFrom(model)
    del alone.graph.output[:]
    alone.graph.output.append(model.graph.output[output])
    return ran(alone, {"x": X}, optimised=optimised)


def agree(found: Array | str, wanted: Array | str) -> bool:
    """Equal but for rounding; the lowest finite float of a window of padding alone is -inf."""
    if isinstance(found, str) or isinstance(wanted, str) or found.shape != wanted.shape:
        return False
    floor = np.finfo(np.float32).min
    a, b = (np.maximum(one, floor) for one in (found, wanted))
    return bool(np.allclose(a, b, rtol=1e-5, atol=1e-5, equal_nan=True))


@pytest.mark.parametrize("seed", range(60))
def test_networks(seed: int) -> None:
    """What onnxruntime computes right before it computes right afterwards, at both levels."""
    model = Network(seed).model()
    rng = np.random.default_rng(seed)
    passes = ["absorb-pad"]
    if seed % 2:
        passes = [str(rng.choice(["explicit-pads", "split-pads", "floor-pool"])), *passes]
    done = rewrite(model, passes=passes).model
    assert isinstance(done, onnx.ModelProto)
    onnx.checker.check_model(done)
    for output in range(len(model.graph.output)):
        wanted = result(model, output, optimised=False)
        if isinstance(wanted, str) or np.isnan(wanted).any():
            continue
        assert agree(result(done, output, optimised=False), wanted)
        if agree(result(model, output, optimised=True), wanted):
            assert agree(result(done, output, optimised=True), wanted)
