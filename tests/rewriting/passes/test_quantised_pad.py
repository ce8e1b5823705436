"""quantised-pad: the Pad of a quantised model pads whole numbers."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxpad import rewrite, validate
from tests.models.text import text_model
from tests.oracle.interpreter import run_model


def between(
    pad: str = "a = Pad (d, p)",
    behind: str = "s, z",
    more: str = "",
    zero: str = "uint8 z = {128}",
    outputs: str = "float[1,2,a] y",
) -> onnx.ModelProto:
    return text_model(
        f"q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) {pad} "
        f"r = QuantizeLinear (a, {behind}) y = DequantizeLinear (r, {behind})",
        "float[1,2,8] x",
        outputs=outputs,
        constants=f"float s = {{0.1}}, {zero}, int64[6] p = {{0, 0, 1, 0, 0, 2}}{more}",
        opset=17,
    )


@pytest.mark.parametrize("zero", ["uint8 z = {128}", "int8 z = {-7}", "uint8 z = {0}"])
@pytest.mark.parametrize(
    ("pad", "more"),
    [
        ("a = Pad (d, p)", ""),
        ("a = Pad (d, p, v)", ", float v = {1.23}"),
        ("a = Pad (d, p, v)", ", float v = {-1000}"),
        ('a = Pad <mode = "reflect"> (d, p)', ""),
        ('a = Pad <mode = "edge"> (d, p, v)', ", float v = {3}"),
    ],
)
def test_it_writes_what_the_value_is_quantised_to(pad: str, more: str, zero: str) -> None:
    model = between(pad, more=more, zero=zero)
    done = rewrite(model, passes="quantised-pad")
    assert isinstance(done.model, onnx.ModelProto)
    found = [node.op_type for node in done.model.graph.node]
    assert found[:3] == ["QuantizeLinear", "Pad", "DequantizeLinear"]
    x = (np.random.default_rng(0).normal(size=(1, 2, 8)) * 9).astype(np.float32)
    wanted = run_model(model, {"x": x})["y"]
    np.testing.assert_array_equal(run_model(done.model, {"x": x})["y"], wanted)
    assert validate(model, done.model).ok


@pytest.mark.parametrize(
    "model",
    [
        between(behind="s2, z", more=", float s2 = {0.2}"),
        between(behind="s, z2", more=", uint8 z2 = {127}"),
        between(outputs="float[1,2,a] y, float[1,2,b] a"),
        text_model(
            "d = DequantizeLinear (x, s) y = Pad (d, p)",
            "int32[1,2,8] x",
            outputs="float[1,2,a] y",
            constants="float s = {0.1}, int64[6] p = {0, 0, 1, 0, 0, 2}",
        ),
    ],
    ids=["scale", "zero point", "result", "alone"],
)
def test_other_conversions_keep_the_pad_between_them(model: onnx.ModelProto) -> None:
    assert not rewrite(model, passes="quantised-pad").changed


def test_onnxruntime_is_asked_for_it_with_the_device_alone() -> None:
    model = between()
    assert not rewrite(model, target="onnxruntime").changed
    done = rewrite(model, target="onnxruntime", require_device=True)
    assert done.fitting is not None
    (plan,) = done.fitting.plans
    assert plan.way is not None
    assert plan.way.passes == ("quantised-pad",)
