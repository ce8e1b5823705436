"""declared-shapes: wrong shapes that a file declares become those of the numbers, or open."""

from __future__ import annotations

from itertools import product

import onnx
from onnx import helper

import onnxpad
from tests.models.tiny import tiny

RULE = "declared-shapes"
POOL = "[op] a = MaxPool <kernel_shape = [{kernel}], strides = [2], pads = [{pad}, 0]> (x)"
TWO = f"{POOL} y = Relu (a)"


def declared(model: onnx.ModelProto, **shapes: list[int]) -> onnx.ModelProto:
    """The same model with these shapes in the file."""
    outputs = {value.name: value for value in model.graph.output}
    for name, shape in shapes.items():
        value = helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        if name in outputs:
            outputs[name].CopyFrom(value)
        else:
            model.graph.value_info.append(value)
    return model


def stated(model: onnx.ModelProto) -> dict[str, list[int]]:
    return {
        value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in (*model.graph.value_info, *model.graph.output)
    }


def test_what_it_declares_is_what_the_nodes_give() -> None:
    for kernel, pad, wrong in product((1, 2, 3), (0, 1), ([1, 1, 9], [1, 2, 3], [1, 1])):
        if pad >= kernel:
            continue
        model = tiny(TWO.format(kernel=kernel, pad=pad), "float[1,1,7]")
        right = [1, 1, (7 + pad - kernel) // 2 + 1]
        model = declared(model, a=wrong, y=wrong)
        done = onnxpad.rewrite(model, passes=RULE)
        is_alike = len(wrong) == len(right)
        same = [a * (is_alike and a == b) for a, b in zip(right, wrong, strict=False)]
        assert stated(done.model) == {"a": right, "y": same if is_alike else [0, 0, 0]}
        assert list(done.model.graph.node) == list(model.graph.node)
        onnx.checker.check_model(done.model, full_check=True)
        assert not onnxpad.rewrite(done.model, passes=RULE).changed
