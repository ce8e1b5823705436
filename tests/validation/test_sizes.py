"""Sizes at which stages of a model have rows left over, or none."""

import numpy as np
from onnx import ModelProto

from onnxpad.model.comparing.networks import Network
from onnxpad.validation import Verdict
from onnxpad.validation.samples import Pair, channel_counts
from tests.validation.builders import RANDOM, W1, model, node
from tests.validation.runs import validate

W = (RANDOM.standard_normal((4, 4, 3, 3)) / 3).astype(np.float32)


def padded_by_width(period: int) -> ModelProto:
    """A Pad that adds a row where the width is a multiple of `period`."""
    constants = {
        "axis": np.array([3]),
        "period": np.array([period]),
        "zero": np.array([0]),
        "head": np.array([0, 0, 1]),
        "tail": np.array([0, 0, 0, 0]),
        "W": W,
    }
    nodes = [
        node("Shape", ["x"], ["sizes"]),
        node("Gather", ["sizes", "axis"], ["width"]),
        node("Mod", ["width", "period"], ["left"]),
        node("Equal", ["left", "zero"], ["whole"]),
        node("Cast", ["whole"], ["more"], to=7),
        node("Concat", ["head", "more", "tail"], ["pads"], axis=0),
        node("Pad", ["x", "pads"], ["padded"]),
        node("Conv", ["padded", "W"], ["y"]),
    ]
    return model(nodes, constants, shape=[1, 4, "H", "W"])


def test_a_padding_that_is_wrong_at_64_only() -> None:
    report = validate(padded_by_width(10007), padded_by_width(64), device="cpu")
    assert report.verdict is Verdict.DIFFERENT
    assert validate(padded_by_width(64), padded_by_width(64), device="cpu").ok


def every_size_open(pads: list[int]) -> ModelProto:
    nodes = [node("Conv", ["x", "W"], ["c"], pads=pads), node("Relu", ["c"], ["y"])]
    return model(nodes, {"W": W1}, shape=["N", "C", "H", "W"])


def test_models_whose_sizes_are_all_open() -> None:
    same = validate(every_size_open([1] * 4), every_size_open([1] * 4), device="cpu")
    assert same.verdict is Verdict.IDENTICAL
    assert {shapes["x"][1] for shapes in same.input_shapes} == {3}
    other = validate(every_size_open([1] * 4), every_size_open([0, 0, 2, 2]), device="cpu")
    assert other.verdict is Verdict.DIFFERENT


def test_channels_that_only_a_constant_tells() -> None:
    scaled = model(
        [
            node("BatchNormalization", ["x", "s", "s", "s", "s"], ["c"]),
            node("MaxPool", ["c"], ["y"], kernel_shape=[2, 2]),
        ],
        {"s": np.ones(24, np.float32)},
        shape=["N", "C", "H", "W"],
    )
    assert channel_counts(Pair(Network(scaled), Network(scaled))) == (24,)
    report = validate(scaled, scaled, device="cpu")
    assert report.verdict is Verdict.IDENTICAL
    assert all(shapes["x"][1] == 24 for shapes in report.input_shapes)
