"""One operator in float64, for what files may ask for; `test_operators` has right results."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

from onnxpad.proof.alone import computed
from onnxpad.proof.endings import Undecided

X5 = np.arange(1.0, 6).reshape(1, 1, 5)
W = np.array([1.0, 10, 100]).reshape(1, 1, 3)
X = np.ones((1, 1, 9))
ONES = np.ones((1, 1, 3))

NONSENSE: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("Conv", {"auto_pad": "SAME_UPPER", "pads": [0, 0]}, [X5, W]),
    ("Conv", {"auto_pad": "SAME"}, [X5, W]),
    ("Conv", {"pads": [-1, 1]}, [X5, W]),
    ("Conv", {"pads": [0, 0]}, [X5[..., :2], W]),
    ("Conv", {"pads": [1, 1, 1, 1]}, [X5, W]),
    ("Conv", {"group": 2}, [X5, W]),
    ("Conv", {"kernel_shape": [2]}, [X5, W]),
    ("ConvTranspose", {"kernel_shape": [2]}, [X5, W]),
    ("ConvTranspose", {"strides": [2], "output_shape": [12]}, [X5[..., :3], W]),
    ("MaxUnpool", {}, [X5, X5]),
    ("Conv", {"pads": 3}, [X, ONES]),
    ("Conv", {"pads": ["a", "b"]}, [X, ONES]),
    ("Conv", {"strides": [0]}, [X, ONES]),
    ("Conv", {"strides": [-1]}, [X, ONES]),
    ("Conv", {"group": [1, 2]}, [X, ONES]),
    ("Conv", {"group": 0}, [X, ONES]),
    ("Conv", {"group": np.ones(2)}, [X, ONES]),
    ("Conv", {}, [X, np.ones(3)]),
    ("Conv", {}, [X.astype(np.int64), ONES]),
    ("Conv", {"auto_pad": 7}, [X, ONES]),
    ("ConvTranspose", {"output_shape": ["x"]}, [X, ONES]),
    ("MaxPool", {"kernel_shape": 3}, [X]),
    ("LpPool", {"kernel_shape": [3], "p": "two"}, [X]),
    ("Pad", {}, [X, np.array([0, 0, 1, 0, 0, 1]), np.zeros(0)]),
    ("Pad", {"mode": "odd"}, [X, np.array([0, 0, 1, 0, 0, 1])]),
]
ENDLESS: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("Conv", {"pads": [2**40, 0]}, [X, ONES]),
    ("Conv", {"pads": [2**62, 2**62], "dilations": [2**60]}, [X, ONES]),
    ("ConvTranspose", {"strides": [2**40]}, [X, ONES]),
    ("MaxPool", {"kernel_shape": [2**62], "pads": [2**62, 0]}, [X]),
    ("MaxPool", {"kernel_shape": [2**24], "pads": [2**23, 2**23]}, [X]),
    ("AveragePool", {"kernel_shape": [3], "pads": [0, 2**40], "strides": [2**10]}, [X]),
    ("LpPool", {"kernel_shape": [3], "pads": [2**31, 0]}, [X]),
    ("Pad", {"mode": "wrap"}, [X, np.array([0, 0, 2**33, 0, 0, 0])]),
    ("Pad", {}, [X, np.array([2**62, 0, 0, 0, 0, 0])]),
]


@pytest.mark.parametrize(("op", "attributes", "inputs"), NONSENSE)
def test_a_call_that_means_nothing_is_not_evaluable(
    op: str, attributes: dict[str, Any], inputs: list[Any]
) -> None:
    with pytest.raises(Undecided):
        computed(op, "", 21, attributes, inputs)


@pytest.mark.parametrize(("op", "attributes", "inputs"), ENDLESS)
def test_a_call_without_end_is_refused_before_memory_is_taken(
    op: str, attributes: dict[str, Any], inputs: list[Any]
) -> None:
    tracemalloc.start()
    with pytest.raises(Undecided, match="budget of cells"):
        computed(op, "", 21, attributes, inputs)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
