import tracemalloc
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from onnxpad.validation.agreement import gap, relative_gap, same, untelling
from onnxpad.validation.noise import _bound as bounds_of, _stored as stored

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


def test_ratio_is_the_worst_element_not_the_largest_difference() -> None:
    found = gap(np.array([0.0, 0.0]), np.array([3.0, 1.0]), np.array([6.0, 0.5]))
    assert (found.max_abs, found.ratio) == (3.0, 2.0)


def differing(shape: tuple[int, ...], *places: tuple[int | slice, ...]) -> str:
    """Where arrays differ that are apart at these places."""
    other = np.zeros(shape)
    for place in places:
        other[place] = 1
    return gap(np.zeros(shape), other).where


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ((0, 0, 0, 5), "borders: the first of 16 along axis 2; 1 of 256 places"),
        ((0, 0, 15, 5), "borders: the last of 16 along axis 2; 1 of 256 places"),
        ((0, 0, 8, 15), "borders: the last of 16 along axis 3; 1 of 256 places"),
        ((0, 0, 8, 8), "cell 8 of 16 along axis 2 and cell 8 of 16 along axis 3; 1 of 256 places"),
        ((0,), "everywhere"),
        ((0, 0), "in 1 of 2 channels"),
    ],
)
def test_where(place: tuple[int, ...], said: str) -> None:
    assert differing((1, 2, 16, 16), place) == said


@pytest.mark.parametrize(
    ("channels", "said"),
    [
        ([0, 1, 2, 3, 4], "in 5 of 8 channels"),
        (range(8), "everywhere"),
    ],
)
def test_where_says_which_channels_differ_where_some_do_not(
    channels: Sequence[int], said: str
) -> None:
    assert differing((2, 8, 6, 6), *(np.s_[0, channel] for channel in channels)) == said


def test_where_says_the_columns_that_differ_and_how_many_places() -> None:
    columns = np.s_[0, 0, :, 24:]
    said = "borders: the last 5 of 29 along axis 3; 110 of 638 places"
    assert differing((1, 2, 22, 29), columns) == said
    half = "the last 14 of 29 along axis 3; 308 of 638 places"
    assert differing((1, 2, 22, 29), np.s_[0, :, :, 15:]) == half
    both = "borders: the first 2 of 22 along axis 2, the last of 29 along axis 3; 78 of 638 places"
    assert differing((1, 2, 22, 29), np.s_[:, :, :2], np.s_[:, :, :, 28]) == both
    corners = (np.s_[0, 0, 0, 0], np.s_[0, 0, 21, 28], np.s_[0, 0, 11, 14])
    assert differing((1, 1, 22, 29), *corners) == "scattered; 3 of 638 places"


def test_a_bound_as_large_as_the_value_tells_nothing() -> None:
    assert untelling(np.array([1.0, -2.0]), 1.0)
    assert not untelling(np.array([1.0, -2.0]), 0.1)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_lowest_value_is_no_magnitude(kind: type[np.floating[Any]]) -> None:
    """It is -inf: a window of padding alone makes no other cell's difference small."""
    lowest = np.finfo(kind).min
    first, second = np.array([lowest, 9], kind), np.array([lowest, 6], kind)
    assert relative_gap(first, second) == 1 / 3
    assert untelling(first, 1e30)
    assert float(stored(first, apart=False)) < 1e-5
    assert float(bounds_of(np.zeros(()), first, apart=False)) < 1e-5


@pytest.mark.parametrize(
    ("shape", "place", "said"),
    [
        ((1, 2, 1, 16), (0, 0, 0, 8), "cell 8 of 16 along axis 3; 1 of 16 places"),
        ((1, 2, 1, 16), (0, 0, 0, 15), "borders: the last of 16 along axis 3; 1 of 16 places"),
        ((1, 2, 2, 1), (0, 0, 1, 0), "1 of 4 elements"),
    ],
)
def test_an_axis_of_one_or_two_cells_has_no_borders(
    shape: tuple[int, ...], place: tuple[int, ...], said: str
) -> None:
    assert differing(shape, place) == said


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
