"""clipped-pads: cells of the data, clipped to one number, stand for those of a Pad."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from onnxpad.validation import validate
from tests.models.text import text_model
from tests.oracle.interpreter import run_model

RULE = "clipped-pads"


def padded(
    pads: str, value: str = "1.5", shape: str = "1, 2, 3", opset: int = 13
) -> onnx.ModelProto:
    return text_model(
        "y = Pad (x, p, v)",
        inputs=f"float[{shape}] x",
        outputs="float[a, b, c] y",
        constants=f"int64[6] p = {{{pads}}}, float v = {{{value}}}",
        opset=opset,
    )


@pytest.mark.parametrize("opset", [11, 13, 21])
def test_over_a_small_domain(opset: int) -> None:
    x = np.array([[[-np.inf, -2, 0], [3e38, np.inf, 1]]], np.float32)
    for begin, end, outer in product((0, 1, 3, 7), (0, 2, 4), (0, 1)):
        if not begin + end + outer:
            continue
        model = padded(f"0, {outer}, {begin}, {outer}, 0, {end}", opset=opset)
        done = rewrite(model, passes=RULE)
        assert isinstance(done.model, onnx.ModelProto)
        assert "Pad" not in {node.op_type for node in done.model.graph.node}
        feed = {"x": x}
        np.testing.assert_array_equal(run_model(done.model, feed)["y"], run_model(model, feed)["y"])


def test_it_is_proved() -> None:
    model = padded("0, 0, 2, 0, 1, 1", value="-2.5")
    assert validate(model, rewrite(model, passes=RULE).model).verdict in ("proved", "identical")
