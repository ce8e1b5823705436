"""Layers of every framework against their windows, worked out cell by cell from what resolve says.

Odd pads, rounding and divisors: the goldens' layers with other sizes, kernels, strides and pads.
"""

from __future__ import annotations

from itertools import product
from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest

from onnxpad import OnnxpadError, Resolution, resolve
from tests.resolving.goldens import SAMPLE, Array, difference, goldens, run

CASES = [golden.record for golden in goldens(SAMPLE)]
VARIANTS, SWEPT = 2, 20
Axis = dict[str, int]


def cells(axis: Axis, window: int) -> list[int]:
    start = window * axis["stride"] - axis["begin"]
    return [start + tap * axis["dilation"] for tap in range(axis["kernel"])]


def counted(axis: Axis, window: int, divisor: str) -> int:
    begin, end = max(axis["begin"], 0), max(axis["end"], 0)
    low, high = {
        "cells of the input": (0, 0),
        "cells of the input and of the padding": (begin, end),
        "the whole window": (10**6, 10**6),
    }.get(divisor, (begin, begin))
    return sum(-low <= cell < axis["size"] + high for cell in cells(axis, window))


def pooled(layer: Resolution, axes: list[Axis], x: Array) -> Array:
    """One window after another; where it holds no cell, frameworks differ: NaN."""
    y = np.full((*x.shape[:2], *(axis["output"] for axis in axes)), np.nan)
    for place in np.ndindex(*y.shape[2:]):
        pairs = list(zip(axes, place, strict=True))
        part = x
        for number, (axis, window) in enumerate(pairs):
            real = [cell for cell in cells(axis, window) if 0 <= cell < axis["size"]]
            part = part.take(real, 2 + number)
        part = part.reshape(*x.shape[:2], -1)
        divisor = prod(counted(*pair, layer.divisor or "") for pair in pairs)
        if part.size and divisor:
            most = layer.op == "max_pool"
            y[:, :, *place] = part.max(axis=2) if most else part.sum(axis=2) / divisor
    return y


def convolved(axes: list[Axis], x: Array, weight: Array, group: int) -> Array:
    y = np.zeros((x.shape[0], len(weight), *(axis["output"] for axis in axes)))
    inputs, outputs = (np.split(one, group, axis=axis) for one, axis in ((x, 1), (y, 1)))
    for place, taps in product(np.ndindex(*y.shape[2:]), np.ndindex(*weight.shape[2:])):
        pairs = zip(axes, place, taps, strict=True)
        at = [cells(axis, window)[tap] for axis, window, tap in pairs]
        if all(0 <= cell < axis["size"] for cell, axis in zip(at, axes, strict=True)):
            for part, more, w in zip(inputs, outputs, np.split(weight, group), strict=True):
                more[:, :, *place] += part[:, :, *at] @ w[:, :, *taps].T
    return y


def transposed(axes: list[Axis], x: Array, weight: Array) -> Array:
    """Every product where it falls, which the crop may leave out."""
    y = np.zeros((x.shape[0], weight.shape[1], *(axis["output"] for axis in axes)))
    for place, taps in product(np.ndindex(*x.shape[2:]), np.ndindex(*weight.shape[2:])):
        at = [
            cell * axis["stride"] + tap * axis["dilation"] - axis["begin"]
            for axis, cell, tap in zip(axes, place, taps, strict=True)
        ]
        if all(0 <= cell < axis["output"] for cell, axis in zip(at, axes, strict=True)):
            y[:, :, *at] += x[:, :, *place] @ weight[:, :, *taps]
    return y


def varied(value: Any, random: Random) -> Any:
    """Other numbers in the same words."""
    if isinstance(value, list):
        return [varied(one, random) for one in value]
    number = isinstance(value, int) and not isinstance(value, bool)
    return max(0, value + random.choice((-1, 0, 0, 1))) if number else value


def layers(record: dict[str, Any], random: Random) -> Resolution:
    shape, weight = record["input_shape"], record["weight_shape"]
    sizes = [random.randint(3, 8) for _ in shape[2:]]
    kernel = [max(1, size + random.choice((-1, 0, 1))) for size in (weight or ())[2:]]
    words = {
        name: value if name.startswith(("group", "num_")) else varied(value, random)
        for name, value in record["attributes"].items()
    }
    return resolve(
        record["framework"],
        record["op"],
        input_shape=(*shape[:2], *sizes),
        weight_shape=weight and (*weight[:2], *kernel),
        **words,
    )


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.sweep) for n in range(1, SWEPT))]
)
def test_nodes_compute_the_windows(seed: int) -> None:
    random, generator, checked, wrong = Random(seed), np.random.default_rng(seed), set(), []
    for record in CASES * VARIANTS:
        try:
            layer = layers(record, random)
            shape: Any = layer.weight_shape
            weight = None if shape is None else generator.standard_normal(shape).astype(np.float32)
            model = layer.to_model(weight)
        except OnnxpadError:
            continue
        told = layer.to_json()
        axes, group = told["axes"], told["group"]
        # A divisor that is given, and what no number stands for, are left to the goldens.
        given = (layer.divisor or "")[:1].isdigit()
        if given or told["fill"] not in (None, "constant") or (told["transposed"] and group > 1):
            continue
        x = generator.standard_normal(layer.input_shape).astype(np.float32) - 2
        if weight is None:
            expected = pooled(layer, axes, x)
        elif told["transposed"]:
            expected = transposed(axes, x, weight)
        else:
            expected = convolved(axes, x, weight, group)
        y = run(model, x)
        y = np.where(np.isnan(expected), expected, y) if y.shape == expected.shape else y
        checked.add((layer.framework, layer.op))
        wrong += [layer] if difference(y, expected) > 1e-4 else []
    assert wrong == []
    assert len(checked) > 40


def test_nan_wins_where_empty_windows_of_two_axes_cross() -> None:
    """Caffe: 0/0 where the window ends at the border, and 0/-1 where it starts behind it."""
    x = np.ones((1, 1, 4, 5), np.float32)
    words: dict[str, Any] = {"kernel_size": 1, "stride_h": 2, "stride_w": 3}
    layer = resolve("caffe", "avg_pool", input_shape=x.shape, **words)
    expected = np.array([[1, 1, 0], [1, 1, 0], [np.nan] * 3])
    assert np.array_equal(run(layer.to_model(), x)[0, 0], expected, equal_nan=True)
