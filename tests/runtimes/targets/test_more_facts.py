"""Facts about bytes, batches and dropped windows, from sweeps over small layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxpad
from tests.runtimes.targets.test_facts import Step, chain


def test_opencv_classic_takes_the_end_pad_for_the_begin_pad() -> None:
    """9 cells, kernel 2, stride 3: rounded up, a fourth window would start behind the input."""
    for pads, wrong in (([0, 0], True), ([0, 1], True), ([1, 1], False), ([1, 0], False)):
        both = {"pads": [0, pads[0], 0, pads[1]], "kernel_shape": [1, 2], "strides": [1, 3]}
        model = chain(17, [1, 2, 5, 9], ("MaxPool", [], {**both, "ceil_mode": 1}))
        done = onnxpad.rewrite(model, target="opencv-classic")
        assert done.changed or not wrong, pads
        assert not done.unfit


SCALE = np.float32(0.1)


@pytest.mark.parametrize("kind", [np.uint8, np.int8])
def test_opencv_classic_shifts_bytes_and_pads_with_the_shifted_zero(kind: type[Any]) -> None:
    around: list[Any] = [SCALE, kind(3)]
    pads = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    for value, wrong in (([], kind is np.uint8), ([kind(0)], False), ([kind(3)], False)):
        steps = [("QuantizeLinear", around), ("Pad", [pads, *value]), ("DequantizeLinear", around)]
        model = chain(17, [1, 2, 5, 6], *((op, arrays, {}) for op, arrays in steps))
        done = onnxpad.rewrite(model, target="opencv-classic")
        assert done.changed is wrong
        assert not done.unfit


@pytest.mark.parametrize("target", ["ncnn", "mnn", "tflite"])
@pytest.mark.parametrize("kind", [np.uint8, np.int8])
def test_pools_of_bytes_are_not_for_all(target: str, kind: type[Any]) -> None:
    around: list[Any] = [SCALE, kind(3)]
    pool: Step = ("MaxPool", [], {"kernel_shape": [2, 2], "strides": [1, 1]})
    steps: list[Step] = [("QuantizeLinear", around, {}), pool, ("DequantizeLinear", around, {})]
    assert onnxpad.rewrite(chain(17, [1, 2, 5, 6], *steps), target=target).unfit


def test_mnn_pools_no_batch_of_volumes() -> None:
    pool: Step = ("MaxPool", [], {"kernel_shape": [2] * 3, "strides": [1] * 3})
    assert onnxpad.rewrite(chain(17, [2, 2, 5, 5, 5], pool), target="mnn").unfit
    assert not onnxpad.rewrite(chain(17, [1, 2, 5, 5, 5], pool), target="mnn").unfit


@pytest.mark.parametrize(("op", "value"), [("MaxPool", 0.0), ("AveragePool", 2.0)])
def test_iree_compiles_no_padded_pool_behind_a_pad_of_another_value(op: str, value: float) -> None:
    pads = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    for own in (0, 1):
        shape = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [own] * 4}
        steps: list[Step] = [("Relu", [], {}), ("Pad", [pads, np.float32(value)], {})]
        done = onnxpad.rewrite(chain(18, [1, 2, 7, 7], *steps, (op, [], shape)), target="iree")
        assert done.changed is bool(own)
        assert not done.unfit
