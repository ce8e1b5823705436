"""Local functions: padding that arrives with the call, sizes that differ from call to call."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, checker, parser

from onnxpad.errors import ModelError
from onnxpad.rewriting.rewrite import Rewriting, rewrite
from tests.oracle.interpreter import run_model

MAIN = '<ir_version: 9, opset_import: ["" : 17, "f" : 1]>\n'
FUNCTION = '<domain: "f", opset_import: ["" : 17, "f" : 1]>\n'
WEIGHT = "<float[1,1,3] k = {1, 10, 100}>"


def build(main: str, *functions: str) -> ModelProto:
    found: ModelProto = parser.parse_model(MAIN + main + "".join(FUNCTION + f for f in functions))
    return found


def check_equal(before: ModelProto, done: Rewriting, *sizes: int) -> None:
    assert isinstance(done.model, ModelProto)
    checker.check_model(done.model, full_check=True)
    for size in sizes:
        x = np.random.default_rng(size).standard_normal((1, 1, size)).astype(np.float32)
        expected, found = run_model(before, {"x": x}), run_model(done.model, {"x": x})
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name], value)


PADDED_BY_CALL = """block <pads> (x, k) => (y) { y = Conv<pads: ints = @pads>(x, k) }"""


def test_pads_from_the_call_go_into_a_copy_of_the_function_for_each_value() -> None:
    before = build(
        f"""g (float[1,1,n] x) => (float[1,1,m] y) {WEIGHT} {{
          a = f.block<pads=[1,1]>(x, k)
          b = f.block<pads=[0,2]>(a, k)
          c = f.block<pads=[1,1]>(b, k)
          y = f.block<pads=[0,0]>(c, k)
        }}""",
        PADDED_BY_CALL,
    )
    done = rewrite(before, passes=["split-pads"])
    assert isinstance(done.model, ModelProto)
    assert [f.name for f in done.model.functions] == ["block", "block_2", "block_3"]
    assert [n.op_type for n in done.model.graph.node] == ["block", "block_2", "block", "block_3"]
    check_equal(before, done, 3, 6)
    assert not rewrite(done.model, passes=["split-pads"]).changed


def test_one_value_is_written_in_place() -> None:
    before = build(
        f"""g (float[1,1,n] x) => (float[1,1,m] y) {WEIGHT} {{
          a = f.block<pads=[1,1]>(x, k)
          y = f.block<pads=[1,1]>(a, k)
        }}""",
        PADDED_BY_CALL,
    )
    done = rewrite(before, passes=["split-pads"])
    assert isinstance(done.model, ModelProto)
    assert [f.name for f in done.model.functions] == ["block"]
    check_equal(before, done, 3, 6)


SAME = """block (x, k) => (y) { y = Conv<auto_pad="SAME_UPPER", strides=[2]>(x, k) }"""


def test_same_gets_a_copy_for_each_parity() -> None:
    before = build(
        f"""g (float[1,1,12] x) => (float[1,1,m] y) {WEIGHT} {{
          a = f.block(x, k)
          b = f.block(a, k)
          y = f.block(b, k)
        }}""",
        SAME,
    )
    done = rewrite(before)
    check_equal(before, done, 12)
    assert isinstance(done.model, ModelProto)
    assert [f.name for f in done.model.functions] == ["block", "block_2"]
    nodes = [node for function in done.model.functions for node in function.node]
    assert not any(entry.name == "auto_pad" for node in nodes for entry in node.attribute)


def test_calls_that_cannot_be_told_apart_are_skipped() -> None:
    before = build(
        f"""g (float[1,1,12] x) => (float[1,1,m] y) {WEIGHT} {{
          a = f.outer(x, k)
          b = f.outer(a, k)
          y = f.outer(b, k)
        }}""",
        "outer (x, k) => (y) { y = f.block(x, k) }",
        SAME,
    )
    done = rewrite(before)
    assert not done.changed
    assert "cannot be told apart" in done.skips[0].skip.reason


def test_an_attribute_that_no_call_gives_is_a_skip() -> None:
    before = build(
        "g (float[1,1,4] x) => (float[1,1,4] y) { y = Relu(x) }",
        "unused <how> (x, k) => (y) { y = Conv<auto_pad: string = @how>(x, k) }",
    )
    done = rewrite(before)
    assert not done.changed
    assert "not given by a call" in done.skips[0].skip.reason


def test_functions_that_call_each_other_in_a_circle_are_an_error() -> None:
    before = build(
        "g (float[1,1,4] x) => (float[1,1,4] y) { y = f.one(x) }",
        "one (x) => (y) { y = f.two(x) }",
        "two (x) => (y) { y = f.one(x) }",
    )
    with pytest.raises(ModelError, match="calls itself"):
        rewrite(before)


def test_pads_of_a_pad_node_may_come_through_a_function_input() -> None:
    before = build(
        """g (float[1,1,n] x) => (float[1,1,m] y)
        <float[1,1,3] k = {1, 10, 100}, int64[6] p = {0, 0, 1, 0, 0, 2}> {
          y = f.block(x, k, p)
        }""",
        "block (x, k, p) => (y) { q = Pad(x, p) y = Conv(q, k) }",
    )
    done = rewrite(before, passes=["absorb-pad"])
    assert done.changed
    check_equal(before, done, 3, 6)


def test_calls_that_are_written_differently_before_are_told_apart() -> None:
    before = build(
        """g (float[1,1,n] x) => (float[1,1,a] y, float[1,1,b] z) {
          y = f.pool<cm=0>(x)
          z = f.pool<cm=1>(x)
        }""",
        """pool <cm> (x) => (y) {
          y = MaxPool<kernel_shape=[3], strides=[2], auto_pad="SAME_LOWER", ceil_mode: int = @cm>(x)
        }""",
    )
    done = rewrite(before)
    assert isinstance(done.model, ModelProto)
    assert [f.name for f in done.model.functions] == ["pool", "pool_2"]
    check_equal(before, done, 5, 6, 7)


def test_a_dimension_name_inside_a_function_is_not_the_models() -> None:
    before = build(
        f"""g (float[1,1,h] x) => (float[1,1,m] y) {WEIGHT} {{ y = f.block(x, k) }}""",
        """block (x, k) => (y) {
          one = Constant<value_ints = [1]>()
          far = Constant<value_ints = [99]>()
          two = Constant<value_ints = [2]>()
          b = Slice(x, one, far, two)
          y = Conv<auto_pad="SAME_UPPER", strides=[2]>(b, k)
        }""",
    )
    value = before.functions[0].value_info.add(name="b")
    value.type.tensor_type.elem_type = 1
    for size in (1, 1):
        value.type.tensor_type.shape.dim.add(dim_value=size)
    value.type.tensor_type.shape.dim.add(dim_param="h")
    done = rewrite(before, dims={"h": "%2=0"})
    assert not done.changed


def test_an_initializer_that_an_input_replaces_has_the_inputs_shape() -> None:
    before = build(
        f"""g (float[1,1,n] x, float[1,1,w] k) => (float[1,1,m] y) {WEIGHT} {{
          y = Conv<auto_pad="SAME_UPPER">(x, k)
        }}"""
    )
    assert not rewrite(before).changed


@pytest.mark.parametrize("rule", ["split-pads", "symmetric-pads", "symmetric-pads-by-slice"])
def test_a_function_that_imports_no_onnx_operators_gets_none(rule: str) -> None:
    before = build(
        f"g (float[1,1,n] x) => (float[1,1,m] y) {WEIGHT} {{ y = f.block(x, k) }}",
        "block (x, k) => (y) { y = com.microsoft.FusedConv<pads = [0, 2]>(x, k) }",
    )
    del before.functions[0].opset_import[:]
    before.functions[0].opset_import.add(domain="com.microsoft", version=1)
    before.opset_import.add(domain="com.microsoft", version=1)
    done = rewrite(before, passes=[rule])
    assert not done.changed
    assert "no version of the ONNX operators is imported" in done.skips[0].skip.reason


TWICE = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
g (float[1,1,8] x, float[1,1,9] z) => (float[1,1,4] a, float[1,1,5] b) {
    a = local.F(x)
    b = local.F(z)
}
<domain: "local", opset_import: ["" : 17]>
F (x) => (y) {
    [other] q = MaxPool<auto_pad="SAME_UPPER", kernel_shape=[3], strides=[2]>(x)
    [pool] y = MaxPool<auto_pad="SAME_UPPER", kernel_shape=[3], strides=[2]>(x)
}"""


def test_a_node_of_a_function_is_named_once_for_all_of_its_copies() -> None:
    done = rewrite(parser.parse_model(TWICE), nodes="local:F/pool")
    assert len(done.changes) == 2
    assert isinstance(done.model, ModelProto)
    written = [
        [attribute.name for attribute in node.attribute if attribute.name in ("pads", "auto_pad")]
        for function in done.model.functions
        for node in function.node
    ]
    assert written == [["auto_pad"], ["pads"]] * 2
