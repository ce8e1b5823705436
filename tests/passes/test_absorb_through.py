"""absorb-pad through operators that stand between the Pad and the operator."""

from functools import partial
from typing import Any

import numpy as np
import onnx
import pytest

from onnxpad.rewriting import rewrite
from tests.onnxruntime_levels import ran
from tests.tiny_models import (
    NEGATIVE,
    X5,
    Array,
    attributes,
    by_onnxruntime,
    constant,
    kinds,
    left_alone,
    nodes,
    numbers,
    refused,
    values,
)
from tests.tiny_models import tiny as text_model

RULE = "absorb-pad"
tiny = partial(text_model, result="float[n,c,r]")
ONE_EACH = "int64[6] p = {0, 0, 1, 0, 0, 1}"
CONV = "[op] y = Conv (b, w)"


def through(
    call: str, *, value: str = "", constants: str = "", end: str = CONV, **more: Any
) -> Any:
    """A Pad `a`, one operator `b` and the convolution that reads it."""
    held = ", ".join(filter(None, [ONE_EACH, f"float c = {{{value}}}" if value else "", constants]))
    pad = "Pad (x, p, c)" if value else "Pad (x, p)"
    return tiny(f"[pad] a = {pad} [f] b = {call} {end}", constants=held, **more)


def absorbed(model: onnx.ModelProto, *inputs: Array) -> onnx.ModelProto:
    """Without the Pad, and the same numbers in both levels of onnxruntime."""
    done = rewrite(model, passes=[RULE])
    assert done.changed, [refusal.skip for refusal in done.skips]
    after = done.model
    assert isinstance(after, onnx.ModelProto)
    assert "Pad" not in kinds(after)
    onnx.checker.check_model(after, full_check=True)
    for x in inputs:
        wanted = ran(model, {"x": x}, optimised=False)
        assert not isinstance(wanted, str), wanted
        for level in (False, True):
            found = ran(after, {"x": x}, optimised=level)
            assert not isinstance(found, str), found
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=0)
    return after


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
    "Tanh": ("Tanh (a)", "1", "what Tanh 'f' makes of the Pad is not known"),
    "Mul": ("Mul (a, inf)", "", "what Mul 'f' makes of the Pad is not known"),
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
    for call in ("Softplus (a)", "Sub (s, a)", "Add (a, a)", "Mul (a, x2)", "Softmax (a)"):
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


def test_max_pool_of_what_is_lowest_behind_a_function() -> None:
    end = "[op] y = MaxPool <kernel_shape = [3]> (b)"
    after = absorbed(through("Neg (a)", value="inf", end=end), NEGATIVE_5)
    assert attributes(after) == {"kernel_shape": [3], "pads": [1, 1]}


NEGATIVE_5 = numbers(-7, -1, -2, -2, -9)
MAX = "[op] y = MaxPool <kernel_shape = [3]> (b)"
NOT_BELOW = {
    "Relu": "Relu (x)",
    "Sigmoid": "Sigmoid (x)",
    "Clip": "Clip (x, z)",
    "Abs": "Abs (x)",
    "Softmax": "Softmax (x)",
    "Sqrt": "Sqrt (r)",
    "Mul": "Mul (r, e)",
    "Add": "Add (e, r)",
    "Concat": "Concat <axis = 2> (r, e)",
    "MaxPool": "MaxPool <kernel_shape = [3], pads = [1, 1]> (r)",
    "AveragePool": "AveragePool <kernel_shape = [2]> (r)",
    "Reshape": "Reshape (r, shape)",
    "Transpose": "Transpose <perm = [1, 0, 2]> (r)",
    "Pad": 'Pad <mode = "edge"> (r, p)',
    "DequantizeLinear": "DequantizeLinear (q, s, u)",
    "Max": "Max (x, e)",
}
NEED = "float z = {0}, int64[3] shape = {1, 1, -1}, float s = {0.1}, uint8 u = {0}"


