"""Negative pads of an operator's own: each runtime was run with them, or nothing is known."""

from __future__ import annotations

import onnx
import pytest

import onnxpad
from onnxpad.runtimes.conditions.rows import Answer
from tests.runtimes.targets.test_facts import chain, weights
from tests.runtimes.targets.test_held_out_facts import only

EQUAL, END = [-1, -1, -1, -1], [0, 0, -1, -1]
OPERATORS = ("Conv", "ConvTranspose", "MaxPool", "AveragePool")


def cropping(operator: str, pads: list[int]) -> onnx.ModelProto:
    given = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": pads}
    arrays = [weights(2, 2, 3, 3)] if operator.startswith("Conv") else []
    return chain(17, [1, 2, 9, 10], ("Relu", [], {}), (operator, arrays, given))


def answer(operator: str, pads: list[int], target: str) -> Answer:
    return only(cropping(operator, pads), target)


@pytest.mark.parametrize("pads", [EQUAL, END])
@pytest.mark.parametrize("operator", OPERATORS)
def test_who_takes_negative_pads(operator: str, pads: list[int]) -> None:
    transposed = operator == "ConvTranspose"
    for target in ("opencv-classic", "onnxruntime"):
        assert answer(operator, pads, target) is Answer.REFUSES
    assert answer(operator, pads, "ncnn").fails
    assert answer(operator, pads, "mnn") is answer(operator, pads, "tvm") is Answer.TAKES
    wanted = Answer.REFUSES if transposed else Answer.TAKES
    assert answer(operator, pads, "jaxonnxruntime") is wanted
    wanted = Answer.TAKES if transposed else Answer.REFUSES
    assert answer(operator, pads, "opencv") is wanted
    assert answer(operator, EQUAL, "iree") is wanted
    assert answer(operator, pads, "openvino") is Answer.REFUSES
    wanted = Answer.TAKES if operator in ("Conv", "MaxPool") and pads == END else Answer.REFUSES
    assert answer(operator, pads, "onnx2torch") is wanted


@pytest.mark.parametrize("target", ["candle", "tensorrt", "xnnpack", "coreml"])
def test_what_was_seen_of_other_pads_says_nothing_of_negative_ones(target: str) -> None:
    assert answer("Conv", END, target) is Answer.UNKNOWN


@pytest.mark.parametrize("target", ["opencv", "ncnn", "onnxruntime"])
def test_a_slice_does_what_negative_pads_would(target: str) -> None:
    model = cropping("Conv", EQUAL)
    (found,) = onnxpad.rewrite(model, target=target).unfit
    assert str(found).endswith(
        "a value of `pads` is negative; try a Slice in front of it instead of its negative pads"
    )
