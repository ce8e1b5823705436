"""What a runtime stops at for the way a file is written: functions, order, shapes, bytes."""

from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, inliner, parser

import onnxpad
from onnxpad.runtimes.conditions.plain_facts import (
    CALLS,
    DISORDER,
    UNSHAPED,
)
from tests.models.text import text_model
from tests.runtimes.targets.chains import answers

CALLING = """<ir_version: 8, opset_import: ["": 17, "own": 1]>
g (float[1,2,6,6] x) => (float[1,2,4,4] y) { r = Relu(x) y = own.Block(r) }
<domain: "own", opset_import: ["": 17]> Block (a) => (b) {
  b = MaxPool<kernel_shape=[3,3], strides=[1,1]>(a)
}"""
DISORDERED = """<ir_version: 8, opset_import: ["": 17]>
g (float[1,2,6,6] x) => (float[1,2,4,4] y) {
  y = Neg(r) r = MaxPool<kernel_shape=[3,3], strides=[1,1]>(x)
}"""
SORTING = ("opencv", "opencv-classic", "onnx2torch", "tvm", "iree", "onnx2keras")
INLINED = (*SORTING, "openvino", "mnn", "jaxonnxruntime")


def refused(model: onnx.ModelProto, target: str) -> set[str]:
    return {op for op, answer in answers(model, target).items() if answer.fails}


@pytest.mark.parametrize("target", INLINED)
def test_who_has_no_local_functions(target: str) -> None:
    model = parser.parse_model(CALLING)
    assert refused(model, target) == {*CALLS}
    assert refused(inliner.inline_local_functions(model), target) == set()
    done = onnxpad.rewrite(model, target=target)
    assert isinstance(done.model, onnx.ModelProto)
    assert (len(done.unfit), len(done.model.functions)) == (0, 0)
    assert refused(done.model, target) == set()
    model.functions[0].opset_import[0].version = 10
    unfit = onnxpad.rewrite(model, target=target).unfit
    assert any(str(one).endswith("try " + "".join(one.judgement.cures)) for one in unfit)


@pytest.mark.parametrize("target", ["ncnn", "onnxruntime"])
def test_who_inlines_local_functions(target: str) -> None:
    assert refused(parser.parse_model(CALLING), target) == set()


@pytest.mark.parametrize("target", [*SORTING, "ncnn"])
def test_who_wants_nodes_in_order(target: str) -> None:
    model = parser.parse_model(DISORDERED)
    assert refused(model, target) == {*DISORDER}
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(reversed(nodes))
    assert refused(model, target) == set()


@pytest.mark.parametrize("target", ["openvino", "mnn", "onnxruntime"])
def test_who_sorts_nodes(target: str) -> None:
    assert refused(parser.parse_model(DISORDERED), target) == set()


BRANCHING = """<ir_version: 8, opset_import: ["": 17]>
g (float[1,2,6,6] x) => (float[a,b,d,e] y) <bool c = {1}> {
  y = If<
    then_branch = t () => (float[a,b,d,e] r) { r = Abs(x) },
    else_branch = f () => (float[a,b,d,e] q) { q = Neg(x) }
  >(c)
}"""


@pytest.mark.parametrize("target", ["opencv", "opencv-classic", "opencv-classic@4.8"])
@pytest.mark.parametrize("which", ["input", "output"])
def test_opencv_wants_a_shape_of_inputs_and_results(target: str, which: str) -> None:
    model = parser.parse_model(DISORDERED)
    kind = getattr(model.graph, which)[0].type
    for told, stops in (((), False), (("shape",), True), (("elem_type", "shape"), True)):
        for name in told:
            kind.tensor_type.ClearField(name)
        assert ({*UNSHAPED} <= refused(model, target)) is stops
    kind.Clear()
    assert {*UNSHAPED} <= refused(model, target)
    kind.tensor_type.elem_type = TensorProto.FLOAT
    kind.tensor_type.shape.dim.extend([onnx.TensorShapeProto.Dimension()] * 4)
    assert UNSHAPED[0] not in refused(model, target)


def test_opencv_wants_a_shape_of_what_branches_give() -> None:
    model = parser.parse_model(BRANCHING)
    assert UNSHAPED[0] not in refused(model, "opencv")
    model.graph.node[0].attribute[1].g.output[0].type.tensor_type.ClearField("shape")
    assert {*UNSHAPED} <= refused(model, "opencv")
    (found,) = onnxpad.inspect(model, target="opencv").targets.values()
    assert "infer_shapes" in " ".join(cure for one in found for cure in one.judgement.cures)
    assert UNSHAPED[0] not in refused(onnx.shape_inference.infer_shapes(model), "opencv")


def test_rewrite_declares_the_shapes_that_opencv_wants() -> None:
    model = parser.parse_model(BRANCHING)
    for attribute in model.graph.node[0].attribute:
        attribute.g.output[0].type.tensor_type.ClearField("shape")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    done = onnxpad.rewrite(model, target="opencv")
    assert done.fitting is not None
    assert any("the shapes of 'q', 'r', 'y' declared" in one for one in done.fitting.prepared)
    assert UNSHAPED[0] not in refused(done.model, "opencv")
    sizes = [one.dim_value for one in done.model.graph.output[0].type.tensor_type.shape.dim]
    assert sizes == [1, 2, 6, 6]
    assert onnxpad.validate(model, done.model)


def test_rewrite_declares_no_shape_that_nothing_tells() -> None:
    model = parser.parse_model(BRANCHING)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    assert not onnxpad.rewrite(model, target="onnxruntime").changed
    model.graph.input[0].type.tensor_type.ClearField("shape")
    for attribute in model.graph.node[0].attribute:
        attribute.g.output[0].type.tensor_type.ClearField("shape")
    assert onnxpad.rewrite(model, target="opencv").unfit


def test_opencv_gets_no_quotient_of_one_computed_channel() -> None:
    """OpenCV keeps both in blocks of channels: the quotient has an axis more."""
    model = text_model(
        'y = AveragePool<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(x)',
        "float[N,3,H,W] x",
        outputs="float[N,3,a,b] y",
        opset=13,
    )
    assert onnxpad.rewrite(model, target="opencv", allow_unknown=True).unfit
    written = onnxpad.rewrite(model, passes="runtime-pads").model
    assert isinstance(written, onnx.ModelProto)
    assert written.graph.node[-1].op_type == "Div"
