"""How rewrites are written into the file: names, places, opsets, sharing."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, checker, parser

from onnxpad import Rewriting, rewrite
from tests.oracle.interpreter import run_model

WEIGHT = "float[1,1,3] k = {1, 10, 100}"


def build(body: str, weights: str = WEIGHT, ir: int = 9, opset: int = 17) -> ModelProto:
    header = f'<ir_version: {ir}, opset_import: ["" : {opset}]>\n'
    text = f"g (float[1,1,n] x) => (float[1,1,m] y) <{weights}> {{ {body} }}"
    found: ModelProto = parser.parse_model(header + text)
    return found


def proto(done: Rewriting) -> ModelProto:
    assert isinstance(done.model, ModelProto)
    return done.model


def check_equal(before: ModelProto, after: ModelProto) -> None:
    checker.check_model(after, full_check=True)
    for size in (4, 7):
        x = np.random.default_rng(size).standard_normal((1, 1, size)).astype(np.float32)
        expected, found = run_model(before, {"x": x}), run_model(after, {"x": x})
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name], value)


def test_new_names_are_free_of_what_the_file_says_of_tensors_it_lost() -> None:
    before = build("y = Conv<pads=[1,1]>(x, k)")
    left = before.graph.value_info.add(name="y/pad_output")
    left.type.tensor_type.elem_type = 7
    after = proto(rewrite(before, passes=["split-pads"]))
    assert after.graph.node[0].output == ["y/pad_output_1"]
    check_equal(before, after)


def test_constants_are_nodes_where_initializers_would_have_to_be_inputs() -> None:
    before = build("y = MaxPool<kernel_shape=[3], pads=[1,1]>(x)", ir=3, opset=11)
    before.graph.ClearField("initializer")
    after = proto(rewrite(before, passes=["split-pads"]))
    assert [node.op_type for node in after.graph.node] == ["Constant", "Constant", "Pad", "MaxPool"]
    assert not after.graph.initializer
    check_equal(before, after)
    back = proto(rewrite(after, passes=["absorb-pad"]))
    assert [node.op_type for node in back.graph.node] == ["MaxPool"]
