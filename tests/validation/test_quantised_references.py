"""References of quantised models that another runtime saved: a half may be rounded either way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnxpad import validate
from tests.models.text import text_model
from tests.oracle.interpreter import run_model

SCALES = "float s = {0.5}, uint8 z = {128}, float sw = {0.25}, int8 zw = {0}, float so = {4}"
BODIES = {
    "whole": "y = QLinearConv <kernel_shape = [3, 3]> (x, s, z, w, sw, zw, so, z)",
    "added": "c = QLinearConv <kernel_shape = [3, 3]> (x, s, z, w, sw, zw, so, z) "
    "y = com.microsoft.QLinearAdd (c, so, z, c, so, z, so, z)",
    "floats": "d = DequantizeLinear (x, s, z) v = DequantizeLinear (w, sw, zw) "
    "c = Conv <kernel_shape = [3, 3]> (d, v) y = QuantizeLinear (c, so, z)",
}

APART = (
    "y = com.microsoft.QLinearAdd (c, so, z, c, so, z, so, z)",
    "e = DequantizeLinear (c, so, z) f = Add (e, e) y = QuantizeLinear (f, so, z)",
)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(("steps", "agree"), [(0, True), (1, True), (40, False)])
def test_a_step_is_rounding_where_floats_would_be_as_well(
    body: str, steps: int, *, agree: bool, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    model = text_model(
        BODIES[body], "uint8[1,3,8,8] x", outputs="uint8[1,4,6,6] y", constants=SCALES
    )
    weight = rng.integers(-9, 9, (4, 3, 3, 3)).astype(np.int8)
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    x = rng.integers(0, 255, (1, 3, 8, 8)).astype(np.uint8)
    plain = text_model(
        BODIES[body].replace(*APART),
        "uint8[1,3,8,8] x",
        outputs="uint8[1,4,6,6] y",
        constants=SCALES,
    )
    plain.graph.initializer.extend(model.graph.initializer[-1:])
    right = run_model(plain, {"x": x})["y"].copy()
    right[0, 1, 2, 3] += np.uint8(steps)
    onnx.save(model, tmp_path / "model.onnx")
    np.savez(tmp_path / "data.npz", x=x, y=right)
    report = validate(tmp_path / "model.onnx", data=tmp_path / "data.npz")
    assert report.ok is agree, report.reason
