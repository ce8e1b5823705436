"""Attributes of a function that its body refers to, read where the call's values are known."""

import numpy as np
import pytest
from onnx import AttributeProto, ModelProto, checker, helper, numpy_helper, parser

from onnxpad.model.reading.survey import Survey
from onnxpad.rewriting.rewrite import rewrite
from tests.oracle.onnxruntime_levels import ran

X = np.random.default_rng(3).standard_normal((1, 1, 7)).astype(np.float32)
PADS = "p = Constant<value = int64[6] {0, 0, 1, 0, 0, 2}> ()"
ROWS = ["0,0,1,0,0,2", "0,0,0,0,0,0", "3,0,0,0,0,0", *["0,0,0,0,0,0"] * 3]
TABLE = f"t = Constant<value = int64[6,6] {{{','.join(ROWS)}}}> ()"


def called(body: str, *calls: str, declared: str = "a") -> ModelProto:
    """Calls of f.block, one behind the other, with these attributes."""
    names = ["x", *(f"h{number}" for number in range(1, len(calls))), "y"]
    steps = [
        f"{names[index + 1]} = f.block{call} ({names[index]}, k)"
        for index, call in enumerate(calls)
    ]
    model: ModelProto = parser.parse_model(
        '<ir_version: 9, opset_import: ["": 19, "f": 1]>\n'
        "g (float[1,1,n] x) => (float[1,1,m] y) <float[1,1,3] k = {1, 10, 100}>"
        f"{{ {' '.join(steps)} }}\n"
        '<domain: "f", opset_import: ["": 19, "f": 1]>\n'
        f"block <{declared}> (x, k) => (y) {{ {body} }}"
    )
    return model


def assert_same(before: ModelProto, after: object) -> None:
    assert isinstance(after, ModelProto)
    checker.check_model(after, full_check=True)
    for optimised in (False, True):
        wanted, found = (ran(one, {"x": X}, optimised=optimised) for one in (before, after))
        assert not isinstance(wanted, str), wanted
        np.testing.assert_array_equal(found, wanted)


PAD = "q = Pad(x, p) [op] y = Conv<kernel_shape = [3]>(q, k)"
BODIES = {
    "value_ints": f"p = Constant<value_ints: ints = @a>() {PAD}",
    "value_int": f"{PADS.replace('p =', 'o =')} i = Constant<value_int: int = @a>() "
    f"p = Mul(o, i) {PAD}",
    "value": f"p = Constant<value: tensor = @a>() {PAD}",
    "Gather": f"{TABLE} z = Constant<value_int = 0>() p = Gather<axis: int = @a>(t, z) {PAD}",
    "Shape": "s = Shape<start: int = @a>(x) z = Constant<value_ints = [0]>() "
    f"h = Sub(s, s) p = Concat<axis = 0>(h, z, s) {PAD}",
    "Cast": f"{PADS.replace('p =', 'o =')} c = Cast<to: int = @a>(o) p = Cast<to = 7>(c) {PAD}",
}
CALLS = {
    "value_ints": ("<a = [0,0,1,0,0,2]>", "<a = [0,0,0,0,0,1]>"),
    "value_int": ("<a = 2>", "<a = 1>"),
    "value": ("<a = int64[6] {0,0,1,0,0,2}>", "<a = int64[6] {0,0,0,0,0,1}>"),
    "Gather": ("<a = 0>", "<a = 1>"),
    "Cast": ("<a = 9>", "<a = 6>"),
}


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("rule", ["absorb-pad", "static-pads", "plain-pad"])
def test_what_pads_are_made_of_is_the_calls(kind: str, rule: str) -> None:
    for calls in (CALLS[kind][:1], CALLS[kind][1:], CALLS[kind]):
        before = called(BODIES[kind], *calls)
        done = rewrite(before, passes=[rule])
        assert done.changed or rule != "absorb-pad", done.skips
        assert_same(before, done.model)


@pytest.mark.parametrize("kind", BODIES)
def test_what_no_call_gives_is_not_known(kind: str) -> None:
    model = called(BODIES[kind], "<a = 0>")
    del model.graph.node[0].attribute[:]
    (chain, *_) = [site.chain for site in Survey(model).sites_now() if site.op == "Conv"]
    assert chain.trouble
    assert not rewrite(model, passes=["absorb-pad"]).changed


def test_the_default_of_the_function_counts() -> None:
    default = helper.make_attribute("a", [0, 0, 2, 0, 0, 1])
    for calls in (("",), ("", "<a = [0,0,0,0,0,1]>")):
        before = called(BODIES["value_ints"], *calls)
        del before.functions[0].attribute[:]
        before.functions[0].attribute_proto.append(default)
        done = rewrite(before, passes=["absorb-pad"])
        assert done.changed
        assert_same(before, done.model)


def test_the_value_that_a_pad_writes() -> None:
    body = f"{PADS} v = Constant<value_float: float = @a>() {PAD.replace('p)', 'p, v)')}"
    assert_same(called(body, "<a = 0.0>"), rewrite(called(body, "<a = 0.0>")).model)
    (skip,) = rewrite(called(body, "<a = 2.5>"), passes=["absorb-pad"]).skips
    assert skip.skip.reason == "the Pad writes 2.5, Conv pads with 0"
    both = called(body, "<a = 0.0>", "<a = 2.5>")
    done = rewrite(both, passes=["absorb-pad"])
    assert done.changed
    assert_same(both, done.model)


def test_a_weight_that_a_call_gives_is_a_constant() -> None:
    body = "w = Constant<value: tensor = @a>() y = Conv<pads = [0, 2], kernel_shape = [3]>(x, w)"
    model = called(body, "<a = 0>")
    kernel = numpy_helper.from_array(np.asarray([[[1, -2, 3]]], np.float32))
    model.graph.node[0].attribute[0].CopyFrom(helper.make_attribute("a", kernel))
    done = rewrite(model, passes=["symmetric-pads-by-kernel"])
    assert done.changed
    assert_same(model, done.model)


def test_an_attribute_of_another_type_than_the_body_refers_to_is_not_known() -> None:
    model = called(BODIES["value_int"], "<a = 2.0>")
    assert model.graph.node[0].attribute[0].type == AttributeProto.FLOAT
    skips = rewrite(model, passes=["split-pads"]).skips
    assert "another type" in skips[0].skip.reason


@pytest.mark.parametrize(
    "body",
    [
        (
            "q = QuantizeLinear<output_dtype: int = @a>(x, s) "
            "o = MaxPool<kernel_shape = [3], pads = [0, 1]>(q) y = DequantizeLinear(o, s)"
        ),
        "y = LpPool<p: int = @a, kernel_shape = [3], pads = [0, 1]>(x)",
    ],
)
def test_no_default_stands_for_what_no_call_gives(body: str) -> None:
    """Passes that would need the element type or the power leave the node alone."""
    model = called(f"s = Constant<value_float = 0.5>() {body}", "")
    for rule in ("split-pads", "lp-pool"):
        assert not rewrite(model, passes=[rule]).changed
