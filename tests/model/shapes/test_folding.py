"""Pads that a model computes from constants and from sizes that are known."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest
from onnx import ModelProto, checker, parser

from onnxpad.model.reading.survey import Survey
from onnxpad.rewriting.rewrite import rewrite

HEADER = '<ir_version: 9, opset_import: ["" : 17]>\n'
WEIGHT = "float[1,1,3,3] k = {1, -2, 3, -4, 5, -6, 7, -8, 9}"
# What the TorchScript exporter writes for ZeroPad2d((1, 2, 0, 3)).
TORCHSCRIPT = """
  zero = Constant<value = int64[1] {4}>()
  fill = ConstantOfShape<value = int64[1] {0}>(zero)
  listed = Concat<axis = 0>(given, fill)
  table = Reshape(listed, two)
  turned = Slice(table, minus, far, first, minus)
  flipped = Transpose<perm = [1, 0]>(turned)
  flat = Reshape(flipped, minus)
  pads = Cast<to = 7>(flat)
"""
CONSTANTS = (
    "int64[4] given = {1, 2, 0, 3}, int64[2] two = {-1, 2}, int64[1] minus = {-1}, "
    "int64[1] far = {-9223372036854775807}, int64[1] first = {0}"
)


def build(body: str, constants: str, shape: str = "1,1,5,6") -> ModelProto:
    text = f"g (float[{shape}] x) => (float[a,b,c,d] y) <{WEIGHT}, {constants}> {{ {body} }}"
    found: ModelProto = parser.parse_model(HEADER + text)
    return found


def run(model: ModelProto, x: np.ndarray) -> np.ndarray:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options)
    return np.asarray(session.run(None, {"x": x})[0])


def test_the_torchscript_chain_is_read_absorbed_and_removed() -> None:
    before = build(TORCHSCRIPT + "p = Pad(x, pads) y = Conv(p, k)", CONSTANTS)
    step = next(site for site in Survey(before).sites_now() if site.op == "Conv").chain.pad
    assert step is not None
    assert step.pads.flat == (0, 0, 0, 1, 0, 0, 3, 2)
    after = rewrite(before, passes=["absorb-pad"]).model
    assert isinstance(after, ModelProto)
    assert [node.op_type for node in after.graph.node] == ["Conv"]
    assert [tensor.name for tensor in after.graph.initializer] == ["k"]
    checker.check_model(after, full_check=True)
    x = np.random.default_rng(0).standard_normal((1, 1, 5, 6)).astype(np.float32)
    np.testing.assert_array_equal(run(before, x), run(after, x))


def test_arithmetic_that_others_read_stays() -> None:
    body = TORCHSCRIPT + "p = Pad(x, pads) c = Conv(p, k) s = Cast<to = 1>(flat) y = Add(c, one)"
    before = build(body.replace("y = Add(c, one)", "t = ReduceSum(s) y = Add(c, t)"), CONSTANTS)
    after = rewrite(before, passes=["absorb-pad"]).model
    assert isinstance(after, ModelProto)
    kinds = [node.op_type for node in after.graph.node]
    assert "Pad" not in kinds
    assert kinds.count("Cast") == 1
    x = np.random.default_rng(0).standard_normal((1, 1, 5, 6)).astype(np.float32)
    np.testing.assert_array_equal(run(before, x), run(after, x))


FROM_SHAPE = """
  s = Shape(x) h = Gather(s, two) half = Div(h, minus) up = Neg(half) less = Sub(up, four)
  row = Unsqueeze(less, zero) pads = Concat<axis = 0>(none, row, row, none, row, row)
  p = Pad(x, pads) y = Conv(p, k)
"""
SHAPE_CONSTANTS = (
    "int64 two = {2}, int64 minus = {-1}, int64 four = {4}, int64[1] zero = {0}, "
    "int64[2] none = {0, 0}"
)


def test_sizes_that_are_known_are_constants_and_others_are_not() -> None:
    before = build(FROM_SHAPE, SHAPE_CONSTANTS)
    done = rewrite(before, passes=["absorb-pad"])
    assert isinstance(done.model, ModelProto)
    x = np.random.default_rng(0).standard_normal((1, 1, 5, 6)).astype(np.float32)
    np.testing.assert_array_equal(run(before, x), run(done.model, x))
    assert done.changed
    open_size = rewrite(build(FROM_SHAPE, SHAPE_CONSTANTS, "1,1,h,6"), passes=["absorb-pad"])
    assert "computed while the model runs" in open_size.skips[0].skip.reason
    assert rewrite(
        build(FROM_SHAPE, SHAPE_CONSTANTS, "1,1,h,6"), passes=["absorb-pad"], dims={"h": 5}
    ).changed


@pytest.mark.parametrize(("first", "second"), [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3)])
def test_division_truncates_like_onnx(first: int, second: int) -> None:
    body = "q = Div(a, b) r = Add(q, nine) pads = Concat<axis = 0>(none, r, r, none, r, r) "
    constants = (
        f"int64[1] a = {{{first}}}, int64[1] b = {{{second}}}, int64[1] nine = {{9}}, "
        "int64[2] none = {0, 0}"
    )
    before = build(body + "p = Pad(x, pads) y = Conv(p, k)", constants)
    after = rewrite(before, passes=["absorb-pad"])
    assert isinstance(after.model, ModelProto)
    x = np.random.default_rng(0).standard_normal((1, 1, 5, 6)).astype(np.float32)
    assert after.changed
    np.testing.assert_array_equal(run(before, x), run(after.model, x))
