"""How near numbers have to be."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from onnxpad.probing.agreement import (
    difference,
    difference_map,
    gap,
    same,
    worst,
)

Array = np.ndarray[Any, Any]


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("got", "right", "is_fault"),
    [
        (floats(1.0001, -np.inf), floats(1, -np.inf), False),
        (floats(1, float(np.finfo(np.float32).min)), floats(1, -np.inf), False),
        (floats(1, 0), floats(1, -np.inf), True),
        (floats(1, 2.01), floats(1, 2), True),
        (floats(1), floats(1, 2), True),
        (floats(np.nan, 1), floats(np.nan, 1), False),
        (floats(np.nan, 1), floats(0, 1), True),
        (np.array([3], np.int64), np.array([4], np.int64), True),
        (np.array([3], np.uint8), np.array([4], np.uint8), True),
        (floats(), floats(), False),
        (np.float32(1), np.float32(1), False),
        (np.array([1.003], np.float16), np.array([1], np.float16), False),
        (np.array(["a"]), np.array(["b"]), True),
        (floats(np.nan), np.array([1], np.int64), True),
        (floats(5e-8, 0), floats(0, 0), False),
        (floats(1e-4, 0), floats(0, 0), True),
        (floats(np.inf, 0), floats(0, 0), True),
    ],
)
def test_what_is_a_fault(got: Array, right: Array, is_fault: bool) -> None:
    found = difference(np.asarray(got), np.asarray(right))
    assert found.within is not is_fault
    assert bool(found.where) or not is_fault


def test_bfloat16_is_compared_as_numbers() -> None:
    right = np.array([1.0, 100.0], ml_dtypes.bfloat16)
    assert difference(np.array([1.0, 100.5], ml_dtypes.bfloat16), right).within
    apart = difference(np.array([1.0, 120.0], ml_dtypes.bfloat16), right)
    assert apart.where == "120 instead of 100 at [1]"


def test_a_missing_output_is_the_worst() -> None:
    name, found = worst({"a": floats(1)}, {"a": floats(1), "b": floats(2)}, {})
    assert (name, found.within) == ("b", False)


def test_a_small_channel_is_not_hidden_by_a_large_one() -> None:
    boxes = np.linspace(0, 2774, 4 * 50, dtype=np.float32).reshape(1, 4, 50)
    scores = np.random.default_rng(0).uniform(0, 1, (1, 2, 50)).astype(np.float32)
    right = np.concatenate([boxes, scores], axis=1)
    wrong = np.concatenate([boxes, scores[:, ::-1]], axis=1)
    assert not difference(wrong, right).within
    assert not difference(np.swapaxes(wrong, 1, 2), np.swapaxes(right, 1, 2)).within
    assert difference(right * np.float32(1.0005), right).within


def test_nan_and_the_lowest_value_are_themselves() -> None:
    first = np.array([np.nan, np.finfo(np.float32).min, 0.0, 1.0], np.float32)
    second = np.array([np.nan, -np.inf, -0.0, 1.0], np.float32)
    assert same(first, second)
    assert gap(first, second).max_abs == 0
    assert not same(first, np.array([0, -np.inf, 0, 1], np.float32))
    assert gap(first, np.array([0, -np.inf, 0, 1], np.float32)).ratio == np.inf


def test_large_integers_are_compared_exactly() -> None:
    first = np.array([2**53])
    assert not same(first, first + 1)
    assert gap(first, first + 1).max_abs == 1


def test_large_arrays_are_compared_without_large_copies() -> None:
    first = np.zeros((1, 1, 1 << 22), np.float32)
    second = first.copy()
    second[..., -1] = 3
    tracemalloc.start()
    found = gap(first, second, 0.5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.max_abs, found.ratio, found.bound) == (3, 6, 0.5)
    assert found.where == f"borders: the last of {1 << 22} along axis 2; 1 of {1 << 22} places"
    assert peak < 2 * first.nbytes


@pytest.mark.parametrize("shape", [(7,), (1, 40), (3, 2, 33, 5), (300, 2, 70, 41)])
def test_a_map_has_the_largest_difference_of_each_part(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    first, second = random.integers(0, 200, (2, *shape))
    found = difference_map(first, second)
    assert found is not None
    planes = np.abs(first - second).reshape(-1, *(1, *shape)[-2:])
    rows, columns = pairwise(found.rows), list(pairwise(found.columns))
    cells = [[planes[:, top:end, left:right].max() for left, right in columns] for top, end in rows]
    assert [*map(list, found.cells)] == cells
    assert (found.rows[0], found.columns[0]) == (0, 0)
    assert (found.rows[-1], found.columns[-1]) == planes.shape[1:]
