"""Plans whose nodes would not run are refused with the reason, and onnxruntime agrees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from onnxpad import retarget
from onnxpad.errors import RequestError
from onnxpad.retargeting.feasible import infeasible
from onnxpad.retargeting.plan import with_settings
from tests.retargeting.layers import layer
from tests.retargeting.running import outputs, signed

NODES: dict[str, tuple[str, list[int] | None, dict[str, Any]]] = {
    "conv": ("Conv", [4, 3, 3, 3], {"pads": [2] * 4, "dilations": [2, 2]}),
    "wide": ("Conv", [4, 3, 3, 3], {"pads": [1] * 4}),
    "up": ("ConvTranspose", [3, 4, 3, 3], {"pads": [1] * 4, "strides": [2, 2]}),
    "pool": ("MaxPool", None, {"pads": [1] * 4, "kernel_shape": [3, 3]}),
}


def model(name: str, opset: int = 17) -> ModelProto:
    op, shape, attributes = NODES[name]
    inputs, weights = ["x"], []
    if shape is not None:
        value = signed(1, *shape)
        weights.append(onnx.numpy_helper.from_array(value, "w"))
        inputs.append("w")
    node = helper.make_node(op, inputs, ["y"], name=name, **attributes)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "one", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def front(*pads: int, **more: Any) -> dict[str, Any]:
    """A Pad node with these begins and ends over the last two axes, and no other padding."""
    if len(pads) == 4:
        pads = (0, 0, *pads[:2], 0, 0, *pads[2:])
    return {"pads": [0] * 4, "pad_node": {"pads": list(pads), **more}}


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "channels": (
        "wide",
        front(0, 1, 1, 1, 0, 0, 1, 1),
        "has pads 1,0 at axis 1, which is no spatial axis: keep the model's 0,0",
    ),
    "batch": (
        "wide",
        front(1, 0, 1, 1, 0, 0, 1, 1),
        "has pads 1,0 at axis 0, which is no spatial axis",
    ),
    "reflect": ("wide", front(32, 0, 0, 0, mode="reflect"), "the widest reflection is 31"),
    "crop": ("wide", front(-20, 0, -20, 0), "pad_node crops all of axis 2 (size -8)"),
    "short": ("wide", front(-15, 0, -15, 0), "axis 2 has 2 cells, with pads 0,0 fewer"),
    "wrap": ("wide", front(1, 1, 1, 1, mode="wrap"), "opset 17 has no mode wrap"),
    "value": ("wide", front(1, 1, 1, 1, value=1e39), "1e+39, which float32 does not hold"),
    "value of no use": (
        "wide",
        front(1, 1, 1, 1, value=1e39, mode="edge"),
        "float32 does not hold",
    ),
    "kernel": ("pool", {"pads": [3, 0, 0, 0]}, "as large as the kernel"),
    "dilated": ("conv", {"auto_pad": "SAME_UPPER"}, "and a dilation is above 1"),
    "growth": ("up", {"output_padding": [0, 2]}, "output_padding 2 is not below stride 2"),
    "nothing left": ("up", {"pads": [40] * 4}, "its output would be -15x-15"),
}


@pytest.mark.parametrize(("name", "settings", "said"), REFUSED.values(), ids=REFUSED)
def test_what_would_not_run_is_refused(name: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError) as caught:
        retarget(model(name), plan={"nodes": [{"node": name, **settings}]})
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"the plan, node '{name}' ({NODES[name][0]}): ")
    assert "\n  try     correct the entry" in str(caught.value)


TAKEN: dict[str, tuple[str, dict[str, Any], int]] = {
    "reflect": ("wide", front(31, 0, 0, 0, mode="reflect"), 17),
    "crop": ("wide", front(-20, 0, -9, 0), 17),
    "wrap": ("wide", front(1, 1, 1, 1, mode="wrap"), 19),
    "value": ("wide", front(1, 1, 1, 1, value=3e38), 17),
    "kernel": ("pool", {"pads": [2, 0, 0, 0]}, 17),
    "lowest": ("pool", front(1, 1, 1, 1, value="-inf"), 17),
    "growth": ("up", {"output_padding": [0, 1]}, 17),
    "little left": ("up", {"pads": [30, 30, 30, 30]}, 17),
}


@pytest.mark.parametrize(("name", "settings", "opset"), TAKEN.values(), ids=TAKEN)
def test_what_is_just_taken_runs(name: str, settings: dict[str, Any], opset: int) -> None:
    found = retarget(model(name, opset), plan={"nodes": [{"node": name, **settings}]})
    assert found.changed
    assert isinstance(found.model, ModelProto)
    assert outputs(found.model, signed(0, 1, 3, 32, 32))[0].size


def test_what_the_model_has_already_is_no_reason() -> None:
    wide = layer("AveragePool", 32, 3, 2, (3, 3))
    counted = with_settings(wide, {"count_include_pad": 1})
    assert counted != wide
    assert infeasible(wide, counted) == ""
    assert infeasible(layer("AveragePool", 32, 3, 2), wide)


@pytest.mark.parametrize(
    ("dtype", "value", "fits"),
    [
        ("uint8", 255, True),
        ("uint8", 256, False),
        ("uint8", 0.5, False),
        ("int8", -128, True),
        ("int8", "-inf", False),
        ("float16", 65504, True),
        ("float16", 65505, False),
        ("float16", "-inf", True),
        ("", 1e300, True),
    ],
)
def test_a_value_is_one_of_the_element_type(dtype: str, value: float | str, fits: bool) -> None:
    chain = replace(layer("MaxPool", 32, 3, 2), dtype=dtype)
    after = with_settings(chain, front(1, 1, 1, 1, value=value))
    assert (infeasible(chain, after) == "") is fits
