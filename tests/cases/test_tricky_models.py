"""Models around convolutions that rewriters get wrong: axes, overridable pads, bodies, types."""

import numpy as np
import onnx
import pytest

from onnxpad.rewriting.passes import all_passes
from tests.models.tiny import (
    X5,
    attributes,
    by_onnxruntime,
    done,
    kinds,
    left_alone,
    numbers,
    refused,
    rewritten,
    tiny,
    values,
)

EXPLICIT, SPLIT, ABSORB = "explicit-pads", "split-pads", "absorb-pad"
SQUARE = np.arange(-12, 13, dtype=np.float32).reshape(1, 1, 5, 5)
W2 = "float[1,1,2,2] w = {1, 10, 100, 1000}"


def behind_pad(reads: str, constants: str, inputs: str = "") -> onnx.ModelProto:
    body = f"a = Pad ({reads}) [op] y = Conv (a, w)"
    held = f"{W2}, {constants}"
    return tiny(body, "float[1,1,5,5]", constants=held, opset=18, inputs=inputs)


AXES = {
    "the last": ("int64[1] axes = {-1}", "{1, 2}", [0, 1, 0, 2]),
    "unsorted": ("int64[2] axes = {3, 2}", "{1, 0, 2, 3}", [0, 1, 3, 2]),
    "both": ("int64[2] axes = {2, 3}", "{1, 0, 2, 3}", [1, 0, 2, 3]),
    "both from the end": ("int64[2] axes = {-2, -1}", "{1, 0, 2, 3}", [1, 0, 2, 3]),
    "channel without pads": ("int32[3] axes = {1, 2, 3}", "{0, 1, 0, 0, 2, 3}", [1, 0, 2, 3]),
}


@pytest.mark.parametrize(("axes", "amounts", "wanted"), AXES.values(), ids=AXES)
def test_row_59_axes_of_the_pad(axes: str, amounts: str, wanted: list[int]) -> None:
    count = amounts.count(",") + 1
    model = behind_pad("x, p, , axes", f"int64[{count}] p = {amounts}, {axes}")
    after = rewritten(model, ABSORB, SQUARE)
    assert kinds(after) == ["Conv"]
    assert attributes(after)["pads"] == wanted


def two_pads(first: str, second: str) -> onnx.ModelProto:
    constants = f"int64[6] p = {{0, 0, {first}}}, int64[6] q = {{0, 0, {second}}}"
    return tiny("a = Pad (x, p) b = Pad (a, q) [op] y = Conv (b, w)", constants=constants)


def test_row_58_a_crop_before_a_pad_stays_apart() -> None:
    model = two_pads("-2, 0, 0, 0", "1, 0, 0, 1")
    assert values(model, X5) == [430, 543, 54]
    after = done(model, ABSORB).model
    assert isinstance(after, onnx.ModelProto)
    assert kinds(after) == ["Pad", "Conv"], "only the second Pad goes"
    assert attributes(after)["pads"] == [1, 1]
    assert values(after, X5) == by_onnxruntime(after, X5) == [430, 543, 54]


def test_row_58_a_crop_behind_a_pad_takes_cells_of_the_pad() -> None:
    model = two_pads("2, 0, 0, 0", "-1, 0, 0, 0")
    assert values(model, X5) == by_onnxruntime(model, X5) == [210, 321, 432, 543]
    after = rewritten(model, ABSORB, X5)
    assert kinds(after) == ["Conv"]
    assert attributes(after)["pads"] == [1, 0]


def test_row_59_a_padded_channel_axis() -> None:
    body = "a = Pad (x, p) [op] y = Conv (a, w)"
    constants = "float[1,2,3] w = {1, 10, 100, 2, 20, 200}, int64[6] p = {0, 1, 0, 0, 0, 0}"
    skip = refused(tiny(body, constants=constants), ABSORB)
    assert skip.reason == "the Pad pads the batch or channel axis"


def test_row_60_pads_that_a_caller_may_replace() -> None:
    model = behind_pad("x, p", "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}", inputs="int64[8] p")
    skip = refused(model, ABSORB)
    assert skip.reason == (
        "the Pad's pads 'p' are an initializer that an input of the model can replace"
    )


def test_row_61_same_behind_a_pad() -> None:
    body = 'a = Pad (x, p) [op] y = Conv <auto_pad = "SAME_UPPER", strides = [2]> (a, w)'
    model = tiny(body, constants="int64[6] p = {0, 0, 1, 0, 0, 0}")
    assert values(model, X5) == [210, 432, 54]
    after = rewritten(model, ABSORB, X5)
    assert attributes(after)["pads"] == [1, 1], "SAME of 6 cells is (0, 1), of 5 cells (1, 1)"
    resolved = rewritten(model, EXPLICIT, X5)
    assert attributes(resolved)["pads"] == [0, 1]


