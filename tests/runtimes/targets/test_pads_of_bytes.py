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
BATCH = [1, 0, 0, 0, 0, 0, 0, 0]
POOL: Step = ("MaxPool", [], {"kernel_shape": [2, 2]})
AVERAGE: Step = ("AveragePool", [], {"kernel_shape": [2, 2]})
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
        *(("uint8", 131, 127, False), ("uint8", 131, 256, True), ("uint8", 131, -2, True)),
        *(("int8", 0, -2, True), ("int8", 0, 128, True), ("int8", 0, -inf, True)),
        *(("int8", 0, -0.5, True), ("uint8", 131, 0, False)),
    ],
)
def test_openvino_writes_whole_bytes_of_a_pad_along_one_axis(
    dtype: str, zero: int, value: float, target: str, *, wrong: bool
) -> None:
    """Whole bytes above 0 are right, and called wrong all the same: a Concat costs little."""
    wanted = Answer.MISCOMPUTES if wrong or value else Answer.TAKES
    assert judged([*bytes_of(dtype, zero), pad(value)], target) is wanted


@pytest.mark.parametrize("between", [[], [POOL], [TURN, POOL], [AVERAGE]])
def test_a_concat_is_right(between: Sequence[Step]) -> None:
    for pads in (BATCH, *([] if AVERAGE in between else [ROWS])):
        model = chain(18, [1, 3, 10, 9], *bytes_of("uint8", 131), *between, pad(0.5, pads))
        done = rewrite(model, target="openvino")
        assert not done.unfit
        assert [one.rule for one in done.changes] == ["concat-pads"]
