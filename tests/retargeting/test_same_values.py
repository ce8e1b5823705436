"""What a move says of values and sizes, against onnxruntime, on random ways to pad one layer."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from onnxpad import RequestError, retarget
from tests.retargeting.running import Array, one_node, outputs

OPS = ("Conv", "MaxPool", "AveragePool")
BATCH = 64
MODES = ("constant", "constant", "edge", "reflect", "wrap")


def drawn(random: Random, op: str, kernel: int, stride: int) -> dict[str, Any]:
    """A random entry of a plan."""
    pads = random.choice([(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 1), (2, 2)])
    entry: dict[str, Any] = {"pads": [min(one, kernel - 1) for one in pads], "pad_node": None}
    auto = random.random() < 0.15 and kernel >= stride
    if auto:
        mode = random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        entry = {"auto_pad": mode, "pad_node": None}
    if random.random() < 0.4:
        cells = [0, 0, random.choice([0, 1, 2]), 0, 0, random.choice([0, 1])]
        value = random.choice([0, "-inf"] if op == "MaxPool" else [0, 0, 2])
        entry["pad_node"] = {"pads": cells, "mode": random.choice(MODES), "value": value}
    if op != "Conv":
        entry["ceil_mode"] = int(not auto and random.random() < 0.3)
    if op == "AveragePool":
        entry["count_include_pad"] = int(random.random() < 0.5)
    return {"node": "op", **entry}


def layer(op: str, size: int, kernel: int, stride: int) -> ModelProto:
    x = np.zeros((BATCH, 1, size), np.float32)
    row = np.array([[[1, 10, 100, 1000][:kernel]]], np.float32)
    weight = row if op == "Conv" else None
    words: dict[str, Any] = {"kernel_shape": [kernel], "strides": [stride]}
    return one_node(op, x, weight, **words)


@pytest.mark.parametrize("op", OPS)
def test_values_and_sizes_stay_where_a_move_says_so(op: str) -> None:
    random, numbers = Random(op), np.random.default_rng(5)
    told = {True: 0, False: 0}
    for _ in range(150):
        kernel, stride = random.randint(1, 4), random.randint(1, 3)
        size = random.randint(kernel, 9)
        model = layer(op, size, kernel, stride)
        try:
            first, second = (drawn(random, op, kernel, stride) for _ in range(2))
            if random.random() < 0.6:  # one edit tells more than two draws
                name = random.choice([*second])
                second = first | {name: second[name]}
            before = retarget(model, plan={"nodes": [first]}).model
            found = retarget(before, plan={"nodes": [second]})
        except RequestError:
            continue
        if found.skips or not found.changes:
            continue
        x = -1 - numbers.random((BATCH, 1, size), np.float32)
        try:
            one, other = (outputs(model, x)[0] for model in (before, found.model))
        except Exception:  # noqa: BLE001, S112 - no window fits: onnxruntime gives nothing
            continue
        (move,) = found.changes
        equal = one.shape == other.shape and _alike(one, other)
        assert move.resized is (one.shape != other.shape), (size, kernel, stride, first, second)
        assert move.same_values is equal, (size, kernel, stride, first, second)
        told[equal] += 1
    assert min(told.values()) > 5, told


def _alike(one: Array, other: Array) -> bool:
    """Padding alone is -inf or the lowest number for a max pool."""
    rows = np.maximum(one, -1e9), np.maximum(other, -1e9)
    return bool(np.allclose(*rows, rtol=0, atol=1e-3, equal_nan=True))
