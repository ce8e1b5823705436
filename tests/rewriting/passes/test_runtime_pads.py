"""SAME padding computed while the model runs; rows 5, 7, 33, 35, 37 and 70 of the tricky cases."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import (
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
    rewritten,
    tiny,
    values,
)
from tests.oracle.onnxruntime_levels import ran

RULE = "runtime-pads"
UPPER = 'auto_pad = "SAME_UPPER"'
STRIDED = 'Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w)'
SQUARE = "float[1,1,3,3] k = {1, 2, 3, 4, 5, 6, 7, 8, 9}"
CELLS = ["Sub", "Mod", "Sub", "Div", "Sub", "Concat", "Pad", "Conv"]


def signed(*shape: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return rng.permutation(np.arange(np.prod(shape)) - 7).reshape(shape).astype(np.float32)


def both_levels(model: onnx.ModelProto, x: Array, expected: list[float]) -> None:
    for optimised in (False, True):
        assert by_onnxruntime(model, x, optimised=optimised) == expected


@pytest.mark.parametrize(
    ("op", "x", "expected"),
    [
        pytest.param(STRIDED, X5, [210, 432, 54], id="row 5, odd"),
        pytest.param(STRIDED, X6, [321, 543, 65], id="row 5, even"),
        pytest.param(
            'Conv <auto_pad = "SAME_UPPER", strides = [2], dilations = [2]> (x, w)',
            X6,
            [420, 642, 64],
            id="row 7 with stride 2",
        ),
        pytest.param(
            f"MaxPool <{UPPER}, kernel_shape = [3], dilations = [2], strides = [3]> (x)",
            -X5,
            [-2, -3],
            id="row 33 with stride 3",
        ),
        pytest.param(
            'MaxPool <auto_pad = "SAME_LOWER", kernel_shape = [2], strides = [5]> (x)',
            X6,
            [1, 6],
            id="row 35 with a kernel of 2",
        ),
        pytest.param(
            f"MaxPool <{UPPER}, kernel_shape = [3], strides = [2], ceil_mode = 1> (x)",
            X6,
            [3, 5, 6],
            id="row 37",
        ),
        pytest.param(
            'AveragePool <auto_pad = "SAME_LOWER", kernel_shape = [4], strides = [2]> (x)',
            X5,
            [1.5, 2.5, 4],
            id="an average that does not count",
        ),
    ],
)
def test_rows(op: str, x: Array, expected: list[float]) -> None:
    after = rewritten(tiny(f"[op] y = {op}", "float[1,1,n]", opset=22), RULE, X5, X6, X8)
    assert values(after, x) == expected
    both_levels(after, x, expected)
    assert attributes(after)["pads"] == [0, 0]
    assert not {"auto_pad", "ceil_mode"} & set(attributes(after))
    assert left_alone(after, RULE)


def test_row_70_zero_points_of_any_kind() -> None:
    op = 'ConvInteger <auto_pad = "SAME_UPPER", strides = [3], dilations = [2]> (x, k, zero)'
    held = "uint8[1,1,3] k = {1, 2, 3}"
    for given in ("uint8[1] zero", ""):
        zero = {"zero": np.asarray([7], np.uint8)} if given else {}
        constants = held if given else f"{held}, uint8 zero = {{7}}"
        model = tiny(
            f"[op] y = {op}", "uint8[1,1,n]", constants=constants, result="int32[]", inputs=given
        )
        after = rewrite(model, passes=[RULE]).model
        assert isinstance(after, onnx.ModelProto)
        for size in range(1, 8):
            x = numbers(*range(10, 10 + size), dtype="uint8")
            assert values(after, x, **zero) == values(model, x, **zero)
            found = ran(after, {"x": x, **zero}, optimised=True)
            assert not isinstance(found, str)
            assert found.ravel().tolist() == values(model, x, **zero)


@pytest.mark.parametrize(
    ("opset", "sizes", "clamp"),
    [
        (11, ["Shape", "Gather"], ["Greater", "Where"]),
        (12, ["Shape", "Gather"], ["Max"]),
        (14, ["Shape", "Gather"], ["Max"]),
        (15, ["Shape"], ["Max"]),
        (25, ["Shape"], ["Max"]),
    ],
)
def test_spelling(opset: int, sizes: list[str], clamp: list[str]) -> None:
    model = tiny(f"[op] y = {STRIDED}", "float[1,1,n]", opset=opset)
    assert kinds(rewritten(model, RULE, X5, X6)) == [*sizes, *CELLS]
    short = tiny(f"[op] y = {STRIDED.replace('[2]', '[4]')}", "float[1,1,n]", opset=opset)
    after = rewritten(short, RULE, X5, X6, X8)
    assert kinds(after) == [*sizes, *CELLS[:3], *clamp, *CELLS[3:]]
    both_levels(after, X8, values(short, X8))


def test_only_the_axes_that_need_it() -> None:
    op = '[op] y = Conv <auto_pad = "SAME_UPPER", strides = [2, 2, 1]> (x, k)'
    weight = f"float[1,1,2,3,2] k = {{{', '.join(map(str, range(12)))}}}"
    model = tiny(op, "float[b,1,a,n,m]", constants=weight, opset=18)
    after = rewritten(model, RULE, *(signed(2, 1, n, n + 1, 6 - n) for n in (1, 2, 3, 4)))
    assert constant(after, "op/pads_head").tolist() == [0, 0, 0]
    assert constant(after, "op/pads_middle").tolist() == [0, 0, 0, 1]
    assert constant(after, "op/pads_tail").tolist() == [1]
    assert constant(after, "op/pads_strides").tolist() == [2]


def test_an_axis_between_two_that_need_it() -> None:
    op = '[op] y = Conv <auto_pad = "SAME_LOWER", strides = [3, 1, 3]> (x, k)'
    weight = f"float[1,1,2,3,2] k = {{{', '.join(map(str, range(12)))}}}"
    model = tiny(op, "float[1,1,a,4,m]", constants=weight, opset=13)
    rewritten(model, RULE, *(signed(1, 1, n, 4, m) for n, m in ((1, 5), (2, 4), (3, 3), (4, 7))))


def test_a_congruence_settles_an_axis() -> None:
    op = '[op] y = Conv <auto_pad = "SAME_UPPER", strides = [2, 2]> (x, k)'
    model = tiny(op, "float[1,1,h,w]", constants=SQUARE)
    facts: dict[str, int | str] = {"h": "%2=0"}
    after = rewritten(model, RULE, signed(1, 1, 4, 5), signed(1, 1, 6, 2), dims=facts)
    assert constant(after, "op/pads_middle").tolist() == [0, 0, 1]
    assert left_alone(tiny(op, "float[1,1,4,h]", constants=SQUARE), "absorb-pad")
    moot = rewrite(model, passes=[RULE], dims={"h": "%2=0", "w": "%4=2"})
    assert not moot.changed
    assert not moot.skips, "explicit-pads can write both as numbers"


def test_what_explicit_pads_can_write_is_left_to_it() -> None:
    both = f'p = Conv <auto_pad = "SAME_UPPER"> (x, w) [op] y = {STRIDED.replace("(x", "(p")}'
    model = tiny(both, "float[1,1,n]")
    done = rewrite(model, passes=[RULE, "explicit-pads"])
    assert [(change.rule, change.node.label) for change in done.changes] == [
        (RULE, "op"),
        ("explicit-pads", "p"),
    ]
    assert not done.skips
    first = rewrite(model, passes=["explicit-pads"])
    assert "--pass runtime-pads" in first.skips[0].skip.hints
