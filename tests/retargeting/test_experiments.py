"""Networks and layers of public posts, moved, with the numbers that were measured for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from onnxpad.retargeting import retarget
from tests.retargeting.running import Array, outputs, signed


def one_node(op: str, x: Array, weight: Array | None = None, **attributes: Any) -> ModelProto:
    inputs = ["x"] if weight is None else ["x", "w"]
    node = helper.make_node(op, inputs, ["y"], "op", **attributes)
    info = helper.make_tensor_value_info
    held = [] if weight is None else [numpy_helper.from_array(weight, "w")]
    kind = TensorProto.DOUBLE if x.dtype == np.float64 else TensorProto.FLOAT
    graph = helper.make_graph(
        [node], "g", [info("x", kind, list(x.shape))], [info("y", kind, [None] * x.ndim)], held
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def run(model: object, x: Array) -> Array:
    assert isinstance(model, ModelProto)
    return outputs(model, x)[0]


def test_four_cells_and_a_kernel_of_two() -> None:
    """TensorFlow gives [2, 4], PyTorch with padding=1 [1, 3, 0], SAME_LOWER [2, 4] again."""
    x = np.array([[[1, 2, 3, 4]]], np.float32)
    weight = np.array([[[0, 1]]], np.float32)
    torch = one_node("Conv", x, weight, strides=[2], pads=[1, 1])
    assert run(torch, x).tolist() == [[[1, 3, 0]]]
    assert run(retarget(torch, to="tensorflow", source="pytorch").model, x).tolist() == [[[2, 4]]]
    refused = retarget(torch, to="tensorflow")
    assert refused.skips
    assert not refused.changed


def test_a_3x3_pool_on_8x8_has_one_pixel_more_in_caffe() -> None:
    x = signed(0, 1, 1, 8, 8)
    plain = one_node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    for to, size in (("tensorflow", 3), ("mps", 3), ("pytorch", 3), ("caffe", 4)):
        assert run(retarget(plain, to=to).model, x).shape == (1, 1, size, size)


@pytest.mark.parametrize(("kernel", "extra"), [(4, 0), (3, 1)])
def test_transposed_layers_of_tensorflow_and_pytorch(kernel: int, extra: int) -> None:
    """k4 s2 agrees with padding=1 to 2.2e-16, k3 s2 is full[0:2I] and not PyTorch's crop."""
    x, weight = signed(1, 1, 4, 6, 6), signed(2, 4, 3, kernel, kernel)
    given = {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [extra, extra]}
    torch = one_node("ConvTranspose", x, weight, **given)
    full = run(one_node("ConvTranspose", x, weight, strides=[2, 2]), x)
    begin = 1 if kernel == 4 else 0
    wanted = full[:, :, begin : begin + 12, begin : begin + 12]
    found = retarget(torch, to="tensorflow")
    assert found.changed is (kernel == 3)
    assert np.allclose(run(found.model, x), wanted, rtol=0, atol=1e-5)
    if kernel == 3:
        assert np.abs(run(torch, x) - wanted).mean() > 0.5


def test_stems_of_224_and_299() -> None:
    """At 224 SAME is (2, 3), at 299 both agree and nothing changes."""
    weight = signed(3, 2, 3, 7, 7)
    x = signed(4, 1, 3, 224, 224)
    symmetric = one_node("Conv", x, weight, strides=[2, 2], pads=[3] * 4)
    found = retarget(symmetric, to="tensorflow")
    same = one_node("Conv", x, weight, strides=[2, 2], auto_pad="SAME_UPPER")
    assert run(found.model, x).shape == (1, 2, 112, 112)
    assert np.array_equal(run(found.model, x), run(same, x))
    assert np.abs(run(symmetric, x) - run(same, x)).mean() > 5
    wide = signed(5, 1, 3, 299, 299)
    agreed = retarget(one_node("Conv", wide, weight, strides=[2, 2], pads=[3] * 4), to="tensorflow")
    assert not agreed.changed
    assert agreed.unchanged[0].why == "tensorflow pads like this at size 299x299"


def test_a_3x3_pool_of_112_differs_in_most_outputs() -> None:
    x = signed(6, 1, 8, 112, 112)
    symmetric = one_node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    moved = retarget(symmetric, to="tensorflow").model
    share = np.mean(run(symmetric, x) != run(moved, x))
    assert 0.70 < share < 0.72


def test_stride_1_is_the_same_in_both() -> None:
    x, weight = signed(7, 1, 3, 32, 32), signed(8, 4, 3, 3, 3)
    model = one_node("Conv", x, weight, pads=[1] * 4)
    found = retarget(model, to="tensorflow")
    assert not found.changed
    assert found.unchanged[0].why == "stride 1: an odd window has as many cells on both sides"
