"""absorb-pad: what it rewrites, what stands between, and every reason to leave a node alone."""

from __future__ import annotations

from itertools import product
from time import process_time
from typing import Any

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from numpy.random import Generator
from onnx import NodeProto, TensorProto, helper, numpy_helper

from onnxpad.padding.chain import Skip
from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import (
    NEGATIVE,
    X5,
    attributes,
    by_onnxruntime,
    constant,
    kinds,
    left_alone,
    nodes,
    numbers,
    refused,
    rewritten,
    values,
)
from tests.models.tiny import tiny as text_model
from tests.oracle.interpreter import run_model
from tests.oracle.onnxruntime_levels import Array, ran
from tests.rewriting.passes.absorbing import (
    CONV,
    NEGATIVE_5,
    ONE_EACH,
    RULE,
    absorbed,
    through,
    tiny,
)
from tests.rewriting.passes.expanded import drawn, levels

Pair = tuple[int, int]
PAD, VALUE = "Pad (x, p)", "Pad (x, p, c)"
INTEGERS = f"uint8[1,1,3] k = {{1, 2, 3}}, uint8 zero = {{7}}, {ONE_EACH}"
POOLED = {"kernel_shape": [3], "pads": [1, 1]}
PLAIN_CONV, PLAIN_MAX, PLAIN_AVERAGE = (
    "Conv (a, w)",
    "MaxPool <kernel_shape = [3]> (a)",
    "AveragePool <{}> (a)",
)


def row(
    why: str,
    pad: str,
    call: str,
    expected: object,
    *,
    dtype: str = "float",
    opset: int = 17,
    constants: str = ONE_EACH,
) -> Any:
    """One line of a table: the Pad `a`, the operator that reads it, and what comes of it."""
    result = "int32" if "ConvInteger" in call else dtype
    more = "q = Pow (p, p) " if "(x, q" in pad else ""
    model = text_model(
        f"{more}a = {pad} [op] y = {call}",
        f"{dtype}[1,1,6]",
        opset=opset,
        constants=constants,
        result=f"{result}[]",
    )
    return pytest.param(model, expected, id=why)


rewrites = [
    row("0 before a convolution", PAD, PLAIN_CONV, {"pads": [1, 1]}),
    row("pads add up", PAD, "Conv <pads = [2, 0]> (a, w)", {"pads": [3, 1]}),
    row(
        "SAME is that of the padded size",
        PAD,
        'Conv <auto_pad = "SAME_UPPER", strides = [3]> (a, w)',
        {"pads": [1, 2], "strides": [3]},
        constants="int64[6] p = {0, 0, 0, 0, 0, 1}",
    ),
    row("VALID", PAD, 'Conv <auto_pad = "VALID"> (a, w)', {"pads": [1, 1]}),
    row(
        "an attribute before opset 11",
        "Pad <pads = [0, 0, 1, 0, 0, 2]> (x)",
        PLAIN_CONV,
        {"pads": [1, 2]},
        opset=9,
        constants="",
    ),
    row(
        "axes",
        "Pad (x, p, , axes)",
        PLAIN_CONV,
        {"pads": [0, 2]},
        opset=18,
        constants="int64[2] p = {0, 2}, int64[1] axes = {-1}",
    ),
    row(
        "the lowest value before a max pool",
        VALUE,
        PLAIN_MAX,
        POOLED,
        constants=f"{ONE_EACH}, float c = {{-inf}}",
    ),
    row(
        "-128 before a max pool of bytes",
        VALUE,
        PLAIN_MAX,
        POOLED,
        dtype="int8",
        constants=f"{ONE_EACH}, int8 c = {{-128}}",
    ),
    row("0 before a max pool of unsigned bytes", PAD, PLAIN_MAX, POOLED, dtype="uint8"),
    row(
        "an average counts the cells of the Pad",
        PAD,
        PLAIN_AVERAGE.format("kernel_shape = [3]"),
        {"kernel_shape": [3], "pads": [1, 1], "count_include_pad": 1},
    ),
    row(
        "an average that counts already",
        PAD,
        PLAIN_AVERAGE.format("kernel_shape = [3], count_include_pad = 1, pads = [1, 0]"),
        {"kernel_shape": [3], "count_include_pad": 1, "pads": [2, 1]},
    ),
    row(
        "ceil_mode with the same windows",
        PAD,
        "LpPool <kernel_shape = [3], strides = [2], ceil_mode = 1> (a)",
        {"kernel_shape": [3], "strides": [2], "ceil_mode": 1, "pads": [1, 1]},
        opset=18,
    ),
    row(
        "the zero point by its value",
        VALUE,
        "ConvInteger (a, k, zero)",
        {"pads": [1, 1]},
        dtype="uint8",
        constants=f"{INTEGERS}, uint8 c = {{7}}",
    ),
    row(
        "the zero point by its name",
        "Pad (x, p, zero)",
        "ConvInteger (a, k, zero)",
        {"pads": [1, 1]},
        dtype="uint8",
        constants=INTEGERS,
    ),
    row(
        "a Pad that pads nothing, whatever its mode",
        'Pad <mode = "edge"> (x, p)',
        'Conv <auto_pad = "SAME_UPPER"> (a, w)',
        {"auto_pad": "SAME_UPPER"},
        constants="int64[6] p = {0, 0, 0, 0, 0, 0}",
    ),
]


