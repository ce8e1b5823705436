"""Callers by position, by name and by default value; models that draw random numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from onnxpad.validation import Validation, Verdict
from tests.validation.builders import W1, Array, node
from tests.validation.runs import validate

F, D = TensorProto.FLOAT, TensorProto.DOUBLE
Listed = Sequence[tuple[str, int, Sequence[int] | None]]


def made(
    nodes: Sequence[NodeProto],
    inputs: Listed,
    outputs: Listed,
    constants: Mapping[str, Array] | None = None,
) -> ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info(*one) for one in inputs],
        [helper.make_tensor_value_info(*one) for one in outputs],
        [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def cpu(before: ModelProto, after: ModelProto) -> Validation:
    return validate(before, after, device="cpu")


def two_results(names: str) -> ModelProto:
    nodes = [node("Relu", ["x"], ["a"]), node("Neg", ["x"], ["b"])]
    return made(nodes, [("x", F, [1, 4])], [(name, F, None) for name in names])


def test_outputs_in_another_order_are_different() -> None:
    report = cpu(two_results("ab"), two_results("ba"))
    assert report.verdict is Verdict.DIFFERENT
    assert "outputs stand in another order, 'a', 'b'" in report.reason
    assert cpu(two_results("ab"), two_results("ab")).verdict is Verdict.IDENTICAL


def test_an_output_of_another_name_is_said_and_compared_by_position() -> None:
    other = made([node("Relu", ["x"], ["z"])], [("x", F, [1, 4])], [("z", F, None)])
    one = made([node("Relu", ["x"], ["y"])], [("x", F, [1, 4])], [("y", F, None)])
    report = cpu(one, other)
    assert report.verdict is Verdict.IDENTICAL
    assert any("outputs have other names" in warning for warning in report.warnings)


def filtered(*, replaceable: bool, ir: int = 8) -> ModelProto:
    inputs: list[tuple[str, int, Sequence[int] | None]] = [("x", F, [1, 3, 8, 8])]
    inputs += [("W", F, W1.shape)] if replaceable else []
    model = made([node("Conv", ["x", "W"], ["y"])], inputs, [("y", F, None)], {"W": W1})
    model.ir_version = ir
    return model


@pytest.mark.parametrize(("ir", "said"), [(8, True), (3, False)])
def test_a_default_that_nobody_can_replace_any_more_is_said(ir: int, said: bool) -> None:
    report = cpu(filtered(replaceable=True, ir=ir), filtered(replaceable=False))
    assert report.ok
    assert any("may give 'W' in place" in warning for warning in report.warnings) is said


def cast(kind: int) -> ModelProto:
    return made([node("Cast", ["x"], ["y"], to=kind)], [("x", F, [1, 4])], [("y", kind, None)])


def test_another_element_type_is_said() -> None:
    report = cpu(cast(F), cast(D))
    assert report.verdict is Verdict.DIFFERENT
    assert report.reason == "output 'y' is float32 in the first model and float64 in the second"


def with_noise(kind: str, *, used: bool = True, **attributes: Any) -> ModelProto:
    nodes = [node(kind, ["x"], ["n"], **attributes)]
    nodes.append(node("Add", ["x", "n" if used else "x"], ["y"]))
    return made(nodes, [("x", F, [1, 40])], [("y", F, None)])


@pytest.mark.parametrize("kind", ["RandomNormalLike", "RandomUniformLike", "Bernoulli"])
def test_what_draws_random_numbers_is_not_verified(kind: str) -> None:
    report = cpu(with_noise(kind, seed=1.0), with_noise(kind, seed=1.0))
    assert report.verdict is Verdict.UNVERIFIED
    assert f"{kind} 'n' draws random numbers" in report.reason
    assert cpu(with_noise(kind, used=False), with_noise(kind, used=False)).ok


@pytest.mark.parametrize("training", [True, False])
def test_dropout_draws_where_it_trains(training: bool) -> None:
    constants = {"r": np.array(0.5, np.float32), "t": np.array(training)}
    nodes = [node("Dropout", ["x", "r", "t"], ["d"]), node("Neg", ["d"], ["y"])]
    model = made(nodes, [("x", F, [1, 40])], [("y", F, None)], constants)
    report = cpu(model, model)
    assert report.verdict is (Verdict.UNVERIFIED if training else Verdict.IDENTICAL)


def test_a_node_without_outputs_is_no_internal_error() -> None:
    nodes = [helper.make_node("Relu", ["x"], []), node("Neg", ["x"], ["y"])]
    model = made(nodes, [("x", F, [1, 2, 8])], [("y", F, None)])
    report = cpu(model, model)
    assert report.verdict in (Verdict.IDENTICAL, Verdict.UNVERIFIED)
