"""`differs` against loops over the definition of every layer."""

from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import pytest

from onnxpad.geometry.size import Symbol
from onnxpad.padding.chain import Chain
from onnxpad.padding.operators import Kind
from onnxpad.retargeting.candidates import candidates
from onnxpad.retargeting.windows_read import OWN, Strip, differs, resizes, strip_key
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


def test_padding_of_one_value_is_read_once_however_long_it_is() -> None:
    """A Pad of a million cells held 500,000 windows, which a diagnosis compared 40 times."""
    long = Strip(5, 3, 2, 1, (2**20, 2**20), (2**18, 2**18), 2**20 + 2**18)
    windows = list(long.windows("constant"))
    assert len(windows) < 30
    assert sum(times for times, _ in windows) <= long.count


@pytest.mark.part(2)
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize("kind", [Kind.MAX, Kind.AVERAGE, Kind.LP, Kind.CONVOLUTION])
def test_rows_of_windows_are_equal_where_their_windows_are(
    kind: Kind, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(f"{kind} {mode}")
    for _ in range(60):
        size, counts = random.choice([1, 2, 3, 8, 20]), random.random() < 0.5
        value = random.choice([OWN, ("is", 0), ("is", 1)])
        strips = [strip for _ in range(8) if (strip := _strip(random, size)) is not None]
        strip_key.cache_clear()
        rows = [strip_key(one, kind, mode, value, counts) for one in strips]
        with monkeypatch.context() as patch:
            patch.setattr(Strip, "_of_one_value", lambda *_: ())
            strip_key.cache_clear()
            singly = [strip_key(one, kind, mode, value, counts) for one in strips]
        for one, other in combinations(range(len(strips)), 2):
            assert (rows[one] == rows[other]) == (singly[one] == singly[other])
    strip_key.cache_clear()


def _strip(random: Random, size: int) -> Strip | None:
    kernel, stride, dilation = random.choice([1, 2, 3, 5]), random.choice([1, 2, 3]), 1
    front = random.choice([0, 0, 1, 3, 17, -1, -2]), random.choice([0, 0, 1, 3, 17, -1, -2])
    own = random.choice([0, 0, 1, 2, 15]), random.choice([0, 0, 1, 2, 15])
    whole = size + sum(front) + sum(own)
    if size + sum(front) < 1 or whole < kernel:
        return None
    count = (whole - kernel) // stride + 1 + (random.random() < 0.2)
    return Strip(size, kernel, stride, dilation, front, own, count)
