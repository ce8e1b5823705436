import tracemalloc

import numpy as np
import pytest

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
