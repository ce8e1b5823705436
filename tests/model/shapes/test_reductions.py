"""Sizes of reductions, which onnx is asked for node by node."""

from __future__ import annotations

import onnx
import pytest
from onnx import parser

from onnxpad.model.reading.survey import Survey

FORMS = [
    (17, "ReduceMean<axes=[2, 3]>(x)", (1, 3, 1, 1)),
    (17, "ReduceMean<axes=[-1], keepdims=0>(x)", (1, 3, 8)),
    (17, "ReduceMax(x)", (1, 1, 1, 1)),
    (18, "ReduceMean<keepdims=1, noop_with_empty_axes=0>(x, axes)", (1, 3, 1, 1)),
    (18, "ReduceL2<keepdims=0>(x, axes)", (1, 3)),
    (18, "ReduceSum<noop_with_empty_axes=0>(x)", (1, 1, 1, 1)),
]


@pytest.mark.parametrize(("opset", "form", "dims"), FORMS)
def test_sizes(opset: int, form: str, dims: tuple[int, ...]) -> None:
    model = parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : {opset}]> m (float[1,3,8,9] x) => (float y) '
        f"<int64[2] axes = {{2, -1}}> {{ r = {form} y = Identity(r) }}"
    )
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.output[0].type.tensor_type.ClearField("shape")
    inferred = onnx.shape_inference.infer_shapes(model).graph.value_info[0]
    assert tuple(one.dim_value for one in inferred.type.tensor_type.shape.dim) == dims
    (context,) = Survey(model).contexts
    assert context.type_of("r").dims == dims


def test_a_network_of_many_reductions_keeps_its_batch() -> None:
    """Each stands behind pads that the graph computes, which onnx does not follow."""
    nodes = ["s = Shape(x)", "one = Slice(s, zero, two)", "none = Sub(one, one)"]
    nodes += ["pads = Concat<axis=0>(none, none, none, none)", "t0 = Identity(x)"]
    for number in range(12):
        nodes.append(f"p{number} = Pad(t{number}, pads)")
        nodes.append(f"m{number} = ReduceMean<axes=[2, 3]>(p{number})")
        nodes.append(f"t{number + 1} = Mul(p{number}, m{number})")
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> m (float[1,3,8,9] x) => (float[1,3,8,9] y) '
        f"<int64[1] zero = {{0}}, int64[1] two = {{2}}> {{ {' '.join(nodes)} y = Relu(t12) }}"
    )
    (context,) = Survey(model).contexts
    assert context.type_of("t12").dims == (1, 3, 8, 9)
