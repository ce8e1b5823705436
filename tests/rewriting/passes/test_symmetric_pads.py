"""Asymmetric pads as symmetric ones; rows 11 to 14, 50, 62 and 68 of the tricky cases."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.tiny import (
    X5,
    X6,
    attributes,
    by_onnxruntime,
    constant,
    done,
    kinds,
    left_alone,
    numbers,
    refused,
    rewritten,
    tiny,
    values,
)
from tests.rewriting.passes.expanded import agrees, levels

SLICE, KERNEL, PAD = (f"symmetric-pads-by-{way}" for way in ("slice", "kernel", "pad"))
ANY = "symmetric-pads"
SIZES = range(5, 13)


@pytest.mark.parametrize(
    ("written", "rule", "pads", "operators", "expected"),
    [
        pytest.param(
            "strides = [2], pads = [0, 3]",
            SLICE,
            [2, 2],
            ["Conv", "Slice"],
            [321, 543, 5],
            id="row_11",
        ),
        pytest.param(
            "dilations = [2], pads = [0, 2]", KERNEL, [2, 2], ["Conv"], [531, 42, 53], id="row_12"
        ),
        pytest.param(
            "dilations = [2], pads = [0, 1]",
            SLICE,
            [1, 1],
            ["Conv", "Slice"],
            [531, 42],
            id="row_13 by slice",
        ),
        pytest.param(
            "dilations = [2], pads = [0, 1]",
            PAD,
            [0, 0],
            ["Pad", "Conv"],
            [531, 42],
            id="row_13 by pad",
        ),
    ],
)
def test_rewrites(
    written: str, rule: str, pads: list[int], operators: list[str], expected: list[float]
) -> None:
    model = tiny(f"[op] y = Conv <{written}> (x, w)")
    after = rewritten(model, rule, X5)
    assert attributes(after)["pads"] == pads
    assert kinds(after) == operators
    assert values(after, X5) == expected
    for optimised in (False, True):
        assert by_onnxruntime(after, X5, optimised=optimised) == expected
    assert left_alone(after, rule)


def test_row_12_the_kernel_gets_a_tap_in_front() -> None:
    after = rewritten(tiny("[op] y = Conv <dilations = [2], pads = [0, 2]> (x, w)"), KERNEL, X5)
    assert constant(after, "w/grown").ravel().tolist() == [0, 1, 10, 100]
    after = rewritten(tiny("[op] y = Conv <pads = [2, 0], kernel_shape = [3]> (x, w)"), KERNEL, X5)
    assert constant(after, "w/grown").ravel().tolist() == [1, 10, 100, 0, 0]
    assert attributes(after)["kernel_shape"] == [5]


def test_row_13_refuses_the_kernel() -> None:
    skip = refused(tiny("[op] y = Conv <dilations = [2], pads = [0, 1]> (x, w)"), KERNEL)
    assert "0,1 do not differ by a multiple of the dilation 2" in skip.reason


@pytest.mark.parametrize("rule", [ANY, SLICE, KERNEL, PAD])
def test_row_14_pads_beyond_the_kernel(rule: str) -> None:
    x = numbers(1, 2)
    expected = [0] * 5 + [100, 210, 21, 2] + [0] * 7
    after = rewritten(tiny("[op] y = Conv <pads = [7, 9]> (x, w)", "float[1,1,2]"), rule, x)
    assert values(after, x) == by_onnxruntime(after, x) == expected


@pytest.mark.parametrize("rule", [ANY, SLICE, KERNEL, PAD])
def test_equal_pads_that_give_the_same_windows_cost_nothing(rule: str) -> None:
    model = tiny("[op] y = Conv <strides = [2], pads = [1, 0]> (x, w)", "float[1,1,6]")
    after = rewritten(model, rule, X6)
    assert attributes(after) == {"strides": [2], "pads": [1, 1]}
    assert kinds(after) == ["Conv"]
    assert constant(after, "w").size == 3


@pytest.mark.parametrize("rule", [ANY, SLICE, KERNEL, PAD])
def test_equal_pads_are_left_alone(rule: str) -> None:
    for written in ("pads = [1, 1]", 'auto_pad = "SAME_UPPER"', 'auto_pad = "VALID"'):
        assert left_alone(tiny(f"[op] y = Conv <{written}> (x, w)"), rule)


def test_same_on_an_even_size_becomes_equal_pads() -> None:
    model = tiny('[op] y = Conv <strides = [2], auto_pad = "SAME_LOWER"> (x, w)', "float[1,1,6]")
    after = rewritten(model, ANY, X6)
    assert attributes(after) == {"strides": [2], "pads": [1, 1]}
    assert values(after, X6) == [210, 432, 654]


def test_row_68_an_infinite_cell_shows_in_more_outputs() -> None:
    """The one difference that the kernel makes, which its docstring names."""
    model = tiny("[op] y = Conv <pads = [0, 1]> (x, w)", "float[1,1,4]")
    x = numbers(np.inf, 0, 0, 0)
    (kernel,) = [done(model, KERNEL).model]
    before, after = levels(model, {"x": x})[0][0], levels(kernel, {"x": x})[0][0]
    assert np.isinf(before[0, 0, 0])
    assert np.isfinite(before[0, 0, 1:]).all()
    assert np.isnan(after[0, 0, 1])
    for rule in (SLICE, PAD):
        assert values(done(model, rule).model, x) == values(model, x)


@pytest.mark.parametrize("zero", ["{3}", "{3, 1, 2}"], ids=["one", "per-channel"])
@pytest.mark.parametrize("pads", [[0, 2], [2, 0], [1, 4]])
def test_row_50_integer_kernels_grow_by_their_zero_point(zero: str, pads: list[int]) -> None:
    shape = "uint8" if "," not in zero else "uint8[3]"
    scale = "float ws = {0.5}" if "," not in zero else "float[3] ws = {0.5, 0.25, 0.125}"
    weight = f"uint8[3,1,3] v = {{9, 0, 4, 1, 2, 3, 7, 7, 0}}, {shape} wz = {zero}, {scale}"
    rest = "uint8 xz = {117}, float xs = {0.5}, float ys = {1.5}, uint8 yz = {100}"
    model = tiny(
        f"[op] y = QLinearConv <pads = {pads}> (x, xs, xz, v, ws, wz, ys, yz)",
        "uint8[1,1,n]",
        constants=f"{weight}, {rest}",
        result="uint8[]",
    )
    after = agrees(model, KERNEL, [(1, 1, n) for n in SIZES], dtype="uint8", rtol=0)
    grown = constant(after, "v/grown")[:, 0]
    taps = grown[:, :1] if pads[1] > pads[0] else grown[:, -1:]
    wanted = [3, 3, 3] if "," not in zero else [3, 1, 2]
    assert taps.ravel().tolist() == wanted
    integer = tiny(
        f"[op] y = ConvInteger <pads = {pads}> (x, v, xz, wz)",
        "uint8[1,1,n]",
        constants=f"{weight}, {rest}",
        result="int32[]",
    )
    if "," not in zero:
        agrees(integer, KERNEL, [(1, 1, n) for n in SIZES], dtype="uint8", rtol=0)
    for rule in (PAD, SLICE):
        agrees(model, rule, [(1, 1, n) for n in SIZES], dtype="uint8", rtol=0)


def test_row_62_a_shared_weight_keeps_its_values_for_others() -> None:
    model = tiny("a = Conv <pads = [1, 1]> (x, w) [op] y = Conv <pads = [0, 2]> (a, w)")
    after = rewritten(model, KERNEL, X5)
    assert constant(after, "w").ravel().tolist() == [1, 10, 100]
    assert constant(after, "w/grown").ravel().tolist() == [0, 0, 1, 10, 100]
    alone = rewritten(tiny("[op] y = Conv <pads = [0, 2]> (x, w)"), KERNEL, X5)
    assert [tensor.name for tensor in alone.graph.initializer] == ["w/grown"]


@pytest.mark.parametrize("group", [1, 2, 4])
@pytest.mark.parametrize("rule", [KERNEL, PAD])
def test_grouped_and_strided_for_every_size(rule: str, group: int) -> None:
    taps = ", ".join(str(n % 7 - 3) for n in range(8 * 4 // group * 6))
    model = tiny(
        f"[op] y = Conv <pads = [0, 1, 3, 2], strides = [2, 3], group = {group}> (x, v)",
        "float[n,4,h,q]",
        constants=f"float[8,{4 // group},2,3] v = {{{taps}}}",
    )
    shapes = [(n % 2 + 1, 4, n, 15 - n) for n in range(3, 12)]
    after = agrees(model, rule, shapes, rtol=0)
    assert "pads" in attributes(after)


@pytest.mark.parametrize("rule", [ANY, SLICE])
def test_a_slice_for_every_size(rule: str) -> None:
    for pads, stride in (([0, 2], 2), ([3, 0], 3), ([2, 1], 1)):
        model = tiny(f"[op] y = Conv <pads = {pads}, strides = [{stride}]> (x, w)", "float[1,1,n]")
        agrees(model, rule, [(1, 1, n) for n in range(3, 14)], rtol=0)


def test_a_size_that_decides_is_named() -> None:
    model = tiny("[op] y = Conv <pads = [0, 1], strides = [2]> (x, w)", "float[1,1,n]")
    skip = refused(model, SLICE)
    assert "needs the size of axis 2 (which is 'n', stride 2)" in skip.reason
    assert "--dim 'n%2=0'" in skip.hints
    even = agrees(model, SLICE, [(1, 1, n) for n in range(4, 16, 2)], rtol=0, dims={"n": "%2=0"})
    assert kinds(even) == ["Conv", "Slice"]
    odd = agrees(model, SLICE, [(1, 1, n) for n in range(3, 15, 2)], rtol=0, dims={"n": "%2=1"})
    assert kinds(odd) == ["Conv"]
    same = tiny('[op] y = Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w)', "float[1,1,n]")
    for rule in (ANY, SLICE, KERNEL, PAD):
        assert "SAME_UPPER with kernel 3 needs the size of axis 2" in refused(same, rule).reason
