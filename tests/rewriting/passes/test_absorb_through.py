"""absorb-pad through operators that stand between the Pad and the operator."""

import numpy as np
import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import (
    X5,
    attributes,
    kinds,
    left_alone,
    nodes,
    refused,
    values,
)
from tests.oracle.interpreter import run_model
from tests.oracle.onnxruntime_levels import ran
from tests.rewriting.passes.absorbing import CONV, ONE_EACH, RULE, absorbed, through, tiny

WITH_ZERO = {
    "Relu": "Relu (a)",
    "LeakyRelu": "LeakyRelu <alpha = 0.2> (a)",
    "PRelu": "PRelu (a, s)",
    "Clip": "Clip (a, low, high)",
    "Clip without limits": "Clip (a)",
    "Clip without the lower one": "Clip (a, , high)",
    "Cast to integers and back": "Cast <to = 6> (a)",
    "Tanh": "Tanh (a)",
    "Elu": "Elu (a)",
    "Selu": "Selu (a)",
    "Celu": "Celu (a)",
    "Neg": "Neg (a)",
    "Abs": "Abs (a)",
    "Sqrt": "Sqrt (a)",
    "Sin": "Sin (a)",
    "Erf": "Erf (a)",
    "Sign": "Sign (a)",
    "Floor": "Floor (a)",
    "Round": "Round (a)",
    "Ceil": "Ceil (a)",
    "Softsign": "Softsign (a)",
    "HardSwish": "HardSwish (a)",
    "Gelu": "Gelu (a)",
    "Mish": "Mish (a)",
    "ThresholdedRelu": "ThresholdedRelu <alpha = 0.5> (a)",
    "Mul": "Mul (a, s)",
    "Mul from the left": "Mul (s, a)",
    "Div": "Div (a, s)",
    "Max": "Max (a, s)",
    "Min from the left": "Min (high, a)",
    "Identity": "Identity (a)",
    "Dropout": "Dropout (a)",
    "Dropout that says so": "Dropout (a, , no)",
}
HELD = "float[1] s = {-0.3}, float low = {-2}, float high = {3}, bool no = {0}"


@pytest.mark.parametrize("name", WITH_ZERO)
def test_what_keeps_0(name: str) -> None:
    end = CONV if "Cast" not in name else "[g] d = Cast <to = 1> (b) [op] y = Conv (d, w)"
    model = through(WITH_ZERO[name], constants=HELD, end=end, opset=22, ir_version=10)
    after = absorbed(model, np.abs(X5) if name == "Sqrt" else X5 - 3)
    assert attributes(after) == {"pads": [1, 1]}
    assert {node.name for node in nodes(after.graph)} >= {"f", "op"}


OTHER_VALUES = {
    "Relu": ("Relu (a)", "-3"),
    "Clip": ("Clip (a, z, s)", "-3"),
    "ThresholdedRelu": ("ThresholdedRelu (a)", "0.5"),
    "Cast": ("Cast <to = 6> (a)", "-0.5"),
    "Round": ("Round (a)", "0.5"),
    "Sub": ("Sub (a, s)", "0.25"),
    "Add": ("Add (t, a)", "0.25"),
    "HardSwish": ("HardSwish (a)", "-5"),
    "HardSigmoid": ("HardSigmoid (a)", "-20"),
    "-0.0": ("Neg (a)", "0"),
}


@pytest.mark.parametrize("name", OTHER_VALUES)
def test_row_51_what_makes_0_of_another_value(name: str) -> None:
    call, value = OTHER_VALUES[name]
    held = "float z = {0}, float s = {0.25}, float t = {-0.25}"
    end = "[g] d = Cast <to = 1> (b) [op] y = Conv (d, w)" if name == "Cast" else CONV
    after = absorbed(through(call, value=value, constants=held, end=end), X5 - 3)
    assert attributes(after) == {"pads": [1, 1]}


def test_row_51() -> None:
    model = through("Relu (a)", value="-3")
    after = absorbed(model, X5)
    assert values(after, X5) == [210, 321, 432, 543, 54]


