"""What a runtime stops at for the way a file is written: functions, order, stored bools."""

from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, helper, inliner, numpy_helper, parser

import onnxpad
from onnxpad.runtimes.conditions.companions import (
    BESIDE_BYTES,
    BLOCKED_BRANCH,
    CALLS,
    CONSTANT_WINDOWS,
    DISORDER,
    LISTED_REDUCTIONS,
    STORED_BOOL,
    UNSHAPED,
)
from tests.runtimes.targets.test_held_out_facts import answers

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
    unfit = onnxpad.rewrite(model, target=target).unfit
    assert any(str(one).endswith("try " + one.judgement.cures[0]) for one in unfit)


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


@pytest.mark.parametrize("holds", ["initializer", "Constant"])
@pytest.mark.parametrize("listed", [True, False])
def test_opencv_reads_stored_bools_from_raw_data(holds: str, listed: bool) -> None:
    bools = {
        True: helper.make_tensor("c", TensorProto.BOOL, [], [True]),
        False: numpy_helper.from_array(numpy_helper.to_array(helper.make_tensor(
            "c", TensorProto.BOOL, [], [True])), "c"),
    }  # fmt: skip
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[1,2,6,6] x) => (float[1,2,6,6] y) '
        "{ n = Neg(x) y = Where(c,x,n) }"
    )
    if holds == "initializer":
        model.graph.initializer.append(bools[listed])
    else:
        model.graph.node.insert(0, helper.make_node("Constant", [], ["c"], value=bools[listed]))
    for target in ("opencv", "opencv-classic"):
        assert refused(model, target) == ({*STORED_BOOL} if listed else set())


@pytest.mark.parametrize(
    ("given", "stops"),
    [
        ("axes=[0,2,3,1], keepdims=0", True),
        ("keepdims=0", False),
        ("axes=[2,3], keepdims=0", False),
    ],
)
def test_opencv_makes_a_list_of_a_number_where_axes_are_listed(given: str, stops: bool) -> None:
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 13]> g (float[1,2,6,6] x, float k) => '
        f"(float[a,b,c,d] y) {{ m = ReduceMean<{given}>(x) "
        "h = Greater(m,k) n = Neg(x) y = Where(h,x,n) }"
    )
    assert refused(model, "opencv") == ({*LISTED_REDUCTIONS} if stops else set())


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
    assert any("the shapes of 'q', 'r', 'y' are declared" in one for one in done.fitting.prepared)
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


@pytest.mark.parametrize(
    ("front", "branch", "behind", "wrong"),
    [
        ("", "c = Conv(x,w) r = Relu(c)", "y = Add(b,h)", True),
        ("", "r = MaxPool<kernel_shape=[1,1]>(x)", "a = Relu(b) y = Mul(a,h)", True),
        ("f = Conv(x,w)", "r = Relu(f)", "y = Concat<axis=1>(b,b)", True),
        ("", "r = Conv(x,w)", "a = Conv(b,w) y = Add(a,h)", False),
        ("", "c = Conv(x,w) r = Add(c,h)", "y = Add(b,h)", False),
        ("", "c = Conv(x,w) r = Add(c,c)", "y = Add(b,h)", True),
        ("", "c = Conv(x,w) r = Exp(c)", "y = Add(b,h)", True),
        ("f = Conv(x,w) j = Concat<axis=1>(f,f)", "r = Relu(j)", "y = Add(b,h)", True),
        ("f = Conv(x,w) j = Concat<axis=1>(f,x)", "r = Relu(j)", "y = Add(b,h)", False),
        ("", "r = Relu(x)", "y = Add(b,h)", False),
        ("f = Conv(x,w)", "r = Relu(x)", "y = Add(f,h)", False),
    ],
)
def test_opencv_keeps_blocks_of_channels_behind_an_if(
    front: str, branch: str, behind: str, *, wrong: bool
) -> None:
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[1,2,6,6] x) => (float[a,b0,d,e] y) '
        "<bool k = {1}, float h = {0.5}, float[2,2,1,1] w = {1,2,3,4}> "
        f"{{ {front} b = If<then_branch = t () => (float[a,b0,d,e] r) {{ {branch} }}, "
        f"else_branch = f0 () => (float[a,b0,d,e] q) {{ q = Neg(x) }}>(k) {behind} }}"
    )
    assert ({*BLOCKED_BRANCH} <= refused(model, "opencv")) is wrong
    assert not {*BLOCKED_BRANCH} & refused(model, "onnxruntime")


