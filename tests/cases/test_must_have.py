"""What other tools get wrong, case by case: (a) to (p); the rest is in test_must_have_survival."""

import math

import numpy as np
import onnx
import pytest

from tests.models.tiny import (
    NEGATIVE,
    X5,
    X6,
    X8,
    attributes,
    kinds,
    left_alone,
    numbers,
    refused,
    rewritten,
    tiny,
    values,
)

EXPLICIT, SPLIT, ABSORB = "explicit-pads", "split-pads", "absorb-pad"
ONE_EACH = "int64[6] p = {0, 0, 1, 0, 0, 1}"
SQUARE = np.arange(-20, 22, dtype=np.float32).reshape(1, 1, 6, 7)


def behind_pad(
    op: str, x: str = "float[1,1,5]", constants: str = ONE_EACH, **more: object
) -> onnx.ModelProto:
    """Pad(x, p), then the operator, whose text reads `a`."""
    return tiny(f"a = Pad (x, p) [op] y = {op}", x, constants=constants, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", ["9", "H"])
@pytest.mark.parametrize("op", ["Conv", "MaxPool"])
def test_a_dilated_same(op: str, size: str) -> None:
    same = 'auto_pad = "SAME_UPPER", dilations = [2]'
    call = f"Conv <{same}> (x, w)" if op == "Conv" else f"MaxPool <{same}, kernel_shape = [3]> (x)"
    inputs = [numbers(*range(-5, 4))] if size == "9" else [X5, X6, -X8]
    after = rewritten(tiny(f"[op] y = {call}", f"float[1,1,{size}]"), EXPLICIT, *inputs)
    assert attributes(after)["pads"] == [2, 2]


def test_b_pad_with_0_before_max_pool_of_negative_data() -> None:
    model = behind_pad("MaxPool <kernel_shape = [3]> (a)", "float[1,1,4]")
    assert "MaxPool pads with the lowest value" in refused(model, ABSORB).reason
    assert values(model, NEGATIVE) == [0, -1, -1, 0]


AXES = {
    "[2, 3]": "{1, 0, 2, 1}",
    "[-2, -1]": "{1, 0, 2, 1}",
    "[3, 2]": "{0, 1, 1, 2}",
    "[0, 1, 3, 2]": "{0, 0, 0, 1, 0, 0, 1, 2}",
    "[1, 2, 3]": "{0, 1, 0, 0, 2, 1}",
}
OPERATORS = {
    "Conv": ("Conv (a, w)", "0"),
    "MaxPool": ("MaxPool <kernel_shape = [3, 3]> (a)", "-inf"),
    "AveragePool": ("AveragePool <kernel_shape = [3, 3]> (a)", "0"),
}


@pytest.mark.parametrize(("axes", "amounts"), AXES.items())
@pytest.mark.parametrize(("call", "value"), OPERATORS.values(), ids=OPERATORS)
def test_c_axes_of_pad_18(axes: str, amounts: str, call: str, value: str) -> None:
    count = axes.count(",") + 1
    constants = f"""int64[{2 * count}] p = {amounts}, float c = {{{value}}},
        int64[{count}] axes = {{{axes[1:-1]}}}, float[1,1,2,2] w = {{1, 10, 100, 1000}}"""
    body = f"a = Pad (x, p, c, axes) [op] y = {call}"
    model = tiny(body, "float[1,1,6,7]", constants=constants, opset=18)
    after = rewritten(model, ABSORB, SQUARE)
    assert len(after.graph.node) == 1
    assert attributes(after)["pads"] == [1, 0, 2, 1]


LOWEST = repr(float(np.finfo(np.float32).min))


@pytest.mark.parametrize(
    ("call", "value", "reason"),
    [
        ("Conv (a, w)", "5.0", "the Pad writes 5, Conv pads with 0"),
        ("MaxPool <kernel_shape = [3]> (a)", "5.0", "the Pad writes 5, MaxPool pads with"),
        ("AveragePool <kernel_shape = [3]> (a)", "5.0", "the Pad writes 5, AveragePool pads with"),
        ("MaxPool <kernel_shape = [3]> (a)", "0.0", "the Pad writes 0, MaxPool pads with"),
        ("Conv (a, w)", "0.0", ""),
        ("AveragePool <kernel_shape = [3]> (a)", "0.0", ""),
        ("MaxPool <kernel_shape = [3]> (a)", LOWEST, ""),
    ],
)
def test_d_value_of_pad_2(call: str, value: str, reason: str) -> None:
    body = f"a = Pad <pads = [0, 0, 1, 0, 0, 1], value = {value}> (x) [op] y = {call}"
    model = tiny(body, opset=10)
    if reason:
        assert refused(model, ABSORB).reason.startswith(reason)
    else:
        assert kinds(rewritten(model, ABSORB, -X5)) == [call.split(maxsplit=1)[0]]


def test_e_average_that_does_not_count_its_own_pads() -> None:
    model = behind_pad("AveragePool <kernel_shape = [3], pads = [1, 1]> (a)")
    assert "counts the cells of the Pad, but not its own padding" in refused(model, ABSORB).reason


SAME_POOLS = {
    "MaxPool": ("MaxPool", "", "-inf"),
    "AveragePool": ("AveragePool", ", count_include_pad = 1", "0"),
    "LpPool": ("LpPool", "", "0"),
}


@pytest.mark.parametrize(("op", "more", "value"), SAME_POOLS.values(), ids=SAME_POOLS)
def test_f_same_pool_behind_a_pad(op: str, more: str, value: str) -> None:
    same = f'kernel_shape = [4], strides = [2], auto_pad = "SAME_UPPER"{more}'
    body = f"a = Pad (x, p, c) [op] y = {op} <{same}> (a)"
    constants = f"int64[6] p = {{0, 0, 1, 0, 0, 0}}, float c = {{{value}}}"
    after = rewritten(tiny(body, constants=constants), ABSORB, -X5)
    assert attributes(after)["pads"] == [2, 1], "SAME of 6 cells, not of 5, and the Pad's"


def test_g_indices_of_a_max_pool() -> None:
    call = "[op] v, i = MaxPool <kernel_shape = [3], {}> ({}) y = Cast <to = 1> (i)"
    padded = tiny(call.format("pads = [1, 1]", "x"), "float[1,1,4]")
    assert values(rewritten(padded, SPLIT, NEGATIVE), NEGATIVE) == [1, 1, 1, 2]
    body = "a = Pad (x, p, c) " + call.format("strides = [1]", "a")
    behind = tiny(body, "float[1,1,4]", constants=f"{ONE_EACH}, float c = {{-inf}}")
    assert refused(behind, ABSORB).reason == "its Indices are used and count the cells of the Pad"
    same = tiny(call.format('auto_pad = "SAME_UPPER"', "x"), "float[1,1,4]")
    assert values(rewritten(same, EXPLICIT, NEGATIVE), NEGATIVE) == [1, 1, 1, 2]


def test_h_pads_as_wide_as_the_kernel_of_a_convolution() -> None:
    model = behind_pad("Conv (a, w)", constants="int64[6] p = {0, 0, 4, 0, 0, 3}")
    assert attributes(rewritten(model, ABSORB, X5))["pads"] == [4, 3]


@pytest.mark.parametrize(("op", "value"), [("MaxPool", "-inf"), ("AveragePool", "0")])
def test_h_pads_as_wide_as_the_kernel(op: str, value: str) -> None:
    constants = f"int64[6] p = {{0, 0, 4, 0, 0, 4}}, float c = {{{value}}}"
    model = tiny(f"a = Pad (x, p, c) [op] y = {op} <kernel_shape = [3]> (a)", constants=constants)
    assert "as large as the kernel" in refused(model, ABSORB).reason


def test_i_pad_on_the_weight() -> None:
    body = "k = Pad (v, p) [op] y = Conv (x, k)"
    model = tiny(body, inputs="float[1,1,1] v", constants=ONE_EACH)
    assert left_alone(model, EXPLICIT, SPLIT, ABSORB)
    same = tiny(
        body.replace("Conv", 'Conv <auto_pad = "SAME_UPPER">'),
        inputs="float[1,1,1] v",
        constants=ONE_EACH,
    )
    assert "fusing the Pad" in refused(same, EXPLICIT).reason
    assert "fusing the Pad" in refused(same, SPLIT).reason


def test_i_pad_on_the_bias() -> None:
    body = 'b = Pad (v, q) [op] y = Conv <auto_pad = "SAME_UPPER"> (x, w, b)'
    constants = """float[2,1,3] w = {1, 10, 100, -1, -10, -100},
        float[1] v = {3}, int64[2] q = {1, 0}"""
    model = tiny(body, constants=constants)
    for rule, pads in ((EXPLICIT, 1), (SPLIT, 2)):
        assert kinds(rewritten(model, rule, X5)).count("Pad") == pads
    assert (values(model, X5)[5], left_alone(model, ABSORB)) == (-207, True)


@pytest.mark.parametrize("writes", [128, 0])
def test_j_zero_points(writes: int) -> None:
    calls = {
        "ConvInteger (a, k, zero)": ("uint8[1,1,3] k = {1, 2, 3}", "int32[]"),
        "QLinearConv (a, s, zero, k, s, k_zero, s, zero)": (
            "int8[1,1,3] k = {1, -2, 3}, int8 k_zero = {0}, float s = {1}",
            "uint8[]",
        ),
    }
    x = numbers(200, 10, 128, 130, 90, dtype="uint8")
    for call, (operands, result) in calls.items():
        constants = f"{ONE_EACH}, uint8 zero = {{128}}, uint8 c = {{{writes}}}, {operands}"
        body = f"a = Pad (x, p, c) [op] y = {call}"
        model = tiny(body, "uint8[1,1,5]", constants=constants, result=result)
        if writes:
            assert attributes(rewritten(model, ABSORB, x))["pads"] == [1, 1]
        else:
            assert f"the Pad writes 0, {call.split()[0]} pads with 128" in (
                refused(model, ABSORB).reason
            )


def test_k_an_initializer_that_may_be_replaced() -> None:
    model = behind_pad("Conv (a, w)", inputs="int64[6] p")
    assert "that an input of the model can replace" in refused(model, ABSORB).reason
    assert len(values(model, X5, p=np.asarray([0, 0, 2, 0, 0, 2]))) == 7


def test_l_transposed_convolution_behind_a_pad() -> None:
    model = behind_pad("ConvTranspose <strides = [2], pads = [2, 2]> (a, w)")
    assert attributes(rewritten(model, ABSORB, X5))["pads"] == [0, 0]
    model = behind_pad("ConvTranspose <strides = [2], pads = [1, 2]> (a, w)")
    assert refused(model, ABSORB).reason == "the Pad adds more cells than its pads [1, 2] crop"


@pytest.mark.parametrize("mode", ["VALID", "SAME_UPPER"])
@pytest.mark.parametrize("rule", [EXPLICIT, SPLIT])
def test_m_auto_pad_with_stale_pads(mode: str, rule: str) -> None:
    model = tiny(f'[op] y = Conv <auto_pad = "{mode}", pads = [1, 0]> (x, w)')
    assert "contradict each other" in refused(model, rule).reason
    written = attributes(rewritten(model, rule, ambiguous="pads"))
    assert "auto_pad" not in written
    assert written["pads"] == ([1, 0] if rule == EXPLICIT else [0, 0])
    if mode == "SAME_UPPER" or rule == EXPLICIT:
        written = attributes(rewritten(model, rule, ambiguous="auto_pad"))
        assert "auto_pad" not in written
        assert written["pads"] == ([1, 1] if (mode, rule) == ("SAME_UPPER", EXPLICIT) else [0, 0])


def test_n_a_pad_captured_by_a_branch() -> None:
    body = """a = Pad (x, p) [op] c = Conv (a, w)
        y = If (t) <then_branch = f () => (float[] q) { q = Add (c, a) },
                    else_branch = g () => (float[] r) { r = Neg (c) }>"""
    one = f"{ONE_EACH}, bool t = {{1}}, float[1,1,1] w = {{2}}"
    after = rewritten(tiny(body, constants=one), ABSORB, X5)
    assert kinds(after)[:2] == ["Pad", "Conv"]
    assert (after.graph.node[1].input[0], attributes(after)["pads"]) == ("x", [1, 1])


def test_o_a_weight_of_unknown_shape() -> None:
    unknown = tiny('[op] y = Conv <auto_pad = "SAME_UPPER"> (x, k)', inputs="float[] k")
    assert refused(unknown, EXPLICIT).reason == (
        "no kernel_shape, and the weight's shape is not known"
    )
    body = 'k = DequantizeLinear (q, s) [op] y = Conv <auto_pad = "SAME_UPPER"> (x, k)'
    held = "int8[1,1,3] q = {1, -10, 100}, float s = {0.5}"
    assert attributes(rewritten(tiny(body, constants=held), EXPLICIT, X5))["pads"] == [1, 1]


def test_p_pads_that_torchscript_computes() -> None:
    body = """extra = ConstantOfShape <value = int64[1] {0}> (four)
        all = Concat <axis = 0> (given, extra) pairs = Reshape (all, rows)
        turned = Slice (pairs, last, first, zero, back) columns = Transpose <perm = [1, 0]> (turned)
        flat = Reshape (columns, minus) p = Cast <to = 7> (flat)
        a = Pad (x, p) [op] y = Conv (a, w)"""
    constants = """int64[1] four = {4}, int64[2] given = {1, 2}, int64[2] rows = {-1, 2},
        int64[1] last = {-1}, int64[1] first = {-9223372036854775807}, int64[1] zero = {0},
        int64[1] back = {-1}, int64[1] minus = {-1}"""
    model = tiny(body, constants=constants)
    assert math.isclose(values(model, X5)[0], 210)
    assert kinds(rewritten(model, ABSORB, X5)) == ["Conv"]
