"""Convolutions that rewriters get wrong, each with its numbers: x is 1, 2, 3, ..., w 1, 10, 100."""

import numpy as np
import onnx
import pytest

from onnxpad.rewriting.steps.run_time_pads import RUN_TIME
from tests.models.tiny import (
    X5,
    X6,
    X8,
    attributes,
    by_onnxruntime,
    kinds,
    left_alone,
    numbers,
    refused,
    rewritten,
    tiny,
    values,
)

EXPLICIT, SPLIT, ABSORB = "explicit-pads", "split-pads", "absorb-pad"


def conv(written: str, x: str = "float[1,1,5]", **more: object) -> onnx.ModelProto:
    return tiny(f"[op] y = Conv <{written}> (x, w)", x, **more)  # type: ignore[arg-type]


def behind_pad(
    pad: str, written: str = "pads = [0, 0]", constants: str = "", **more: object
) -> onnx.ModelProto:
    """Pad with the inputs `pad`, then Conv."""
    body = f"padded = Pad ({pad}) [op] y = Conv <{written}> (padded, w)"
    return tiny(body, constants=constants, **more)  # type: ignore[arg-type]


ONE_EACH = "int64[6] p = {0, 0, 1, 0, 0, 1}"


def pads(model: onnx.ModelProto) -> object:
    assert "auto_pad" not in attributes(model)
    return attributes(model)["pads"]


def test_row_01_same_upper() -> None:
    after = rewritten(conv('auto_pad = "SAME_UPPER"'), EXPLICIT)
    assert pads(after) == [1, 1]
    assert values(after, X5) == [210, 321, 432, 543, 54]


def test_row_02_same_upper_stride_2() -> None:
    model = conv('auto_pad = "SAME_UPPER", strides = [2]', "float[1,1,6]")
    after = rewritten(model, EXPLICIT)
    assert pads(after) == [0, 1]
    assert values(after, X6) == [321, 543, 65]


def test_row_03_same_lower_stride_2() -> None:
    model = conv('auto_pad = "SAME_LOWER", strides = [2]', "float[1,1,6]")
    after = rewritten(model, EXPLICIT)
    assert pads(after) == [1, 0]
    assert values(after, X6) == [210, 432, 654]


def test_row_04_same_lower_stride_2_of_any_size() -> None:
    model = conv('auto_pad = "SAME_LOWER", strides = [2]', "float[1,1,H]")
    after = rewritten(model, EXPLICIT, X5, X6, X8)
    assert pads(after) == [1, 1]
    assert values(after, X5) == [210, 432, 54]
    assert values(after, X6) == [210, 432, 654]


def test_row_05_same_upper_stride_2_of_any_size() -> None:
    model = conv('auto_pad = "SAME_UPPER", strides = [2]', "float[1,1,H]")
    skip = refused(model, EXPLICIT)
    assert skip.reason == (
        "SAME_UPPER with kernel 3 needs the size of axis 2 (which is 'H', stride 2)"
    )
    assert skip.hints == ("--dim 'H=640'", "--dim 'H%2=0'", RUN_TIME)
    assert pads(rewritten(model, EXPLICIT, X6, X8, dims={"H": "%2==0"})) == [0, 1]
    assert pads(rewritten(model, "runtime-pads", X5, X6, X8)) == [0, 0]


def test_row_06_same_upper_kernel_4_stride_2_of_any_size() -> None:
    model = conv(
        'auto_pad = "SAME_UPPER", strides = [2]',
        "float[1,1,H]",
        constants="float[1,1,4] w = {1, 10, 100, 1000}",
    )
    assert pads(rewritten(model, EXPLICIT, X5, X6, X8)) == [1, 2]


def test_row_07_same_upper_dilated() -> None:
    model = conv('auto_pad = "SAME_UPPER", dilations = [2]')
    assert "Dilation not supported" in str(by_onnxruntime(model, X5))
    after = rewritten(model, EXPLICIT)
    assert pads(after) == [2, 2]
    assert values(after, X5) == by_onnxruntime(after, X5) == [310, 420, 531, 42, 53]


def test_row_08_kernel_below_the_stride() -> None:
    model = conv(
        'auto_pad = "SAME_UPPER", strides = [4]',
        "float[1,1,8]",
        constants="float[1,1,1] w = {1}",
    )
    assert by_onnxruntime(model, X8) == [2, 6]
    after = rewritten(model, EXPLICIT)
    assert pads(after) == [0, 0]
    assert values(after, X8) == by_onnxruntime(after, X8) == [1, 5]


def test_row_09_auto_pad_together_with_pads() -> None:
    model = conv('auto_pad = "SAME_UPPER", pads = [0, 0]')
    for rule in (EXPLICIT, SPLIT):
        skip = refused(model, rule)
        assert "auto_pad=SAME_UPPER and pads=[0, 0] contradict each other" in skip.reason
        assert skip.hints == ("--ambiguous auto_pad", "--ambiguous pads")
    assert pads(rewritten(model, EXPLICIT, ambiguous="auto_pad")) == [1, 1]
    assert pads(rewritten(model, EXPLICIT, ambiguous="pads")) == [0, 0]


def test_row_14_pads_wider_than_the_kernel() -> None:
    model = conv("pads = [7, 9]", "float[1,1,2]")
    wanted = [*[0] * 5, 100, 210, 21, 2, *[0] * 7]
    after = rewritten(model, SPLIT)
    assert kinds(after) == ["Pad", "Conv"]
    for one in (model, after):
        assert values(one, numbers(1, 2)) == by_onnxruntime(one, numbers(1, 2)) == wanted