@pytest.mark.parametrize(("model", "written"), rewrites)
def test_rewrites(model: Any, written: dict[str, object]) -> None:
    after = rewritten(model, RULE)
    assert len(kinds(after)) == 1
    assert attributes(after) == written


HALF = f"{ONE_EACH}, float c = {{0.5}}"
MASK = f"{ONE_EACH}, int32[1,1,8] m = {{1, 1, 1, 1, 1, 1, 1, 1}}"
WIDE = "kernel_shape = [3], count_include_pad = 1, pads = [2, 0]"
LAST = "kernel_shape = [3], strides = [7], ceil_mode = 1"

leaves_alone = [
    row("another value", VALUE, PLAIN_CONV, "the Pad writes 0.5, Conv pads with 0", constants=HALF),
    row(
        "0 before a max pool",
        PAD,
        PLAIN_MAX,
        "the Pad writes 0, MaxPool pads with the lowest value",
    ),
    row(
        "mode",
        'Pad <mode = "edge"> (x, p)',
        PLAIN_CONV,
        "the Pad has mode 'edge', an operator pads with a constant",
    ),
    row(
        "batch",
        PAD,
        PLAIN_CONV,
        Skip("the Pad pads the batch or channel axis", ("--pass spatial-pads",)),
        constants="int64[6] p = {1, 0, 0, 0, 0, 0}",
    ),
    row(
        "it crops",
        PAD,
        PLAIN_CONV,
        Skip("the Pad has negative pads and crops", ("--pass plain-pad",)),
        constants="int64[6] p = {0, 0, -1, 0, 0, 1}",
    ),
    row(
        "computed pads",
        "Pad (x, q)",
        PLAIN_CONV,
        "the Pad's pads are computed while the model runs (by Pow)",
    ),
    row(
        "the operator crops",
        PAD,
        "Conv <pads = [0, -1]> (a, w)",
        "the operator has negative pads of its own",
    ),
    row(
        "no window fits",
        PAD,
        "Conv <dilations = [5]> (a, w)",
        "axis 2 has 8 cells, with pads 0,0 fewer than the window's 11",
    ),
    row(
        "a transposed convolution crops",
        PAD,
        "ConvTranspose (a, w)",
        "the Pad adds more cells than its pads [0, 0] crop",
    ),
    row(
        "the mask is padded too",
        PAD,
        "com.microsoft.MaxpoolWithMask <kernel_shape = [3]> (a, m)",
        "MaxpoolWithMask has an input that depends on its own padding",
        constants=MASK,
    ),
    row(
        "own padding is not counted",
        PAD,
        PLAIN_AVERAGE.format("kernel_shape = [3], pads = [0, 1]"),
        "the average counts the cells of the Pad, but not its own padding",
    ),
    row(
        "nothing can be counted",
        "Pad <pads = [0, 0, 1, 0, 0, 1]> (x)",
        PLAIN_AVERAGE.format("kernel_shape = [3]"),
        "AveragePool of opset 6 has no count_include_pad",
        opset=6,
        constants="",
    ),
    row(
        "as wide as the kernel",
        PAD,
        PLAIN_AVERAGE.format(WIDE),
        "written like that, pads=[3, 1] reach the kernel [3]: onnxruntime refuses to load such a "
        "pool",
    ),
    row(
        "a window over the Pad",
        PAD,
        PLAIN_AVERAGE.format(LAST),
        "ceil_mode would drop the last window, which the Pad keeps",
    ),
]


