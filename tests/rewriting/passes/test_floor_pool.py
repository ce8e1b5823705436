"""ceil_mode as wider end pads; rows 30, 31, 32, 37, 41 and 42 of the tricky cases."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import (
    NEGATIVE,
    X5,
    X6,
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

FLOOR = "floor-pool"


@pytest.mark.parametrize(
    ("op", "written", "x", "expected"),
    [
        pytest.param(
            "MaxPool", "kernel_shape = [2], strides = [2]", X5, [2, 4, 5], id="row 30: an overhang"
        ),
        pytest.param(
            "MaxPool", "kernel_shape = [1], strides = [2]", X5[..., :2], [1], id="row 31: dropped"
        ),
        pytest.param(
            "MaxPool", "kernel_shape = [3], strides = [2]", NEGATIVE, [-1, -2], id="negative data"
        ),
        pytest.param(
            "AveragePool",
            "kernel_shape = [2], strides = [2], count_include_pad = 1",
            X5,
            [1.5, 3.5, 5],
            id="row 41: counts, but has no padding of its own",
        ),
        pytest.param(
            "AveragePool",
            "kernel_shape = [3], strides = [2], pads = [1, 1]",
            X6,
            [1.5, 3, 5, 6],
            id="does not count",
        ),
    ],
)
def test_rewrites(op: str, written: str, x: np.ndarray, expected: list[float]) -> None:
    model = tiny(f"[op] y = {op} <ceil_mode = 1, {written}> (x)", f"float[1,1,{x.shape[-1]}]")
    after = rewritten(model, FLOOR, x)
    assert "ceil_mode" not in attributes(after)
    assert values(after, x) == expected
    for optimised in (False, True):
        assert by_onnxruntime(after, x, optimised=optimised) == expected
    assert left_alone(after, FLOOR)


def test_row_37_same_needs_no_ceil_mode_and_valid_gets_pads() -> None:
    written = "ceil_mode = 1, kernel_shape = [3], strides = [2]"
    for mode, pads in (("SAME_UPPER", None), ("VALID", [0, 1])):
        model = tiny(f'[op] y = MaxPool <auto_pad = "{mode}", {written}> (x)', "float[1,1,6]")
        after = rewritten(model, FLOOR, X6)
        assert attributes(after).get("pads") == pads
        assert values(after, X6) == [3, 5, 6]


COUNTED = [numbers(*range(-size, 0)) for size in range(1, 10)]


@pytest.mark.parametrize(
    ("written", "pads"),
    [
        ("kernel_shape = [2], strides = [2]", [0, 1]),
        ("kernel_shape = [3], strides = [2]", [0, 1]),
        ("kernel_shape = [3], strides = [3], pads = [1, 1]", [1, 2]),
        ("kernel_shape = [2], strides = [4]", [0, 1]),
        ("kernel_shape = [2], strides = [4], pads = [0, 1]", [0, 1]),
        ("kernel_shape = [1], strides = [3]", None),
        ("kernel_shape = [3], dilations = [2], strides = [3]", [0, 2]),
    ],
)
def test_one_end_pad_serves_every_size(written: str, pads: list[int] | None) -> None:
    model = tiny(f"[op] y = MaxPool <ceil_mode = 1, {written}> (x)", "float[1,1,h]")
    # Sizes below the window have no output to speak of: onnxruntime makes it empty, or rounds
    # the division of a negative number towards 0.
    fitting = [x for x in COUNTED if by_onnxruntime(model, x) != []]
    after = rewritten(model, FLOOR, *fitting)
    assert attributes(after).get("pads") == pads
    assert len(fitting) > 5
    for x in fitting:
        assert by_onnxruntime(after, x) == by_onnxruntime(model, x) == values(model, x)


@pytest.mark.parametrize(("fact", "pads"), [("%2=1", [0, 1]), ("%2=0", None)])
def test_what_is_known_of_a_size_saves_padding(fact: str, pads: list[int] | None) -> None:
    written = "ceil_mode = 1, kernel_shape = [2], strides = [2]"
    model = tiny(f"[op] y = MaxPool <{written}> (x)", "float[1,1,h]")
    fitting = [x for x in COUNTED if x.shape[2] % 2 == int(fact[-1])]
    after = rewritten(model, FLOOR, *fitting, dims={"h": fact})
    assert attributes(after).get("pads") == pads


@pytest.mark.parametrize(
    ("op", "written", "reason"),
    [
        pytest.param(
            "AveragePool",
            "kernel_shape = [3], strides = [2], pads = [1, 1], count_include_pad = 1",
            "counts its padding, but not the cells that its last window lacks",
            id="row 42",
        ),
        pytest.param(
            "MaxPool",
            "kernel_shape = [2], strides = [2], pads = [1, 1], dilations = [3]",
            "reach the kernel",
            id="row 32",
        ),
        pytest.param(
            "MaxPool",
            "kernel_shape = [2], strides = [2], pads = [0, 2]",
            "ceil_mode drops windows over the pads [0, 2], wider than a window",
            id="end pads as wide as a window",
        ),
        pytest.param(
            "MaxPool",
            'kernel_shape = [2], strides = [2], dilations = [2], auto_pad = "SAME_UPPER"',
            "disagree about SAME",
            id="disputed SAME",
        ),
    ],
)
def test_refuses(op: str, written: str, reason: str) -> None:
    model = tiny(f"[op] y = {op} <ceil_mode = 1, {written}> (x)", "float[1,1,6]")
    if "dilations = [3]" in written:
        model = tiny(f"[op] y = {op} <ceil_mode = 1, {written}> (x)", "float[1,1,5]")
    assert reason in refused(model, FLOOR).reason
    assert kinds(model) == [op]


def test_auto_pad_stays_where_it_protects_a_pad_with_0() -> None:
    written = 'kernel_shape = [2], strides = [2], auto_pad = "VALID", ceil_mode = 1'
    model = tiny(
        f"a = Pad (x, p) [op] y = MaxPool <{written}> (a)",
        constants="int64[6] p = {0, 0, 1, 0, 0, 1}",
    )
    skip = refused(model, FLOOR)
    assert skip.reason == (
        "its auto_pad keeps onnxruntime from fusing the Pad in front of it wrongly"
    )
    assert skip.hints == ("--pass absorb-pad",)


def test_a_mask_is_padded_too() -> None:
    call = "com.microsoft.MaxpoolWithMask <kernel_shape = [2], strides = [2], ceil_mode = 1> (x, m)"
    model = tiny(f"[op] y = {call}", constants="int32[1,1,5] m = {1, 1, 1, 1, 1}")
    assert refused(model, FLOOR).reason == (
        "MaxpoolWithMask has an input that depends on its own padding"
    )


def test_too_few_cells_for_a_window() -> None:
    model = tiny("[op] y = MaxPool <kernel_shape = [7], ceil_mode = 1> (x)")
    assert refused(model, FLOOR).reason == (
        "axis 2 has 5 cells, with pads 0,0 fewer than the window's 7"
    )


def test_row_32_behind_a_pad_of_its_own_the_overhang_fits() -> None:
    written = "kernel_shape = [2], dilations = [3], strides = [2], pads = [1, 1], ceil_mode = 1"
    model = tiny(f"[op] y = MaxPool <{written}> (x)")
    apart = rewritten(model, "split-pads", X5)
    after = rewritten(apart, FLOOR, X5)
    assert kinds(after) == ["Pad", "MaxPool"]
    assert attributes(after)["pads"] == [0, 1]
    for optimised in (False, True):
        assert by_onnxruntime(after, X5, optimised=optimised) == [3, 5, 4]


@pytest.mark.parametrize(
    ("op", "written", "before"),
    [
        ("MaxPool", "pads = [1, 1], strides = [2]", ["split-pads", FLOOR]),
        ("AveragePool", "pads = [1, 1], strides = [2]", ["uncounted-padding"]),
        ("LpPool", 'auto_pad = "SAME_UPPER"', ["split-pads"]),
        ("AveragePool", 'auto_pad = "SAME_UPPER"', ["uncounted-padding"]),
    ],
)
def test_pads_that_reach_the_kernel_name_the_pass_with_a_pad_node(
    op: str, written: str, before: list[str]
) -> None:
    """Taps three cells apart: the pads that are needed are as wide as the kernel of two."""
    body = f"[op] y = {op} <kernel_shape = [2], dilations = [3], {written}, ceil_mode = 1> (x)"
    model = tiny(body, opset=22)
    hint = " ".join(f"--pass {name}" for name in before)
    assert refused(model, FLOOR).hints == (hint,)
    after = rewrite(model, passes=[*before, FLOOR])
    assert not after.skips
    assert isinstance(after.model, onnx.ModelProto)
    assert "ceil_mode" not in attributes(after.model)
    np.testing.assert_allclose(values(after.model, X5), values(model, X5), rtol=2e-6)


def test_auto_pad_goes_where_pads_are_what_counts() -> None:
    """Wider pads beside an auto_pad would be pads that no runtime reads."""
    written = 'auto_pad = "SAME_UPPER", pads = [1, 0], kernel_shape = [2], strides = [2]'
    model = tiny(f"[op] y = MaxPool <{written}, ceil_mode = 1> (x)", "float[1,1,6]")
    found = rewrite(model, passes=[FLOOR], ambiguous="pads").model
    assert isinstance(found, onnx.ModelProto)
    assert attributes(found) == {
        "kernel_shape": [2],
        "strides": [2],
        "pads": [1, 1],
    }
