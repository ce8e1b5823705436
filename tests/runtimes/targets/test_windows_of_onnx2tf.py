"""Convolutions and pools that onnx2tf takes for SAME, and inputs whose axes it does not tell apart.

Run through onnx2tf 1.29.24 and LiteRT: each model here is wrong or refused where a row says so, and
right where none does.
"""

from __future__ import annotations

from typing import Any

import onnx
import pytest

from onnxpad.runtimes.conditions.rows import Answer
from tests.runtimes.targets.test_facts import chain, weights
from tests.runtimes.targets.test_held_out_facts import answers

SAID, REFUSED, TAKEN = Answer.MISCOMPUTES, Answer.REFUSES, Answer.TAKES


def window(op: str, size: int, *, axes: int = 2, **given: Any) -> onnx.ModelProto:
    """One operator over axes of `size` cells, its lists written for one axis."""
    lists = {name: [value] * axes for name, value in given.items() if name != "pads"}
    begin, end = given.get("pads", (0, 0))
    lists["pads"] = [begin] * axes + [end] * axes
    kernel = lists["kernel_shape"]
    arrays = [weights(4, 3, *kernel)] if op == "Conv" else []
    return chain(19, [1, 3, *[size] * (axes - 1), size], (op, arrays, lists))


@pytest.mark.parametrize("axes", [1, 2])
@pytest.mark.parametrize(
    ("size", "kernel", "stride", "pad", "answer"),
    [
        *((3, 1, 2, 1, SAID), (1, 3, 4, 2, SAID), (2, 3, 2, 2, SAID), (5, 1, 2, 2, SAID)),
        *((4, 2, 2, 2, SAID), (3, 2, 3, 3, SAID), (3, 5, 2, 3, SAID), (3, 3, 2, 2, SAID)),
        *((1, 3, 2, 1, TAKEN), (7, 3, 1, 1, TAKEN), (7, 3, 2, 1, TAKEN), (7, 5, 1, 2, TAKEN)),
    ],
)
def test_a_conv_as_long_as_its_input_becomes_same(
    size: int, kernel: int, stride: int, pad: int, answer: Answer, axes: int
) -> None:
    given = {"kernel_shape": kernel, "strides": stride, "pads": (pad, pad)}
    assert answers(window("Conv", size, axes=axes, **given), "tflite")["Conv"] is answer


@pytest.mark.parametrize("op", ["MaxPool", "LpPool"])
@pytest.mark.parametrize(
    ("kernel", "dilation", "pads", "answer"),
    [
        *((2, 2, (0, 1), SAID), (3, 2, (1, 2), SAID)),
        *((2, 2, (1, 1), TAKEN), (3, 2, (2, 2), TAKEN), (2, 2, (0, 0), TAKEN)),
    ],
)
def test_pads_of_a_shorter_window_make_a_dilated_pool_same(
    op: str, kernel: int, dilation: int, pads: tuple[int, int], answer: Answer
) -> None:
    model = window(op, 7, kernel_shape=kernel, dilations=dilation, pads=pads)
    assert answers(model, "tflite")[op] is answer


@pytest.mark.parametrize(
    ("op", "axes", "answer"),
    [
        *(("MaxPool", 1, TAKEN), ("MaxPool", 2, TAKEN), ("MaxPool", 3, REFUSED)),
        *(("LpPool", 1, TAKEN), ("LpPool", 2, REFUSED), ("LpPool", 3, REFUSED)),
    ],
)
def test_strides_with_dilations(op: str, axes: int, answer: Answer) -> None:
    model = window(op, 8, axes=axes, kernel_shape=2, strides=2, dilations=2)
    assert answers(model, "tflite")[op] is answer
