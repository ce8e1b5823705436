from typing import Any

import numpy as np
import pytest

from tests.oracle import operators as oracle
from tests.oracle.operators import Array


def line(*values: float, dtype: type = np.float64) -> Array:
    """Values along one spatial axis, N = C = 1."""
    return np.array(values, dtype)[None, None]


X5, X6, X8 = (line(*range(1, n + 1)) for n in (5, 6, 8))
N4 = line(-7, -1, -2, -2)
GRID = np.array([[1.0, 5, 3], [4, 2, 6]])[None, None]
UPPER = {"auto_pad": "SAME_UPPER"}


def check(found: Array, *expected: float) -> None:
    assert found.ravel().tolist() == list(expected)


@pytest.mark.parametrize(
    ("size", "k", "s", "d", "lower", "pads"),
    [
        (5, 3, 1, 1, False, (1, 1)),
        (6, 3, 2, 1, False, (0, 1)),
        (6, 3, 2, 1, True, (1, 0)),
        (5, 3, 1, 2, False, (2, 2)),
        (8, 1, 4, 1, False, (0, 0)),
        (5, 2, 1, 3, False, (1, 2)),
        (5, 2, 1, 3, True, (2, 1)),
        (5, 3, 2, 1, False, (1, 1)),
    ],
)
def test_resolve_same(
    size: int, k: int, s: int, d: int, lower: bool, pads: tuple[int, int]
) -> None:
    assert oracle.resolve_same(size, k, s, d, lower) == pads


MAX_POOLS: list[tuple[Array, int, dict[str, Any], list[float]]] = [
    (X5, 3, UPPER, [2, 3, 4, 5, 5]),
    (N4, 3, {"pads": [1, 1]}, [-1, -1, -1, -2]),
    (X5, 2, {"strides": [2], "ceil_mode": 1}, [2, 4, 5]),
    (line(1, 2), 1, {"strides": [2], "ceil_mode": 1}, [1]),
    (X5, 2, {"dilations": [3], "strides": [2], "pads": [1, 1], "ceil_mode": 1}, [3, 5, 4]),
    (X5, 3, UPPER | {"dilations": [2]}, [3, 4, 5, 4, 5]),
    (X8, 1, UPPER | {"strides": [4]}, [1, 5]),
    (X6, 3, UPPER | {"strides": [2], "ceil_mode": 1}, [3, 5, 6]),
    (X6, 3, {"auto_pad": "VALID", "strides": [2], "ceil_mode": 1}, [3, 5, 6]),
]


@pytest.mark.parametrize(("x", "k", "geometry", "expected"), MAX_POOLS)
def test_pool_max(x: Array, k: int, geometry: dict[str, Any], expected: list[float]) -> None:
    check(oracle.pool_max(x, [k], **geometry)[0], *expected)


@pytest.mark.parametrize(
    ("dtype", "shift"), [(np.float64, 20.0), (np.float16, 20.0), (np.int8, 120.0), (np.uint8, 0.0)]
)
@pytest.mark.parametrize(("x", "k", "geometry", "expected"), MAX_POOLS)
def test_padding_never_wins_a_max_pool(
    x: Array,
    k: int,
    geometry: dict[str, Any],
    expected: list[float],
    dtype: type,
    shift: float,
) -> None:
    """The maximum moves with the data, however low it lies in the type."""
    values: Array = (x - x.min() if shift == 0 else x - shift).astype(dtype)
    moved = [y - (x.min() if shift == 0 else shift) for y in expected]
    found, _ = oracle.pool_max(values, [k], **geometry)
    assert found.dtype == dtype
    check(found, *moved)


def test_a_lowest_pad_is_the_same_as_max_pool_pads() -> None:
    x = line(-128, -5, -7, -128, dtype=np.int8)
    padded = oracle.pad(x, [0, 0, 1, 0, 0, 1], value=oracle.lowest(x.dtype))
    check(oracle.pool_max(x, [3], pads=[1, 1])[0], -5, -5, -5, -7)
    check(oracle.pool_max(padded, [3])[0], -5, -5, -5, -7)
    floats = oracle.pad(N4, [0, 0, 1, 0, 0, 1], value=oracle.lowest(N4.dtype))
    check(oracle.pool_max(floats, [3])[0], -1, -1, -1, -2)


