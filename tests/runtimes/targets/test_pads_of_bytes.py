"""Pads behind DequantizeLinear in OpenVINO, which writes their value as a byte: 500 models, run."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
import pytest

from onnxpad import rewrite
from onnxpad.runtimes.conditions.rows import Answer
from tests.runtimes.targets.test_facts import Step, chain
from tests.runtimes.targets.test_held_out_facts import answers

ROWS = [0, 0, 2, 0, 0, 0, 1, 0]
CROPPED = [0, 0, 2, 0, 0, 0, -1, 0]
BOTH = [0, 0, 2, 0, 0, 0, 0, 1]
BATCH = [1, 0, 0, 0, 0, 0, 0, 0]
NONE = [0] * 8
POOL: Step = ("MaxPool", [], {"kernel_shape": [2, 2]})
AVERAGE: Step = ("AveragePool", [], {"kernel_shape": [2, 2]})
RELU: Step = ("Relu", [], {})
SUM: Step = ("Add", [np.float32(0.7)], {})
TURN: Step = ("Transpose", [], {"perm": [0, 1, 3, 2]})
RELEASES = ("openvino", "openvino@2024.6", "onnxruntime-openvino")


def bytes_of(dtype: str, zero: int) -> list[Step]:
    both = [np.array(0.0082, np.float32), np.array(zero, dtype)]
    return [("QuantizeLinear", both, {}), ("DequantizeLinear", both, {})]


def pad(value: float, pads: Sequence[int] = ROWS) -> Step:
    return "Pad", [np.array(pads), np.float32(value)], {"mode": "constant"}


def judged(steps: Sequence[Step], target: str) -> Answer:
    return answers(chain(18, [1, 3, 10, 9], *steps), target)["Pad"]


@pytest.mark.parametrize("target", RELEASES)
@pytest.mark.parametrize(
    ("dtype", "zero", "value", "wrong"),
    [
        *(("uint8", 131, 3, False), ("uint8", 131, 0.5, True), ("uint8", 0, 1.5, True)),
        *(("uint8", 131, 255, False), ("uint8", 131, 256, True), ("uint8", 131, -2, True)),
        *(("int8", 0, -2, False), ("int8", 0, 128, True), ("int8", 0, -inf, True)),
        *(("int8", 0, -0.5, True), ("uint8", 131, 0, False)),
    ],
)
def test_openvino_writes_whole_bytes_of_a_pad_along_one_axis(
    dtype: str, zero: int, value: float, target: str, *, wrong: bool
) -> None:
    wanted = Answer.MISCOMPUTES if wrong else Answer.TAKES
    assert judged([*bytes_of(dtype, zero), pad(value)], target) is wanted


def test_int8_off_zero_were_uint8_to_2024() -> None:
    for zero, fails in ((3, True), (0, False)):
        steps = [*bytes_of("int8", zero), pad(-2)]
        assert judged(steps, "openvino@2024.6").fails is fails
        assert judged(steps, "openvino") is Answer.TAKES


@pytest.mark.parametrize(
    ("zero", "between", "pads", "wrong"),
    [
        *((131, [], BOTH, False), (131, [], NONE, False), (131, [], CROPPED, True)),
        *((131, [POOL], ROWS, True), (131, [TURN], ROWS, True), (131, [AVERAGE], ROWS, False)),
        *((131, [RELU], ROWS, False), (0, [RELU], ROWS, True), (0, [SUM], ROWS, True)),
        *((131, [SUM], ROWS, False), (131, [AVERAGE], BATCH, True)),
    ],
)
def test_openvino_moves_the_conversion_behind_the_pad(
    zero: int, between: Sequence[Step], pads: Sequence[int], *, wrong: bool
) -> None:
    steps = [*bytes_of("uint8", zero), *between, pad(0.5, pads)]
    assert judged(steps, "openvino").fails is wrong
    assert judged([*between, pad(0.5, pads)], "openvino") is Answer.TAKES


@pytest.mark.parametrize(
    ("zero", "value", "wrong"), [(131, 0, True), (131, 3, True), (0, 3, True), (0, 0, False)]
)
def test_openvino_dequantises_the_value_along_an_axis_of_one(
    zero: int, value: float, *, wrong: bool
) -> None:
    assert judged([*bytes_of("uint8", zero), pad(value, BATCH)], "openvino").fails is wrong


@pytest.mark.parametrize("between", [[], [POOL], [TURN, POOL], [AVERAGE]])
def test_a_concat_is_right(between: Sequence[Step]) -> None:
    for pads in (BATCH, *([] if AVERAGE in between else [ROWS])):
        model = chain(18, [1, 3, 10, 9], *bytes_of("uint8", 131), *between, pad(0.5, pads))
        done = rewrite(model, target="openvino")
        assert not done.unfit
        assert [one.rule for one in done.changes] == ["concat-pads"]