@pytest.mark.parametrize("name", NOT_BELOW)
def test_row_28_max_pool_of_what_is_never_negative(name: str) -> None:
    body = f"r = Relu (x) e = Exp (x) q = QuantizeLinear (x, s, u) v = {NOT_BELOW[name]} "
    body += f"a = Pad (v, p) b = Identity (a) {MAX}"
    model = tiny(body, constants=f"{ONE_EACH}, {NEED}")
    done = rewrite(model, passes=[RULE]).model
    assert isinstance(done, onnx.ModelProto)
    assert attributes(done)["pads"] == [1, 1]
    for x in (NEGATIVE_5, X5 - 3):
        wanted, found = (by_onnxruntime(one, x) for one in (model, done))
        assert found == wanted == by_onnxruntime(done, x, optimised=True)


MAY_BE_BELOW = {
    "Neg": "Neg (r)",
    "Sub": "Sub (r, e)",
    "Clip": "Clip (x, s)",
    "Add": "Add (x, r)",
    "Concat": "Concat <axis = 2> (r, x)",
    "max pool with windows of padding": (
        "MaxPool <kernel_shape = [2], dilations = [4], pads = [1, 1]> (r)"
    ),
    "DequantizeLinear": "DequantizeLinear (q, t, u)",
    "Min": "Min (x, e)",
    "Mul": "Mul (r, s)",
    "a Pad of less": "Pad (r, p, s)",
}


@pytest.mark.parametrize("name", MAY_BE_BELOW)
def test_row_27_max_pool_of_what_may_be_negative(name: str) -> None:
    held = f"{ONE_EACH}, float s = {{-1}}, float t = {{0.1}}, uint8 u = {{7}}"
    body = f"r = Relu (x) e = Exp (x) q = QuantizeLinear (x, t, u) v = {MAY_BE_BELOW[name]} "
    end = "a = Pad (v, p) z = Identity (a) [op] y = MaxPool <kernel_shape = [3]> (z)"
    model = tiny(body + end, constants=held)
    skips = [one.skip.reason for one in rewrite(model, passes=[RULE]).skips]
    assert "the Pad writes 0 behind Identity 'z', MaxPool pads with the lowest value" in skips


def test_max_pool_of_never_negative_integers() -> None:
    """Integers overflow, so sums of what is not negative prove nothing."""
    body = f"r = Relu (x) v = Add (r, r) a = Pad (v, p) {MAX.replace('(b)', '(a)')}"
    model = tiny(body, "int8[1,1,5]", constants=ONE_EACH, result="int8[]")
    assert "lowest value" in refused(model, RULE).reason


def test_row_36_max_pool_windows_without_data() -> None:
    wide = "int64[6] p = {0, 0, 3, 0, 0, 3}"
    body = f"r = Relu (x) a = Pad (r, p) {MAX.replace('(b)', '(a)')}"
    assert "reach the kernel" in refused(tiny(body, constants=wide), RULE).reason
    dilated = "[op] y = MaxPool <kernel_shape = [3], dilations = [2]> (a)"
    model = tiny(f"r = Relu (x) a = Pad (r, p) {dilated}", "float[1,1,6]", constants=ONE_EACH)
    assert refused(model, RULE).reason == (
        "the Pad writes 0, and a dilated window may hold its cells alone"
    )


def test_row_69_ceil_mode() -> None:
    call = "MaxPool <kernel_shape = [2], strides = [3], ceil_mode = 1> (a)"
    body = f"r = Relu (x) a = Pad (r, p) [op] y = {call}"
    model = tiny(body, "float[1,1,3]", constants="int64[6] p = {0, 0, 0, 0, 0, 1}")
    assert (
        refused(model, RULE).reason == "ceil_mode would drop the last window, which the Pad keeps"
    )


IN_A_ROW = {
    "row 58 crops what was added": ("2, 2", "-1, -1", [1, 1]),
    "both add": ("1, 0", "2, 1", [3, 1]),
    "of one side": ("2, 1", "-2, 1", [0, 2]),
}


