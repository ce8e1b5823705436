"""Where arrays differ, in few numbers: held against loops over every element."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from onnxpad.validation.difference_maps import difference_map


@settings(max_examples=25)
@given(
    shape=st.lists(st.integers(1, 40), min_size=1, max_size=5).filter(lambda s: np.prod(s) < 4000),
    seed=st.integers(0, 9),
)
def test_it_is_the_largest_difference_of_each_part(shape: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    one, other = random.integers(0, 3, shape), random.integers(0, 3, shape)
    found = difference_map(one, other)
    assert found is not None
    gap = np.abs(one - other).reshape((-1, *((1, 1, *shape)[-2:])))
    for (row, top), (column, left) in product(
        enumerate(found.rows[:-1]), enumerate(found.columns[:-1])
    ):
        part = gap[:, top : found.rows[row + 1], left : found.columns[column + 1]]
        assert found.cells[row][column] == part.max()
    assert (found.rows[-1], found.columns[-1]) == gap.shape[1:]
    if len(shape) > 2:
        assert found.items == tuple(np.abs(one - other).reshape(shape[0], -1).max(axis=1)[:64])
    if len(shape) > 3:
        by_channel = np.abs(one - other).max(axis=(0, *range(2, len(shape))))
        assert found.channels == tuple(by_channel)
