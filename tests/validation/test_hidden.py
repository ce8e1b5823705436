"""Differences that three draws of N(0, 1) do not show, and honest rewrites that must stay fine."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto

import onnxpad
from onnxpad.validation import Validation, Verdict
from tests.validation.builders import RANDOM, W1, W2, Array, model, node

POOL: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 2]}
SMALL = (W1 / 20).astype(np.float32)


FIXED = {"H": 8, "W": 9}


def cpu(before: ModelProto, after: ModelProto, **options: Any) -> Validation:
    return onnxpad.validate(before, after, device="cpu", **options)


def scalar(value: float) -> Array:
    return np.array(value, np.float32)


def activated(activation: NodeProto, *behind: NodeProto, **constants: Array) -> ModelProto:
    nodes = [node("Conv", ["x", "W"], ["c"], name="c1"), activation, *behind]
    nodes.append(node("Conv", [nodes[-1].output[0], "W2"], ["y"], name="c2"))
    return model(nodes, {"W": SMALL, "W2": W2, **constants})


SIX = {"lo": scalar(0), "hi": scalar(6)}
RELU = node("Relu", ["c"], ["r"], name="act")
RELU6 = node("Clip", ["c", "lo", "hi"], ["r"], name="act")


def test_relu6_is_not_relu() -> None:
    report = cpu(activated(RELU6, **SIX), activated(RELU, **SIX))
    assert report.verdict is Verdict.DIFFERENT
    assert report.first_difference is not None
    assert report.first_difference.node == "Clip 'act'"


@pytest.mark.sweep
def test_relu6_is_relu_where_nothing_reaches_6() -> None:
    def bounded(activation: NodeProto) -> ModelProto:
        nodes = [node("Sigmoid", ["x"], ["c"]), activation, node("Conv", ["r", "W"], ["y"])]
        return model(nodes, {"W": W1, **SIX})

    assert cpu(bounded(RELU6), bounded(RELU), dims=FIXED).verdict is Verdict.IDENTICAL


@pytest.mark.sweep
def test_a_limit_that_a_later_node_sets_again_is_no_difference() -> None:
    again = node("Clip", ["r", "lo", "hi"], ["s"])
    report = cpu(activated(RELU6, again, **SIX), activated(RELU, again, **SIX), dims=FIXED)
    assert report.verdict is Verdict.IDENTICAL


def test_a_limit_that_moved_to_a_later_node_is_no_difference() -> None:
    later = node("Clip", ["r", "lo", "hi"], ["s"])
    kept = node("Identity", ["r"], ["s"])
    assert cpu(activated(RELU, later, **SIX), activated(RELU6, kept, **SIX)).ok
    assert cpu(activated(RELU6, kept, **SIX), activated(RELU, later, **SIX)).ok


def pooled(fill: float | None, front: str) -> ModelProto:
    nodes = [node(front, ["x"], ["f"])]
    if fill is None:
        nodes.append(node("MaxPool", ["f"], ["y"], name="p", pads=[1] * 4, **POOL))
        return model(nodes, {})
    nodes.append(node("Pad", ["f", "pads", "v"], ["q"], name="pad"))
    nodes.append(node("MaxPool", ["q"], ["y"], name="p", **POOL))
    return model(nodes, {"pads": np.array([0, 0, 1, 1, 0, 0, 1, 1]), "v": scalar(fill)})


@pytest.mark.parametrize(
    ("front", "fill", "verdict"),
    [
        ("Identity", -3.0, Verdict.DIFFERENT),
        ("Identity", -300.0, Verdict.DIFFERENT),
        ("Identity", -np.inf, Verdict.PROVED),
        ("Identity", float(np.finfo(np.float32).min), Verdict.PROVED),
        ("Relu", 0.0, Verdict.PROVED),
        ("Tanh", -3.0, Verdict.PROVED),
        ("Tanh", -0.75, Verdict.DIFFERENT),
    ],
)
def test_a_fill_is_judged_by_what_stands_in_front(
    front: str, fill: float, verdict: Verdict
) -> None:
    assert cpu(pooled(None, front), pooled(fill, front)).verdict is verdict


def test_thresholds_are_tried_on_both_sides() -> None:
    def above(limit: float) -> ModelProto:
        return activated(node("ThresholdedRelu", ["c"], ["r"], name="act", alpha=limit))

    assert cpu(above(4.0), above(5.0)).verdict is Verdict.DIFFERENT
    assert cpu(above(4.0), above(4.0)).verdict is Verdict.PROVED


def test_ties_are_tried() -> None:
    def compared(operator: str) -> ModelProto:
        nodes = [node(operator, ["x", "k"], ["l"]), node("Where", ["l", "x", "n"], ["y"])]
        return model(nodes, {"k": scalar(1.5), "n": scalar(0)})

    assert cpu(compared("Less"), compared("LessOrEqual")).verdict is Verdict.DIFFERENT


@pytest.mark.sweep
@pytest.mark.parametrize("rows", [100, 5000])
def test_every_row_of_a_table_is_looked_up(rows: int) -> None:
    table = RANDOM.standard_normal((rows, 5)).astype(np.float32)
    other = table.copy()
    other[71] += 1

    def looked_up(values: Array) -> ModelProto:
        gather = node("Gather", ["t", "x"], ["y"])
        return model(
            [gather],
            {"t": values},
            shape=["N", 7],
            dtype=TensorProto.INT64,
            out=TensorProto.FLOAT,
        )

    assert cpu(looked_up(table), looked_up(other)).verdict is Verdict.DIFFERENT
    assert cpu(looked_up(table), looked_up(table)).verdict is Verdict.PROVED


def test_a_limit_that_no_dequantised_number_reaches_is_no_difference() -> None:
    """int8 in steps of 0.5 behind a convolution: at most 262, whatever a caller gives."""
    constants = {"s": scalar(0.5), "z": np.array(-3, np.int8), "high": scalar(1000)}
    constants["w"] = np.array([-3, -1], np.float32).reshape(1, 1, 1, 2)
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        node("Conv", ["d", "w"], ["c"]),
    ]
    free, limited = (
        model([*nodes, last], constants, shape=[1, 1, 3, 4])
        for last in (node("Identity", ["c"], ["y"]), node("Min", ["c", "high"], ["y"]))
    )
    assert cpu(free, limited).verdict is not Verdict.DIFFERENT


def test_an_unknown_operator_behind_a_probe_of_proved_models_says_nothing() -> None:
    """A DeformConv reads a row of padding; the evaluator does not know what probes make of it."""

    def reading(column: float) -> ModelProto:
        offset = np.zeros((1, 2, 1, 3), np.float32)
        offset[0, :, 0, 2] = 1, column
        constants = {"w": np.ones((1, 1, 1, 1), np.float32), "o": offset}
        constants["p"] = np.array([0, 0, 0, 0, 0, 0, 1, 0])
        nodes = [
            node("Pad", ["x", "p"], ["t"]),
            node("DeformConv", ["t", "w", "o"], ["y"], strides=[2, 1]),
        ]
        return model(nodes, constants, shape=[1, 1, 1, 3], opset=19)

    found = onnxpad.validate(reading(0), reading(0.5), device="cpu")
    assert found.verdict is Verdict.PROVED, found.reason


def test_a_weight_that_reads_nothing_but_padding_may_be_any_weight() -> None:
    def reading(weight: float) -> ModelProto:
        constants = {"p": np.array([0, 0, 0, 1, 0, 0, 0, 1]), "w": np.full((1, 1, 1, 1), weight)}
        constants["w"] = constants["w"].astype(np.float32)
        nodes = [
            node("Pad", ["x", "p"], ["padded"]),
            node("FusedConv", ["padded", "w"], ["y"], domain="com.microsoft", strides=[1, 2]),
        ]
        return model(nodes, constants, shape=[1, 1, 3, 1])

    found = onnxpad.validate(reading(3), reading(5), device="cpu")
    assert found.verdict is Verdict.PROVED


@pytest.mark.parametrize("fill", [-3.0, -300.0])
def test_runs_alone_try_other_magnitudes(fill: float) -> None:
    for before, after in (
        (pooled(None, "Identity"), pooled(fill, "Identity")),
        (activated(RELU6, **SIX), activated(RELU, **SIX)),
    ):
        found = onnxpad.validate(before, after, device="cpu", run_only=True)
        assert found.verdict is Verdict.DIFFERENT
    same = activated(RELU, **SIX)
    assert onnxpad.validate(same, same, device="cpu", run_only=True).verdict is Verdict.IDENTICAL
