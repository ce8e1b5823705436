"""Networks with open sizes and a reference of one size: the plan is right at others too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from onnxpad.diagnosis import diagnose
from onnxpad.retargeting import retarget
from tests.retargeting.running import outputs, relative, signed

Ways = Mapping[str, str]
SAME: Ways = {"conv": "SAME_UPPER", "max": "SAME_UPPER", "average": "SAME_UPPER"}
SYMMETRIC: Ways = {"conv": "half", "max": "half", "average": "half"}
KERAS: Ways = {**SAME, "stem": "front", "pool": "front"}
BAKED: Ways = {"conv": "even", "max": "even", "average": "even"}
OPERATORS = {"conv": "Conv", "max": "MaxPool", "average": "AveragePool"}


class Graph:
    """Adds layers that are padded as `ways` say of their names or kinds."""

    def __init__(self, ways: Ways) -> None:
        self.ways, self.random = ways, np.random.default_rng(3)
        self.nodes = list[NodeProto]()
        self.held = list[TensorProto]()

    def hold(self, value: Any, name: str) -> str:
        self.held.append(numpy_helper.from_array(value, name))
        return name

    def add(self, op: str, inputs: Sequence[str], name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [f"{name}_out"], name, **attributes))
        return f"{name}_out"

    def layer(self, x: str, name: str, kind: str, kernel: int, stride: int, reads: int = 4) -> str:
        way, half, total = (
            self.ways.get(name, self.ways[kind]),
            kernel // 2,
            max(kernel - stride, 0),
        )
        pads = {"half": [half] * 4, "even": [total // 2] * 2 + [total - total // 2] * 2}
        given: dict[str, Any] = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2}
        given |= {"auto_pad": way} if "SAME" in way else {"pads": pads.get(way, [0] * 4)}
        inputs = [x]
        if way == "front":
            both = np.array([0, 0, half, half] * 2, np.int64)
            inputs = [self.add("Pad", [x, self.hold(both, f"{name}_p")], f"{name}_pad")]
        if kind == "conv":
            weight = self.random.standard_normal((4, reads, kernel, kernel)) / kernel
            inputs.append(self.hold(weight.astype(np.float32), f"{name}_w"))
        y = self.add(OPERATORS[kind], inputs, name, **given)
        return self.add("Relu", [y], f"{name}_relu") if kind == "conv" else y

    def model(self) -> ModelProto:
        """A stem, a pool, two blocks of three branches, and a last convolution."""
        x = self.layer("x", "stem", "conv", 7, 2, reads=3)
        x = self.layer(x, "pool", "max", 3, 2)
        reads = 4
        for block, kind in enumerate(("max", "average")):
            branches = [
                self.layer(x, f"b{block}_3", "conv", 3, 2, reads),
                self.layer(x, f"b{block}_5", "conv", 5, 2, reads),
                self.layer(x, f"b{block}_pool", kind, 3, 2),
            ]
            x = self.add("Concat", branches, f"b{block}", axis=1)
            reads += 8
        y = self.layer(x, "last", "conv", 3, 1, reads)
        info = helper.make_tensor_value_info
        ends = [info("x", 1, [1, 3, "h", "w"])], [info(y, 1, None)]
        graph = helper.make_graph(self.nodes, "network", *ends, self.held)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


CASES = {
    "TensorFlow, exported symmetric": (SAME, SYMMETRIC, [(72, 72)], [(61, 90), (65, 66)]),
    "at an odd size": (SAME, SYMMETRIC, [(71, 73)], [(64, 64), (90, 61)]),
    "two samples": (SAME, SYMMETRIC, [(72, 72), (73, 75)], [(61, 90), (66, 80)]),
    "PyTorch, exported as SAME": (SYMMETRIC, SAME, [(72, 72)], [(61, 90), (65, 66)]),
    "numbers of even sizes": (SAME, BAKED, [(71, 75)], [(64, 64), (61, 90)]),
    "Keras with its symmetric stem": (KERAS, SYMMETRIC, [(64, 64)], [(64, 96), (128, 64)]),
}


@pytest.mark.part(2)
@pytest.mark.parametrize(("right", "wrong", "given", "others"), CASES.values(), ids=CASES)
def test_a_convention_is_followed_where_the_samples_do_not_tell(
    right: Ways, wrong: Ways, given: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    models = Graph(right).model(), Graph(wrong).model()
    x = [signed(sum(size), 1, 3, *size) for size in given]
    y = [outputs(models[0], one)[0] for one in x]
    name = models[1].graph.output[0].name
    found = diagnose(models[1], inputs={"x": x}, outputs={name: y})
    assert found.explained, found.reason
    mended = retarget(models[1], plan=found.plan).model
    assert isinstance(mended, ModelProto)
    for size in (*given, *others):
        other = signed(sum(size) + 1, 1, 3, *size)
        assert relative(outputs(mended, other)[0], outputs(models[0], other)[0]) < 1e-5, size
