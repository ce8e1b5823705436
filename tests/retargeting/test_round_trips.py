"""To a convention and back: the same numbers, and where only pads moved the same bytes."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from onnxpad.retargeting import retarget
from tests.retargeting.running import one_node, outputs, signed

TWO_WAYS = [("tensorflow", "pytorch"), ("SAME_UPPER", "SAME_LOWER"), ("keras", "symmetric")]


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


@pytest.mark.part(4)
@pytest.mark.parametrize("op", ["Conv", "MaxPool", "AveragePool"])
@pytest.mark.parametrize(("there", "back"), TWO_WAYS)
def test_there_and_back_gives_the_same(op: str, there: str, back: str) -> None:
    moved_once = 0
    for size, kernel, stride in product((12, 13), (3, 4), (1, 2, 3)):
        if stride >= kernel:
            continue
        x = signed(size + 100, 1, 2, size, size) - 5
        start = retarget(first(op, size, kernel, stride, "SAME_UPPER"), to=back).model
        assert isinstance(start, ModelProto)
        went = retarget(start, to=there)
        if went.skips:
            continue
        moved_once += went.changed
        again = retarget(went.model, to=back)
        assert isinstance(again.model, ModelProto)
        assert np.array_equal(outputs(again.model, x)[0], outputs(start, x)[0])
        assert again.changed is went.changed
        third = retarget(again.model, to=there)
        assert third.model == went.model
        assert not retarget(third.model, to=there).changed
    assert moved_once >= 2


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
