"""Local functions, beside tests/rewriting/cases/functions.txt: what a report and files say."""

from __future__ import annotations

import pytest
from onnx import ModelProto, parser

import onnxpad
from onnxpad import ModelError

MAIN = '<ir_version: 9, opset_import: ["" : 17, "f" : 1]>\n'
FUNCTION = '<domain: "f", opset_import: ["" : 17, "f" : 1]>\n'
WEIGHT = "<float[1,1,3] k = {1, 10, 100}>"
PADDED_BY_CALL = "block <pads> (x, k) => (y) { y = Conv<pads: ints = @pads>(x, k) }"


def build(main: str, *functions: str) -> ModelProto:
    found: ModelProto = parser.parse_model(MAIN + main + "".join(FUNCTION + f for f in functions))
    return found


def test_functions_are_named_that_are_written_out_and_bytes_stay_where_none_is() -> None:
    before = build(
        f"g (float[1,1,n] x) => (float[1,1,m] y) {WEIGHT} {{ y = f.block<pads=[1,1]>(x, k) }}",
        PADDED_BY_CALL,
    )
    assert onnxpad.rewrite(before, passes=["split-pads"]).inlined == ("f:block",)
    done = onnxpad.rewrite(before.SerializeToString())
    assert (done.inlined, done.model) == ((), before.SerializeToString())


def test_functions_that_call_each_other_in_a_circle_are_an_error() -> None:
    before = build(
        "g (float[1,1,4] x) => (float[1,1,4] y) { y = f.one(x) }",
        "one (x) => (y) { y = f.two(x) }",
        "two (x) => (y) { y = f.one(x) }",
    )
    with pytest.raises(ModelError, match="calls itself"):
        onnxpad.rewrite(before)


def test_functions_that_stay_are_compared() -> None:
    lacking = """G <n> (a) => (o) { m = f.F (a)
        o = AveragePool <kernel_shape = [2], pads = [0, 1], count_include_pad: int = @n> (m) }"""
    one, other = (
        build(
            "g (float[1,1,7] x) => (float[a,b,c] y) { z = f.F (x) y = f.G (z) }",
            f'F (a) => (o) {{ o = MaxPool <auto_pad = "SAME_{way}", kernel_shape = [2]> (a) }}',
            lacking,
        )
        for way in ("UPPER", "LOWER")
    )
    assert onnxpad.validate(one, other, proof_only=True).verdict == "different"


def test_a_dimension_name_inside_a_function_is_not_the_models() -> None:
    before = build(
        f"g (float[1,1,h] x) => (float[1,1,m] y) {WEIGHT} {{ y = f.block(x, k) }}",
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
    assert not onnxpad.rewrite(before, dims={"h": "%2=0"}).changed
