"""Padded convolutions whose strides OpenVINO moves in front of their pads: each was run."""

from __future__ import annotations

import onnx
import pytest

import onnxpad
from onnxpad.runtimes.conditions.rows import Answer
from tests.runtimes.targets.test_facts import Step, chain, weights
from tests.runtimes.targets.test_held_out_facts import answers

RELU: Step = ("Relu", [], {})
ONES = {"kernel_shape": [1], "strides": [2]}


def judged(model: onnx.ModelProto, target: str = "openvino") -> Answer:
    return answers(model, target)["Conv"]


def ones(**more: object) -> Step:
    return ("Conv", [weights(3, 4, 1)], ONES | more)


@pytest.mark.parametrize(
    ("size", "given", "wrong"),
    [
        *((8, {"pads": [0, 1]}, True), (9, {"pads": [0, 1]}, True), (8, {"pads": [1, 0]}, True)),
        *((9, {"pads": [0, 0]}, False), (9, {"pads": [1, 1], "strides": [1]}, False)),
        (8, {"pads": [0, 2]}, True),
    ],
)
def test_where_the_cells_differ(size: int, given: dict[str, object], *, wrong: bool) -> None:
    model = chain(18, [2, 4, size], RELU, ones(**given))
    assert judged(model) is (Answer.MISCOMPUTES if wrong else Answer.TAKES)


def test_sizes_that_the_file_leaves_open_keep_the_strides() -> None:
    assert judged(chain(18, [2, 4, "w"], RELU, ones(pads=[0, 2]))) is Answer.TAKES


def test_a_way_around_is_written() -> None:
    model = chain(18, [2, 4, 9], RELU, ones(pads=[0, 2]))
    done = onnxpad.rewrite(model, target="openvino")
    assert done.changed
    assert not done.unfit