@pytest.mark.parametrize(("model", "reason"), leaves_alone)
def test_leaves_alone(model: Any, reason: str | Skip) -> None:
    assert refused(model, RULE) == (Skip(reason) if isinstance(reason, str) else reason)


def test_leaves_alone_what_needs_a_size() -> None:
    body = 'a = Pad (x, p) [op] y = Conv <auto_pad = "SAME_UPPER", strides = [2]> (a, w)'
    skip = refused(text_model(body, "float[1,1,H]", constants=ONE_EACH), RULE)
    assert skip.reason.endswith("needs the size of axis 2 (which is 'H+2', stride 2)")


def test_leaves_alone_a_quantised_average() -> None:
    call = "com.microsoft.QLinearAveragePool <kernel_shape = [3, 3]> (a, s, z, s, z)"
    constants = "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}, float s = {1}, uint8 z = {7}"
    body = f"a = Pad (x, p, z) [op] y = {call}"
    model = text_model(body, "uint8[1,1,4,4]", constants=constants, result="uint8[]")
    assert refused(model, RULE).reason == (
        "the average does not count padded cells, and 0 need not be its zero point"
    )


def test_nothing_to_do() -> None:
    for body in ("[op] y = Conv <pads = [1, 1]> (x, w)", "[op] y = Pad (x, p)"):
        assert left_alone(text_model(body, constants=ONE_EACH), RULE)


def test_the_way_that_a_refusal_names() -> None:
    held = "float[1,2,3] w = {1, 10, 100, 2, 20, 200}, int64[6] p = {0, 1, 1, 0, 0, -1}"
    model = tiny("a = Pad (x, p) [op] y = Conv (a, w)", constants=held)
    first = refused(model, RULE)
    assert first == Skip("the Pad has negative pads and crops", ("--pass plain-pad",))
    (second,) = rewrite(model, passes=["plain-pad", RULE]).skips
    assert second.skip.hints == ("--pass spatial-pads",)
    done = rewrite(model, passes=["plain-pad", "spatial-pads", RULE]).model
    assert isinstance(done, onnx.ModelProto)
    assert kinds(done) == ["Slice", "Concat", "Conv"]
    assert values(done, X5) == values(model, X5)


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
        assert any("a pool reads the Pad too" in one.skip.reason for one in done.skips)


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
HELD_THROUGH = "float[1] s = {-0.3}, float low = {-2}, float high = {3}, bool no = {0}"


@pytest.mark.parametrize("name", WITH_ZERO)
def test_what_keeps_0(name: str) -> None:
    end = CONV if "Cast" not in name else "[g] d = Cast <to = 1> (b) [op] y = Conv (d, w)"
    model = through(WITH_ZERO[name], constants=HELD_THROUGH, end=end, opset=22, ir_version=10)
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


