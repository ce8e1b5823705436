"""One operator in float64: by hand, against loops over cells, and for what files may ask for."""

import itertools
import random
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from onnxpad.proof.alone import computed
from onnxpad.proof.endings import Undecided

Array = NDArray[Any]
X5 = np.arange(1.0, 6).reshape(1, 1, 5)
W = np.array([1.0, 10, 100]).reshape(1, 1, 3)
N4 = np.array([-7.0, -1, -2, -2]).reshape(1, 1, 4)


def run(op: str, attributes: Mapping[str, Any], *inputs: Array, opset: int = 22) -> list[float]:
    result: list[float] = computed(op, "", opset, attributes, inputs)[0].ravel().tolist()
    return result


@pytest.mark.parametrize(
    ("x", "attributes", "expected"),
    [
        (5, {"auto_pad": "SAME_UPPER"}, [210, 321, 432, 543, 54]),
        (6, {"auto_pad": "SAME_UPPER", "strides": [2]}, [321, 543, 65]),
        (6, {"auto_pad": "SAME_LOWER", "strides": [2]}, [210, 432, 654]),
        (5, {"auto_pad": "SAME_UPPER", "dilations": [2]}, [310, 420, 531, 42, 53]),
        (5, {"pads": [0, 3], "strides": [2]}, [321, 543, 5]),
        (2, {"pads": [7, 9]}, [0] * 5 + [100, 210, 21, 2] + [0] * 7),
    ],
)
def test_conv(x: int, attributes: dict[str, Any], expected: list[float]) -> None:
    assert run("Conv", attributes, np.arange(1.0, x + 1).reshape(1, 1, x), W) == expected


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"auto_pad": "SAME_UPPER"}, [1, 10, 102, 20, 203, 30]),
        ({"auto_pad": "SAME_LOWER"}, [10, 102, 20, 203, 30, 300]),
        ({"output_shape": [6], "pads": [0, 1]}, [10, 102, 20, 203, 30, 300]),
        ({"output_shape": [8]}, [1, 10, 102, 20, 203, 30, 300, 0]),
        ({"pads": [4, 0]}, [203, 30, 300]),
        ({"pads": [0, 2], "output_padding": [1]}, [1, 10, 102, 20, 203, 30]),
    ],
)
def test_conv_transpose(attributes: dict[str, Any], expected: list[float]) -> None:
    x3 = np.arange(1.0, 4).reshape(1, 1, 3)
    assert run("ConvTranspose", {"strides": [2], **attributes}, x3, W) == expected


def test_conv_transpose_puts_the_bias_into_output_padding() -> None:
    attributes = {"strides": [3], "output_padding": [2]}
    one = np.ones((1, 1, 1))
    x3 = np.arange(1.0, 4).reshape(1, 1, 3)
    result = run("ConvTranspose", attributes, x3, one, np.array([7.0]))
    assert result == [8, 7, 7, 9, 7, 7, 10, 7, 7]


@pytest.mark.parametrize(
    ("op", "x", "attributes", "expected"),
    [
        ("MaxPool", N4, {"kernel_shape": [3], "pads": [1, 1]}, [-1, -1, -1, -2]),
        ("MaxPool", X5, {"kernel_shape": [2], "strides": [2], "ceil_mode": 1}, [2, 4, 5]),
        (
            "MaxPool",
            X5,
            {"kernel_shape": [3], "dilations": [2], "auto_pad": "SAME_UPPER"},
            [3, 4, 5, 4, 5],
        ),
        ("MaxPool", X5[..., :2], {"kernel_shape": [1], "strides": [2], "ceil_mode": 1}, [1]),
        ("AveragePool", X5, {"kernel_shape": [3], "pads": [1, 1]}, [1.5, 2, 3, 4, 4.5]),
        (
            "AveragePool",
            X5,
            {"kernel_shape": [3], "pads": [1, 1], "count_include_pad": 1},
            [1, 2, 3, 4, 3],
        ),
        (
            "AveragePool",
            X5,
            {"kernel_shape": [2], "strides": [2], "ceil_mode": 1, "count_include_pad": 1},
            [1.5, 3.5, 5],
        ),
        (
            "LpPool",
            X5,
            {"kernel_shape": [3], "pads": [1, 1], "p": 1},
            [3, 6, 9, 12, 9],
        ),
    ],
)
def test_pools(op: str, x: Array, attributes: dict[str, Any], expected: list[float]) -> None:
    assert run(op, attributes, x) == expected


