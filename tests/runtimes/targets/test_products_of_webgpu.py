"""Convolutions that onnxruntime's WebGPU providers compute as a matrix product, without their pads.

Run in both, releases 1.20 to 1.30, 32 convolutions with biases: those that are said here are wrong,
the others right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from onnxpad import rewrite
from onnxpad.runtimes.conditions.rows import Answer
from tests.runtimes.targets.test_facts import chain, weights
from tests.runtimes.targets.test_held_out_facts import answers

WRONG, TAKEN = Answer.MISCOMPUTES, Answer.TAKES


def conv(size: int, kernel: int, axes: int = 2, **given: Any) -> onnx.ModelProto:
    group = given.get("group", 1)
    arrays = [weights(4, 4 // group, *[kernel] * axes), weights(4)]
    written = {"kernel_shape": [kernel] * axes, **given}
    return chain(17, [1, 4, *[size] * axes], ("Conv", arrays, written))


@pytest.mark.parametrize("target", ["webgpu", "webgpu-jsep", "webgpu@1.23", "webgpu-jsep@1.20"])
@pytest.mark.parametrize(
    ("size", "kernel", "given", "answer"),
    [
        (5, 1, {"pads": [0, 0, 1, 1]}, WRONG),
        (5, 1, {"pads": [0, 0, 0, 1]}, WRONG),
        (5, 1, {"pads": [0, 1, 0, 1]}, TAKEN),
        (5, 1, {"pads": [0, 0, 1, 1], "strides": [2, 2]}, TAKEN),
        (5, 1, {"pads": [0, 0, 1, 1], "group": 2}, TAKEN),
        (3, 3, {"pads": [0, 0, 1, 1]}, WRONG),
        (3, 3, {"pads": [0, 0, 2, 2], "strides": [2, 2]}, WRONG),
        (3, 3, {"pads": [0, 0, 4, 4], "dilations": [2, 2]}, WRONG),
        (3, 3, {"pads": [1, 1, 1, 1]}, TAKEN),
        (3, 3, {"pads": [0, 0, 1, 1], "group": 2}, TAKEN),
        (4, 3, {"pads": [0, 0, 1, 1]}, TAKEN),
        (2, 2, {"auto_pad": "SAME_UPPER"}, WRONG),
        (2, 2, {"auto_pad": "SAME_LOWER"}, TAKEN),
    ],
)
def test_end_pads_of_a_product_are_left_out(
    size: int, kernel: int, given: dict[str, Any], answer: Answer, target: str
) -> None:
    model = conv(size, kernel, **given)
    assert answers(model, target)["Conv"] is answer
    done = rewrite(model, target=target)
    assert not done.unfit
    assert done.changed is (answer is WRONG)


def test_of_three_axes_none_is_a_product() -> None:
    assert answers(conv(5, 1, 3, pads=[0, 0, 0, 1, 1, 1]), "webgpu")["Conv"] is TAKEN


def test_a_pad_that_onnxruntime_folds_is_left_out_as_well() -> None:
    front: Any = ("Pad", [np.array([0, 0, 0, 0, 0, 0, 1, 1])], {})
    single: Any = ("Conv", [weights(4, 4, 1, 1), weights(4)], {"kernel_shape": [1, 1]})
    assert answers(chain(17, [1, 4, 5, 5], front, single), "webgpu")["Conv"] is WRONG