REFUSED = {
    "row 52 Sigmoid": (
        "Sigmoid (a)",
        "",
        "the Pad writes 0.5 behind Sigmoid 'f', Conv pads with 0",
    ),
    "Exp": ("Exp (a)", "", "the Pad writes 1 behind Exp 'f', Conv pads with 0"),
    "Cos": ("Cos (a)", "", "the Pad writes 1 behind Cos 'f', Conv pads with 0"),
    "Clip": ("Clip (a, s)", "", "the Pad writes 0.5 behind Clip 'f', Conv pads with 0"),
    "HardSigmoid": (
        "HardSigmoid (a)",
        "",
        "the Pad writes 0.5 behind HardSigmoid 'f', Conv pads with 0",
    ),
    "Add": ("Add (a, s)", "", "the Pad writes 0.5 behind Add 'f', Conv pads with 0"),
    "Max": ("Max (s, a)", "", "the Pad writes 0.5 behind Max 'f', Conv pads with 0"),
    "Tanh": ("Tanh (a)", "1", "what Tanh 'f' makes of the Pad is not known"),
    "Mul": ("Mul (a, inf)", "", "what Mul 'f' makes of the Pad is not known"),
    "HardSwish": ("HardSwish (a)", "-inf", "what HardSwish 'f' makes of the Pad is not known"),
    "Relu": ("Relu (a)", "2", "the Pad writes 2 behind Relu 'f', Conv pads with 0"),
    "one value per channel": (
        "Add (a, each)",
        "",
        "the Pad writes one value per channel behind Add 'f', Conv pads with 0",
    ),
    "as large as the padded data": (
        "Mul (a, all)",
        "",
        "what Mul 'f' makes of the Pad is not known",
    ),
    "its slopes too": ("PRelu (a, all)", "", "what PRelu 'f' makes of the Pad is not known"),
    "training": ("Dropout (a, , yes)", "", "what Dropout 'f' makes of the Pad is not known"),
}


@pytest.mark.parametrize(("call", "value", "reason"), REFUSED.values(), ids=REFUSED)
def test_refuses(call: str, value: str, reason: str) -> None:
    held = "float s = {0.5}, float inf = {inf}, bool yes = {1}, float[1,2,1] each = {0, 1}"
    held += ", float[1,1,7] all = {1, 1, 1, 1, 1, 1, 1}, float[1,2,3] w = {1, 1, 1, 1, 1, 1}"
    wide = "float[1,2,5]"
    model = through(call, value=value, constants=held, x=wide)
    assert refused(model, RULE).reason == reason


def test_what_cannot_be_crossed() -> None:
    for call in (
        "Softplus (a)",
        "Sub (s, a)",
        "Add (a, a)",
        "Mul (a, x2)",
        "Softmax (a)",
        "Max (a, s, s)",
    ):
        model = through(call, inputs="float[1,1,7] x2", constants="float s = {0}")
        assert left_alone(model, RULE)


def test_row_55_a_pad_of_an_enclosing_graph() -> None:
    body = (
        "a = Pad (x, p) k = If (go) <then_branch = t () => (float[1,1,5] r) "
        "{ b = Relu (a) [op] r = Conv (b, w) }, else_branch = e () => (float[1,1,5] r) "
        "{ r = Identity (x) }> y = Identity (k)"
    )
    model = tiny(body, constants=f"{ONE_EACH}, float[1,1,3] w = {{1, 10, 100}}", inputs="bool go")
    assert refused(model, RULE).reason == "the Pad 'a' stands in an enclosing graph"


SHARED = "[pad] a = Pad (x, p) [f] b = Relu (a) [op] c = Conv (b, w)"


def test_others_that_read_what_is_crossed_keep_the_pad() -> None:
    model = tiny(f"{SHARED} y = Concat <axis = 2> (b, c)", constants=ONE_EACH)
    done = rewrite(model, passes=[RULE]).model
    assert isinstance(done, onnx.ModelProto)
    assert kinds(done) == ["Pad", "Relu", "Relu", "Conv", "Concat"]
    assert values(done, X5 - 3) == values(model, X5 - 3)
    assert not rewrite(done, passes=[RULE]).changed


