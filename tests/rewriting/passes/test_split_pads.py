"""split-pads: what it rewrites, and every reason to leave a node alone."""

import math
from dataclasses import replace
from typing import Any

import pytest

from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.padding.fills import Constant, Implicit
from onnxpad.padding.operators import operator
from onnxpad.rewriting.passes import find_pass
from tests.models.tiny import (
    X5,
    attributes,
    constant,
    done,
    kinds,
    left_alone,
    refused,
    rewritten,
    tiny,
)
from tests.rewriting.passes.expanded import agrees

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
        *([1, 0], None, POOL),
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
        *([1, 1], None, POOL | {"count_include_pad": 1}),
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
    assert kinds(agrees(tiny(body, constants=ONE_PAD), RULE, [(1, 1, 5)])) == [
        "Pad",
        "Pad",
        "AveragePool",
    ]


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
