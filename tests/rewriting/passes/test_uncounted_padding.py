"""Averages that leave out their padding; rows 40, 43 and 44 of the tricky cases."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxpad.padding.chain import Skip
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.rewriting.steps.run_time_pads import RUN_TIME
from onnxpad.validation import validate
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
    tiny,
    values,
)

RULE = "uncounted-padding"
THREE = "AveragePool <kernel_shape = [3], pads = [1, 1]> (x)"
ROUNDING = {"float": 1e-6, "float16": 2e-3, "double": 1e-12}


def corrected(
    model: onnx.ModelProto, *inputs: Array, rounding: float = 1e-6, runs: bool = True
) -> onnx.ModelProto:
    """The rewritten model, equal up to rounding in the interpreter and in onnxruntime."""
    done = rewrite(model, passes=[RULE])
    assert done.changed, done.skips
    assert isinstance(done.model, onnx.ModelProto)
    for x in inputs:
        wanted = values(model, x)
        found = [values(done.model, x)]
        for optimised in (False, True) if runs else ():
            result = by_onnxruntime(done.model, x, optimised=optimised)
            assert not isinstance(result, str), result
            found.append(result)
        for one in found:
            np.testing.assert_allclose(one, wanted, rtol=rounding, atol=rounding)
    assert left_alone(done.model, RULE)
    return done.model


def test_row_40_and_row_43() -> None:
    after = corrected(tiny(f"[op] y = {THREE}"), X5, -X5)
    assert values(after, X5) == [1.5, 2, 3, 4, 4.5]
    assert kinds(after) == ["Pad", "AveragePool", "Mul"]
    assert attributes(after) == {"kernel_shape": [3], "auto_pad": "VALID"}
    assert constant(after, "op/factor").tolist() == [[[1.5, 1, 1, 1, 1.5]]]


def test_row_44_a_pad_in_front_is_counted_and_the_own_padding_is_not() -> None:
    body = f"a = Pad (x, p) [op] y = {THREE.replace('(x)', '(a)')}"
    after = corrected(tiny(body, constants="int64[6] p = {0, 0, 1, 0, 0, 1}"), X5)
    np.testing.assert_allclose(values(after, X5), [0.5, 1, 2, 3, 4, 3, 2.5], rtol=1e-6)
    assert attributes(after)["auto_pad"] == "VALID", "onnxruntime might fuse both Pads"
    wide = body.replace("kernel_shape = [3]", "kernel_shape = [2]").replace("[1, 1]", "[1, 0]")
    after = corrected(tiny(wide, constants="int64[6] p = {0, 0, 1, 0, 0, 1}"), X5)
    assert attributes(after)["auto_pad"] == "VALID", "onnxruntime would fuse both Pads"


@pytest.mark.parametrize("opset", [7, 8, 10, 11, 13, 15, 19, 22, 25])
@pytest.mark.parametrize("size", ["5", "n"])
def test_opsets(opset: int, size: str) -> None:
    model = tiny(f"[op] y = {THREE}", f"float[1,1,{size}]", opset=opset)
    if size == "n" and opset < 8:
        reason = "a size is not known, and opset 7 has no Expand"
        assert refused(model, RULE) == Skip(reason)
        return
    inputs = (X5,) if size == "5" else (X5, X6, X8, -X6, NEGATIVE, numbers(3), numbers(-1, 4))
    corrected(model, *inputs)


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("size", ["5", "n"])
def test_types(dtype: str, size: str) -> None:
    model = tiny(f"[op] y = {THREE}", f"{dtype}[1,1,{size}]", result=f"{dtype}[]", opset=22)
    x = -X5.astype("float64" if dtype == "double" else dtype.replace("float", "float"))
    x = x.astype({"float": "float32", "double": "float64"}.get(dtype, dtype))
    corrected(model, x, rounding=ROUNDING[dtype], runs=dtype != "double")


@pytest.mark.parametrize(
    ("written", "shape"),
    [
        pytest.param("kernel_shape = [3, 2], pads = [1, 0, 1, 1]", (4, 5), id="both axes"),
        pytest.param("kernel_shape = [3, 2], pads = [0, 0, 0, 1]", (4, 5), id="one axis"),
        pytest.param("kernel_shape = [2, 2], pads = [2, 0, 3, 1]", (4, 5), id="wider than it"),
        pytest.param(
            "kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], ceil_mode = 1",
            (6, 5),
            id="ceil_mode",
        ),
        pytest.param(
            'kernel_shape = [3, 2], strides = [2, 2], auto_pad = "SAME_LOWER"', (6, 5), id="SAME"
        ),
        pytest.param(
            "kernel_shape = [2, 2], pads = [2, 0, 1, 2], dilations = [3, 2]", (3, 4), id="dilated"
        ),
        pytest.param("kernel_shape = [2, 2, 1], pads = [1, 0, 0, 0, 1, 0]", (2, 3, 2), id="3-D"),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_windows(written: str, shape: tuple[int, ...], *, known: bool) -> None:
    sizes = shape if known else [f"n{axis}" for axis in range(len(shape))]
    op = f"[op] y = AveragePool <{written}> (x)"
    model = tiny(op, f"float[2,3,{','.join(map(str, sizes))}]", opset=22)
    if not known and "SAME" in written:
        assert RUN_TIME in refused(model, RULE).hints
        return
    x = np.random.default_rng(1).standard_normal((2, 3, *shape)).astype(np.float32)
    # Where pads are wider than the kernel, only the rewritten model runs in onnxruntime.
    after = corrected(model, x)
    assert ("Div" in kinds(after)) is not known


def test_a_window_of_padding_alone_stays_0() -> None:
    written = "kernel_shape = [2], dilations = [2], strides = [3], pads = [2, 2]"
    for size in ("1", "n"):
        model = tiny(f"[op] y = AveragePool <{written}> (x)", f"float[1,1,{size}]", opset=22)
        x = numbers(5)
        assert values(corrected(model, x, -x), x) == [5]
    wide = "[op] y = AveragePool <kernel_shape = [1], pads = [1, 0]> (x)"
    for size in ("2", "n"):
        x = numbers(5, -3)
        assert values(corrected(tiny(wide, f"float[1,1,{size}]"), x), x) == [0, 5, -3]


def test_large_outputs_are_corrected_axis_by_axis() -> None:
    written = "kernel_shape = [3, 3], pads = [1, 1, 1, 1]"
    model = tiny(f"[op] y = AveragePool <{written}> (x)", "float[1,1,129,130]")
    x = np.random.default_rng(1).standard_normal((1, 1, 129, 130)).astype(np.float32)
    after = corrected(model, x)
    assert kinds(after) == ["Pad", "AveragePool", "Mul", "Mul"]
    assert constant(after, "op/factor_0").shape == (129, 1)
    assert constant(after, "op/factor_1").shape == (130,)


def test_validation_proves_it() -> None:
    for size in ("5", "n"):
        model = tiny(f"[op] y = {THREE}", f"float[1,1,{size}]")
        done = rewrite(model, passes=[RULE])
        assert isinstance(done.model, onnx.ModelProto)
        assert validate(model, done.model, device="cpu").ok


def test_split_pads_points_here() -> None:
    assert refused(tiny(f"[op] y = {THREE}"), "split-pads").hints == ("--pass uncounted-padding",)


@pytest.mark.parametrize(
    ("op", "opset", "reason"),
    [
        pytest.param(THREE, 6, "Mul of opset 6 does not broadcast shapes", id="old"),
        pytest.param(
            THREE.replace("1, 1", "-1, 1"),
            17,
            "the pads [-1, 1] are negative, onnxruntime and the checker refuse",
            id="negative",
        ),
        pytest.param(
            "com.microsoft.QLinearAveragePool <kernel_shape = [2], pads = [1, 0]> (x, s, z, s, z)",
            17,
            "an integer average cannot be corrected behind",
            id="integers",
        ),
        pytest.param(
            THREE.replace("1, 1", "3, 3").replace("1, 1", "3, 3").replace(">", ", ceil_mode = 1>"),
            17,
            "ceil_mode drops windows over the pads [3, 3], wider than a window",
            id="drops windows",
        ),
        pytest.param(
            THREE.replace("[3]", "[9]"),
            17,
            "axis 2 has 5 cells, with pads 1,1 fewer than the window's 9",
            id="no window",
        ),
    ],
)
def test_refuses(op: str, opset: int, reason: str) -> None:
    integers = "QLinear" in op
    kind = "uint8" if integers else "float"
    held = "float s = {0.5}, uint8 z = {117}" if integers else ""
    model = tiny(
        f"[op] y = {op}", f"{kind}[1,1,5]", constants=held, opset=opset, result=f"{kind}[]"
    )
    assert refused(model, RULE) == Skip(reason)
