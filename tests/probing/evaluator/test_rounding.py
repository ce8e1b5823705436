"""Bounds on rounding, against onnxruntime without optimisations where that follows the text."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import helper

from onnxpad.probing.evaluator import Arithmetic, Call, bounded, magnitude
from onnxpad.sessions import RunFailure, Session, Settings, open_session

Array = NDArray[Any]
X5 = np.arange(1.0, 6).reshape(1, 1, 5)
W = np.array([1.0, 10, 100]).reshape(1, 1, 3)


def session(op: str, attributes: Mapping[str, Any], inputs: Sequence[Array]) -> Session:
    names = [f"i{index}" for index in range(len(inputs))]
    outputs = ["o0", "o1"] if op == "MaxPool" else ["o0"]
    graph = helper.make_graph(
        [helper.make_node(op, names, outputs, **attributes)],
        "g",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
            )
            for name, value in zip(names, inputs, strict=True)
        ],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=8)
    opened = open_session(proto.SerializeToString(), Settings())
    assert isinstance(opened, Session), opened
    return opened


def random_call(op: str, seed: int) -> tuple[dict[str, Any], list[Array]]:
    dice, values = random.Random(seed), np.random.default_rng(seed)
    rank = dice.choice([1, 2, 2, 3])
    kernel, strides, dilations = ([dice.randint(1, 3) for _ in range(rank)] for _ in range(3))
    is_pool = op.endswith("Pool")
    pads = [min(dice.randint(0, 2), k - 1 if is_pool else 9) for k in kernel * 2]
    attributes: dict[str, Any] = {"kernel_shape": kernel, "strides": strides, "pads": pads}
    attributes["dilations"] = dilations
    sizes = [dice.randint(7, 10) for _ in range(rank)]
    x = (values.standard_normal((2, 4, *sizes)) - 1).astype(np.float32)
    if is_pool:
        attributes["ceil_mode"] = dice.choice([0, 1])
        if op == "AveragePool":
            attributes["count_include_pad"] = dice.choice([0, 1])
        if op == "MaxPool":
            attributes["storage_order"] = dice.choice([0, 1])
        return attributes, [x]
    group = dice.choice([1, 2])
    shape = (4, 6 // group) if op == "ConvTranspose" else (6, 4 // group)
    w = values.standard_normal((*shape, *kernel)).astype(np.float32)
    bias = values.standard_normal(6).astype(np.float32)
    return attributes | {"group": group}, [x, w, bias]


@pytest.mark.parametrize("op", ["Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool"])
def test_onnxruntime_agrees_within_the_bound(op: str) -> None:
    for seed in range(15):
        attributes, inputs = random_call(op, seed)
        names = {f"i{index}": value for index, value in enumerate(inputs)}
        got = session(op, attributes, inputs).run(names)
        assert not isinstance(got, RunFailure), got
        values, bounds = bounded(Call(op, "", 22, attributes, inputs), [], Arithmetic())
        for result, value, bound in zip(got.values(), values, bounds, strict=True):
            assert result.shape == value.shape
            away = np.abs(result.astype(np.float64) - value)
            empty = np.isinf(value) & (result < -3e38)
            assert np.all((away <= bound) | empty), (op, attributes)


def test_magnitude_sums_absolute_products() -> None:
    size, terms = magnitude(Call("Conv", "", 22, {"pads": [1, 1]}, [-X5, W]))
    assert size.ravel().tolist() == [210, 321, 432, 543, 54]
    assert terms == 4
    assert magnitude(Call("MaxPool", "", 22, {"kernel_shape": [2]}, [X5]))[1] == 0


def test_the_bound_is_the_rigorous_one_for_few_terms_and_grows_as_a_root_for_many() -> None:
    arithmetic, unit = Arithmetic(), 2.0**-24
    assert arithmetic.of_sum(9) == pytest.approx(9 * unit, rel=1e-5)
    assert arithmetic.of_sum(25600) == pytest.approx(8 * 160 * unit)
    assert Arithmetic(operands=2.0**-11).of_sum(9) > 2.0**-10


def test_errors_of_inputs_are_carried_through() -> None:
    error = np.full(X5.shape, 0.5)
    call = Call("Conv", "", 22, {}, [X5, W])
    (bound,) = bounded(call, [error], Arithmetic(sums=0, store=0, smallest=0))[1]
    assert bound.ravel().tolist() == pytest.approx([55.5] * 3)
    (bound,) = bounded(
        call, [None, np.full(W.shape, 0.5)], Arithmetic(sums=0, store=0, smallest=0)
    )[1]
    assert bound.ravel().tolist() == pytest.approx([3, 4.5, 6])


def test_a_quantised_result_may_jump_only_near_a_tie() -> None:
    x = np.array([1, 3], np.uint8).reshape(1, 1, 2)
    w = np.ones((1, 1, 1), np.int8)
    scale = np.float32(1)
    for y_scale, expected in ((np.float32(2), [1, 1]), (np.float32(1.9), [0, 0])):
        inputs = [x, scale, np.uint8(0), w, scale, np.int8(0), y_scale, np.uint8(0)]
        call = Call("QLinearConv", "", 22, {}, [np.asarray(value) for value in inputs])
        (bound,) = bounded(call, [], Arithmetic())[1]
        assert bound.ravel().tolist() == expected
