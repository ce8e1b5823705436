"""Averages that count their padding; rows 40 to 42, 46 and 47 of the tricky cases."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxpad.padding.chain import Skip
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.rewriting.steps.run_time_pads import RUN_TIME
from tests.models.tiny import (
    NEGATIVE,
    X5,
    X6,
    Array,
    attributes,
    by_onnxruntime,
    constant,
    kinds,
    left_alone,
    refused,
    rewritten,
    tiny,
    values,
)

RULE = "counted-padding"
THREE = "kernel_shape = [3], count_include_pad = 1"
BEYOND = f"AveragePool <{THREE}, strides = [2], pads = [1, 1], ceil_mode = 1> (x)"
KEPT = {"kernel_shape": [3], "count_include_pad": 1}


def close(found: list[float] | str, expected: list[float]) -> None:
    assert not isinstance(found, str), found
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("op", "x", "expected", "pads", "written"),
    [
        pytest.param(
            f"AveragePool <{THREE}, pads = [1, 1]> (x)",
            *(X5, [1, 2, 3, 4, 3], [1, 1], KEPT | {"auto_pad": "VALID"}),
            id="row 40",
        ),
        pytest.param(
            BEYOND,
            *(X6, [1, 3, 5, 3], [1, 1]),
            {"kernel_shape": [3], "strides": [2], "pads": [0, 1]},
            id="row 42",
        ),
        pytest.param(
            f"AveragePool <{THREE}, pads = [3, 3]> (x)",
            *(X5, [0, 1 / 3, 1, 2, 3, 4, 3, 5 / 3, 0], [3, 3], KEPT | {"auto_pad": "VALID"}),
            id="row 47: auto_pad keeps onnxruntime from fusing",
        ),
        pytest.param(
            f'AveragePool <{THREE}, auto_pad = "SAME_UPPER", strides = [2], ceil_mode = 1> (x)',
            *(X6, [2, 4, 11 / 3], [0, 1], KEPT | {"strides": [2], "auto_pad": "VALID"}),
            id="SAME makes ceil_mode idle",
        ),
    ],
)
def test_rewrites(
    op: str, x: Array, expected: list[float], pads: list[int], written: dict[str, object]
) -> None:
    model = tiny(f"[op] y = {op}", f"float[1,1,{x.size}]")
    after = rewritten(model, RULE, x, -x)
    assert kinds(after) == ["Pad", "AveragePool"]
    assert constant(after, "op/pad_pads").tolist() == [0, 0, pads[0], 0, 0, pads[1]]
    assert attributes(after) == written
    close(values(after, x), expected)
    for optimised in (False, True):
        found = by_onnxruntime(after, x, optimised=optimised)
        close(found, expected)
    assert left_alone(after, RULE)


@pytest.mark.parametrize("opset", [7, 10, 11, 13, 19, 22])
def test_row_46_two_axes(opset: int) -> None:
    written = "kernel_shape = [2, 2], pads = [0, 0, 1, 1], count_include_pad = 1"
    model = tiny(f"[op] y = AveragePool <{written}> (x)", "float[1,1,2,2]", opset=opset)
    ones = np.ones((1, 1, 2, 2), np.float32)
    after = rewritten(model, RULE, ones)
    assert values(after, ones) == [1, 0.5, 0.5, 0.25]
    assert by_onnxruntime(after, ones, optimised=True) == [1, 0.5, 0.5, 0.25]


@pytest.mark.parametrize(
    ("written", "size"),
    [
        pytest.param("kernel_shape = [2], strides = [2], ceil_mode = 1", 5, id="row 41"),
        pytest.param('kernel_shape = [2], auto_pad = "VALID"', 5, id="VALID"),
        pytest.param('kernel_shape = [2], strides = [2], auto_pad = "SAME_UPPER"', 4, id="SAME"),
    ],
)
def test_without_padding_only_the_attribute_goes(written: str, size: int) -> None:
    model = tiny(
        f"[op] y = AveragePool <count_include_pad = 1, {written}> (x)", f"float[1,1,{size}]"
    )
    x = X5[..., :size]
    after = rewritten(model, RULE, x)
    before = attributes(model)
    del before["count_include_pad"]
    assert attributes(after) == before
    assert by_onnxruntime(after, x, optimised=True) == values(model, x)
    assert left_alone(after, RULE)


@pytest.mark.parametrize("channels_last", [0, 1])
@pytest.mark.parametrize("ceil_mode", [0, 1])
def test_integers_with_a_zero_point(channels_last: int, ceil_mode: int) -> None:
    written = f"{THREE}, strides = [2], pads = [1, 1], ceil_mode = {ceil_mode}"
    op = f"com.microsoft.QLinearAveragePool <{written}, channels_last = {channels_last}>"
    shape = (1, 6, 1) if channels_last else (1, 1, 6)
    model = tiny(
        f"[op] y = {op} (x, s, zero, s, zero)",
        f"uint8[{','.join(map(str, shape))}]",
        constants="float s = {0.5}, uint8 zero = {117}",
        result="uint8[]",
    )
    # No mean of these lies between two numbers: onnxruntime rounds such ties either way.
    x = np.asarray([117, 123, 129, 141, 99, 183], np.uint8).reshape(shape)
    after = rewritten(model, RULE, x)
    assert list(after.graph.node[0].input) == ["x", "op/pad_pads", "zero"]
    for optimised in (False, True):
        assert by_onnxruntime(after, x, optimised=optimised) == values(model, x)
    agrees = by_onnxruntime(model, x) == values(model, x)
    assert agrees is not bool(ceil_mode), "onnxruntime divides by cells that are not there"


def test_sizes_that_are_not_known() -> None:
    model = tiny(f"[op] y = {BEYOND}", "float[1,1,h]")
    for residue, sizes in ((0, (2, 4, 6, 8)), (1, (1, 3, 5, 7))):
        inputs = [-np.arange(n, dtype=np.float32)[None, None] for n in sizes]
        after = rewritten(model, RULE, *inputs, dims={"h": f"%2={residue}"})
        assert "ceil_mode" not in attributes(after)
        for x in inputs:
            close(by_onnxruntime(after, x, optimised=True), values(model, x))
    plain = tiny(f"[op] y = AveragePool <{THREE}, pads = [1, 1]> (x)", "float[1,1,h]")
    rewritten(plain, RULE, X5, X6, NEGATIVE)


def test_behind_another_pad() -> None:
    body = f"a = Pad (x, p) [op] y = AveragePool <{THREE}, pads = [1, 1]> (a)"
    model = tiny(body, constants="int64[6] p = {0, 0, 2, 0, 0, 0}")
    after = rewritten(model, RULE, X5)
    assert attributes(after)["auto_pad"] == "VALID", "onnxruntime would fuse both Pads"
    close(by_onnxruntime(after, X5, optimised=True), values(model, X5))
    bare = body.replace(", pads = [1, 1]", "")
    assert left_alone(tiny(bare, constants="int64[6] p = {0, 0, 2, 0, 0, 0}"), RULE)


@pytest.mark.parametrize("between", ["", "[i] p = Identity (q) "])
def test_same_that_keeps_a_wide_pad_from_fusion_stays(between: str) -> None:
    """Fused, the Pad would reach the kernel, which onnxruntime refuses."""
    front = f"[pad] {'q' if between else 'p'} = Pad (x, w, zero) {between}"
    model = tiny(
        f"""{front}[op] y = AveragePool <kernel_shape = [1], strides = [2], ceil_mode = 1,
        count_include_pad = 1, auto_pad = "SAME_LOWER"> (p)""",
        "float[1,1,6]",
        constants="int64[6] w = {0,0,2,0,0,1}, float zero = {0}",
    )
    left_alone(model, RULE)


def test_the_pad_in_front_of_a_quantised_group_is_not_met_again() -> None:
    text = """<ir_version: 8, opset_import: ["" : 13]>
    g (int8[1, 2, 7] x) => (float[1, 2, 7] y) <float scale = {0.5}, int8 zero = {-3}> {
      a = DequantizeLinear (x, scale, zero)
      y = AveragePool <kernel_shape = [3], pads = [1, 1], count_include_pad = 1> (a)
    }"""
    once = rewrite(onnx.parser.parse_model(text), passes=RULE).model
    assert isinstance(once, onnx.ModelProto)
    assert once.graph.node[0].op_type == "Pad"
    assert not rewrite(once, passes=RULE).changed


def test_floor_pool_and_explicit_pads_point_here() -> None:
    assert refused(tiny(f"[op] y = {BEYOND}", "float[1,1,6]"), "floor-pool").hints == (
        "--pass counted-padding",
    )
    model = tiny(f"[op] y = {BEYOND}", "float[1,1,6]")
    after = rewrite(model, passes=[RULE, "uncounted-padding"]).model
    assert isinstance(after, onnx.ModelProto)
    assert kinds(after) == ["Pad", "Pad", "AveragePool", "Mul"]
    close(by_onnxruntime(after, X6, optimised=True), [1, 3, 5, 3])


@pytest.mark.parametrize(
    ("op", "opset", "expected"),
    [
        pytest.param(
            f"AveragePool <{THREE}, strides = [2], pads = [4, 4], ceil_mode = 1> (x)",
            17,
            Skip("ceil_mode drops windows over the pads [4, 4], wider than a window"),
            id="drops windows",
        ),
        pytest.param(
            "AveragePool <kernel_shape = [2], count_include_pad = 1, strides = [5], pads = [1, 0], "
            "dilations = [5], ceil_mode = 1> (x)",
            22,
            Skip(
                "written like that, pads=[0, 4] reach the kernel [2]: onnxruntime refuses to load "
                "such a pool"
            ),
            id="reaches the kernel",
        ),
        pytest.param(
            "com.microsoft.QLinearAveragePool <kernel_shape = [2], count_include_pad = 1, "
            "pads = [1, 0]> (x, s, zero, s, zero)",
            10,
            Skip("Pad of opset 10 takes no integers"),
            id="Pad had no integers",
        ),
        pytest.param(
            f'AveragePool <{THREE}, auto_pad = "SAME_UPPER", strides = [2]> (x)',
            17,
            Skip(
                "SAME_UPPER with kernel 3 needs the size of axis 2 (which is 'n', stride 2)",
                ("--dim 'n=640'", "--dim 'n%2=0'", RUN_TIME),
            ),
            id="the size is not known",
        ),
        pytest.param(
            f"AveragePool <{THREE}, pads = [-1, 1]> (x)",
            17,
            Skip("the pads [-1, 1] are negative, onnxruntime and the checker refuse"),
            id="negative",
        ),
    ],
)
def test_refuses(op: str, opset: int, expected: Skip) -> None:
    integers = "QLinear" in op
    kind = "uint8" if integers else "float"
    size = "n" if "SAME" in op else "6"
    held = "float s = {0.5}, uint8 zero = {117}" if integers else ""
    shape = f"{kind}[1,1,{size}]"
    model = tiny(f"[op] y = {op}", shape, constants=held, opset=opset, result=f"{kind}[]")
    assert refused(model, RULE) == expected
