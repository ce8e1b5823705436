"""Padded convolutions whose strides OpenVINO moves in front of their pads: each was run."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import onnxpad
from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.runtimes.targets.test_facts import Step, chain, weights
from tests.runtimes.targets.test_held_out_facts import answers

RELU: Step = ("Relu", [], {})
TWO: Step = ("Mul", [np.float32(2)], {})
ONES = {"kernel_shape": [1], "strides": [2]}
OF_3: Step = ("Conv", [weights(4, 4, 3)], {"kernel_shape": [3]})
GROUPS: Step = ("Conv", [weights(4, 1, 3)], {"kernel_shape": [3], "group": 4})
WITH_BIAS: Step = ("Conv", [weights(4, 1, 3), weights(4)], {"kernel_shape": [3], "group": 4})
ZEROS: Step = ("Pad", [np.array([0, 0, 0, 0, 0, 2])], {})
ONES_OF_CHANNELS: Step = ("Pad", [np.array([0, 0, 0, 0, 0, 2]), np.float32(1)], {})
PROVIDER = "onnxruntime-openvino"
BODY = (
    "w = Constant <value = float[2, 2, 1] {1, 2, 3, 4}> () a = Abs (x) "
    "y = Conv <kernel_shape = [1], strides = [2], pads = [0, 2]> (a, w) "
)


def judged(model: onnx.ModelProto, target: str = "openvino") -> Answer:
    return answers(model, target)["Conv"]


def ones(**more: object) -> Step:
    return ("Conv", [weights(3, 4, 1)], ONES | more)


@pytest.mark.parametrize(
    "target",
    ["openvino", *(f"openvino@{one}" for one in ("2023.3", "2024.6", "2025.3")), PROVIDER],
)
@pytest.mark.parametrize(
    ("front", "wrong"),
    [
        *(([RELU], True), ([OF_3], True), ([RELU, TWO], True), ([WITH_BIAS], True)),
        *(([], False), ([TWO], False), ([GROUPS], False), ([("Softmax", [], {})], False)),
        (
            [RELU, ("MaxPool", [], {"kernel_shape": [1]})],
            False,
        ),
    ],
)
def test_strides_move_to_operators_on_cells(front: list[Step], target: str, *, wrong: bool) -> None:
    model = chain(18, [2, 4, 9], *front, ones(pads=[0, 2]))
    wanted = Answer.MISCOMPUTES if wrong else Answer.TAKES
    assert judged(model, target) is wanted


@pytest.mark.parametrize(
    ("size", "given", "wrong"),
    [
        *((8, {"pads": [0, 1]}, False), (9, {"pads": [0, 1]}, True), (8, {"pads": [1, 0]}, True)),
        *((9, {"pads": [0, 0]}, False), (9, {"pads": [1, 1], "strides": [1]}, False)),
        (8, {"pads": [0, 2]}, True),
    ],
)
def test_where_the_cells_differ(size: int, given: dict[str, object], *, wrong: bool) -> None:
    model = chain(18, [2, 4, size], RELU, ones(**given))
    assert judged(model) is (Answer.MISCOMPUTES if wrong else Answer.TAKES)


@pytest.mark.parametrize(
    ("pad", "wrong"), [(ZEROS, True), (ONES_OF_CHANNELS, False)], ids=["zeros", "ones"]
)
@pytest.mark.parametrize("auto_pad", ["NOTSET", "SAME_LOWER"])
def test_a_pad_of_zeros_counts(pad: Step, auto_pad: str, *, wrong: bool) -> None:
    model = chain(18, [2, 4, 9], RELU, pad, ones(auto_pad=auto_pad))
    assert judged(model) is (Answer.MISCOMPUTES if wrong else Answer.TAKES)


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        *(("z = Conv <kernel_shape = [1], strides = [2]> (a, w)", True), ("z = Relu (a)", False)),
        *(("z = Conv <kernel_shape = [1], strides = [3]> (a, w)", False),),
        ("r = Relu (a) z = Conv <kernel_shape = [1], strides = [2]> (r, w)", True),
    ],
)
def test_all_that_reads_it_asks_for_the_same(more: str, *, wrong: bool) -> None:
    model = text_model(
        BODY + more, "float[1, 2, 9] x", outputs="float[a, b, c] y, float[d, e, f] z", opset=18
    )
    assert judged(model) is (Answer.MISCOMPUTES if wrong else Answer.TAKES)


def test_strides_of_a_later_convolution_move_too() -> None:
    padded: Step = ("Conv", [weights(4, 4, 1)], {"kernel_shape": [1], "pads": [0, 2]})
    model = chain(18, [2, 4, 9], RELU, padded, RELU, ones())
    assert judged(model) is Answer.MISCOMPUTES


def test_sizes_that_the_file_leaves_open_keep_the_strides() -> None:
    assert judged(chain(18, [2, 4, "w"], RELU, ones(pads=[0, 2]))) is Answer.TAKES


def test_a_way_around_is_written() -> None:
    model = chain(18, [2, 4, 9], RELU, ones(pads=[0, 2]))
    done = onnxpad.rewrite(model, target="openvino")
    assert done.changed
    assert not done.unfit