def test_row_15_negative_pads() -> None:
    assert "the pads [-1, 1] are negative" in refused(conv("pads = [-1, 1]"), SPLIT).reason
    model = behind_pad("x, p", constants="int64[6] p = {0, 0, -1, 0, 0, 2}")
    assert values(model, X5) == [432, 543, 54, 5]
    assert refused(model, ABSORB).reason == "the Pad has negative pads and crops"


@pytest.mark.parametrize("fed", [False, True], ids=["zero-point-known", "zero-point-an-input"])
def test_row_49_conv_integer_pads_with_the_zero_point(fed: bool) -> None:
    zero = "" if fed else "uint8 zero = {7}, "
    model = tiny(
        "[op] y = ConvInteger <pads = [1, 1]> (x, k, zero, k_zero)",
        "uint8[1,1,4]",
        constants=f"{zero}uint8[1,1,3] k = {{1, 2, 3}}, uint8 k_zero = {{2}}",
        inputs="uint8 zero" if fed else "",
        result="int32[]",
    )
    x = numbers(10, 20, 30, 40, dtype="uint8")
    given = {"zero": np.asarray(7, np.uint8)} if fed else {}
    after = rewritten(model, SPLIT)
    assert values(model, x, **given) == values(after, x, **given) == [13, 20, 20, -23]
    assert after.graph.node[0].op_type == "Pad"
    assert after.graph.node[0].input[2] == "zero", "Pad writes the zero point itself"
    wrong = onnx.ModelProto()
    wrong.CopyFrom(after)
    del wrong.graph.node[0].input[2]
    assert values(wrong, x, **given) == [20, 20, 20, -30], "what Pad with 0 would give"


def test_row_52_sigmoid_between_pad_and_conv() -> None:
    body = "a = Pad (x, p) b = Sigmoid (a) [op] y = Conv <pads = [0, 0]> (b, w)"
    model = tiny(body, constants=ONE_EACH)
    wanted = [95.8903, 104.7964, 108.6079, 110.1034, 60.9151]
    np.testing.assert_allclose(values(model, X5), wanted, atol=5e-5)
    assert left_alone(model, EXPLICIT, SPLIT)
    assert refused(model, ABSORB).reason == (
        "the Pad writes 0.5 behind Sigmoid 'b', Conv pads with 0"
    )


KEPT = {
    "two consumers": "z = Relu (padded) y = Add (c, z)",
    "captured": "y = If (t) <then_branch = a () => (float[] q) { q = Relu (padded) }, "
    "else_branch = b () => (float[] r) { r = Neg (c) }>",
}


@pytest.mark.parametrize("rest", KEPT.values(), ids=KEPT)
def test_row_55_others_read_the_pad(rest: str) -> None:
    body = f"padded = Pad (x, p) [op] c = Conv <pads = [1, 1]> (padded, w) {rest}"
    model = tiny(body, constants=f"{ONE_EACH}, bool t = {{1}}")
    after = rewritten(model, ABSORB, X5)
    assert kinds(after)[:2] == ["Pad", "Conv"]
    assert pads(after) == [2, 2]


def test_row_55_the_pad_is_an_output() -> None:
    model = behind_pad("x, p", constants=ONE_EACH)
    model.graph.output.add().CopyFrom(
        onnx.helper.make_tensor_value_info("padded", onnx.TensorProto.FLOAT, None)
    )
    after = rewritten(model, ABSORB, X5)
    assert kinds(after) == ["Pad", "Conv"]
    assert pads(after) == [1, 1]


def test_row_55_a_branch_reads_a_pad_outside() -> None:
    body = """padded = Pad (x, p)
        y = If (t) <then_branch = a () => (float[] q) { [op] q = Conv <pads = [1, 1]> (padded, w) },
                    else_branch = b () => (float[] r) { r = Relu (padded) }>"""
    model = tiny(body, constants=f"{ONE_EACH}, bool t = {{1}}")
    assert refused(model, ABSORB).reason == "the Pad 'padded' stands in an enclosing graph"


VALUES = {
    "omitted": ("x, p", "", ""),
    "minus zero": ("x, p, c", "float c = {-0.0}", ""),
    "one element": ("x, p, c", "float[1] c = {0}", ""),
    "NaN": ("x, p, c", "float c = {nan}", "the Pad writes the value of 'c', Conv pads with 0"),
    "five": ("x, p, c", "float c = {5}", "the Pad writes 5, Conv pads with 0"),
}


@pytest.mark.parametrize(("reads", "value", "reason"), VALUES.values(), ids=VALUES)
def test_row_56_value_of_the_pad(reads: str, value: str, reason: str) -> None:
    model = behind_pad(reads, constants=", ".join(filter(None, (ONE_EACH, value))))
    if reason:
        assert refused(model, ABSORB).reason == reason
    else:
        assert pads(rewritten(model, ABSORB, X5)) == [1, 1]


def test_row_57_reflect() -> None:
    body = 'padded = Pad <mode = "reflect"> (x, p) [op] y = Conv (padded, w)'
    one = "float[1,1,1] w = {1}, int64[6] p = {0, 0, -1, 0, 0, 2}"
    model = tiny(body, constants=one)
    assert values(model, X5) == [2, 3, 4, 5, 4, 3]
    assert "mode 'reflect'" in refused(model, ABSORB).reason
