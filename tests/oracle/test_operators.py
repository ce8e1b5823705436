from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracle import operators as oracle
from tests.oracle.operators import Array


def line(*values: float, dtype: type = np.float64) -> Array:
    """Values along one spatial axis, N = C = 1."""
    return np.array(values, dtype)[None, None]


X3, X5, X6, X8 = (line(*range(1, n + 1)) for n in (3, 5, 6, 8))
W1, W3 = line(1), line(1, 10, 100)
UPPER, LOWER = {"auto_pad": "SAME_UPPER"}, {"auto_pad": "SAME_LOWER"}


def check(found: Array, *expected: float) -> None:
    assert found.ravel().tolist() == list(expected)


@pytest.mark.parametrize(
    ("x", "w", "geometry", "expected"),
    [
        (X5, W3, UPPER, [210, 321, 432, 543, 54]),
        (X6, W3, UPPER | {"strides": [2]}, [321, 543, 65]),
        (X6, W3, LOWER | {"strides": [2]}, [210, 432, 654]),
        (X5, W3, LOWER | {"strides": [2]}, [210, 432, 54]),
        (X5, W3, UPPER | {"dilations": [2]}, [310, 420, 531, 42, 53]),
        (X8, W1, UPPER | {"strides": [4]}, [1, 5]),
        (X5, W3, {"pads": [0, 3], "strides": [2]}, [321, 543, 5]),
        (X5, W3, {"pads": [0, 2], "dilations": [2]}, [531, 42, 53]),
        (X5, line(0, 1, 10, 100), {"pads": [2, 2], "dilations": [2]}, [531, 42, 53]),
        (line(1, 2), W3, {"pads": [7, 9]}, [0] * 5 + [100, 210, 21, 2] + [0] * 7),
        (X5, W3, {"auto_pad": "VALID"}, [321, 432, 543]),
        (X5, W3, {"auto_pad": ""}, [321, 432, 543]),
    ],
)
def test_conv(x: Array, w: Array, geometry: dict[str, Any], expected: list[float]) -> None:
    check(oracle.conv(x, w, **geometry), *expected)
    check(oracle.conv(-x, w, np.array([0.5]), **geometry), *(0.5 - y for y in expected))


def test_conv_groups_keep_their_channels_apart() -> None:
    x, w = np.arange(1.0, 9).reshape(1, 4, 2), np.array([[[1.0], [10]], [[100.0], [-1]]])
    check(oracle.conv(x, w, group=2), 31, 42, 493, 592)


@pytest.mark.parametrize(
    ("x", "w", "geometry", "expected"),
    [
        (X3, W3, UPPER | {"strides": [2]}, [1, 10, 102, 20, 203, 30]),
        (X3, W3, LOWER | {"strides": [2]}, [10, 102, 20, 203, 30, 300]),
        (
            X3,
            W3,
            {"strides": [2], "output_shape": [6], "pads": [0, 1]},
            [10, 102, 20, 203, 30, 300],
        ),
        (X3, W3, UPPER | {"strides": [2], "output_shape": [6]}, [1, 10, 102, 20, 203, 30]),
        (X3, W3, {"strides": [2], "output_shape": [8]}, [1, 10, 102, 20, 203, 30, 300, 0]),
        (X3, W1, UPPER | {"strides": [4]}, [1, 0, 0, 0, 2, 0, 0, 0, 3]),
        (X3, W3, UPPER | {"strides": [2], "output_padding": [1]}, [10, 102, 20, 203, 30, 300]),
        (X3, W1, {"strides": [3], "output_padding": [2]}, [1, 0, 0, 2, 0, 0, 3, 0, 0]),
        (X3, W3, {"strides": [2], "pads": [4, 0]}, [203, 30, 300]),
        (
            X3,
            W3,
            {"strides": [2], "pads": [0, 2], "output_padding": [1]},
            [1, 10, 102, 20, 203, 30],
        ),
        (X3, W3, {"dilations": [2], "pads": [1, 2]}, [2, 13, 20, 130]),
    ],
)
def test_conv_transpose(
    x: Array, w: Array, geometry: dict[str, Any], expected: list[float]
) -> None:
    check(oracle.conv_transpose(x, w, **geometry), *expected)
    biased = oracle.conv_transpose(-x, w, np.array([7.0]), **geometry)
    check(biased, *(7 - y for y in expected))


