"""Passes on networks drawn at random: shared Pads, Pads in a row, Pads that are outputs."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.random import Generator
from onnx import NodeProto, TensorProto, helper, numpy_helper

from onnxpad import rewrite
from tests.names import PASSES
from tests.oracle.interpreter import run_model
from tests.oracle.windows import Array

OPERATORS = ("Pad", "Pad", "Conv", "MaxPool", "AveragePool", "LpPool", "Relu", "Neg")
X = np.random.default_rng(7).permutation(np.arange(-14, 14, dtype=np.float32)).reshape(1, 2, 14)


@dataclass
class Network:
    """Nodes one after the other, each of which reads any tensor that is there."""

    opset: int
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    def model(self, *outputs: str) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "network",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2, f"{name}_size"])
                for name in outputs
            ],
            self.constants,
        )
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, ir_version=8, opset_imports=opsets)

    def constant(self, name: str, value: Array) -> str:
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def grow(self, rng: Generator) -> None:
        """One more node, unless no window fits there or its values are no numbers."""
        op, number, held = str(rng.choice(OPERATORS)), len(self.nodes), len(self.constants)
        made = [name for node in self.nodes for name in node.output]
        source = str(rng.choice(["x", *made, *made[-1:] * 4]))
        attributes: dict[str, Any] = {}
        inputs = [source]
        if op == "Pad":
            pads = [0, 0, *rng.integers(0, 3, 1), 0, 0, *rng.integers(0, 3, 1)]
            inputs.append(self.constant(f"p{number}", np.asarray(pads, np.int64)))
            value = rng.choice([0, 0, 0, -np.inf, 5])
            inputs.append(self.constant(f"c{number}", np.asarray(value, np.float32)))
        elif op not in ("Relu", "Neg"):
            attributes = _geometry(rng, op)
        if op == "Conv":
            w = rng.integers(-3, 4, (2, 2, *attributes["kernel_shape"])).astype(np.float32)
            inputs.append(self.constant(f"w{number}", w))
        name = "" if rng.integers(4) == 0 else f"n{number}"
        self.nodes.append(helper.make_node(op, inputs, [f"t{number}"], name, **attributes))
        if not self._makes_sense(f"t{number}"):
            self.nodes.pop()
            del self.constants[held:]

    def _makes_sense(self, output: str) -> bool:
        try:
            found = run_model(self.model(output), {"x": X})[output]
        except ValueError:
            return False
        allowed = np.isfinite(found)
        if self.nodes[-1].op_type in ("Pad", "MaxPool"):
            allowed |= found == -np.inf
        return bool(allowed.all())


def _geometry(rng: Generator, op: str) -> dict[str, Any]:
    kernel, stride = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    found: dict[str, Any] = {"kernel_shape": [kernel], "strides": [stride]}
    match rng.integers(4):
        case 0:
            found["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
        case 1 | 2:
            found["pads"] = rng.integers(0, kernel, 2).tolist()
    if op != "Conv" and rng.integers(2):
        found["ceil_mode"] = 1
    if op == "AveragePool" and rng.integers(2):
        found["count_include_pad"] = 1
    return found


def drawn(seed: int) -> onnx.ModelProto:
    rng = np.random.default_rng(seed)
    network = Network(int(rng.choice([18, 22])))
    while len(network.nodes) < 7:
        network.grow(rng)
    made = [name for node in network.nodes for name in node.output]
    used = {name for node in network.nodes for name in node.input}
    ends = [name for name in made if name not in used or rng.integers(6) == 0]
    return network.model(*ends)


@pytest.mark.part(5)
@pytest.mark.parametrize("seed", range(150))
def test_networks(seed: int) -> None:
    model = drawn(seed)
    rng = np.random.default_rng(seed)
    passes = [str(name) for name in rng.permutation(PASSES)]
    done = rewrite(model, passes=passes[: 1 + seed % 3])
    assert isinstance(done.model, onnx.ModelProto)
    onnx.checker.check_model(done.model, full_check=True)
    wanted, found = (run_model(one, {"x": X}) for one in (model, done.model))
    assert list(found) == list(wanted)
    for name, value in wanted.items():
        assert found[name].shape == value.shape
        scale = np.abs(value[np.isfinite(value)]).max(initial=1)
        np.testing.assert_allclose(found[name], value, rtol=1e-6, atol=1e-6 * float(scale))
