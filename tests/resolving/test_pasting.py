"""Layers as code of PyTorch and TensorFlow: the text, and PyTorch's where it is installed."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from tests.resolving.asked import asked
from tests.resolving.goldens import ALLOWED, SAMPLE, difference, goldens

CONV: dict[str, Any] = {"input_shape": (1, 3, 224, 224), "weight_shape": (64, 3, 7, 7)}
POOL: dict[str, Any] = {"input_shape": (1, 3, 8, 9)}
SAME: dict[str, Any] = {"strides": 2, "padding": "SAME"}

TEXTS = [
    (("tensorflow", "conv", CONV | SAME), "pytorch",
     "x = F.pad(x, (2, 3, 2, 3))\nx = F.conv2d(x, weight, bias, stride=2)"),
    (("tensorflow", "conv", CONV | {"padding": "SAME"}), "pytorch",
     "x = F.conv2d(x, weight, bias, padding=3)"),
    (("tensorflow", "max_pool", POOL | SAME | {"ksize": 3}), "pytorch",
     'x = F.pad(x, (1, 1, 0, 1), value=float("-inf"))\nx = F.max_pool2d(x, 3, stride=2)'),
    (("tensorflow", "avg_pool", POOL | SAME | {"ksize": 3}), "pytorch",
     ("ones = torch.ones_like(x)\nx = F.pad(x, (1, 1, 0, 1))\nones = F.pad(ones, (1, 1, 0, 1))\n"
     "x = F.avg_pool2d(x, 3, stride=2) / F.avg_pool2d(ones, 3, stride=2)")),
    (("pytorch", "conv", CONV | {"stride": 2, "padding": 3}), "tensorflow",
     ("# channels last; weight is [height, width, channels, filters]\n"
     "x = tf.pad(x, [[0, 0], [3, 3], [3, 3], [0, 0]])\n"
     'x = tf.nn.conv2d(x, weight, strides=[2, 2], padding="VALID")\n'
     "x = x if bias is None else x + bias")),
    (("tensorflow", "conv", CONV | SAME), "tensorflow",
     ("# channels last; weight is [height, width, channels, filters]\n"
     'x = tf.nn.conv2d(x, weight, strides=[2, 2], padding="SAME")\n'
     "x = x if bias is None else x + bias")),
    (("pytorch", "max_pool", POOL | {"kernel_size": 3, "stride": 2, "padding": 1}), "tensorflow",
     ("# channels last\n"
     'x = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], constant_values=float("-inf"))\n'
     'x = tf.nn.max_pool2d(x, [3, 3], [2, 2], padding="VALID")')),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "language", "text"), TEXTS)
def test_texts(layer: tuple[str, str, dict[str, Any]], language: str, text: str) -> None:
    assert asked(*layer, "--as", language)["code"] == text


def test_what_cannot_be_written_says_so() -> None:
    wrapped = CONV | {"padding": 3, "padding_mode": "circular"}
    for language, told in (("tensorflow", "tf.pad has no mode for wrap"), ("caffe", "'caffe'")):
        assert told in asked("pytorch", "conv", wrapped, "--as", language)["error"]


@pytest.mark.parametrize(
    ("called", "language"), [("torch", "pytorch"), ("TF", "tensorflow"), ("keras", "tensorflow")]
)
def test_habit_words_are_languages(called: str, language: str) -> None:
    code = asked("pytorch", "conv", CONV, "--as", language)["code"]
    assert asked("pytorch", "conv", CONV, "--as", called)["code"] == code


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_the_code_gives_what_the_framework_gave() -> None:
    torch: Any = importlib.import_module("torch")
    functional = importlib.import_module("torch.nn.functional")
    wrong = []
    for golden in goldens(SAMPLE):
        arrays = {"x": golden.x, "weight": golden.weight, "bias": golden.bias}
        names: dict[str, Any] = {"torch": torch, "F": functional}
        for name, array in arrays.items():
            names[name] = None if array is None else torch.from_numpy(array)
        if golden.record["op"] == "avg_pool" and "dilations" in golden.record["attributes"]:
            continue  # PyTorch's average pools have no dilation
        record = golden.record
        shapes = {name: record[name] for name in ("input_shape", "weight_shape")}
        words = shapes | record["attributes"]
        layer = asked(record["framework"], record["op"], words, "--as", "pytorch")
        exec(layer["code"], names)  # noqa: S102 - it is what is tested
        found = difference(names["x"].numpy(), golden.y)
        wrong += [(golden.record["id"], found)] if found > ALLOWED else []
    assert wrong == []