def test_a_pad_before_conv_transpose_is_a_smaller_crop() -> None:
    x = oracle.pad(-X3, [0, 0, 1, 0, 0, 1])
    padded = oracle.conv_transpose(x, W3, strides=[2], pads=[2, 3])
    check(padded, *oracle.conv_transpose(-X3, W3, strides=[2], pads=[0, 1]).ravel())


def test_conv_integer_pads_with_the_zero_point() -> None:
    x, w = line(10, 20, 30, 40, dtype=np.uint8), line(1, 2, 3, dtype=np.uint8)
    check(oracle.conv_integer(x, w, 7, 2, pads=[1, 1]), 13, 20, 20, -23)
    check(oracle.conv_integer(x, w, np.array([7]), np.array([2]), **UPPER), 13, 20, 20, -23)
    for value, expected in ((7, [13, 20, 20, -23]), (0, [20, 20, 20, -30])):
        padded = oracle.pad(x, [0, 0, 1, 0, 0, 1], value=value)
        check(oracle.conv_integer(padded, w, 7, 2), *expected)
    two = np.concatenate([w, w])
    check(oracle.conv_integer(x, two, 7, np.array([2, 3]))[0, :, 0], 20, -19)


def test_qlinear_conv_rounds_half_to_even_and_saturates() -> None:
    x, w = line(5, 6, 7, 8, 127, -128, dtype=np.int8), line(1, dtype=np.int8)
    found = oracle.qlinear_conv(x, 0.5, 0, w, 1.0, 0, 1.0, np.array(1, np.int8))
    check(found, 3, 4, 5, 5, 65, -63)
    doubled = oracle.qlinear_conv(x, 2.0, 0, w, 1.0, 0, 1.0, np.array(1, np.int8))
    check(doubled, 11, 13, 15, 17, 127, -128)


REFUSED: list[Callable[[], object]] = [
    lambda: oracle.conv(X5, W3, auto_pad="SAME_UPPER", pads=[0, 0]),
    lambda: oracle.conv(X5, W3, auto_pad="VALID", pads=[1, 1]),
    lambda: oracle.conv(X5, W3, auto_pad="FOO"),
    lambda: oracle.conv(X5, W3, pads=[-1, 1]),
    lambda: oracle.conv(X5, W3, pads=[1]),
    lambda: oracle.conv(line(1, 2), W3),
    lambda: oracle.conv(X5, W3, group=2),
    lambda: oracle.conv_transpose(X3, W3, strides=[2], output_shape=[12]),
    lambda: oracle.conv_transpose(X3, W3, strides=[2], auto_pad="SAME_LOWER", pads=[0, 0]),
    lambda: oracle.conv_transpose(X3, W3, auto_pad=""),
    lambda: oracle.conv_transpose(X3, W3, strides=[2], output_padding=[2]),
    lambda: oracle.pool_max(line(1, float("nan")), [2]),
    lambda: oracle.pool_max(X5, [3], auto_pad="SAME_UPPER", pads=[2, 2]),
    lambda: oracle.pad(X5[0, 0], [5, 0], mode="reflect"),
    lambda: oracle.pad(X5[0, 0], [-3, -3]),
    lambda: oracle.pad(X5[0, 0], [0, 0], mode="mirror"),
    lambda: oracle.pad(X5, [1, 1, 1, 1], axes=[2, -1]),
]


@pytest.mark.parametrize("call", REFUSED)
def test_contradictions_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        call()


@pytest.mark.parametrize(
    ("pads", "mode", "expected"),
    [
        ([-1, 2], "reflect", [2, 3, 4, 5, 4, 3]),
        ([-1, 2], "constant", [2, 3, 4, 5, -9, -9]),
        ([2, -3], "edge", [1, 1, 1, 2]),
        ([1, 2], "wrap", [5, 1, 2, 3, 4, 5, 1, 2]),
    ],
)
def test_pad(pads: list[int], mode: str, expected: list[float]) -> None:
    check(oracle.pad(X5[0, 0], pads, mode=mode, value=-9), *expected)


def test_cropping_before_a_conv_is_not_a_negative_pad() -> None:
    cropped = oracle.pad(X5, [0, 0, -1, 0, 0, 2])
    check(oracle.conv(cropped, W3), 432, 543, 54, 5)