@pytest.mark.parametrize(
    ("order", "unpadded", "padded"),
    [(0, [1, 1, 2, 1, 5, 5], [5, 5, 6, 5, 10, 10]), (1, [2, 2, 4, 2, 5, 5], [4, 4, 7, 4, 8, 8])],
)
def test_pool_max_indices(order: int, unpadded: list[int], padded: list[int]) -> None:
    pads = [1, 0, 0, 1]
    check(oracle.pool_max(GRID, [2, 2], pads=pads, storage_order=order)[1], *unpadded)
    wide = oracle.pad(GRID, [0, 0, 1, 0, 0, 0, 0, 1], value=-np.inf)
    check(oracle.pool_max(wide, [2, 2], storage_order=order)[1], *padded)


def test_indices_count_over_channels_and_name_the_first_of_equals() -> None:
    x = np.array([[[-3.0, -3, -4]], [[-np.inf, -np.inf, -2]]])
    values, indices = oracle.pool_max(x, [2], pads=[1, 0])
    check(values, -3, -3, -3, -np.inf, -np.inf, -2)
    check(indices, 0, 0, 1, 3, 3, 5)


def test_a_window_of_padding_alone() -> None:
    values, indices = oracle.pool_max(line(4), [2], dilations=[2], pads=[1, 1])
    check(values, -np.inf)
    check(indices, -1)
    check(oracle.pool_average(line(4), [2], dilations=[2], pads=[1, 1]), 0)


@pytest.mark.parametrize(
    ("x", "k", "geometry", "expected"),
    [
        (X5, 3, {"pads": [1, 1]}, [1.5, 2, 3, 4, 4.5]),
        (X5, 3, {"pads": [1, 1], "count_include_pad": 1}, [1, 2, 3, 4, 3]),
        (X5, 2, {"strides": [2], "ceil_mode": 1, "count_include_pad": 1}, [1.5, 3.5, 5]),
        (X5, 2, {"strides": [2], "pads": [0, 1], "count_include_pad": 1}, [1.5, 3.5, 2.5]),
        (X5, 2, {"strides": [2], "pads": [0, 1]}, [1.5, 3.5, 5]),
        (
            X6,
            3,
            {"strides": [2], "pads": [1, 1], "ceil_mode": 1, "count_include_pad": 1},
            [1, 3, 5, 3],
        ),
    ],
)
def test_pool_average(x: Array, k: int, geometry: dict[str, Any], expected: list[float]) -> None:
    check(oracle.pool_average(x, [k], **geometry), *expected)
    check(oracle.pool_average(-x, [k], **geometry), *(-y for y in expected))


def test_pool_average_in_two_dimensions() -> None:
    ones = np.ones((1, 1, 2, 2))
    found = oracle.pool_average(ones, [2, 2], pads=[0, 0, 1, 1], count_include_pad=True)
    check(found, 1, 0.5, 0.5, 0.25)


def test_pool_lp() -> None:
    expected = [2.2361, 3.7417, 5.3852, 7.0711, 6.4031]
    for x in (X5, -X5):
        np.testing.assert_allclose(oracle.pool_lp(x, [3], pads=[1, 1])[0, 0], expected, atol=1e-4)
    check(oracle.pool_lp(N4, [2], p=1, strides=[2]), 8, 4)


def test_a_window_over_no_cells_reads_the_padding_alone() -> None:
    none = np.zeros((1, 1, 0))
    check(oracle.conv(none, np.ones((1, 1, 2)), np.array([3.0]), pads=[1, 2]), 3, 3)
    check(oracle.pool_max(none, [2], pads=[1, 1])[0], -np.inf)
    with pytest.raises(ValueError, match="holds no window"):
        oracle.conv(none, np.ones((1, 1, 1)), auto_pad="SAME_UPPER")