REFUSED_THROUGH = {
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


@pytest.mark.parametrize(("call", "value", "reason"), REFUSED_THROUGH.values(), ids=REFUSED_THROUGH)
def test_refuses_through(call: str, value: str, reason: str) -> None:
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


X3 = numbers(1, 2, 3)


def transposed(call: str, around: tuple[int, int] = (1, 1), **more: Any) -> onnx.ModelProto:
    first, last = around
    held = f"int64[6] p = {{0, 0, {first}, 0, 0, {last}}}, float[1] bias = {{7}}"
    body = f"a = Pad (x, p) [op] y = ConvTranspose <{call}> (a, w, bias)"
    return tiny(body, "float[1,1,3]", constants=held, **more)


def test_row_25_transposed_convolution() -> None:
    after = rewritten(transposed("strides = [2], pads = [2, 3]"), RULE, X3)
    assert kinds(after) == ["ConvTranspose"]
    assert attributes(after) == {"strides": [2], "pads": [0, 1]}
    skip = refused(transposed("strides = [2], pads = [1, 3]"), RULE)
    assert skip.reason == "the Pad adds more cells than its pads [1, 3] crop"


EXPLICIT = list(product((0, 1, 2), (0, 1), (1, 2), (1, 2), (0, 1)))


@pytest.mark.parametrize(("begin", "end", "stride", "dilation", "extra"), EXPLICIT)
def test_every_crop(begin: int, end: int, stride: int, dilation: int, extra: int) -> None:
    fits = 0
    if extra >= stride:
        return
    for crop in product(range(0, 6, 2), (1, 3, 4)):
        call = f"strides = [{stride}], dilations = [{dilation}], pads = [{crop[0]}, {crop[1]}]"
        call += f", output_padding = [{extra}]" if extra else ""
        model = transposed(call, (begin, end))
        whole = (3 + begin + end - 1) * stride + 2 * dilation + 1 + extra
        if whole <= sum(crop):
            continue
        done = rewrite(model, passes=[RULE])
        assert isinstance(done.model, onnx.ModelProto)
        left = [crop[0] - begin * stride, crop[1] - end * stride]
        assert done.changed == (min(left) >= 0)
        fits += done.changed
        if done.changed:
            assert attributes(done.model)["pads"] == left
            wanted = ran(model, {"x": X3}, optimised=False)
            assert values(done.model, X3) == np.ravel(wanted).tolist() == values(model, X3)
    assert fits


AUTO = {
    "SAME_UPPER": ('auto_pad = "SAME_UPPER", kernel_shape = [3]', (0, 1), [1, 0]),
    "SAME_LOWER": ('auto_pad = "SAME_LOWER", kernel_shape = [3]', (1, 0), [0, 1]),
    "output_shape": ("output_shape = [6], strides = [2]", (1, 0), [0, 1]),
}


@pytest.mark.parametrize(("call", "around", "pads"), AUTO.values(), ids=AUTO)
def test_auto_pad_is_that_of_the_padded_input(
    call: str, around: tuple[int, int], pads: list[int]
) -> None:
    model = transposed(call, around)
    after = rewritten(model, RULE, X3)
    assert attributes(after)["pads"] == pads
    assert not {"auto_pad", "output_shape"} & attributes(after).keys()
    wanted = ran(model, {"x": X3}, optimised=False)
    assert values(after, X3) == np.ravel(wanted).tolist()


def test_row_54_transpose() -> None:
    model = text_model(
        "[pad] a = Pad (x, p) [t] b = Transpose <perm = [0, 3, 1, 2]> (a) [op] y = Conv (b, k)",
        "float[1,4,5,1]",
        result="float[n,c,h,w]",
        constants="int64[8] p = {0, 1, 0, 0, 0, 2, 1, 0}, float[1,1,2,2] k = {1, -10, 100, 3}",
    )
    x = np.arange(-9, 11, dtype=np.float32).reshape(1, 4, 5, 1)
    after = rewritten(model, RULE, x)
    assert kinds(after) == ["Transpose", "Conv"]
    assert attributes(after) == {"pads": [1, 0, 2, 1]}
    assert [node.name for node in nodes(after.graph)] == ["t", "op"]


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_a_causal_convolution_of_one_axis(opset: int) -> None:
    """As exporters of TensorFlow write Conv1D: channels last, over an axis that is added."""
    axes = ("Unsqueeze <axes = [-2]> (b)", "Squeeze <axes = [2]> (d)")
    if opset >= 13:
        axes = ("Unsqueeze (b, behind)", "Squeeze (d, two)")
    model = tiny(
        f"a = Pad (x, p) b = Transpose <perm = [0, 2, 1]> (a) c = {axes[0]} "
        f"[op] d = Conv <dilations = [1, 2]> (c, k) y = {axes[1]}",
        "float[1,5,1]",
        opset=opset,
        constants="int64[6] p = {0, 4, 0, 0, 0, 0}, float[1,1,1,3] k = {1, -10, 100}, "
        "int64[1] behind = {-2}, int64[1] two = {2}",
    )
    after = rewritten(model, RULE, X5.reshape(1, 5, 1))
    assert attributes(after) == {"dilations": [1, 2], "pads": [0, 4, 0, 0]}
    assert kinds(after) == ["Transpose", "Unsqueeze", "Conv", "Squeeze"]


def test_squeeze() -> None:
    body = "a = Pad (x, p) b = Squeeze (a, axes) [op] y = Conv (b, w)"
    held = "int64[8] p = {0, 0, 0, 1, 0, 0, 0, 2}, int64[1] axes = {-2}"
    after = rewritten(tiny(body, "float[1,1,1,5]", constants=held), RULE, X5[:, :, None])
    assert attributes(after) == {"pads": [1, 2]}


def test_squeeze_of_axes_that_the_pad_may_have_grown() -> None:
    """Without axes it depends on sizes which axes go."""
    model = tiny(
        "a = Pad (x, p) b = Squeeze (a) c = Unsqueeze (b, zero) d = Unsqueeze (c, zero) "
        "[op] y = Conv (d, w)",
        "float[1,1,5]",
        constants="int64[6] p = {0, 0, 1, 0, 0, 1}, int64[1] zero = {0}",
    )
    assert refused(model, RULE).reason == "what Squeeze 'b' makes of the Pad is not known"


def test_channels_that_become_an_axis() -> None:
    model = tiny(
        "a = Pad (x, p) [t] b = Transpose <perm = [0, 2, 1]> (a) [op] y = Conv (b, w)",
        "float[1,5,1]",
        constants="int64[6] p = {0, 0, 1, 0, 0, 1}, float[1,3,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}",
    )
    assert refused(model, RULE) == Skip("the Pad pads the batch or channel axis")


def test_unknown_sizes() -> None:
    model = tiny(
        "a = Pad (x, p) b = Relu (a) c = Transpose <perm = [0, 2, 1]> (b) "
        "[op] y = Conv <strides = [2]> (c, w)",
        "float[N,L,1]",
        constants="int64[6] p = {0, 2, 0, 0, 1, 0}",
    )
    rng = np.random.default_rng(3)
    xs = [rng.permutation(size).astype(np.float32).reshape(1, size, 1) - 3 for size in range(2, 10)]
    after = rewritten(model, RULE, *xs)
    assert attributes(after) == {"strides": [2], "pads": [2, 1]}


def test_inside_a_function() -> None:
    """Two calls of one function, with the same Pad."""
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17, "local": 1]>\n'
        "calls (float[1,1,5] x) => (float[n,c,r] y) <float[1,1,3] w = {1, 10, 100}> "
        "{ t = local.padded (x, w) y = local.padded (t, w) }\n"
        '<domain: "local", opset_import: ["": 17]>\n'
        "padded (x, w) => (y) { p = Constant <value = int64[6] {0, 0, 1, 0, 0, 1}> () "
        "a = Pad (x, p) b = Relu (a) y = Conv (b, w) }"
    )
    after = rewritten(model, RULE, X5 - 3)
    assert [node.op_type for node in after.graph.node] == ["Relu", "Conv"] * 2


