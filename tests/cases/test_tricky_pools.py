"""Pools that rewriters and runtimes get wrong, each with its numbers."""

import math

import numpy as np
import onnx
import pytest

from tests.models.tiny import (
    NEGATIVE,
    X5,
    X6,
    X8,
    Array,
    attributes,
    by_onnxruntime,
    constant,
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


def pool(
    op: str, written: str, x: str = "float[1,1,5]", result: str = "float[]", opset: int = 17
) -> onnx.ModelProto:
    return tiny(f"[op] y = {op} <{written}> (x)", x, result=result, opset=opset)


def behind_pad(
    op: str, written: str, x: str = "float[1,1,5]", constants: str = ONE_EACH, reads: str = "x, p"
) -> onnx.ModelProto:
    return tiny(f"a = Pad ({reads}) [op] y = {op} <{written}> (a)", x, constants=constants)


def everywhere(model: onnx.ModelProto, x: Array) -> list[list[float]]:
    """By the interpreter, by onnxruntime as written, and by onnxruntime by default."""
    found = [by_onnxruntime(model, x, optimised=optimised) for optimised in (False, True)]
    assert isinstance(found[0], list), found[0]
    assert isinstance(found[1], list), found[1]
    return [values(model, x), found[0], found[1]]


def test_row_10_auto_pad_together_with_pads() -> None:
    model = pool("MaxPool", 'kernel_shape = [3], auto_pad = "SAME_UPPER", pads = [2, 2]')
    assert "contradict each other" in refused(model, EXPLICIT).reason
    assert by_onnxruntime(model, X5) == [2, 3, 4, 5, 5]
    for choice, wanted in {"auto_pad": [2, 3, 4, 5, 5], "pads": [1, 2, 3, 4, 5, 5, 5]}.items():
        after = rewritten(model, EXPLICIT, ambiguous=choice)
        assert "auto_pad" not in attributes(after)
        assert everywhere(after, X5) == [wanted] * 3


def test_row_26_padding_of_max_pools_never_wins() -> None:
    model = pool("MaxPool", "kernel_shape = [3], pads = [1, 1]", "float[1,1,4]")
    after = rewritten(model, SPLIT)
    assert kinds(after) == ["Pad", "MaxPool"]
    assert constant(after, "op/pad_value") == -math.inf
    assert everywhere(after, NEGATIVE) == everywhere(model, NEGATIVE) == [[-1, -1, -1, -2]] * 3


def test_row_27_pad_with_0_in_front_of_a_max_pool() -> None:
    model = behind_pad("MaxPool", "kernel_shape = [3]", "float[1,1,4]")
    assert refused(model, ABSORB).reason == "the Pad writes 0, MaxPool pads with the lowest value"
    right, wrong = [0, -1, -1, 0], [-1, -1, -1, -2]
    assert everywhere(model, NEGATIVE) == [right, right, wrong], "onnxruntime fuses the Pad"


def test_row_29_max_pool_of_bytes() -> None:
    model = pool("MaxPool", "kernel_shape = [3], pads = [1, 1]", "int8[1,1,4]", "int8[]", 12)
    after = rewritten(model, SPLIT)
    value = constant(after, "op/pad_value")
    assert (value.item(), value.dtype.name) == (-128, "int8")
    x = NEGATIVE.astype(np.int8)
    assert everywhere(after, x) == everywhere(model, x) == [[-1, -1, -1, -2]] * 3


@pytest.mark.parametrize("opset", [11, 22])
def test_row_31_a_window_in_the_end_padding_is_dropped(opset: int) -> None:
    body = """m = MaxPool <kernel_shape = [1], strides = [2], ceil_mode = 1> (x)
        [op] y = Conv <auto_pad = "SAME_UPPER", strides = [2]> (m, w)"""
    model = tiny(body, "float[1,1,2]", constants="float[1,1,2] w = {1, 10}", opset=opset)
    inferred = onnx.shape_inference.infer_shapes(model).graph.value_info[0]
    assert inferred.type.tensor_type.shape.dim[2].dim_value == (2 if opset < 22 else 1)
    after = rewritten(model, EXPLICIT, numbers(-3, -4))
    assert attributes(after)["pads"] == [0, 1], "two cells would need no padding"


def test_row_33_dilated_same() -> None:
    model = pool("MaxPool", 'kernel_shape = [3], dilations = [2], auto_pad = "SAME_UPPER"')
    assert by_onnxruntime(model, X5) == [4, 5, 4]
    after = rewritten(model, EXPLICIT)
    assert attributes(after)["pads"] == [2, 2]
    assert everywhere(after, X5) == [[3, 4, 5, 4, 5]] * 3


def test_row_34_dilated_same_wider_than_the_kernel() -> None:
    model = pool("MaxPool", 'kernel_shape = [2], dilations = [3], auto_pad = "SAME_UPPER"')
    skip = refused(model, EXPLICIT)
    assert skip.reason == (
        "onnxruntime refuses it written like that: a value of `pads` is as large as the kernel"
    )
    assert skip.hints == ("--pass split-pads",)
    after = rewritten(model, SPLIT)
    assert constant(after, "op/pad_pads").tolist() == [0, 0, 1, 0, 0, 2]
    assert everywhere(after, X5) == [[3, 4, 5, 3, 4]] * 3


def test_row_35_kernel_below_the_stride() -> None:
    written = 'kernel_shape = [1], strides = [4], auto_pad = "SAME_UPPER"'
    model = pool("MaxPool", written, "float[1,1,8]")
    assert "must be non-negative" in str(by_onnxruntime(model, X8))
    after = rewritten(model, EXPLICIT)
    assert attributes(after)["pads"] == [0, 0]
    assert everywhere(after, X8) == [[1, 5]] * 3


def test_row_36_a_pad_as_wide_as_the_kernel() -> None:
    constants = "int64[6] p = {0, 0, 3, 0, 0, 3}, float c = {-inf}"
    model = behind_pad("MaxPool", "kernel_shape = [3]", "float[1,1,4]", constants, "x, p, c")
    assert refused(model, ABSORB).reason == (
        "onnxruntime refuses it written like that: a value of `pads` is as large as the kernel"
    )
    by_default = by_onnxruntime(model, NEGATIVE, optimised=True)
    assert isinstance(by_default, list)
    assert by_default[1:-1] == [-7, -1, -1, -1, -2, -2]


def test_row_37_same_makes_ceil_mode_idle() -> None:
    same = 'kernel_shape = [3], strides = [2], ceil_mode = 1, auto_pad = "SAME_UPPER"'
    after = rewritten(pool("MaxPool", same, "float[1,1,6]"), EXPLICIT)
    assert attributes(after) == {"kernel_shape": [3], "strides": [2], "pads": [0, 1]}
    assert everywhere(after, X6) == [[3, 5, 6]] * 3


def test_row_37_valid_keeps_ceil_mode() -> None:
    valid = 'kernel_shape = [3], strides = [2], ceil_mode = 1, auto_pad = "VALID"'
    after = rewritten(pool("MaxPool", valid, "float[1,1,6]"), EXPLICIT)
    found = attributes(after)
    assert (found["pads"], found["ceil_mode"]) == ([0, 0], 1)
    assert everywhere(after, X6) == [[3, 5, 6]] * 3


def test_row_40_averages_count_their_padding_or_not() -> None:
    written = "kernel_shape = [3], pads = [1, 1]"
    apart = pool("AveragePool", written)
    assert everywhere(apart, X5) == [[1.5, 2, 3, 4, 4.5]] * 3
    assert "does not count padded cells" in refused(apart, SPLIT).reason
    after = rewritten(pool("AveragePool", f"{written}, count_include_pad = 1"), SPLIT)
    assert everywhere(after, X5) == [[1, 2, 3, 4, 3]] * 3


def test_row_44_a_counted_pad_in_front_of_padding_that_is_not() -> None:
    model = behind_pad("AveragePool", "kernel_shape = [3], pads = [1, 1]")
    assert values(model, X5) == [0.5, 1, 2, 3, 4, 3, 2.5]
    assert refused(model, ABSORB).reason == (
        "the average counts the cells of the Pad, but not its own padding"
    )


def test_row_45_a_counted_pad_is_absorbed() -> None:
    model = behind_pad("AveragePool", "kernel_shape = [3]")
    after = rewritten(model, ABSORB)
    assert attributes(after) == {"kernel_shape": [3], "pads": [1, 1], "count_include_pad": 1}
    assert everywhere(after, X5) == everywhere(model, X5) == [[1, 2, 3, 4, 3]] * 3


def test_row_46_average_of_two_axes() -> None:
    written = "kernel_shape = [2, 2], pads = [0, 0, 1, 1], count_include_pad = 1"
    model = pool("AveragePool", written, "float[1,1,2,2]")
    ones = np.ones((1, 1, 2, 2), np.float32)
    assert everywhere(rewritten(model, SPLIT), ones) == [[1, 0.5, 0.5, 0.25]] * 3


def test_row_47_a_pad_as_wide_as_the_kernel_opens_with_optimisations() -> None:
    model = pool("AveragePool", "kernel_shape = [3], pads = [3, 3], count_include_pad = 1")
    assert "smaller than kernel" in str(by_onnxruntime(model, X5))
    after = rewritten(model, SPLIT)
    assert attributes(after)["auto_pad"] == "VALID"
    np.testing.assert_allclose(everywhere(after, X5), [values(model, X5)] * 3, rtol=1e-6)
    del next(n for n in after.graph.node if n.name == "op").attribute[-1]
    assert "smaller than kernel" in str(by_onnxruntime(after, X5, optimised=True))


def test_row_48_lp_pool() -> None:
    model = pool("LpPool", "kernel_shape = [3], pads = [1, 1], p = 2")
    wanted = [2.2361, 3.7417, 5.3852, 7.0711, 6.4031]
    after = rewritten(model, SPLIT)
    for found in everywhere(model, X5) + everywhere(after, X5):
        np.testing.assert_allclose(found, wanted, atol=5e-5)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
def test_row_69_ceil_mode_keeps_a_window_over_the_pad(op: str) -> None:
    constants = "int64[6] p = {0, 0, 0, 0, 0, 1}, float c = {0}"
    written = "kernel_shape = [2], strides = [3], ceil_mode = 1"
    model = behind_pad(op, written, "float[1,1,3]", constants, "x, p, c")
    first = {"MaxPool": 2, "AveragePool": 1.5}[op]
    both, one = [first, 0], [first]
    assert everywhere(model, numbers(1, 2, 3)) == [both, both, one], "onnxruntime loses a window"
    reasons = {
        "MaxPool": "the Pad writes 0, MaxPool pads with the lowest value",
        "AveragePool": "ceil_mode would drop the last window, which the Pad keeps",
    }
    assert refused(model, ABSORB).reason == reasons[op]
    assert left_alone(model, EXPLICIT, SPLIT)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
def test_row_69_auto_pad_protects_the_window(op: str) -> None:
    constants = "int64[6] p = {0, 0, 0, 0, 0, 1}, float c = {0}"
    written = 'kernel_shape = [2], strides = [3], ceil_mode = 1, auto_pad = "VALID"'
    model = behind_pad(op, written, "float[1,1,3]", constants, "x, p, c")
    first = {"MaxPool": 2, "AveragePool": 1.5}[op]
    assert everywhere(model, numbers(1, 2, 3)) == [[first, 0]] * 3
    assert "keeps onnxruntime from fusing the Pad" in refused(model, EXPLICIT).reason
