"""Tensors and attributes that cannot be read: an error that names them, or a verdict."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, helper

import onnxpad
from onnxpad.errors import OnnxpadError

X = np.ones((1, 1, 8, 8), np.float32)
WEIGHT = helper.make_tensor("w", TensorProto.FLOAT, [1, 1, 3, 3], [1.0] * 9)
TENSORS = {
    "too short": TensorProto(name="b", data_type=TensorProto.INT64, dims=[4]),
    "huge": TensorProto(name="b", data_type=TensorProto.FLOAT, dims=[2**40], raw_data=bytes(4)),
    "of no type": TensorProto(name="b", data_type=99, dims=[4]),
    "of a negative size": TensorProto(name="b", data_type=TensorProto.INT64, dims=[-4]),
}


def conv(source: str) -> NodeProto:
    return helper.make_node("Conv", [source, "w"], ["y"], name="c", auto_pad="SAME_UPPER")


def model(*nodes: NodeProto, more: tuple[TensorProto, ...] = ()) -> ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(list(nodes), "g", [x], [y], [WEIGHT, *more])
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, ir_version=9, opset_imports=opsets)


def with_tensor(tensor: TensorProto) -> dict[str, ModelProto]:
    filled = helper.make_node("ConstantOfShape", ["s"], ["z"], value=tensor)
    constant = helper.make_node("Constant", [], ["b"], value=tensor)
    pad = helper.make_node("Pad", ["x", "b"], ["p"])
    shape, add = helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Add", ["x", "z"], ["q"])
    return {
        "initializer": model(pad, conv("p"), more=(tensor,)),
        "constant": model(constant, pad, conv("p")),
        "attribute": model(shape, filled, add, conv("q")),
    }


def with_attribute(attribute: AttributeProto) -> ModelProto:
    node = conv("x")
    node.attribute.append(attribute)
    return model(node)


MODELS = {
    f"{where} {what}": found
    for what, tensor in TENSORS.items()
    for where, found in with_tensor(tensor).items()
} | {
    "a reference": with_attribute(AttributeProto(name="k", ref_attr_name="k", type="INTS")),
    "no type": with_attribute(AttributeProto(name="k")),
    "no tensor": with_attribute(AttributeProto(name="k", type="TENSOR")),
}


@pytest.mark.part(3)
@pytest.mark.parametrize("name", MODELS)
def test_no_verb_stumbles_over_it(name: str) -> None:
    pytest.importorskip("onnxruntime")
    damaged = MODELS[name]
    for verb in (
        lambda: onnxpad.inspect(damaged, target="ncnn"),
        lambda: onnxpad.rewrite(damaged),
        lambda: onnxpad.retarget(damaged, to="pytorch"),
        lambda: onnxpad.validate(damaged, damaged, device="cpu", samples=1),
        lambda: onnxpad.diagnose(
            damaged, inputs={"x": X}, outputs={"y": X}, device="cpu", budget=5
        ),
    ):
        with contextlib.suppress(OnnxpadError):
            verb()


def test_a_transpose_of_an_axis_that_there_is_not() -> None:
    pads = helper.make_tensor("p", TensorProto.INT64, [8], [0, 0, 1, 1, 0, 0, 1, 1])
    pad = helper.make_node("Pad", ["x", "p"], ["q"])
    turned = helper.make_node("Transpose", ["q"], ["t"], perm=[0, 1, 2, 4])
    broken = model(pad, turned, conv("t"), more=(pads,))
    assert onnxpad.inspect(broken).nodes
    assert onnxpad.validate(broken, broken).providers == {}