def test_inside_a_body() -> None:
    body = (
        "k = If (go) <then_branch = t () => (float[1,1,5] r) "
        "{ a = Pad (x, p) b = Relu (a) [op] r = Conv (b, w) }, "
        "else_branch = e () => (float[1,1,5] r) { r = Identity (x) }> y = Identity (k)"
    )
    held = "int64[6] p = {0, 0, 1, 0, 0, 1}, bool go = {1}, float[1,1,3] w = {1, 10, 100}"
    after = rewritten(tiny(body, constants=held), RULE, FIVE_NEGATIVE)
    assert "Pad" not in kinds(after)
    assert attributes(after) == {"pads": [1, 1]}


FIVE_NEGATIVE: Array = np.concatenate([NEGATIVE, NEGATIVE[..., :1]], axis=2)


def test_a_graph_of_graphsurgeon() -> None:
    body = (
        "[pad] a = Pad (x, p) [f] b = Relu (a) [op] c = Conv (b, w) y = Concat <axis = 2> ({}, c)"
    )
    held = "int64[6] p = {0, 0, 1, 0, 0, 1}"
    for other in ("x", "b"):
        model = tiny(body.format(other), constants=held)
        graph = gs.import_onnx(model)
        assert rewrite(graph, passes=[RULE]).changed
        after = gs.export_onnx(graph)
        wanted, found = (ran(one, {"x": X5 - 3}, optimised=False) for one in (model, after))
        assert np.array_equal(np.asarray(found), np.asarray(wanted))
        (conv,) = [node for node in graph.nodes if node.op == "Conv"]
        assert conv.attrs["pads"] == [1, 1]
        assert kinds(after).count("Relu") == (1 if other == "x" else 2)