@pytest.mark.parametrize("target", ["opencv", "opencv-classic", "opencv-classic@4.8"])
@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("b = Conv(s,w) y = Add(b,x)", True),
        ("b = MaxPool<kernel_shape=[1,1]>(s) y = Add(b,x)", True),
        ("a = Relu(s) c = Pad(a,p) b = ConvTranspose(c,w) y = Add(b,x)", True),
        ("a = Constant<value=float[1,2,1,1] {1,2}>() b = Conv(a,w) y = Add(b,x)", True),
        ("a = Pad(s,p) y = Add(a,x)", False),
        ("a = Add(s,x) y = Conv(a,w)", False),
        ("y = Conv(x,w)", False),
    ],
)
def test_opencv_has_no_windows_over_constants(body: str, target: str, *, wrong: bool) -> None:
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[1,2,1,1] x) => (float[a,b0,d,e] y) '
        "<float[1,2,1,1] s = {1,2}, int64[8] p = {0,0,0,0,0,0,0,0}, "
        f"float[2,2,1,1] w = {{1,2,3,4}}> {{ {body} }}"
    )
    assert ({*CONSTANT_WINDOWS} <= refused(model, target)) is wrong


BYTES = {
    "max pool": "q = QuantizeLinear(b,s,z) p = MaxPool<kernel_shape=[1,1]>(q)",
    "convolution": "q = QuantizeLinear(b,s,z) p = QLinearConv(q,s,z,w,s,zero,s,z)",
    "uneven": "q = QuantizeLinear(b,s,z) p = QLinearConv<pads=[0,0,0,1]>(q,s,z,w,s,zero,s,z)",
    "weight off 0": "q = QuantizeLinear(b,s,z) p = QLinearConv(q,s,z,w,s,z,s,z)",
    "weight": "q = QuantizeLinear(b,s,z) d = DequantizeLinear(q,s,z) "
    "v = DequantizeLinear(w,s,zero) c = Conv(d,v) p = QuantizeLinear(c,s,z)",
    "not quantised alone": "q = QuantizeLinear(b,s,z) d = DequantizeLinear(q,s,z) "
    "v = DequantizeLinear(w,s,zero) c = Conv(d,v) u = Relu(c) p = QuantizeLinear(c,s,z)",
    "Sigmoid": "q = QuantizeLinear(b,s,z) d = DequantizeLinear(q,s,z) c = Sigmoid(d) "
    "p = QuantizeLinear(c,s,z)",
    "Relu": "q = QuantizeLinear(b,s,z) d = DequantizeLinear(q,s,z) c = Relu(d) "
    "p = QuantizeLinear(c,s,z)",
}
RUN_ON_BYTES = ("max pool", "convolution", "weight", "Sigmoid")


def beside_bytes(
    operators: str, *, branch: str = "r = Relu(a)", other: str = "o = Neg(x)", front: str = "Abs(x)"
) -> onnx.ModelProto:
    """An If, of which the first branch runs, with operators on bytes behind it."""
    return parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[1,2,6,6] x) => (float[i,j,k,l] y) '
        "<bool t = {1}, float s = {0.05}, int8 z = {3}, int8 zero = {0}, "
        f"int8[2,2,1,1] w = {{1,2,3,4}}> {{ a = {front} "
        f"b = If<then_branch = f () => (float[e,f,g,h] r) {{ {branch} }}, "
        f"else_branch = n () => (float[e,f,g,h] o) {{ {other} }}>(t) "
        f"{operators} y = DequantizeLinear(p,s,z) }}"
    )


@pytest.mark.parametrize("operators", BYTES)
def test_opencv_loses_what_branches_read_beside_operators_on_bytes(operators: str) -> None:
    """Live: `bufidx >= 0`."""
    found = refused(beside_bytes(BYTES[operators]), "opencv")
    assert ({*BESIDE_BYTES} <= found) is (operators in RUN_ON_BYTES)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"branch": "r = Relu(x)"}, False),
        ({"branch": "r = Relu(x)", "other": "o = Neg(a)"}, False),
        ({"branch": "r = Mul(x,a)", "front": "Constant<value_float = 2.0>()"}, False),
        ({"branch": "r = Identity(a)"}, True),
        ({"branch": "m = Neg(x) r = Relu(m)"}, False),
        ({"branch": "r = If<then_branch = u () => (float[e,f,g,h] i) { i = Relu(a) }, "
          "else_branch = v () => (float[e,f,g,h] i) { i = Neg(x) }>(t)"}, True),
    ],
)  # fmt: skip
def test_the_branch_that_runs_reads_it(given: dict[str, str], *, wrong: bool) -> None:
    model = beside_bytes(BYTES["max pool"], **given)
    assert ({*BESIDE_BYTES} <= refused(model, "opencv")) is wrong
    assert not {*BESIDE_BYTES} & refused(model, "onnxruntime")
