"""Pad in mode wrap, run in every runtime that takes it: what crops as well, or wraps twice."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnxpad import rewrite
from onnxpad.runtimes.conditions.rows import Answer
from tests.oracle.interpreter import run_model
from tests.runtimes.targets.test_held_out_facts import only

TAKEN = Answer.TAKES
CROPPED, AGAIN = [0, 0, 3, 0, 0, -1], [0, 0, 7, 0, 0, 0]
PLAIN = [[0, 0, 3, 0, 0, 2], [0, 0, 6, 0, 0, 6], [0, 0, -1, 0, 0, -1], [0, -1, 2, 0, 0, 1]]


def wrap(pads: list[int]) -> onnx.ModelProto:
    dims = [1, 4, 6]
    made = [size + pads[at] + pads[at + 3] for at, size in enumerate(dims)]
    graph = helper.make_graph(
        [helper.make_node("Pad", ["x", "p"], ["y"], mode="wrap")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, made)],
        [numpy_helper.from_array(np.array(pads), "p")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=8)


FAILS = {
    "tinygrad": [(AGAIN, Answer.REFUSES)],
    "onnxruntime@1.26": [(AGAIN, Answer.MISCOMPUTES)],
    "onnxruntime-web": [(AGAIN, Answer.MISCOMPUTES)],
    "webgpu@1.27": [(AGAIN, Answer.MISCOMPUTES), (CROPPED, Answer.MISCOMPUTES)],
    **{name: [(CROPPED, Answer.MISCOMPUTES)] for name in ("webgpu", "opencv", "tvm")},
    "onnxruntime": [],
}


@pytest.mark.parametrize("target", FAILS)
def test_what_fails_is_foreseen_and_never_left_silent(target: str) -> None:
    fails = FAILS[target]
    named = [pads for pads, _ in fails]
    for pads in (CROPPED, AGAIN, *PLAIN):
        if pads not in named and min(pads) >= 0:
            assert only(wrap(pads), target) is TAKEN, pads
    x = np.random.default_rng(3).normal(size=(1, 4, 6)).astype(np.float32)
    for pads, answer in fails:
        model = wrap(pads)
        assert only(model, target) is answer
        done = rewrite(model, target=target)
        assert bool(done.unfit) is (target == "tinygrad")
        before, after = (run_model(one, {"x": x})["y"] for one in (model, done.model))
        np.testing.assert_array_equal(before, after)