def test_a_crossed_operator_with_the_attributes_of_a_function() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17, "local": 1]>\n'
        "calls (float[1,1,5] x) => (float[n,c,r] y) <float[1,1,3] w = {1, 10, 100}> "
        "{ y = local.padded <slope = 0.5> (x, w) }\n"
        '<domain: "local", opset_import: ["": 17]>\n'
        "padded <slope> (x, w) => (y) { p = Constant <value = int64[6] {0, 0, 1, 0, 0, 1}> () "
        "a = Pad (x, p) b = LeakyRelu <alpha: float = @slope> (a) y = Conv (b, w) }"
    )
    after = rewrite(model, passes=[RULE]).model
    assert [node.op_type for node in after.graph.node] == ["LeakyRelu", "Conv"]
    assert after.graph.node[0].attribute[0].f == 0.5


def test_max_pool_of_what_is_lowest_behind_a_function() -> None:
    end = "[op] y = MaxPool <kernel_shape = [3]> (b)"
    after = absorbed(through("Neg (a)", value="inf", end=end), NEGATIVE_5)
    assert attributes(after) == {"kernel_shape": [3], "pads": [1, 1]}


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
        "the Pad writes 0, and a window may hold padding alone: the pads together reach the "
        "kernel, or it is dilated"
    )


def test_row_69_ceil_mode() -> None:
    call = "MaxPool <kernel_shape = [2], strides = [3], ceil_mode = 1> (a)"
    body = f"r = Relu (x) a = Pad (r, p) [op] y = {call}"
    model = tiny(body, "float[1,1,3]", constants="int64[6] p = {0, 0, 0, 0, 0, 1}")
    assert (
        refused(model, RULE).reason == "ceil_mode would drop the last window, which the Pad keeps"
    )


HELD_DYNAMIC = (
    "int8[1,2,3] k = {1, -2, 3, 4, 5, -6}, int8 kz = {1}, int64[6] p = {0, 0, 1, 0, 0, 2}"
)
QUANTISED = "q, s, z = DynamicQuantizeLinear"


def dynamic_model(body: str, result: str = "float[a,b,c]", more: str = "") -> Any:
    return text_model(body, "float[1,2,n]", constants=HELD_DYNAMIC + more, result=result)


@pytest.mark.parametrize(
    "between", ["", "r = LeakyRelu (a)", "r = Transpose <perm = [0, 1, 2]> (a)"]
)
def test_what_onnxruntime_quantises_while_it_runs(between: str) -> None:
    read = "r" if between else "a"
    text = f"a = Pad (x, p) {between} {QUANTISED} ({read})"
    before = dynamic_model(
        f"{text} [op] c = ConvInteger (q, k, z, kz) d = Cast <to = 1> (c) y = Mul (d, s)"
    )
    after = rewrite(onnx.shape_inference.infer_shapes(before), passes=[RULE]).model
    assert isinstance(after, onnx.ModelProto)
    onnx.checker.check_model(after, full_check=True)
    assert "Pad" not in kinds(after)
    assert attributes(after) == {"pads": [1, 2]}
    for shift in (0, 15, -15):
        feed = {"x": drawn((1, 2, 6), "float32") + np.float32(shift)}
        for found, wanted in zip(levels(after, feed), levels(before, feed), strict=True):
            np.testing.assert_array_equal(found[0], wanted[0])


REFUSED_DYNAMIC = {
    "another value": (
        f"a = Pad (x, p, v) {QUANTISED} (a) [op] y = ConvInteger (q, k, z, kz)",
        "what DynamicQuantizeLinear 'q' makes of the Pad is not known",
    ),
    "another zero point": (
        f"a = Pad (x, p) {QUANTISED} (a) [op] y = ConvInteger (q, k)",
        "the Pad writes the value of 'z' behind DynamicQuantizeLinear 'q', ConvInteger pads with 0",
    ),
}