def test_indices_in_both_storage_orders() -> None:
    x = np.array([[1.0, 5, 3], [4, 2, 6]]).reshape(1, 1, 2, 3)
    attributes = {"kernel_shape": [2, 2], "pads": [1, 0, 0, 1]}
    by_rows = computed("MaxPool", "", 22, attributes, [x], 2)[1]
    assert by_rows.ravel().tolist() == [1, 1, 2, 1, 5, 5]
    by_columns = computed("MaxPool", "", 22, {**attributes, "storage_order": 1}, [x], 2)[1]
    assert by_columns.ravel().tolist() == [2, 2, 4, 2, 5, 5]


def test_conv_integer_pads_with_the_zero_point() -> None:
    x = np.array([10, 20, 30, 40], np.uint8).reshape(1, 1, 4)
    w = np.array([1, 2, 3], np.uint8).reshape(1, 1, 3)
    points = np.array(7, np.uint8), np.array(2, np.uint8)
    assert run("ConvInteger", {"pads": [1, 1]}, x, w, *points) == [13, 20, 20, -23]


def test_pad_crops_first_and_then_fills() -> None:
    pads = np.array([-1, 2])
    assert run("Pad", {"mode": "reflect"}, X5[0, 0], pads) == [2, 3, 4, 5, 4, 3]
    attributes = {"pads": [1, 0], "value": 5.0}
    assert run("Pad", attributes, X5[0, 0], opset=10) == [5, 1, 2, 3, 4, 5]
    with pytest.raises(Undecided, match="reflect"):
        run("Pad", {"mode": "reflect"}, X5[0, 0], np.array([5, 0]))


@pytest.mark.parametrize(
    ("op", "attributes", "inputs"),
    [
        ("Conv", {"auto_pad": "SAME_UPPER", "pads": [0, 0]}, (X5, W)),
        ("Conv", {"auto_pad": "SAME"}, (X5, W)),
        ("Conv", {"pads": [-1, 1]}, (X5, W)),
        ("Conv", {"pads": [0, 0]}, (X5[..., :2], W)),
        ("Conv", {"pads": [1, 1, 1, 1]}, (X5, W)),
        ("Conv", {"group": 2}, (X5, W)),
        ("ConvTranspose", {"strides": [2], "output_shape": [12]}, (X5[..., :3], W)),
        ("MaxUnpool", {}, (X5, X5)),
    ],
)
def test_uses_without_one_meaning(op: str, attributes: dict[str, Any], inputs: Any) -> None:
    with pytest.raises(Undecided):
        computed(op, "", 22, attributes, inputs)


def cells(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(n) for n in shape))


@pytest.mark.parametrize("seed", range(12))
def test_convolve_is_the_sum_over_cells(seed: int) -> None:
    dice, values = random.Random(seed), np.random.default_rng(seed)
    group = dice.choice([1, 2])
    kernel, strides, dilations = ([dice.randint(1, 3) for _ in range(2)] for _ in range(3))
    begins, ends = ([dice.randint(0, 3) for _ in range(2)] for _ in range(2))
    x = values.standard_normal((2, 4, 7, 8))
    w = values.standard_normal((6, 4 // group, *kernel))
    steps = {"strides": strides, "dilations": dilations, "pads": begins + ends, "group": group}
    (got,) = computed("Conv", "", 22, steps, [x, w])
    for n, m, *place in cells(got.shape):
        total = 0.0
        for c, *offset in cells(w.shape[1:]):
            at = [
                o * s + k * d - b
                for o, s, k, d, b in zip(place, strides, offset, dilations, begins, strict=True)
            ]
            if all(0 <= a < size for a, size in zip(at, x.shape[2:], strict=True)):
                channel = m // (6 // group) * (4 // group) + c
                total += x[(n, channel, *at)] * w[(m, c, *offset)]
        assert got[(n, m, *place)] == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
def test_a_kernel_shape_that_the_weight_does_not_have(op: str) -> None:
    with pytest.raises(Undecided, match=r"weight \(1, 1, 3\), kernel_shape \[2\]"):
        run(op, {"kernel_shape": [2]}, X5, W)
    assert run(op, {"kernel_shape": [3]}, X5, W) == run(op, {}, X5, W)


X = np.ones((1, 1, 9))
ONES = np.ones((1, 1, 3))

NONSENSE: list[tuple[str, dict[str, Any], list[Any]]] = [
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