@pytest.mark.parametrize("dtype", ["double", "bfloat16"])
def test_row_63_types_without_a_kernel_in_onnxruntime(dtype: str) -> None:
    body = '[op] y = Conv <auto_pad = "SAME_UPPER"> (x, w)'
    weights = f"{dtype}[1,1,3] w = {{1, 10, 100}}"
    model = tiny(body, f"{dtype}[1,1,5]", constants=weights, result=f"{dtype}[]", opset=22)
    after = rewritten(model, EXPLICIT)
    assert attributes(after)["pads"] == [1, 1]
    assert kinds(rewritten(model, SPLIT)) == ["Pad", "Conv"]
    if dtype == "double":
        x = X5.astype(np.float64)
        assert "NOT_IMPLEMENTED" in str(by_onnxruntime(after, x))
        assert values(after, x) == [210, 321, 432, 543, 54]


TOO_SHORT = "axis 2 has 2 cells, with pads 0,0 fewer than the window's 3"


def test_row_64_an_input_shorter_than_the_window() -> None:
    valid = tiny('[op] y = Conv <auto_pad = "VALID"> (x, w)', "float[1,1,2]")
    assert refused(valid, EXPLICIT).reason == TOO_SHORT
    padded = tiny("[op] y = Conv <pads = [1, 0], dilations = [2]> (x, w)", "float[1,1,2]")
    assert refused(padded, SPLIT).reason == (
        "axis 2 has 2 cells, with pads 1,0 fewer than the window's 5"
    )
    body = "a = Pad (x, p) [op] y = Conv (a, w)"
    behind = tiny(body, "float[1,1,1]", constants="int64[6] p = {0, 0, 1, 0, 0, 0}")
    assert refused(behind, ABSORB).reason == TOO_SHORT
    assert left_alone(tiny("[op] y = Conv (x, w)", "float[1,1,2]"), EXPLICIT, SPLIT, ABSORB)


BRANCH = """y = If (t) <
    then_branch = a () => (float[] q) {
        [op] q = Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w) },
    else_branch = b () => (float[] r) { r = Neg (x) }>"""
LOOP = """y = Loop (n, , x) <
    body = a (int64 i, bool go, float[] v) => (bool go_on, float[] q) {
        go_on = Identity (go)
        [op] q = Conv <auto_pad = "SAME_UPPER", strides = [2]> (v, w) }>"""


@pytest.mark.parametrize(("cells", "wanted"), [(5, [1, 1]), (6, [0, 1])])
def test_row_65_a_size_from_outside_the_branch(cells: int, wanted: list[int]) -> None:
    model = tiny(BRANCH, f"float[1,1,{cells}]", constants="bool t = {1}")
    after = rewritten(model, EXPLICIT, numbers(*range(-3, cells - 3)))
    assert attributes(after)["pads"] == wanted


def test_row_65_a_size_that_changes_in_every_trip() -> None:
    model = tiny(LOOP, "float[1,1,6]", constants="int64 n = {2}")
    assert len(values(model, numbers(1, 2, 3, 4, 5, 6))) == 2
    skip = refused(model, EXPLICIT)
    assert skip.reason == (
        "SAME_UPPER with kernel 3 needs the size of axis 2 "
        "(which nothing in the model tells, stride 2)"
    )


QUANTISED = {
    "ConvInteger": (
        "ConvInteger <{}> (x, k, zero, k_zero)",
        "uint8[1,1,3] k = {1, 2, 3}, uint8 zero = {7}, uint8 k_zero = {2}",
        "int32[]",
    ),
    "QLinearConv": (
        "QLinearConv <{}> (x, s, zero, k, s, k_zero, s, zero)",
        "int8[1,1,3] k = {1, -2, 3}, uint8 zero = {7}, int8 k_zero = {0}, float s = {1}",
        "uint8[]",
    ),
}


@pytest.mark.parametrize(("call", "constants", "result"), QUANTISED.values(), ids=QUANTISED)
def test_row_70_dilated_same_of_integers(call: str, constants: str, result: str) -> None:
    body = "[op] y = " + call.format('auto_pad = "SAME_UPPER", dilations = [2]')
    model = tiny(body, "uint8[1,1,5]", constants=constants, result=result)
    x = numbers(40, 10, 60, 30, 20, dtype="uint8")
    assert "Dilation not supported" in str(by_onnxruntime(model, x))
    after = rewritten(model, EXPLICIT)
    assert attributes(after)["pads"] == [2, 2]
    assert values(after, x) == by_onnxruntime(after, x) == values(model, x)


@pytest.mark.parametrize("rule", all_passes())
def test_row_67_pads_of_max_unpool_stay(rule: str) -> None:
    body = """a, i = MaxPool <kernel_shape = [2], strides = [2]> (x)
        [op] y = MaxUnpool <kernel_shape = [2], strides = [2], pads = [0, 1]> (a, i)"""
    model = tiny(body, "float[1,1,6]")
    assert not done(model, rule, nodes="op").changed