@pytest.mark.parametrize(("body", "reason"), REFUSED_DYNAMIC.values(), ids=REFUSED_DYNAMIC)
def test_refuses_dynamic_quantisation(body: str, reason: str) -> None:
    assert refused(dynamic_model(body, "int32[a,b,c]", ", float v = {3}"), RULE).reason == reason


def test_others_that_read_it_or_what_is_made_of_it() -> None:
    ends = (
        f"{QUANTISED} (a) c = ConvInteger (q, k, z, kz) e = ConvInteger (q, k, z, kz)",
        f"{QUANTISED} (a) t = Identity (q) c = ConvInteger (t, k, z, kz) e = ConvInteger (t, k, z)",
    )
    for end in ends:
        assert left_alone(
            dynamic_model(f"a = Pad (x, p) {end} y = Add (c, e)", "int32[a,b,c]"), RULE
        )


def test_two_that_read_what_was_crossed() -> None:
    before = dynamic_model(
        f"""a = Pad (x, p) r = Relu (a) [one] {QUANTISED} (r) c = ConvInteger (q, k, z, kz)
        [two] q2, s2, z2 = DynamicQuantizeLinear (r) e = ConvInteger (q2, k, z2, kz)
        y = Add (c, e)""",
        "int32[a,b,c]",
    )
    after = rewrite(before, passes=[RULE]).model
    assert isinstance(after, onnx.ModelProto)
    assert "Pad" not in kinds(after)
    assert {node.name for node in nodes(after.graph)} >= {"one", "two"}
    feed = {"x": drawn((1, 2, 6), "float32")}
    for found, wanted in zip(levels(after, feed), levels(before, feed), strict=True):
        np.testing.assert_array_equal(found[0], wanted[0])


X = np.random.default_rng(7).permutation(np.arange(-14, 14, dtype=np.float32)).reshape(1, 2, 14)
CROSSED = ("Relu", "Neg", "Abs", "Identity", "Clip", "Tanh", "Mul", "Add", "QDQ", "Sigmoid", "Pad")
ENDS = ("Conv", "MaxPool", "AveragePool", "LpPool", "ConvTranspose")


