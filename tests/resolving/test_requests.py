"""What is refused, and that the message says what was found and what to try."""

from __future__ import annotations

import ast
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onnxpad import OnnxpadError, RequestError, Resolution, resolve
from onnxpad.frameworks.choices import Role, Special
from onnxpad.frameworks.conventions import all_conventions
from tests.conftest import Recorded

REFUSALS = Path(__file__).parent / "cases" / "refusals.txt"
CONV: dict[str, Any] = {"input_shape": (1, 3, 8, 8), "weight_shape": (4, 3, 3, 3)}
POOL: dict[str, Any] = {"input_shape": (1, 3, 8, 8), "kernel_size": 3}


def refusal(call: str) -> str:
    """What is said of `FRAMEWORK OP {attributes}`; None leaves a shape out."""
    framework, op, attributes = call.split(" ", 2)
    shapes = {"input_shape": (1, 3, 8, 8)} if "pool" in op else CONV
    words = {**shapes, **ast.literal_eval(attributes)}
    with pytest.raises(RequestError) as caught:
        resolve(framework, op, **words)
    return str(caught.value).replace("\n", "\\n")


def test_what_is_refused(recorded: Recorded) -> None:
    recorded(REFUSALS, " : ", refusal)


def test_arrays_and_numbers_of_numpy_are_values() -> None:
    for stride in (np.array([2, 1]), (np.int64(2), np.int32(1))):
        assert resolve("pytorch", "conv", **CONV, stride=stride).output_shape == (1, 4, 3, 6)


def test_a_model_needs_its_weight_and_nothing_else_does() -> None:
    conv = resolve("pytorch", "conv", **CONV)
    pool = resolve("pytorch", "max_pool", **POOL)
    weight = np.zeros((4, 3, 3, 3), np.float32)
    cases: list[tuple[Resolution, dict[str, Any], str]] = [
        (conv, {}, r"needs its weight: to_model\(weight=\.\.\.\), of shape \[4, 3, 3, 3\]"),
        (
            conv,
            {"weight": weight[:, :2]},
            r"the weight is \[4, 2, 3, 3\], but must be \[4, 3, 3, 3\]",
        ),
        (conv, {"weight": weight, "bias": np.zeros(3)}, r"the bias is \[3\], but must be \[4\]"),
        (conv, {"weight": weight.astype(np.int32)}, "the weight holds int32"),
        (pool, {"weight": weight}, "a pool has no weight"),
        (pool, {"bias": np.zeros(3)}, "a pool has no bias"),
    ]
    for model, words, message in cases:
        with pytest.raises(RequestError, match=message):
            model.to_model(**words)


def test_the_weight_may_say_the_channels() -> None:
    found = resolve("tf", "conv", input_shape=(1, 4, 8, 8), weight_shape=(None, None, 3, 3))
    assert found.output_shape == (1, None, 6, 6)
    model = found.to_model(np.zeros((6, 2, 3, 3), np.float32), np.zeros(6))
    (group,) = (a.i for a in model.graph.node[0].attribute if a.name == "group")
    assert group == 2


def test_what_no_nodes_can_say_is_an_error_with_a_reason() -> None:
    words: dict[str, Any] = {"window_shape": 2, "dilations": 2, "padding": "SAME"}
    found = resolve("tensorflow", "max_pool", input_shape=(1, 1, 1), **words)
    assert found.output_shape == (1, 1, 1)
    with pytest.raises(OnnxpadError, match="has no ONNX form: "):
        found.to_model()
    assert found.to_json()["nodes"] is None
    assert "has no ONNX form" in found.to_json()["reason"]


ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 3, 10**12, 2.5, float("nan"), "", "SAME", "3", b"x", [], [1], [1, 1],
    [1, -1], [[0, 0], [1, 1]], [[1]], [[[1]]], {"a": 1}, {1}, object(), np.array(2), np.ones(2),
    np.array([[1, 1], [0, 0]]), "x" * 200,
)  # fmt: skip


@pytest.mark.part(4)
@pytest.mark.parametrize("name", [n for n, item in all_conventions().items() if item.layers])
def test_whatever_is_given_is_an_answer_or_a_request_error(name: str) -> None:
    """Every attribute of every layer gets values of every kind, one at a time."""
    for layer in all_conventions()[name].layers:
        pool = layer.op in {"max_pool", "avg_pool"}
        plain: dict[str, Any] = {w.name: 3 for w in layer.words if w.role is Role.KERNEL and pool}
        plain |= {w.name: 16 for w in layer.words if w.default is Special.REQUIRED and not pool}
        shape = None if pool else (2, 2, 3, 3)
        for word, value in product(layer.words, ODD):
            try:
                found = resolve(
                    name,
                    layer.op,
                    input_shape=(1, 2, 8, 8),
                    weight_shape=shape,
                    **(plain | {word.name: value}),
                )
                assert json.dumps(found.to_json())
            except RequestError as error:
                assert len(str(error)) < 600  # noqa: PT017 - most of them are refused


@pytest.mark.parametrize("value", ODD)
def test_shapes_of_any_kind(value: Any) -> None:
    with pytest.raises(RequestError):
        resolve("pytorch", "conv", input_shape=value, weight_shape=(4, 3, 3, 3))
    with pytest.raises(RequestError):
        resolve("pytorch", "max_pool", input_shape=(1, 1, 8), weight_shape=value, kernel_size=9)
