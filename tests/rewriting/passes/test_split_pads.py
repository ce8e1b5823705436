"""split-pads: what it rewrites, and every reason to leave a node alone."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.padding.fills import Constant, Implicit
from onnxpad.padding.operators import operator
from onnxpad.rewriting.passes import find_pass
from onnxpad.rewriting.rewrite import rewrite
from tests.models.one_node import OneNode
from tests.models.tiny import (
    X5,
    attributes,
    constant,
    done,
    kinds,
    left_alone,
    nodes,
    refused,
    rewritten,
    tiny,
)
from tests.oracle.windows import pool_max
from tests.rewriting.passes.expanded import agrees, levels, rewritten_model
from tests.rewriting.passes.quantised_models import (
    DQ,
    IN,
    OUT,
    PADS,
    SCALES,
    SIGNED,
    WEIGHT,
    WEIGHTS,
    WIDE,
    X,
    group,
    optimised_kinds,
    path_to,
    same,
)
from tests.rewriting.passes.quantised_models import (
    tiny as quantised_tiny,
)

RULE = "split-pads"
INTEGERS = "uint8[1,1,3] k = {1, 2, 3}, uint8 zero = {7}, uint8[2] zeros = {1, 2}"
ONE_PAD = "int64[6] p = {0, 0, 1, 0, 0, 0}"
POOL = {"kernel_shape": [3], "pads": [0, 0]}


def row(
    why: str,
    body: str,
    *expected: object,
    dtype: str = "float",
    opset: int = 17,
    constants: str = "",
) -> Any:
    """One line of a table: the operator, or all nodes, and what comes of it."""
    whole = body if "[op]" in body else f"[op] y = {body}"
    result = "int32" if "ConvInteger" in body else dtype
    held = INTEGERS if "ConvInteger" in body else constants
    x = f"{dtype}[1,1,6]"
    model = tiny(whole, x, opset=opset, constants=held, result=f"{result}[]")
    return pytest.param(model, *expected, id=why)


# The pads of the new Pad, its value (None: the default), and what is left on the operator.
rewrites = [
    row(
        "a convolution pads with 0, which is the default",
        "Conv <pads = [2, 1]> (x, w)",
        *([2, 1], None, {"pads": [0, 0]}),
    ),
    row(
        "before opset 11 pads and value are attributes",
        "Conv <pads = [2, 1]> (x, w)",
        *([2, 1], 0.0, {"pads": [0, 0]}),
        opset=9,
    ),
    row(
        "a max pool pads with the lowest value",
        "MaxPool <kernel_shape = [3], pads = [1, 0]> (x)",
        *([1, 0], -math.inf, POOL),
    ),
    row(
        "a max pool before opset 11",
        "MaxPool <kernel_shape = [3], pads = [1, 0]> (x)",
        *([1, 0], -math.inf, POOL),
        opset=8,
    ),
    row(
        "a max pool of doubles",
        "MaxPool <kernel_shape = [3], pads = [1, 0]> (x)",
        *([1, 0], -math.inf, POOL),
        dtype="double",
    ),
    row(
        "the lowest byte",
        "MaxPool <kernel_shape = [3], pads = [1, 0]> (x)",
        *([1, 0], -128, POOL),
        dtype="int8",
    ),
    row(
        "the lowest unsigned byte is 0",
        "MaxPool <kernel_shape = [3], pads = [1, 0]> (x)",
        *([1, 0], None, {"kernel_shape": [3], "auto_pad": "VALID"}),
        dtype="uint8",
    ),
    row(
        "the zero point",
        "ConvInteger <pads = [1, 1]> (x, k, zero)",
        *([1, 1], 7, {"pads": [0, 0]}),
        dtype="uint8",
    ),
    row(
        "a zero point that is left out is 0",
        "ConvInteger <pads = [1, 1]> (x, k)",
        *([1, 1], None, {"pads": [0, 0]}),
        dtype="uint8",
    ),
    row(
        "auto_pad is resolved",
        'Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w)',
        *([0, 1], None, {"strides": [2], "pads": [0, 0]}),
    ),
    row(
        "averages that count",
        "AveragePool <kernel_shape = [3], count_include_pad = 1, pads = [1, 1]> (x)",
        *([1, 1], None, {"kernel_shape": [3], "count_include_pad": 1, "auto_pad": "VALID"}),
    ),
    row(
        "auto_pad protects pads as wide as the kernel",
        "AveragePool <kernel_shape = [2], count_include_pad = 1, pads = [0, 2]> (x)",
        *([0, 2], None, {"kernel_shape": [2], "count_include_pad": 1, "auto_pad": "VALID"}),
    ),
    row(
        "ceil_mode that drops no window",
        "LpPool <kernel_shape = [3], strides = [2], ceil_mode = 1, pads = [1, 1]> (x)",
        *([1, 1], None, POOL | {"strides": [2], "ceil_mode": 1}),
        opset=18,
    ),
]


@pytest.mark.parametrize(("model", "pads", "value", "written"), rewrites)
def test_rewrites(model: Any, pads: list[int], value: float | None, written: object) -> None:
    after = rewritten(model, RULE)
    front, op = after.graph.node
    assert kinds(after) == ["Pad", model.graph.node[-1].op_type]
    assert list(op.input[:1]) == list(front.output)
    assert attributes(after) == written
    full = [0, 0, pads[0], 0, 0, pads[1]]
    if model.opset_import[0].version < 11:
        assert attributes(after, front.name) == {"mode": "constant", "pads": full, "value": value}
        return
    assert constant(after, front.input[1]).tolist() == full
    held = constant(after, front.input[2]).item() if len(front.input) > 2 else None
    assert held == value


def test_behind_an_equal_pad() -> None:
    body = "a = Pad (x, p) [op] y = Conv <pads = [1, 2]> (a, w)"
    model = tiny(body, constants="int64[6] p = {0, 0, 1, 0, 0, 2}")
    assert kinds(rewritten(model, RULE)) == ["Pad", "Pad", "Conv"]


def test_auto_pad_protects_an_average_behind_two_pads() -> None:
    written = "kernel_shape = [3], count_include_pad = 1, pads = [1, 1]"
    body = f"a = Pad (x, p) [op] y = AveragePool <{written}> (a)"
    after = rewritten(tiny(body, constants="int64[6] p = {0, 0, 2, 0, 0, 0}"), RULE)
    assert attributes(after)["auto_pad"] == "VALID", "onnxruntime would fuse both Pads"


def test_ceil_mode_goes_where_the_pad_would_give_it_another_window() -> None:
    written = "kernel_shape = [3], strides = [4], ceil_mode = 1, pads = [1, 2]"
    model = tiny(f"[op] y = MaxPool <{written}> (x)", "float[1,2,6]")
    after = agrees(model, RULE, [(1, 2, 6)], rtol=0)
    assert attributes(after) == POOL | {"strides": [4]}
    wide = tiny("[op] y = MaxPool <kernel_shape = [2], ceil_mode = 1, pads = [2, 0]> (x)")
    after = rewritten(wide, RULE, X5)
    assert attributes(after) == {"kernel_shape": [2], "pads": [0, 0], "ceil_mode": 1}
    body = "a = Pad (x, p) [op] y = LpPool <kernel_shape = [2], ceil_mode = 1, pads = [1, 0]> (a)"
    behind = tiny(body, opset=18, constants=ONE_PAD)
    assert kinds(agrees(behind, RULE, [(1, 1, 5)])) == ["Pad", "Pad", "LpPool"]


def test_ceil_mode_goes_for_sizes_that_are_not_known() -> None:
    """Whatever the size, the Pad holds the widest overhang that is possible."""
    written = "kernel_shape = [4], strides = [3], ceil_mode = 1, pads = [1, 2]"
    for op in ("MaxPool", "LpPool"):
        model = tiny(f"[op] y = {op} <{written}> (x)", "float[1,2,n]", opset=18)
        after = agrees(model, RULE, [(1, 2, n) for n in range(1, 14)], rtol=2e-6)
        assert "ceil_mode" not in attributes(after)


def test_an_average_that_counts_keeps_its_pads_where_one_window_goes_and_one_hangs_over() -> None:
    written = "kernel_shape = [4, 3], strides = [2, 2], pads = [0, 1, 3, 0], ceil_mode = 1"
    body = f"[op] y = AveragePool <{written}, count_include_pad = 1> (x)"
    skip = refused(tiny(body, "float[1,2,6,5]"), RULE)
    assert "drops its last window" in skip.reason
    assert skip.hints == ("--pass counted-padding",)
    assert done(tiny(body, "float[1,2,6,5]"), "counted-padding").changed
    written = "kernel_shape = [3], strides = [2], pads = [1, 1], ceil_mode = 1"
    body = f"a = Pad (x, p) [op] y = AveragePool <{written}, count_include_pad = 1> (a)"
    assert "onnxruntime would fuse" in refused(tiny(body, constants=ONE_PAD), RULE).reason


leaves_alone = [
    row(
        "Indices are used",
        "[op] y, i = MaxPool <kernel_shape = [2], pads = [1, 1], dilations = [7]> (x) "
        "z = Cast <to = 1> (i)",
        "its Indices are used, and a window may hold padding alone",
    ),
    row(
        "pads are negative",
        "Conv <pads = [0, -1]> (x, w)",
        "the pads [0, -1] are negative, onnxruntime and the checker refuse",
    ),
    row(
        "no window fits",
        "Conv <dilations = [4], pads = [1, 1]> (x, w)",
        "axis 2 has 6 cells, with pads 1,1 fewer than the window's 9",
    ),
    row(
        "an end pad as wide as the window, and ceil_mode",
        "MaxPool <kernel_shape = [2], ceil_mode = 1, pads = [0, 2]> (x)",
        "ceil_mode drops its last window over padding; behind a Pad node it may not",
    ),
    row(
        "a transposed convolution crops",
        "ConvTranspose <pads = [1, 1]> (x, w)",
        "the pads of a transposed convolution crop its output, a Pad node cannot",
    ),
    row(
        "the mask is padded too",
        "com.microsoft.MaxpoolWithMask <kernel_shape = [3], pads = [1, 1]> (x, m)",
        "MaxpoolWithMask has an input that depends on its own padding",
        constants="int32[1,1,6] m = {1, 1, 1, 1, 1, 1}",
    ),
    row(
        "Pad had no integers",
        "ConvInteger <pads = [1, 1]> (x, k)",
        "Pad of opset 10 takes no integers",
        dtype="uint8",
        opset=10,
    ),
    row(
        "a zero point for each channel",
        "ConvInteger <pads = [1, 1]> (x, k, zeros)",
        "the zero point has one value per channel, a Pad node writes one for all",
        dtype="uint8",
    ),
]


@pytest.mark.parametrize(("model", "reason"), leaves_alone)
def test_leaves_alone(model: Any, reason: str) -> None:
    assert refused(model, RULE) == Skip(reason)


def test_leaves_alone_an_average_that_does_not_count() -> None:
    skip = refused(tiny("[op] y = AveragePool <kernel_shape = [3], pads = [1, 1]> (x)"), RULE)
    assert skip == Skip(
        "the average does not count padded cells, it would count those of a Pad node",
        ("--pass uncounted-padding",),
    )


def max_pool() -> Chain:
    op = operator("", "MaxPool")
    assert op is not None
    return Chain(op, 17, (Axis(6, 3),), Pads((1,), (1,)), Implicit.LOWEST, "float32")


def test_leaves_alone_a_type_of_which_the_lowest_value_is_not_known() -> None:
    verdict = find_pass(RULE).rewrite(replace(max_pool(), dtype=""))
    assert verdict == Skip("the lowest value of type 'unknown' is not known")


def test_leaves_alone_a_model_without_the_operators_of_onnx() -> None:
    verdict = find_pass(RULE).rewrite(replace(max_pool(), opset=0, fill=Constant(0)))
    reason = "no version of the ONNX operators is imported, so it can have no Pad"
    assert verdict == Skip(reason)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("[op] y = Conv <pads = [0, 0]> (x, w)", id="no padding"),
        pytest.param('[op] y = Conv <auto_pad = "VALID"> (x, w)', id="VALID"),
        pytest.param('[op] y = Conv <auto_pad = "SAME_LOWER", strides = [3]> (x, w)', id="SAME"),
        pytest.param("[op] y = Pad (x, p)", id="a Pad alone"),
    ],
)
def test_nothing_to_do(body: str) -> None:
    assert left_alone(tiny(body, "float[1,1,6]", constants=ONE_PAD), RULE)


SPLIT = "split-pads"


def with_indices(written: str, x: str = "float[2,2,n]", rank: int = 1) -> onnx.ModelProto:
    sizes = x[x.index("[") + 1 : -1].split(",")
    kind = {"float": 1, "int8": 3, "uint8": 2}[x[: x.index("[")]]
    given = [int(size) if size.isdigit() else size for size in sizes]
    model = tiny("[op] y, i = MaxPool <kernel_shape=[1]> (x)", x)
    model.graph.input[0].type.tensor_type.elem_type = kind
    for output, code in (("y", kind), ("i", 7)):
        made = onnx.helper.make_tensor_value_info(output, code, [*given[:2], *["a"] * rank])
        model.graph.output.append(made)
    del model.graph.output[0]
    text = tiny(f"[op] y, i = MaxPool <{written}> (x)", x)
    model.graph.node[0].CopyFrom(text.graph.node[0])
    return model


def check(model: onnx.ModelProto, x: np.ndarray) -> list[np.ndarray]:
    after = rewritten_model(model, SPLIT)
    assert not any(attributes(after).get("pads", [0]))
    (wanted, *_) = levels(model, {"x": x})
    for found in levels(after, {"x": x}):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    return wanted


@pytest.mark.parametrize(
    ("order", "expected"),
    [(0, [1, 1, 2, 1, 5, 5]), (1, [2, 2, 4, 2, 5, 5])],
    ids=["row_38", "row_39"],
)
def test_rows_38_and_39(order: int, expected: list[int]) -> None:
    model = with_indices(
        f"kernel_shape = [2,2], pads = [1,0,0,1], storage_order = {order}", "float[1,1,2,3]", 2
    )
    x = np.array([[[[1, 5, 3], [4, 2, 6]]]], np.float32)
    assert check(model, x)[1].ravel().tolist() == expected


@pytest.mark.parametrize("order", [0, 1])
def test_every_small_image(order: int) -> None:
    rng = np.random.default_rng(order)
    for top, left, bottom, right in product(range(2), repeat=4):
        if not top + left + bottom + right:
            continue
        height, width = (int(n) for n in rng.integers(3, 6, 2))
        model = with_indices(
            f"kernel_shape = [3,2], pads = [{top},{left},{bottom},{right}], strides = [2,1], "
            f"storage_order = {order}",
            f"float[2,3,{height},{width}]",
            2,
        )
        check(model, -rng.permutation(6 * height * width).reshape(2, 3, height, width).astype("f4"))


@pytest.mark.parametrize("order", [0, 1])
def test_volumes_and_equal_cells(order: int) -> None:
    model = with_indices(
        f"kernel_shape = [2,3,2], pads = [1,1,0,1,0,1], storage_order = {order}",
        "float[1,2,3,4,3]",
        3,
    )
    check(model, np.random.default_rng(3).integers(-3, 0, (1, 2, 3, 4, 3)).astype("f4"))


def test_lines_and_same() -> None:
    for size in (5, 6, 7):
        model = with_indices(
            'kernel_shape = [3], strides = [2], auto_pad = "SAME_UPPER"', f"float[2,2,{size}]"
        )
        x = -np.random.default_rng(size).permutation(4 * size).reshape(2, 2, size)
        check(model, x.astype(np.float32))


@pytest.mark.parametrize(
    "written",
    [
        "kernel_shape = [3], pads = [2, 1], dilations = [2]",
        'kernel_shape = [3], auto_pad = "SAME_UPPER", dilations = [2]',
        "kernel_shape = [3], strides = [4], ceil_mode = 1, pads = [1, 2]",
        "kernel_shape = [2], strides = [3], dilations = [2], ceil_mode = 1, pads = [1, 1]",
    ],
)
def test_windows_that_all_hold_a_cell(written: str) -> None:
    """Gaps between taps, or a window that ceil_mode drops, do no harm by themselves."""
    for size in (5, 6, 7):
        model = with_indices(written, f"float[2,2,{size}]")
        x = -np.random.default_rng(size).permutation(4 * size).reshape(2, 2, size) - 1
        after = rewritten_model(model, SPLIT)
        geometry = {key: value for key, value in attributes(model).items() if key != "kernel_shape"}
        kernel = attributes(model)["kernel_shape"]
        for found in levels(after, {"x": x.astype(np.float32)}):
            for one, other in zip(
                found, pool_max(x.astype(np.float32), kernel, **geometry), strict=True
            ):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("written", "x", "reason"),
    [
        ("kernel_shape = [3], pads = [1, 1]", "float[2,2,n]", "needs the size of axis 2"),
        ("kernel_shape = [3], pads = [1, 1]", "uint8[2,2,6]", "a padded cell might win"),
        ("kernel_shape = [2], pads = [1, 1], dilations = [7]", "float[2,2,6]", "padding alone"),
    ],
)
def test_refuses(written: str, x: str, reason: str) -> None:
    assert reason in refused(with_indices(written, x), SPLIT).reason


def test_split_pads_in_front_of_dequantise(tmp_path: Path) -> None:
    model = group(f"{IN} {DQ} (q, s, z)", conv=WIDE)
    after = same(model, "split-pads")
    assert path_to(after) == ["QuantizeLinear", "Pad", "DequantizeLinear"]
    assert [node.name for node in nodes(after.graph) if node.name] == ["op/pad", "dq", "op"]
    assert "QLinearConv" in optimised_kinds(after, tmp_path)
    back = same(after, "absorb-pad")
    assert attributes(back) == {"pads": [1, 2]}


def test_split_pads_of_a_quantised_input(tmp_path: Path) -> None:
    front = f"{DQ} (x, s, z)"
    model = group(front, conv=WIDE, x="uint8[1,2,7]")
    x = (X * 9 + 100).astype(np.uint8)
    after = same(model, "split-pads", x)
    assert path_to(after) == ["Pad", "DequantizeLinear"]
    assert "QLinearConv" in optimised_kinds(after, tmp_path)


def test_split_pads_of_a_zero_point_that_is_not_known() -> None:
    front = f"q = QuantizeLinear (x, s, u) {DQ} (q, s, u)"
    done = rewrite(group(front, conv=WIDE, inputs="uint8 u"), passes=["split-pads"]).model
    assert isinstance(done, onnx.ModelProto)
    (pad,) = [node for node in nodes(done.graph) if node.op_type == "Pad"]
    assert pad.input[0] == "q"
    assert pad.input[2] == "u"


def test_split_pads_beside_others_that_read_the_dequantised() -> None:
    front = f"{IN} {DQ} (q, s, z) e = Abs (d) h = ReduceMax <keepdims = 1> (e)"
    model = group(front, conv=f"{WIDE.replace('c =', 'c0 =')} c = Add (c0, h)")
    after = same(model, "split-pads")
    assert path_to(after) == ["QuantizeLinear", "Pad", "DequantizeLinear"]
    assert kinds(after).count("DequantizeLinear") == kinds(model).count("DequantizeLinear") + 1


def test_split_pads_of_signed_bytes(tmp_path: Path) -> None:
    """onnxruntime on x86 needs QuantizeLinear and DequantizeLinear side by side for them."""
    model = group(f"{IN} {DQ} (q, s, z)", conv=WIDE, zero=SIGNED)
    fused = "QLinearConv" in optimised_kinds(model, tmp_path)
    after = same(model, "split-pads")
    assert path_to(after) == ["Pad", "QuantizeLinear", "DequantizeLinear"]
    assert ("QLinearConv" in optimised_kinds(after, tmp_path)) == fused


def test_split_pads_behind_another_quantised_operator() -> None:
    """There a Pad in front of QuantizeLinear would part it from the first convolution."""
    first = "b = DequantizeLinear (q, s, z) e = Conv (b, w2) q2 = QuantizeLinear (e, s, z)"
    front = f"{IN} {first} {DQ} (q2, s, z)"
    more = "float[2,2,1] w2 = {1, 2, 3, 4}"
    after = same(group(front, conv=WIDE, zero=SIGNED, more=more), "split-pads", step=2)
    assert path_to(after)[-3:] == ["QuantizeLinear", "Pad", "DequantizeLinear"]


def test_split_pads_per_channel() -> None:
    more = "float[2] s2 = {0.1, 0.2}, uint8[2] zz = {117, 100}"
    front = "q = QuantizeLinear (x, s2, zz) [dq] d = DequantizeLinear (q, s2, zz)"
    after = same(group(front, conv=WIDE, more=more), "split-pads")
    assert path_to(after) == ["Pad", "QuantizeLinear", "DequantizeLinear"]
    alone = group("[dq] d = DequantizeLinear (x, s2, zz)", conv=WIDE, more=more, x="uint8[1,2,7]")
    assert refused(alone, "split-pads").reason == (
        "its input comes from DequantizeLinear 'dq', whose zero point has one value per channel, "
        "a Pad writes one for all"
    )


def test_split_pads_of_types_that_pad_lacks() -> None:
    front = f"{IN} {DQ} (q, s, z)"
    wide = "int16 z = {5}"
    out = "y = Identity (c)"
    body = f"{front} {WEIGHTS} {WIDE} {out}"
    held = f"{PADS}, {WEIGHT}, {SCALES}, {wide}"
    after = same(quantised_tiny(body, constants=held, opset=21, ir_version=10), "split-pads")
    assert path_to(after) == ["Pad", "QuantizeLinear", "DequantizeLinear"]
    body = f"{DQ} (x, s, z) {WEIGHTS} {WIDE} {out}"
    model = quantised_tiny(body, x="int16[1,2,7]", constants=held, opset=21, ir_version=10)
    assert refused(model, "split-pads").reason == (
        "its input comes from DequantizeLinear 'dq'; onnxruntime has no Pad of type 'int16'"
    )


POOLS = {
    "max": ("MaxPool <kernel_shape = [3], pads = [1, 1]> (d)", 0),
    "average that counts": (
        "AveragePool <kernel_shape = [3], pads = [1, 1], count_include_pad = 1> (d)",
        117,
    ),
}


@pytest.mark.parametrize(("call", "written"), POOLS.values(), ids=POOLS)
def test_split_pads_of_pools(call: str, written: int) -> None:
    body = f"{IN} {DQ} (q, s, z) [op] c = {call} {OUT}"
    model = quantised_tiny(body, constants=f"{PADS}, {SCALES}, uint8 z = {{117}}")
    after = same(model, "split-pads")
    assert path_to(after) == ["QuantizeLinear", "Pad", "DequantizeLinear"]
    (pad,) = [node for node in nodes(after.graph) if node.op_type == "Pad"]
    values = {one.name: onnx.numpy_helper.to_array(one) for one in after.graph.initializer}
    assert (values[pad.input[2]] if len(pad.input) > 2 else 0) == written


def test_split_pads_of_a_max_pool_with_windows_of_padding() -> None:
    call = "MaxPool <kernel_shape = [2], dilations = [4], pads = [1, 1]> (d)"
    model = quantised_tiny(
        f"{IN} {DQ} (q, s, z) [op] c = {call} {OUT}", constants=f"{PADS}, {SCALES}, uint8 z = {{7}}"
    )
    assert "a window may hold padding alone" in refused(model, "split-pads").reason


@pytest.mark.parametrize("pads", [(1, 1, 1, 1), (0, 2, 1, 0), (0, 0, 0, 3)])
@pytest.mark.parametrize("opset", [19, 22])
def test_samples_far_outside_too(pads: tuple[int, ...], opset: int) -> None:
    rng = np.random.default_rng(sum(pads))
    x, weight = rng.standard_normal((1, 2, 5, 6)), rng.standard_normal((2, 2, 3, 3))
    rows, columns = 3 + pads[0] + pads[2], 4 + pads[1] + pads[3]
    offset = 2.5 * rng.standard_normal((1, 18, rows, columns))
    inputs = [array.astype(np.float32) for array in (x, weight, offset)]
    model = OneNode("DeformConv", inputs, {"pads": pads}, opset).model()
    after = rewritten_model(model, "split-pads")
    assert [node.op_type for node in after.graph.node] == ["Pad", "DeformConv"]
    feed = {"i0": inputs[0]}
    for found in levels(after, feed):
        np.testing.assert_allclose(found[0], levels(model, feed)[0][0], rtol=1e-4, atol=1e-5)
