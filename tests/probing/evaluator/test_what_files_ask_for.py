"""What the evaluator leaves to its caller: calls that mean nothing, and calls without end."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from onnxpad.probing.evaluator import NotEvaluable, evaluate

X = np.ones((1, 1, 9))
W = np.ones((1, 1, 3))

NONSENSE: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("Conv", {"pads": 3}, [X, W]),
    ("Conv", {"pads": ["a", "b"]}, [X, W]),
    ("Conv", {"strides": [0]}, [X, W]),
    ("Conv", {"strides": [-1]}, [X, W]),
    ("Conv", {"group": [1, 2]}, [X, W]),
    ("Conv", {"group": 0}, [X, W]),
    ("Conv", {"group": np.ones(2)}, [X, W]),
    ("Conv", {}, [X, np.ones(3)]),
    ("Conv", {}, [X.astype(np.int64), W]),
    ("Conv", {"auto_pad": 7}, [X, W]),
    ("ConvTranspose", {"output_shape": ["x"]}, [X, W]),
    ("MaxPool", {"kernel_shape": [3], "ceil_mode": []}, [X]),
    ("MaxPool", {"kernel_shape": 3}, [X]),
    ("LpPool", {"kernel_shape": [3], "p": "two"}, [X]),
    ("Pad", {}, [X, np.array([0, 0, 1, 0, 0, 1]), np.zeros(0)]),
    ("Pad", {"mode": "odd"}, [X, np.array([0, 0, 1, 0, 0, 1])]),
]
ENDLESS: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("Conv", {"pads": [2**40, 0]}, [X, W]),
    ("Conv", {"pads": [2**62, 2**62], "dilations": [2**60]}, [X, W]),
    ("ConvTranspose", {"strides": [2**40]}, [X, W]),
    ("MaxPool", {"kernel_shape": [2**62], "pads": [2**62, 0]}, [X]),
    ("MaxPool", {"kernel_shape": [2**24], "pads": [2**23, 2**23]}, [X]),
    ("AveragePool", {"kernel_shape": [3], "pads": [0, 2**40], "strides": [2**20]}, [X]),
    ("LpPool", {"kernel_shape": [3], "pads": [2**31, 0]}, [X]),
    ("Pad", {"mode": "wrap"}, [X, np.array([0, 0, 2**33, 0, 0, 0])]),
    ("Pad", {}, [X, np.array([2**62, 0, 0, 0, 0, 0])]),
]


@pytest.mark.parametrize(("op", "attributes", "inputs"), NONSENSE)
def test_a_call_that_means_nothing_is_not_evaluable(
    op: str, attributes: dict[str, Any], inputs: list[Any]
) -> None:
    with pytest.raises(NotEvaluable):
        evaluate(op, "", 21, attributes, inputs)


@pytest.mark.parametrize(("op", "attributes", "inputs"), ENDLESS)
def test_a_call_without_end_is_refused_before_memory_is_taken(
    op: str, attributes: dict[str, Any], inputs: list[Any]
) -> None:
    tracemalloc.start()
    with pytest.raises(NotEvaluable, match="too many to evaluate"):
        evaluate(op, "", 21, attributes, inputs)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
