"""What the user knows, what the file stores, and what is fed: three things for a target."""

from __future__ import annotations

import numpy as np
import onnx

from onnxpad import inspect
from tests.rewriting.for_target.test_search import for_target, model_of, plans

UP = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,h,8] x) => (float[1,3,a,b] y) <float[2,3,3,3] w> {
  [up] y = ConvTranspose<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(x, w)
}"""


def test_a_size_that_the_user_knows_is_not_known_to_the_target() -> None:
    """OpenVINO crops SAME wrongly where the file leaves sizes open; --dim does not close them."""
    fixed = for_target(UP.replace("h,8", "8,8"), "openvino")
    assert plans(fixed) == []
    assert for_target(UP, "openvino").fitting is not None
    known = for_target(UP, "openvino", dims={"h": 8})
    assert plans(known) == [("plain-transpose",)]
    assert inspect(model_of(UP), target="openvino", dims={"h": 8}).targets["openvino"][0].way


CHANNELS = """<ir_version: 8, opset_import: ["" : 17]>
g (uint8[1,2,8,8] x, float[1,3,8,8] f, float[2,3,3,3] w) => (uint8[1,2,4,4] y, float[1,2,6,6] z)
{
  [pool] y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x)
  [conv] z = Conv<kernel_shape=[3,3]>(f, w)
}"""


def test_an_8_bit_input_and_a_fed_weight_are_seen() -> None:
    model = model_of(CHANNELS)
    told = {
        one.node.label: one
        for one in inspect(model, target="opencv-classic").targets["opencv-classic"]
    }
    assert told["pool"].judgement.answer.fails
    assert told["conv"].judgement.answer.fails
    stored = np.ones((2, 3, 3, 3), np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(stored, "w"))
    (conv,) = (
        one
        for one in inspect(model, target="opencv-classic").targets["opencv-classic"]
        if one.op == "Conv"
    )
    assert not conv.judgement.answer.fails