def test_all_that_read_what_is_crossed_share_one_copy() -> None:
    body = (
        f"{SHARED} d = Conv (b, w) e = Conv <pads = [1, 0]> (b, w) f = Concat <axis = 2> (c, d, e)"
    )
    model = tiny(f"{body} y = Identity (f)", constants=ONE_EACH)
    after = absorbed(model, X5 - 3)
    assert kinds(after) == ["Relu", "Conv", "Conv", "Conv", "Concat", "Identity"]


def test_a_pad_that_is_an_output_stays_when_all_that_was_crossed_goes() -> None:
    body = """[pad] a = Pad (x, p) i = Identity (a) b = Mul (s, i)
    [op] c = Conv (b, w) d = Conv (b, w) y = Add (c, d)"""
    model = tiny(body, constants=f"{ONE_EACH}, float s = {{2}}")
    model.graph.output.append(onnx.helper.make_tensor_value_info("a", 1, [1, 1, "n"]))
    done = rewrite(model, passes=[RULE]).model
    assert isinstance(done, onnx.ModelProto)
    onnx.checker.check_model(done, full_check=True)
    assert kinds(done) == ["Pad", "Identity", "Mul", "Conv", "Conv", "Add"]
    assert values(done, X5) == values(model, X5)


def test_a_copy_is_not_read_before_it_is_made() -> None:
    """The first convolution comes to the first Pad in a second round, behind the last one."""
    body = """q = Pad (x, p) r = Relu (q) s = Pad (r, p) y = Abs (s)
    [first] a = Conv (y, w) [last] b = Conv (r, w)"""
    model = tiny(body, constants=ONE_EACH)
    for name in "ab":
        model.graph.output.append(onnx.helper.make_tensor_value_info(name, 1, [1, 1, "n"]))
    done = rewrite(model, passes=[RULE]).model
    assert isinstance(done, onnx.ModelProto)
    onnx.checker.check_model(done, full_check=True)
    assert attributes(done, "first") == {"pads": [2, 2]}
    found, wanted = (run_model(one, {"x": X5}) for one in (done, model))
    assert all(np.array_equal(found[name], wanted[name]) for name in "yab")


def test_a_crossed_tensor_that_is_an_output() -> None:
    model = tiny("[pad] a = Pad (x, p) y = Relu (a) [op] z = Conv (y, w) ", constants=ONE_EACH)
    model.graph.output.append(onnx.helper.make_tensor_value_info("z", 1, [1, 1, "n"]))
    done = rewrite(model, passes=[RULE]).model
    assert isinstance(done, onnx.ModelProto)
    assert kinds(done) == ["Pad", "Relu", "Relu", "Conv"]
    assert values(done, X5) == values(model, X5)


def test_declared_types_of_what_is_crossed_go() -> None:
    model = onnx.shape_inference.infer_shapes(through("Relu (a)"))
    assert {info.name for info in model.graph.value_info} == {"a", "b"}
    after = absorbed(model, X5)
    assert not after.graph.value_info


def test_sizes_behind_what_is_crossed_are_those_without_the_pad() -> None:
    """Mish has no rule of its own here, so that its size comes from the file or from inference."""
    end = 'c = Mish (b) [op] y = Conv <auto_pad = "SAME_UPPER", strides = [2]> (c, w)'
    model = through("Mish (a)", end=end, opset=22, ir_version=10)
    model = onnx.shape_inference.infer_shapes(model)
    done = rewrite(model, passes=[RULE, "explicit-pads", "split-pads", RULE]).model
    assert isinstance(done, onnx.ModelProto)
    assert attributes(done)["pads"] == [2, 2]
    wanted, found = (ran(one, {"x": X5}, optimised=False) for one in (model, done))
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-6)
