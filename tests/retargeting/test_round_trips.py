"""To a convention and back: the same numbers, and where only pads moved the same bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto

from onnxpad import retarget
from tests.retargeting.running import one_node, outputs, signed


def first(op: str, size: int, kernel: int, stride: int, pads: Any) -> ModelProto:
    x = signed(size, 1, 2, size, size)
    given: dict[str, Any] = {"strides": [stride] * 2}
    if isinstance(pads, str):
        given["auto_pad"] = pads
    else:
        given["pads"] = pads
    if op == "Conv":
        return one_node(op, x, signed(1, 3, 2, kernel, kernel), **given)
    if op == "AveragePool":
        given["count_include_pad"] = 0
    return one_node(op, x, kernel_shape=[kernel] * 2, **given)


def test_the_same_pads_come_back_byte_for_byte() -> None:
    start = first("Conv", 32, 3, 2, [1, 1, 1, 1])
    went = retarget(start, to="tensorflow").model
    back = retarget(went, to="pytorch").model
    assert isinstance(back, ModelProto)
    assert back.SerializeToString() == start.SerializeToString()


def test_every_size_of_a_dynamic_model_follows() -> None:
    start = first("Conv", 16, 3, 2, [1, 1, 1, 1])
    for axis in (2, 3):
        dim = start.graph.input[0].type.tensor_type.shape.dim[axis]
        dim.ClearField("dim_value")
        dim.dim_param = "HW"[axis - 2]
    moved = retarget(start, to="tensorflow").model
    assert isinstance(moved, ModelProto)
    assert not retarget(start, to="SAME_LOWER").changed
    given = {one.name: one for one in moved.graph.node[0].attribute}
    assert given["auto_pad"].s == b"SAME_UPPER"
    known = retarget(start, to="tensorflow", dims={"H": "%2=0", "W": "%2=0"}).model
    assert isinstance(known, ModelProto)
    for size in range(6, 14):
        x = signed(size, 1, 2, size, size)
        fixed = first("Conv", size, 3, 2, "SAME_UPPER")
        wanted = outputs(fixed, x)[0]
        assert np.allclose(outputs(moved, x)[0], wanted, rtol=0, atol=1e-5)
        if size % 2 == 0:
            assert np.allclose(outputs(known, x)[0], wanted, rtol=0, atol=1e-5)
