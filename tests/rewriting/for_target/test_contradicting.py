"""Nodes with auto_pad and pads: runtimes differ in which one wins, so no target takes both."""

from __future__ import annotations

import numpy as np
import onnx

from onnxpad import inspect
from tests.models.text import text_model

CONV = 'y = Conv <auto_pad = "SAME_UPPER", pads = [1, 1, 1, 1], kernel_shape = [5, 5]> (x, w)'


def model(node: str) -> onnx.ModelProto:
    weights = np.random.default_rng(0).standard_normal(75).round(2)
    numbers = ", ".join(map(str, weights))
    return text_model(
        node,
        "float[1, 3, 8, 8] x",
        outputs="float[1, C, H, W] y",
        constants=f"float[1, 3, 5, 5] w = {{{numbers}}}",
        opset=17,
    )


def test_inspect_says_what_to_type() -> None:
    given = model(CONV)
    told = inspect(given, target="opencv").to_text("m.onnx")
    assert "next: onnxpad rewrite m.onnx --target opencv --ambiguous auto_pad -o OUT\nor" in told
    told = inspect(given, target="opencv", ambiguous="pads").to_text("m.onnx")
    assert "\nnext: onnxpad rewrite m.onnx --target opencv --ambiguous pads -o OUT\n" in told
    told = inspect(given, ambiguous="pads").to_text("m.onnx")
    assert "\nnext: onnxpad rewrite m.onnx --ambiguous pads -o OUT\n" in told
