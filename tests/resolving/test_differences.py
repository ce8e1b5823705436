"""Which cells two frameworks disagree on: the prediction against both models, run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxpad import resolve
from tests.resolving.asked import asked, written
from tests.resolving.goldens import Array, run

Layer = tuple[str, dict[str, Any]]
SHAPE = (1, 2, 9, 8)

CONVOLUTIONS: list[tuple[Layer, Layer]] = [
    (("tensorflow", {"strides": 2, "padding": "SAME"}), ("pytorch", {"stride": 2, "padding": 1})),
    (("tensorflow", {"padding": "SAME"}), ("pytorch", {"padding": 1})),
    (("pytorch", {"padding": 1, "padding_mode": "reflect"}), ("pytorch", {"padding": 1})),
    (
        ("pytorch", {"padding": 2, "padding_mode": "circular", "stride": 2}),
        ("pytorch", {"padding": 2, "stride": 2}),
    ),
    (("pytorch", {"padding": 2}), ("pytorch", {"padding": 1})),
    (("pytorch", {"padding": [0, 1]}), ("flax", {"padding": [[0, 0], [1, 2]]})),
    (("pytorch", {"stride": 1}), ("pytorch", {"stride": 2})),
]
POOLS: list[tuple[str, Layer, Layer]] = [
    (
        "max_pool",
        ("caffe", {"kernel_size": 3, "stride": 2}),
        ("pytorch", {"kernel_size": 3, "stride": 2}),
    ),
    (
        "max_pool",
        ("caffe", {"kernel_size": 1, "stride": 2}),
        ("opencv-caffe-importer", {"kernel_size": 1, "stride": 2}),
    ),
    (
        "avg_pool",
        ("tensorflow", {"ksize": 3, "strides": 1, "padding": "SAME"}),
        ("timm", {"kernel_size": 3, "stride": 1}),
    ),
    (
        "avg_pool",
        ("tensorflow", {"ksize": [3, 1], "strides": 2, "padding": "SAME"}),
        ("flax", {"window_shape": [3, 1], "strides": 2, "padding": "SAME"}),
    ),
    (
        "avg_pool",
        ("pytorch", {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}),
        ("chainer", {"ksize": 3, "stride": 2, "pad": 1}),
    ),
    (
        "avg_pool",
        ("pytorch", {"kernel_size": 2, "divisor_override": 4}),
        ("pytorch", {"kernel_size": 2}),
    ),
    (
        "avg_pool",
        ("pytorch", {"kernel_size": 2, "divisor_override": 3}),
        ("pytorch", {"kernel_size": 2}),
    ),
    (
        "avg_pool",
        ("caffe", {"kernel_size": 1, "stride": 2}),
        ("mxnet", {"kernel": 1, "stride": 2, "pooling_convention": "full"}),
    ),
    (
        "avg_pool",
        ("paddle", {"kernel_size": 4, "stride": 1, "padding": "SAME", "exclusive": False}),
        ("timm", {"kernel_size": 4, "stride": 1}),
    ),
]


def compared(op: str, first: Layer, second: Layer, shapes: dict[str, Any]) -> Any:
    """What `onnxpad resolve --compare` prints."""
    name, words = second
    other = " ".join([name, *(f"{word}={written(value)}" for word, value in words.items())])
    return asked(first[0], op, shapes | first[1], "--compare", other)


def predicted(found: Any) -> Array:
    """Cells that differ, from the ranges of the axes alone."""
    shape = [min(axis["outputs"]) for axis in found["axes"]]
    marks = np.zeros(shape, bool)
    for number, axis in enumerate(found["axes"]):
        for begin, end in axis["differing"]:
            places = [slice(None)] * len(shape)
            places[number] = slice(begin, end + 1)
            marks[tuple(places)] = True
    # Divisors that differ by a factor do so everywhere, and on no axis in particular.
    if found["differing_cells"] and not any(axis["differing"] for axis in found["axes"]):
        marks[...] = True
    return marks


def differing(one: Array, other: Array) -> Array:
    """Cells of any channel that really differ, over what both have."""
    shared = tuple(slice(0, min(pair)) for pair in zip(one.shape, other.shape, strict=True))
    close = np.isclose(one[shared], other[shared], rtol=0, atol=1e-5, equal_nan=True)
    return np.asarray(~close.all(axis=(0, 1)))


def check(op: str, first: Layer, second: Layer, weight: Array | None = None) -> None:
    shapes = {"input_shape": SHAPE, "weight_shape": None if weight is None else weight.shape}
    x = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)
    y, other = (
        run(resolve(name, op, **shapes, **words).to_model(weight), x)
        for name, words in (first, second)
    )
    found = compared(op, first, second, shapes)
    assert found["same_size"] is (y.shape == other.shape)
    really = differing(y, other)
    assert really.size == found["shared_cells"]
    # Random data may agree by chance in a max pool whose windows differ, never the other way.
    assert not (really & ~predicted(found)).any()
    if op != "max_pool":
        assert really.sum() == found["differing_cells"]
    assert bool(found["differing_cells"]) is bool(really.any())


@pytest.mark.parametrize(("first", "second"), CONVOLUTIONS)
def test_convolutions(first: Layer, second: Layer) -> None:
    weight = np.random.default_rng(1).standard_normal((3, 2, 3, 3)).astype(np.float32)
    check("conv", first, second, weight)


@pytest.mark.parametrize(("op", "first", "second"), POOLS)
def test_pools(op: str, first: Layer, second: Layer) -> None:
    check(op, first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"stride": 2, "padding": 1}, {"stride": 2, "padding": 0}),
        ({"stride": 2, "padding": 1, "output_padding": 1}, {"stride": 2, "padding": 1}),
    ],
)
def test_transposed_convolutions(first: dict[str, Any], second: dict[str, Any]) -> None:
    weight = np.random.default_rng(1).standard_normal((2, 3, 3, 3)).astype(np.float32)
    check("conv_transpose", ("pytorch", first), ("pytorch", second), weight)


def test_ranges_say_where() -> None:
    words = {"kernel_size": 3, "stride": 2}
    shape = {"input_shape": (1, 1, 112, 112)}
    found = compared("max_pool", ("caffe", words), ("pytorch", words), shape)
    assert [axis["differing"] for axis in found["axes"]] == [[[55, 55]], [[55, 55]]]
    assert (found["differing_cells"], found["shared_cells"]) == (0, 55 * 55)
