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


def nodes_of(model: object) -> list[str]:
    assert isinstance(model, ModelProto)
    return [node.op_type for node in model.graph.node]


def test_pads_from_the_call_are_those_of_each_call() -> None:
    before = build(
        f"""g (float[1,1,n] x) => (float[1,1,m] y) {WEIGHT} {{
          [one] a = f.block<pads=[1,1]>(x, k)
          [two] b = f.block<pads=[0,2]>(a, k)
          [three] y = f.block<pads=[0,0]>(b, k)
        }}""",
        PADDED_BY_CALL,
    )
    done = rewrite(before, passes=["split-pads"])
    assert nodes_of(done.model) == ["Pad", "Conv", "Pad", "Conv", "Conv"]
    assert done.model.graph.node[1].name == "one/y"
    assert done.inlined == ("f:block",)
    assert not done.model.functions
    assert [one.domain for one in done.model.opset_import] == [""]
    check_equal(before, done, 3, 6)
    assert not rewrite(done.model, passes=["split-pads"]).changed


def test_functions_stay_where_nothing_is_edited() -> None:
    before = build(
        f"g (float[1,1,n] x) => (float[1,1,m] y) {WEIGHT} {{ y = f.block<pads=[1,1]>(x, k) }}",
        PADDED_BY_CALL,
    )
    for done in (rewrite(before), rewrite(before.SerializeToString())):
        assert not done.changed
        assert not done.inlined
    assert done.model == before.SerializeToString()


@pytest.mark.parametrize(("stated", "block"), [("", "block"), ("float[1,1,9] a, ", "Conv")])
def test_a_function_that_cannot_pad_stays_and_gives_the_sizes_that_are_stated(
    stated: str, block: str
) -> None:
    before = build(
        f"""g (float[1,1,n] x) => (float[1,1,m] y) <{stated}{WEIGHT[1:]} {{
          a = f.half(x)
          y = f.block(a, k)
        }}""",
        "half (x) => (y) { y = Relu(x) }",
        """block (x, k) => (y) { y = Conv<auto_pad="SAME_UPPER", strides=[2]>(x, k) }""",
    )
    done = rewrite(before, dims={"n": 9})
    assert nodes_of(done.model) == ["half", block]
    assert done.changed is (block == "Conv")
    check_equal(before, done, 9)


@pytest.mark.parametrize("given", ["", "<group = 1>"])
def test_a_default_that_the_call_does_not_give_counts(given: str) -> None:
    before = build(
        """g (float[1,2,n] x) => (float[1,2,m] y) <float[2,1,3] k = {1, 10, 100, 2, 20, 200}> {
          y = f.outer<pads=[2,0]>(x, k)
        }""",
        f"outer <pads> (x, k) => (y) {{ y = f.inner{given}(x, k) }}",
        """inner <group: int = 2> (x, k) => (y) {
          y = Conv<auto_pad = "SAME_UPPER", group: int = @group>(x, k)
        }""",
    )
    done = rewrite(before)
    (group,) = [
        one.i for node in done.model.graph.node for one in node.attribute if one.name == "group"
    ]
    assert group == (1 if given else 2)


def test_results_that_are_inputs_and_bodies_are_written_out() -> None:
    before = build(
        """g (float[1,1,n] x) => (float[1,1,m] y, float[1,1,n] z) { y, z = f.block<k=[2]>(x) }""",
        """block <k> (x) => (y, x) {
          yes = Constant<value = bool {1}>()
          y = If (yes) <
            then_branch = t () => (float[a,b,c] u) {
              u = MaxPool<auto_pad = "SAME_UPPER", kernel_shape: ints = @k>(x)
            },
            else_branch = e () => (float[d,e,f] v) { v = Relu(x) }
          >
        }""",
    )
    done = rewrite(before)
    assert [change.node.label for change in done.changes] == ["y/y.then_branch/u__1"]
    assert nodes_of(done.model) == ["Constant", "If", "Identity"]
    check_equal(before, done, 4, 5)


TWO = "block (x, k) => (y) { y = Conv<pads=[0,1]>(x, k) }"
KEPT = {
    "two of its name": (f"{TWO} {FUNCTION} {TWO}", "two of its name"),
    "no attribute": ("block <pads> (x, k) => (y) { y = Conv<pads: ints = @pads>(x, k) }", "pads"),
    "disorder": ("block (x, k) => (y) { y = Conv<pads=[0,1]>(a, k) a = Relu(x) }", "disorder"),
}


@pytest.mark.parametrize("kind", KEPT)
def test_what_cannot_be_written_out_is_a_skip(kind: str) -> None:
    function, reason = KEPT[kind]
    before = build(
        f"g (float[1,1,n] x) => (float[1,1,m] y) {WEIGHT} {{ y = f.block(x, k) }}", function
    )
    done = rewrite(before, passes=["split-pads"])
    assert not done.changed
    assert reason in done.skips[0].skip.reason


SAME = """block (x, k) => (y) { y = Conv<auto_pad="SAME_UPPER", strides=[2]>(x, k) }"""


def test_same_is_each_call_of_its_own() -> None:
    before = build(
        f"""g (float[1,1,12] x) => (float[1,1,m] y) {WEIGHT} {{
          a = f.outer(x, k)
          b = f.block(a, k)
          y = f.block(b, k)
        }}""",
        "outer (x, k) => (y) { y = f.block(x, k) }",
        SAME,
    )
    done = rewrite(before)
    check_equal(before, done, 12)
    pads = [
        list(one.ints)
        for node in done.model.graph.node
        for one in node.attribute
        if one.name == "pads"
    ]
    assert pads == [[0, 1], [0, 1], [1, 1]]


def test_functions_that_call_each_other_in_a_circle_are_an_error() -> None:
    before = build(
        "g (float[1,1,4] x) => (float[1,1,4] y) { y = f.one(x) }",
        "one (x) => (y) { y = f.two(x) }",
        "two (x) => (y) { y = f.one(x) }",
    )
    with pytest.raises(ModelError, match="calls itself"):
        rewrite(before)


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
