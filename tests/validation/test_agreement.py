import tracemalloc

import numpy as np

from onnxpad.validation.agreement import gap, same

INF = np.inf


def test_nan_and_the_lowest_value_are_themselves() -> None:
    first = np.array([np.nan, np.finfo(np.float32).min, 0.0, 1.0], np.float32)
    second = np.array([np.nan, -INF, -0.0, 1.0], np.float32)
    assert same(first, second)
    assert gap(first, second).max_abs == 0
    assert not same(first, np.array([0, -INF, 0, 1], np.float32))
    assert gap(first, np.array([0, -INF, 0, 1], np.float32)).ratio == INF


def test_types_and_shapes_count() -> None:
    assert not same(np.zeros(3, np.float32), np.zeros(3, np.float64))
    found = gap(np.zeros((2, 3)), np.zeros((3, 2)))
    assert found.where == "shape [2, 3] against [3, 2]"
    assert not found.within


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