@pytest.mark.parametrize(("first", "second", "pads"), IN_A_ROW.values(), ids=IN_A_ROW)
def test_pads_in_a_row(first: str, second: str, pads: list[int]) -> None:
    (a, b), (c, d) = first.split(","), second.split(",")
    held = f"int64[6] p = {{0, 0, {a}, 0, 0, {b}}}, int64[6] q = {{0, 0, {c}, 0, 0, {d}}}"
    model = tiny("a = Pad (x, p) b = Pad (a, q) [op] y = Conv (b, w)", constants=held)
    after = absorbed(model, X5)
    assert kinds(after) == ["Conv"]
    assert attributes(after) == {"pads": pads}


def test_row_58_a_pad_behind_a_crop() -> None:
    held = "int64[6] p = {0, 0, -2, 0, 0, 0}, int64[6] q = {0, 0, 1, 0, 0, 0}"
    model = tiny("a = Pad (x, p) b = Pad (a, q) [op] y = Conv (b, w)", constants=held)
    done = rewrite(model, passes=[RULE])
    assert isinstance(done.model, onnx.ModelProto)
    assert kinds(done.model) == ["Pad", "Conv"]
    assert values(done.model, X5) == values(model, X5)
    assert constant(done.model, "p").tolist()[2] == -2
    assert "negative pads" in done.skips[-1].skip.reason


def test_pads_of_other_values_do_not_add_up() -> None:
    held = "int64[6] p = {0, 0, 2, 0, 0, 2}, int64[6] q = {0, 0, -1, 0, 0, 1}, float c = {5}"
    model = tiny("a = Pad (x, p, c) b = Pad (a, q) [op] y = Conv (b, w)", constants=held)
    assert "negative pads" in refused(model, RULE).reason


def test_zeros_in_a_row_before_an_average() -> None:
    body = "a = Pad (x, p) b = Pad (a, p) [op] y = AveragePool <kernel_shape = [3]> (b)"
    after = absorbed(tiny(body, constants=ONE_EACH), NEGATIVE_5)
    assert attributes(after) == {"kernel_shape": [3], "pads": [2, 2], "count_include_pad": 1}


def test_nothing_is_left_for_onnxruntime_to_fuse_wrongly() -> None:
    """Identity and Dropout go before onnxruntime fuses the Pad into the max pool that is left."""
    for idle in ("Identity (a)", "Dropout (a)", "Cast <to = 1> (a)"):
        body = (
            f"a = Pad (x, p) b = {idle} [op] c = Conv (b, w) m = MaxPool <kernel_shape = [3]> (b)"
        )
        model = tiny(f"{body} y = Concat <axis = 2> (c, m)", constants=ONE_EACH)
        assert by_onnxruntime(model, NEGATIVE, optimised=True) == by_onnxruntime(model, NEGATIVE)
        done = rewrite(model, passes=[RULE])
        assert isinstance(done.model, onnx.ModelProto)
        found = by_onnxruntime(done.model, NEGATIVE, optimised=True)
        assert found == by_onnxruntime(model, NEGATIVE)
        assert any("MaxPool reads the Pad too" in one.skip.reason for one in done.skips)


@pytest.mark.parametrize("rule", ["explicit-pads", "floor-pool"])
@pytest.mark.parametrize("idle", ["Identity (a)", "Dropout (a)", "Cast <to = 1> (a)"])
def test_auto_pad_shields_a_pool_behind_what_onnxruntime_removes(rule: str, idle: str) -> None:
    call = 'MaxPool <kernel_shape = [3], strides = [2], auto_pad = "VALID", ceil_mode = 1> (b)'
    model = tiny(f"a = Pad (x, p) b = {idle} [op] y = {call}", "float[1,1,4]", constants=ONE_EACH)
    x = numbers(-7, -1, -2, -2)
    wanted = by_onnxruntime(model, x)
    assert by_onnxruntime(model, x, optimised=True) == wanted
    done = rewrite(model, passes=[rule]).model
    assert isinstance(done, onnx.ModelProto)
    assert by_onnxruntime(done, x, optimised=True) == wanted
