"""`differs` against loops over the definition of every layer."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from onnxpad.geometry.size import Symbol
from onnxpad.padding.chain import Chain
from onnxpad.retargeting.candidates import candidates
from onnxpad.retargeting.windows_read import differs, resizes, too_many_cells
from tests.retargeting.layers import Array, computed, layer

WEIGHT = np.array([1.0, 10.0, 100.0, 1000.0, 10000.0])
OPS = ("Conv", "MaxPool", "AveragePool")
MODES = ("constant", "constant", "edge", "reflect", "wrap")


def drawn(random: Random, op: str, size: int, kernel: int, stride: int, dilation: int) -> Chain:
    """A random way to pad one layer."""
    own = random.choice([(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 1), (2, 2)])
    own = (min(own[0], kernel - 1), min(own[1], kernel - 1))
    front = None
    if random.random() < 0.4:
        mode = random.choice(MODES)
        value = random.choice([0.0, -np.inf]) if op == "MaxPool" else random.choice([0.0, 0.0, 2.0])
        front = (random.choice([0, 1, 2]), random.choice([0, 1]), mode, value)
    auto = random.random() < 0.15 and kernel >= stride
    return layer(
        op,
        size,
        kernel,
        stride,
        random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]) if auto else own,
        dilation=dilation,
        rank=1,
        front=front,
        ceil_mode=op != "Conv" and not auto and random.random() < 0.3,
        counts_padding=op == "AveragePool" and random.random() < 0.5,
    )


@pytest.mark.sweep
@pytest.mark.parametrize("op", OPS)
def test_two_ways_differ_where_their_values_do(op: str) -> None:
    random, numbers = Random(op), np.random.default_rng(5)
    told = {True: 0, False: 0}
    for _ in range(400):
        size, kernel, stride = random.randint(1, 9), random.randint(1, 4), random.randint(1, 3)
        dilation = random.choice([1, 1, 1, 2])
        one, other = (drawn(random, op, size, kernel, stride, dilation) for _ in range(2))
        draws = [-1.0 - numbers.random(size) for _ in range(12)]
        ours, theirs = ([computed(one, x, WEIGHT) for x in draws] for one in (one, other))
        shapes = {None if first is None else first.shape for first in (ours[0], theirs[0])}
        if None in shapes:
            continue
        equal = len(shapes) == 1 and np.allclose(
            _stacked(ours), _stacked(theirs), 0, 1e-9, equal_nan=True
        )
        found = differs(one, other)
        assert found is differs(other, one)
        assert found is not equal, (one, other)
        assert resizes(one, other) is (len(shapes) > 1)
        told[found] += 1
    assert min(told.values()) > 15


def _stacked(rows: list[Array | None]) -> Array:
    return np.stack([row for row in rows if row is not None])


def test_a_size_that_is_not_known_stands_for_all() -> None:
    height = Symbol("H")
    auto = layer("Conv", height, 3, 2, "SAME_UPPER")
    assert differs(auto, layer("Conv", height, 3, 2, (1, 1)))
    assert differs(auto, layer("Conv", height, 3, 2, (0, 1)))
    odd = Symbol("H", modulus=2, residue=1)
    assert not differs(layer("Conv", odd, 3, 2, "SAME_UPPER"), layer("Conv", odd, 3, 2, (1, 1)))
    even = Symbol("H", modulus=2)
    assert not differs(layer("Conv", even, 3, 2, "SAME_UPPER"), layer("Conv", even, 3, 2, (0, 1)))
    assert not differs(
        layer("Conv", height, 3, 2, "SAME_LOWER"), layer("Conv", height, 3, 2, (1, 1))
    )
    assert differs(layer("Conv", None, 3, 2, "SAME_UPPER"), layer("Conv", None, 3, 2, (1, 1)))


def test_the_mirrored_edge_of_tensornets_is_padding_of_a_max_pool() -> None:
    own = layer("MaxPool", 112, 3, 2, (1, 1))
    for mode in ("edge", "reflect"):
        assert not differs(own, layer("MaxPool", 112, 3, 2, front=(1, 1, mode, 0.0)))
    assert differs(own, layer("MaxPool", 112, 3, 2, front=(1, 1, "constant", 0.0)))
    assert not differs(own, layer("MaxPool", 112, 3, 2, front=(1, 1, "constant", -np.inf)))
    assert differs(own, layer("MaxPool", 112, 3, 2, front=(1, 1, "wrap", 0.0)))


@pytest.mark.parametrize("op", OPS)
def test_candidates_differ_from_each_other_and_the_present_one_is_first(op: str) -> None:
    for size, kernel, stride, pads in ((32, 3, 2, (1, 1)), (33, 4, 2, (1, 2)), (9, 2, 2, (0, 0))):
        chain = layer(op, size, kernel, stride, pads)
        found = candidates(chain)
        assert found[0].chain == chain
        assert found[0].label.endswith("(as it is)")
        assert len({one.label for one in found}) == len(found) > 2
        for index, one in enumerate(found):
            for other in found[index + 1 :]:
                assert differs(one.chain, other.chain)


def test_a_pad_of_a_million_cells_is_not_compared() -> None:
    """Half a million windows, which a diagnosis would compare 40 times."""
    long = layer("Conv", 5, 3, 2, (2**18, 2**18), rank=1, front=(2**20, 2**20, "constant", 0.0))
    assert "cells would be read to compare its windows" in too_many_cells(long)
    assert too_many_cells(layer("Conv", None, 129, 2, (64, 64))) == ""