class Network:
    """A tree: some tensors are read by several, all ends are outputs."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.outputs: list[str] = []
        made = ["x"]
        for _ in range(6):
            made.append(self.crossed(self.rng, str(self.rng.choice(["x", made[-1], made[-1]]))))
        for _ in range(3):
            self.end(self.rng, str(self.rng.choice(made[1:])))

    def constant(self, value: Any, dtype: str = "float32") -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        number = len(self.nodes)
        self.nodes.append(helper.make_node(op, inputs, [f"t{number}"], f"n{number}", **attributes))
        return f"t{number}"

    def crossed(self, rng: Generator, source: str) -> str:
        op = str(rng.choice(["Pad"] * 6 + list(CROSSED)))
        if op == "Pad":
            ends = rng.integers(-1 if rng.integers(4) == 0 else 0, 3, 2)
            pads = self.constant([0, 0, ends[0], 0, 0, ends[1]], "int64")
            return self.add("Pad", source, pads, self.constant(rng.choice([0, 0, 0, -np.inf, 2])))
        if op == "Clip":
            return self.add("Clip", source, self.constant(rng.choice([-3, 0, 1])))
        if op in ("Mul", "Add"):
            return self.add(op, source, self.constant(rng.choice([0, -2, 0.5])))
        if op == "QDQ":
            scales = [self.constant(0.25), self.constant(rng.choice([0, 128]), "uint8")]
            return self.add(
                "DequantizeLinear", self.add("QuantizeLinear", source, *scales), *scales
            )
        return self.add(op, source)

    def end(self, rng: Generator, source: str) -> None:
        op, kernel = str(rng.choice(ENDS)), int(rng.integers(1, 5))
        found: dict[str, Any] = {"kernel_shape": [kernel], "strides": [int(rng.integers(1, 3))]}
        if rng.integers(3) and kernel > 1:
            found["pads"] = rng.integers(0, kernel, 2).tolist()
        elif rng.integers(2):
            found["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
        if op.endswith("Pool") and op != "LpPool" and rng.integers(2):
            found["ceil_mode"] = 1
        if op == "AveragePool" and rng.integers(2):
            found["count_include_pad"] = 1
        inputs = [source]
        if op.startswith("Conv"):
            inputs.append(self.constant(rng.integers(-3, 4, (2, 2, kernel))))
        self.outputs.append(self.add(op, *inputs, **found))

    def model(self) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "network",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", "c", f"{name}_size"])
                for name in self.outputs
            ],
            self.constants,
        )
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 20)])


def result(model: onnx.ModelProto, output: int, *, optimised: bool) -> Array | str:
    alone = onnx.ModelProto()
    alone.CopyFrom(model)
    del alone.graph.output[:]
    alone.graph.output.append(model.graph.output[output])
    return ran(alone, {"x": X}, optimised=optimised)


def agree(found: Array | str, wanted: Array | str) -> bool:
    """Equal but for rounding; the lowest finite float of a window of padding alone is -inf."""
    if isinstance(found, str) or isinstance(wanted, str) or found.shape != wanted.shape:
        return False
    floor = np.finfo(np.float32).min
    a, b = (np.maximum(one, floor) for one in (found, wanted))
    return bool(np.allclose(a, b, rtol=1e-5, atol=1e-5, equal_nan=True))


@pytest.mark.parametrize("seed", range(60))
def test_networks(seed: int) -> None:
    """What onnxruntime computes right before it computes right afterwards, at both levels."""
    model = Network(seed).model()
    rng = np.random.default_rng(seed)
    passes = ["absorb-pad"]
    if seed % 2:
        passes = [str(rng.choice(["explicit-pads", "split-pads", "floor-pool"])), *passes]
    done = rewrite(model, passes=passes).model
    assert isinstance(done, onnx.ModelProto)
    onnx.checker.check_model(done)
    for output in range(len(model.graph.output)):
        wanted = result(model, output, optimised=False)
        if isinstance(wanted, str) or np.isnan(wanted).any():
            continue
        assert agree(result(done, output, optimised=False), wanted)
        if agree(result(model, output, optimised=True), wanted):
            assert agree(result(done, output, optimised=True), wanted)


@pytest.mark.parametrize("cells", list(product(range(3), repeat=2)))
@pytest.mark.parametrize("own", list(product(range(3), repeat=2)))
@pytest.mark.parametrize("kernel", [1, 2, 3])
def test_a_zero_that_no_data_is_below(kernel: int, own: Pair, cells: Pair) -> None:
    """Behind a Relu: a window of padding alone holds 0 where a Pad wrote it, and -inf elsewhere."""
    pads = f"int64[6] p = {{0, 0, {cells[0]}, 0, 0, {cells[1]}}}"
    pool = f"MaxPool <kernel_shape = [{kernel}], pads = [{own[0]}, {own[1]}]> (b)"
    least = max(1, kernel - sum(own) - sum(cells))
    for size in (least, least + 1):
        text = f"a = Pad (x, p) b = Relu (a) [op] y = {pool}"
        model = text_model(text, f"float[1,1,{size}]", constants=pads)
        x = np.arange(-1.0, size - 1).astype(np.float32).reshape(1, 1, size)
        after = rewrite(model, passes=[RULE]).model
        assert isinstance(after, onnx.ModelProto)
        np.testing.assert_array_equal(
            run_model(after, {"x": x})["y"], run_model(model, {"x": x})["y"]
        )


def test_a_thousand_pads_that_a_convolution_each_reads() -> None:
    pads = [f"t{n} = Pad (t{n - 1}, p) c{n} = Conv (t{n}, w)" for n in range(1, 1001)]
    row = " ".join(pads).replace("(t0,", "(x,")
    model = tiny(f"{row} y = Conv (t1000, w)", constants="int64[6] p = {0, 0, 1, 0, 0, 0}")
    begun = process_time()
    found = rewrite(model, passes=[RULE])
    assert process_time() - begun < 10  # 1 s; 80 s where each walks the row
    assert len(found.changes) == 1001
    assert sum(len(change.edits) for change in found.changes) < 5000
