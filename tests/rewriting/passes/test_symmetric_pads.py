"""Asymmetric pads as symmetric ones; rows 11 to 14, 50, 62 and 68 of the tricky cases."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from tests.models.tiny import (
    NEGATIVE,
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
from tests.rewriting.passes.expanded import agrees, levels, rewritten_model

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


SLICE, KERNEL, PAD = (f"symmetric-pads-by-{way}" for way in ("slice", "kernel", "pad"))
COUNTING = "AveragePool <{}, count_include_pad = 1> (x)"

REFUSALS = {
    "fed weight": (4, "Conv <pads = [0, 1]> (x, v)", KERNEL, "no constant of the model"),
    "pool": (4, "MaxPool <kernel_shape = [3], pads = [0, 1]> (x)", KERNEL, "no weights"),
    "pads reach the kernel": (
        4,
        "MaxPool <kernel_shape = [2], strides = [3], pads = [0, 1]> (x)",
        SLICE,
        "[3, 3] reach the kernel",
    ),
    "average": (
        6,
        "AveragePool <kernel_shape = [3], pads = [0, 1]> (x)",
        PAD,
        "does not count padded cells",
    ),
    "summand": (
        4,
        "com.microsoft.FusedConv <pads = [0, 1]> (x, w, , s)",
        SLICE,
        "adds a tensor to its output",
    ),
    "counting overhang": (
        7,
        COUNTING.format("kernel_shape = [3], strides = [2], pads = [2, 1], ceil_mode = 1"),
        SLICE,
        "not the cells that its last window lacks",
    ),
    "transposed": (4, "ConvTranspose <pads = [0, 1]> (x, w)", PAD, "crop its output"),
    "short": (1, "Conv <pads = [1, 0]> (x, w)", ANY, "fewer than the window's"),
    "mask": (
        4,
        "com.microsoft.MaxpoolWithMask <kernel_shape = [3], pads = [0, 1]> (x, m)",
        ANY,
        "depends on its own padding",
    ),
    "nothing left": (2, "ConvTranspose <pads = [4, 3]> (x, w)", ANY, "leave nothing of axis 2"),
}


@pytest.mark.parametrize(("size", "op", "rule", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_refuses(size: int, op: str, rule: str, reason: str) -> None:
    given = "float[1,1,3] v, float[1,1,3] s, int32[1,4] m"
    assert reason in refused(tiny(f"y = {op}", f"float[1,1,{size}]", inputs=given), rule).reason


def test_the_layout_of_a_weight_that_is_not_documented() -> None:
    model = tiny(
        "y = com.microsoft.NhwcConv <kernel_shape = [1, 3], pads = [0, 0, 0, 1]> (x, v)",
        "float[1,1,4,1]",
        constants="float[1,1,3,1] v = {1, 2, 3}",
    )
    reason = refused(model, KERNEL).reason
    assert reason == "the layout of the weight of NhwcConv is not documented"


def test_col2im_has_a_pass_of_its_own() -> None:
    model = tiny(
        "y = Col2Im <pads = [1, 0]> (x, image, block)",
        "float[1,2,5]",
        constants="int64[1] image = {5}, int64[1] block = {2}",
        opset=18,
    )
    skip = refused(model, ANY)
    assert skip.reason == "its pads crop the folded image"
    assert skip.hints == ("--pass plain-col2im",)


def test_the_choice_tells_every_reason() -> None:
    model = tiny(
        "y = AveragePool <kernel_shape = [2], strides = [3], pads = [0, 1]> (x)", "float[1,1,4]"
    )
    reason = refused(model, ANY).reason
    assert reason.startswith("written like that, pads=[3, 3] reach the kernel [2]: onnxruntime")
    assert "; by the kernel: a pool has no weights to extend; by a Pad: the average" in reason


def test_no_way_is_exact() -> None:
    model = tiny(
        "y = AveragePool <kernel_shape = [3], strides = [2], pads = [0, 1]> (x)", "float[1,1,n]"
    )
    reason = refused(model, ANY).reason
    assert reason.startswith("no way is exact: by a Slice: ")


BY_SLICE, BY_PAD = "symmetric-pads-by-slice", "symmetric-pads-by-pad"


def with_indices(written: str, shape: str, opset: int = 12) -> onnx.ModelProto:
    """A max pool whose Indices are an output."""
    model = tiny(f"[op] y, z = MaxPool <{written}> (x)", shape, opset=opset)
    info = model.graph.output.add()
    info.CopyFrom(model.graph.output[0])
    info.name = "z"
    info.type.tensor_type.elem_type = onnx.TensorProto.INT64
    return model


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(
    ("kernel", "stride", "dilation", "pads"),
    [
        ((3, 3), (1, 1), (1, 1), (0, 1, 2, 0)),
        ((3, 2), (2, 2), (1, 1), (2, 0, 0, 1)),
        ((3, 3), (2, 1), (1, 2), (0, 1, 2, 2)),
        ((4, 3), (3, 2), (1, 1), (1, 0, 3, 1)),
    ],
)
def test_indices_are_sliced_too(
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    pads: tuple[int, ...],
    order: int,
) -> None:
    """They count the cells of the unpadded input, whatever the pads."""
    changed = 0
    for height, width in product((5, 6, 7), (6, 7)):
        written = (
            f"kernel_shape = {list(kernel)}, strides = {list(stride)}, pads = {list(pads)}, "
            f"dilations = {list(dilation)}, storage_order = {order}"
        )
        model = with_indices(written, f"float[2,3,{height},{width}]")
        if not done(model, BY_SLICE).changed:
            continue
        changed += 1
        after = agrees(model, BY_SLICE, [(2, 3, height, width)], rtol=0)
        assert kinds(after).count("Slice") in (0, 2)
        if "Slice" in kinds(after):
            assert "Indices are used" in refused(model, BY_PAD).reason
    assert changed


@pytest.mark.parametrize(
    "op", ["MaxPool", "AveragePool", "AveragePool counting", "LpPool"], ids=str.lower
)
@pytest.mark.parametrize(("rule", "opset"), [(BY_SLICE, 18), (BY_PAD, 22)])
def test_every_geometry(op: str, opset: int, rule: str) -> None:
    """Signed data; -1 is larger than the 0 that no padding of a max pool may hold."""
    name, *counting = op.split()
    changed = 0
    draws = product((2, 3, 4), (1, 2, 3), (0, 1, 2), (0, 1, 2), (0, 1), (5, 6))
    for kernel, stride, begin, end, ceil, size in draws:
        if begin == end or max(begin, end) >= kernel:
            continue
        written = f"kernel_shape = [{kernel}], strides = [{stride}], pads = [{begin}, {end}]"
        written += ", count_include_pad = 1" if counting else ""
        written += ", ceil_mode = 1" if ceil else ""
        model = tiny(f"[op] y = {name} <{written}> (x)", f"float[1,2,{size}]", opset=opset)
        if not done(model, rule).changed:
            continue
        changed += 1
        agrees(model, rule, [(1, 2, size)], rtol=2e-6 if name != "MaxPool" else 0)
    assert changed > 20


@pytest.mark.parametrize("rule", [ANY, BY_SLICE, BY_PAD])
def test_negative_data(rule: str) -> None:
    model = tiny("[op] y = MaxPool <kernel_shape = [3], pads = [1, 2]> (x)", "float[1,1,4]")
    after = rewritten(model, rule, NEGATIVE)
    assert values(after, NEGATIVE) == [-1, -1, -1, -2, -2]
    for found in levels(after, {"x": NEGATIVE}):
        assert found[0].ravel().tolist() == [-1, -1, -1, -2, -2]


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_by_slice_for_every_size(op: str) -> None:
    written = "kernel_shape = [4, 3], strides = [2, 1], pads = [0, 2, 2, 0]"
    model = tiny(f"[op] y = {op} <{written}> (x)", "float[n,2,h,w]")
    agrees(model, BY_SLICE, [(1, 2, n, 14 - n) for n in range(4, 12)])


@pytest.mark.parametrize(("opset", "spelt"), [(7, False), (9, False), (10, True), (13, True)])
def test_a_slice_is_spelt_as_the_opset_wants_it(opset: int, spelt: bool) -> None:
    model = tiny(
        "[op] y = MaxPool <kernel_shape = [3], pads = [0, 2]> (x)", "float[1,1,n]", opset=opset
    )
    after = agrees(model, BY_SLICE, [(1, 1, n) for n in (3, 4, 5, 6, 7, 8)], rtol=0)
    crop = after.graph.node[1]
    assert (crop.op_type, len(crop.input) > 1) == ("Slice", spelt)


def test_channels_last() -> None:
    node = (
        "com.microsoft.QLinearConv <channels_last = 1, pads = [0, 2, 1, 0]> "
        "(x, s, z, v, s, z, s, z)"
    )
    constants = (
        f"uint8[2,1,3,3] v = {{{', '.join(str(n * 5 % 11) for n in range(18))}}}, "
        "float s = {0.5}, uint8 z = {7}"
    )
    model = tiny(f"[op] y = {node}", "uint8[1,6,7,1]", constants=constants, result="uint8[]")
    for rule in (BY_SLICE, BY_PAD, "symmetric-pads-by-kernel"):
        agrees(model, rule, [(1, 6, 7, 1)], dtype="uint8", rtol=0)
    pool = tiny(
        "[op] y = com.microsoft.NhwcMaxPool <kernel_shape = [3, 3], pads = [0, 1, 2, 0]> (x)",
        "uint8[1,5,6,4]",
        result="uint8[]",
    )
    for rule in (BY_SLICE, BY_PAD):
        agrees(pool, rule, [(1, 5, 6, 4)], dtype="uint8", rtol=0)
    for counts in (0, 1):
        mean = tiny(
            "[op] y = com.microsoft.QLinearAveragePool <channels_last = 1, kernel_shape = [3, 3], "
            f"pads = [0, 1, 2, 0], count_include_pad = {counts}> (x, s, z, s, z)",
            "uint8[1,5,6,4]",
            constants="float s = {0.5}, uint8 z = {7}",
            result="uint8[]",
        )
        agrees(mean, BY_SLICE, [(1, 5, 6, 4)], dtype="uint8", rtol=0)


def offsets(scale: float) -> NDArray[np.float32]:
    made = np.random.default_rng(5).standard_normal((1, 18, 6, 5)) * scale
    return made.astype(np.float32)


@pytest.mark.parametrize("scale", [0.0, 2.5])
def test_deform_conv_by_a_pad(scale: float) -> None:
    """Sampling outside of the input gives 0 on both sides; offsets are relative."""
    listed = ", ".join(map(str, offsets(scale).ravel().tolist()))
    model = tiny(
        "[op] y = DeformConv <pads = [0, 1, 2, 0]> (x, v, o)",
        "float[1,1,6,6]",
        constants=f"float[1,1,3,3] v = {{1, -2, 3, 4, 5, -6, 7, 8, -9}}, float[1,18,6,5] o = "
        f"{{{listed}}}",
        opset=19,
    )
    after = rewritten_model(model, BY_PAD)
    assert attributes(after)["pads"] == [0, 0, 0, 0]
    x = np.random.default_rng(1).standard_normal((1, 1, 6, 6)).astype(np.float32)
    (wanted,) = levels(model, {"x": x})[0]
    for (found,) in levels(after, {"x": x}):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-5)
    assert "an offset for each" in refused(model, BY_SLICE).reason
    assert "an offset for each" in refused(model, "symmetric-pads-by-kernel").reason


def test_a_pad_that_onnxruntime_would_fuse_takes_everything() -> None:
    """Pad(0) and pads of 2 reach the kernel of 2 together: the pool must say VALID."""
    model = tiny(
        "[op] y = AveragePool <kernel_shape = [2], pads = [1, 2], count_include_pad = 1> (x)",
        "float[1,1,5]",
    )
    after = rewritten_model(model, BY_PAD)
    assert attributes(after)["auto_pad"] == "VALID"
    x = np.asarray([[[-7, -1, -2, -2, 3]]], np.float32)
    for (found,) in levels(after, {"x": x}):
        assert found.ravel().tolist() == values(model, x)


def test_a_pad_in_front_is_not_left_to_a_wrong_fusion() -> None:
    model = tiny(
        "p = Pad (x, around) [op] y = MaxPool <kernel_shape = [3], strides = [2], "
        'auto_pad = "SAME_UPPER"> (p)',
        "float[1,1,6]",
        constants="int64[6] around = {0, 0, 1, 0, 0, 1}",
    )
    x = np.asarray([[[-7, -1, -2, -2, -3, -4]]], np.float32)
    assert "fusing the Pad in front" in refused(model, BY_SLICE).reason
    after = rewritten_model(model, ANY)
    assert kinds(after) == ["Pad", "Pad", "MaxPool"]
    for (found,) in levels(after, {"x": x}):
        assert found.ravel().tolist() == values(model, x)


KEPT = "kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1"


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_ceil_mode_stays_where_its_end_pads_would_reach_the_kernel(op: str) -> None:
    """The first axis is symmetric and hangs over: its end pad would be 2, then 3 on both sides."""
    model = tiny(f"[op] y = {op} <{KEPT}, pads = [1, 0, 1, 1]> (x)", "float[1,2,12,11]", opset=18)
    after = agrees(model, BY_SLICE, [(1, 2, 12, 11)], rtol=0 if op == "MaxPool" else 2e-6)
    assert kinds(after) == [op, "Slice"]
    written = attributes(after)
    assert (written["pads"], written["ceil_mode"]) == ([1, 2, 1, 2], 1)


def test_ceil_mode_stays_where_equal_pads_then_give_the_same_windows() -> None:
    model = tiny(f"[op] y = MaxPool <{KEPT}, pads = [1, 1, 1, 0]> (x)", "float[1,2,12,11]")
    for rule in (ANY, BY_SLICE, BY_PAD):
        after = agrees(model, rule, [(1, 2, 12, 11)], rtol=0)
        assert kinds(after) == ["MaxPool"]
        assert (attributes(after)["pads"], attributes(after)["ceil_mode"]) == ([1, 1, 1, 1], 1)


def test_an_average_counts_the_same_under_ceil_mode() -> None:
    """Its last window on the first axis hangs over equal pads, which so stay."""
    counting = f"{KEPT}, count_include_pad = 1"
    model = tiny(f"[op] y = AveragePool <{counting}, pads = [1, 0, 1, 2]> (x)", "float[1,2,12,11]")
    after = agrees(model, BY_SLICE, [(1, 2, 12, 11)])
    assert attributes(after)["pads"] == [1, 2, 1, 2]
    uneven = tiny(f"[op] y = AveragePool <{counting}, pads = [1, 0, 0, 0]> (x)", "float[1,2,11,11]")
    assert "its last window lacks" in refused(uneven, BY_SLICE).reason


def test_a_pad_takes_what_ceil_mode_reads_where_it_may_not_stay() -> None:
    """Behind a Pad node the window that starts in the end padding would not be dropped."""
    written = "kernel_shape = [4], strides = [2], pads = [0, 3], ceil_mode = 1"
    model = tiny(f"[op] y = MaxPool <{written}> (x)", "float[1,2,6]")
    after = agrees(model, BY_PAD, [(1, 2, 6)], rtol=0)
    assert kinds(after) == ["Pad", "MaxPool"]
    assert "ceil_mode" not in attributes(after)
    counting = f"{KEPT.replace('[3, 3]', '[4, 3]')}, pads = [0, 1, 3, 0], count_include_pad = 1"
    both = tiny(f"[op] y = AveragePool <{counting}> (x)", "float[1,2,6,5]")
    assert "drops its last window" in refused(both, BY_PAD).reason
