"""Chains of operators: float64 value and bound against what onnxruntime computes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import NodeProto

from onnxpad.model.comparing.networks import Network
from onnxpad.probing.evaluator import Arithmetic, NotEvaluable
from onnxpad.processes import MEMORY
from onnxpad.sessions import RunFailure, Settings
from onnxpad.validation.bench import Bench
from onnxpad.validation.trace import Traced, trace
from tests.validation.builders import B1, RANDOM, W1, model, node

Array = NDArray[Any]
X = RANDOM.standard_normal((1, 3, 9, 8)).astype(np.float32)
CONSTANTS: dict[str, Array] = {
    "W": W1,
    "B": B1,
    "pads": np.array([0, 0, 1, 1, 0, 0, 1, 1]),
    "order": np.array([0, 2, 3, 1]),
    "from": np.array([1, 2]),
    "to": np.array([8, 7]),
    "axes": np.array([2, 3]),
    "k": np.array(3.5, np.float32),
    "s": np.array(0.05, np.float32),
    "z": np.array(3, np.int8),
}
FLOAT32 = Arithmetic()
CONV = node("Conv", ["x", "W", "B"], ["c"], pads=[1, 1, 1, 1])
TAILS: dict[str, list[NodeProto]] = {
    "relu and slice": [
        node("Relu", ["c"], ["r"]),
        node("Slice", ["r", "from", "to", "axes"], ["y"]),
    ],
    "transpose twice": [
        node("Transpose", ["c"], ["t"], perm=[0, 2, 3, 1]),
        node("Transpose", ["t"], ["y"], perm=[0, 3, 1, 2]),
    ],
    "scale and shift": [node("Mul", ["c", "k"], ["m"]), node("Add", ["m", "c"], ["y"])],
    "divide": [node("Div", ["c", "k"], ["d"]), node("Sub", ["d", "k"], ["y"])],
    "tanh": [node("Tanh", ["c"], ["y"])],
    "concat": [node("Concat", ["c", "x"], ["y"], axis=1)],
    "pool": [node("AveragePool", ["c"], ["a"], kernel_shape=[2, 2]), node("Relu", ["a"], ["y"])],
    "conv after pad": [
        node("Pad", ["c", "pads"], ["p"], mode="reflect"),
        node("MaxPool", ["p"], ["y"], kernel_shape=[3, 3]),
    ],
    "quantise": [
        node("QuantizeLinear", ["c", "s", "z"], ["q"]),
        node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ],
    "half": [node("Cast", ["c"], ["h"], to=10), node("Cast", ["h"], ["y"], to=1)],
}


def traced(nodes: Sequence[NodeProto], arithmetic: Arithmetic | None = FLOAT32) -> Traced:
    network = Network(model(nodes, CONSTANTS))
    indices = range(len(network.nodes))
    return trace(Bench(Settings()), network, indices, {"x": X}, arithmetic)["y"]


@pytest.mark.parametrize("name", TAILS)
def test_onnxruntime_stays_within_the_bound_of_a_chain(name: str) -> None:
    nodes = [CONV, *TAILS[name]]
    found = traced(nodes)
    result = Bench(Settings()).run(Network(model(nodes, CONSTANTS)), {"x": X})
    assert not isinstance(result, RunFailure)
    assert found.error is not None
    assert found.error.shape == result["y"].shape
    assert np.all(np.abs(found.value - result["y"]) <= found.error)
    quantum = 0.051 if name == "quantise" else 0.07 if name == "half" else 1e-3
    assert found.error.max() < quantum


def test_a_cast_to_half_may_part_by_a_whole_step() -> None:
    nodes = [CONV, *TAILS["half"]]
    found = traced(nodes)
    assert found.error is not None
    assert np.all(found.error >= np.spacing(np.abs(found.value).astype(np.float16)))


def test_integer_arithmetic_on_shapes_is_exact() -> None:
    nodes = [
        node("Shape", ["x"], ["n"]),
        node("Mul", ["n", "n"], ["m"]),
        node("Cast", ["m"], ["y"], to=6),
    ]
    found = traced(nodes)
    assert found.error is None
    assert found.value.tolist() == [1, 9, 81, 64]


def test_a_sigmoid_of_exact_values_still_rounds() -> None:
    assert traced([node("Sigmoid", ["x"], ["y"])]).error is not None
    assert traced([node("Relu", ["x"], ["y"])]).error is None


@pytest.mark.parametrize(
    "tail",
    [
        [node("Softmax", ["c"], ["y"])],
        [node("Cast", ["c"], ["y"], to=7)],
        [node("Pow", ["c", "k"], ["y"])],
    ],
)
def test_operators_whose_rounding_is_not_known(tail: list[NodeProto]) -> None:
    with pytest.raises(NotEvaluable):
        traced([CONV, *tail])
    assert traced([CONV, *tail], None).error is None


def test_what_nobody_can_run() -> None:
    with pytest.raises(NotEvaluable, match="Nobody"):
        traced([node("Nobody", ["x"], ["y"], domain="elsewhere")], None)


def test_values_together_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = [node("Relu", [f"r{n}" if n else "x"], [f"r{n + 1}"]) for n in range(20)]
    nodes = [*chain, node("MaxPool", ["r20"], ["y"], kernel_shape=[3, 3])]
    assert traced(nodes, None).value.size
    monkeypatch.setattr("onnxpad.validation.trace.SHARE", MEMORY // (10 * X.nbytes))
    with pytest.raises(NotEvaluable, match=r"Relu.* take more than 8.4 KiB; memory='20G'"):
        traced(nodes, None)
