"""ONNX's own convention against onnxruntime running the node as it is written."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from onnxpad import OnnxpadError, resolve
from tests.resolving.goldens import Array, difference, run
from tests.retargeting.running import one_node


def by_onnxruntime(model: onnx.ModelProto, x: Array) -> Array | None:
    """None where onnxruntime refuses the model."""
    errors = onnxruntime.capi.onnxruntime_pybind11_state
    try:
        return run(model, x)
    except (errors.Fail, errors.InvalidArgument, errors.InvalidGraph, errors.RuntimeException):
        return None


def agrees(op: str, node: str, size: int, weight: Array | None, attributes: dict[str, Any]) -> bool:
    """Whether both are the same; both may also refuse the layer."""
    x = np.random.default_rng(size).standard_normal((1, 2, size)).astype(np.float32)
    shape = None if weight is None else weight.shape
    expected = by_onnxruntime(one_node(node, x, weight, **attributes), x)
    try:
        found = resolve("onnx", op, input_shape=x.shape, weight_shape=shape, **attributes)
        y = run(found.to_model(weight), x)
    except OnnxpadError:
        return expected is None or expected.size == 0
    return expected is not None and difference(y, expected) < 1e-5


@pytest.mark.parametrize("auto_pad", ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
def test_convolutions(auto_pad: str) -> None:
    wrong = []
    for size, kernel, stride, begin, end in product(
        (4, 5, 7), (1, 2, 3), (1, 2, 3), (0, 2), (0, 1)
    ):
        if auto_pad != "NOTSET" and (begin or end):
            continue
        weight = np.random.default_rng(1).standard_normal((3, 2, kernel)).astype(np.float32)
        words: dict[str, Any] = {"auto_pad": auto_pad, "strides": [stride]}
        words |= {"pads": [begin, end]} if auto_pad == "NOTSET" else {}
        wrong += [] if agrees("conv", "Conv", size, weight, words) else [(size, kernel, words)]
    assert wrong == []


@pytest.mark.parametrize("node", ["MaxPool", "AveragePool"])
def test_pools(node: str) -> None:
    wrong = []
    op = "max_pool" if node == "MaxPool" else "avg_pool"
    cases = product((4, 5, 7), (2, 3), (1, 2, 3), (0, 1), (0, 1), (0, 1), (0, 1))
    for size, kernel, stride, begin, end, ceil, counts in cases:
        words: dict[str, Any] = {"kernel_shape": [kernel], "strides": [stride]}
        words |= {"pads": [begin, end], "ceil_mode": ceil}
        words |= {"count_include_pad": counts} if node == "AveragePool" else {}
        wrong += [] if agrees(op, node, size, None, words) else [(size, words)]
    assert wrong == []


def test_transposed_convolutions() -> None:
    wrong = []
    modes = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    for mode, kernel, stride, growth in product(modes, (2, 3, 4), (2, 3), (0, 1)):
        weight = np.random.default_rng(1).standard_normal((2, 3, kernel)).astype(np.float32)
        words: dict[str, Any] = {"auto_pad": mode, "strides": [stride], "output_padding": [growth]}
        words |= {"pads": [1, 0]} if mode == "NOTSET" else {}
        if not agrees("conv_transpose", "ConvTranspose", 5, weight, words):
            wrong.append((kernel, words))
    for mode, shape in product(modes[:3], (8, 9, 10)):
        weight = np.random.default_rng(1).standard_normal((2, 3, 3)).astype(np.float32)
        words = {"auto_pad": mode, "strides": [2], "output_shape": [shape]}
        if not agrees("conv_transpose", "ConvTranspose", 5, weight, words):
            wrong.append((shape, words))
    assert wrong == []
