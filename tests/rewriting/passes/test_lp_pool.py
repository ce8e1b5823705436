"""LpPool as an average pool of powers; row 48 of the tricky cases."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import pytest

from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.padding.fills import Constant
from onnxpad.padding.operators import operator
from onnxpad.rewriting.passes import find_pass
from tests.models.tiny import X5, kinds, left_alone, refused, tiny
from tests.oracle.interpreter import run_model
from tests.oracle.operators import pool_lp
from tests.rewriting.passes.expanded import agrees, levels, rewritten_model

LP = "lp-pool"


def test_row_48() -> None:
    model = tiny("[op] y = LpPool <kernel_shape = [3], pads = [1, 1], p = 2> (x)")
    after = rewritten_model(model, LP)
    assert kinds(after) == ["Mul", "AveragePool", "Mul", "Sqrt"]
    for found in levels(after, {"x": X5}):
        np.testing.assert_allclose(found[0].ravel(), [5**0.5, 14**0.5, 29**0.5, 50**0.5, 41**0.5])


@pytest.mark.parametrize("power", [1, 2, 3, 5])
def test_every_small_window(power: int) -> None:
    rng = np.random.default_rng(power)
    for kernel, stride, begin, end in product(range(1, 5), (1, 2, 3), range(3), range(3)):
        if max(begin, end) >= kernel:
            continue
        size = int(rng.integers(kernel, 10))
        written = f"kernel_shape=[{kernel}], strides=[{stride}], pads=[{begin},{end}], p={power}"
        model = tiny(f"[op] y = LpPool <{written}> (x)", f"float[1,2,{size}]")
        x = rng.standard_normal((1, 2, size)).astype(np.float32)
        wanted = pool_lp(x, (kernel,), p=power, strides=(stride,), pads=(begin, end))
        for found in levels(rewritten_model(model, LP), {"x": x}):
            np.testing.assert_allclose(found[0], wanted, rtol=2e-6)


@pytest.mark.parametrize("opset", [7, 12, 18, 22])
def test_opsets_axes_and_sizes(opset: int) -> None:
    model = tiny(
        '[op] y = LpPool <kernel_shape=[2,3], strides=[2,1], auto_pad="SAME_UPPER"> (x)',
        "float[1,2,h,w]",
        opset=opset,
    )
    agrees(model, LP, [(1, 2, h, w) for h, w in ((2, 3), (3, 3), (4, 5), (5, 4), (6, 9), (7, 8))])


def test_double_keeps_its_type() -> None:
    model = tiny(
        "[op] y = LpPool <kernel_shape = [3]> (x)", "double[1,1,6]", opset=18, result="double[]"
    )
    after = rewritten_model(model, LP)
    held = {tensor.data_type for tensor in after.graph.initializer}
    assert held == {onnx.TensorProto.DOUBLE}


@pytest.mark.parametrize(
    ("written", "opset", "reason"),
    [
        ("kernel_shape = [2], dilations = [3], strides = [3], ceil_mode = 1", 22, "[0, 2] reach"),
        ("kernel_shape = [3], p = 0", 18, "its p is 0, and a root needs a whole number from 1 on"),
        ("kernel_shape = [2], dilations = [2]", 18, "AveragePool of opset 18 has no dilations"),
        ("kernel_shape = [2]", 2, "AveragePool of opset 2 has no count_include_pad"),
        (
            'kernel_shape = [2], dilations = [2], strides = [2], auto_pad = "SAME_UPPER"',
            18,
            "needs",
        ),
        ("kernel_shape = [9]", 18, "fewer than the window's 9"),
    ],
)
def test_refuses(written: str, opset: int, reason: str) -> None:
    size = "n" if "SAME" in written else "5"
    model = tiny(f"[op] y = LpPool <{written}> (x)", f"float[1,1,{size}]", opset=opset)
    assert reason in refused(model, LP).reason


def test_refuses_an_unknown_type() -> None:
    op = operator("", "LpPool")
    assert op is not None
    chain = Chain(op, 17, (Axis(6, 3),), Pads((1,), (1,)), Constant(0))
    assert find_pass(LP).rewrite(chain) == Skip("the element type of its input is not known")


def test_leaves_everything_else_alone() -> None:
    assert left_alone(tiny("[op] y = MaxPool <kernel_shape = [2]> (x)"), LP)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_what_ceil_mode_reads_becomes_end_pads(power: int) -> None:
    for stride, begin, end in product((2, 3), (0, 1), (0, 1)):
        written = f"kernel_shape = [3], strides = [{stride}], pads = [{begin}, {end}]"
        body = f"[op] y = LpPool <{written}, ceil_mode = 1, p = {power}> (x)"
        sizes = range(3 - begin - end, 9)
        for size in sizes:
            agrees(tiny(body, f"float[1,2,{size}]", opset=18), LP, [(1, 2, size)])
        agrees(tiny(body, "float[1,2,n]", opset=18), LP, [(1, 2, size) for size in sizes])


@pytest.mark.parametrize(("dtype", "opset"), [("float16", 17), ("bfloat16", 22)])
@pytest.mark.parametrize("power", [1, 2, 3])
def test_sums_of_half_precision_do_not_overflow(dtype: str, opset: int, power: int) -> None:
    """300 squared is beyond float16; a third as an exponent of float16 is off by several units."""
    model = tiny(
        f"[op] y = LpPool <kernel_shape = [3], pads = [1, 1], p = {power}> (x)",
        f"{dtype}[1,1,6]",
        opset=opset,
        result=f"{dtype}[]",
    )
    after = rewritten_model(model, LP)
    assert {tensor.data_type for tensor in after.graph.initializer} <= {onnx.TensorProto.FLOAT}
    x = np.asarray([[[-300, 250.5, 3, -0.001, 77, -512]]])
    feed = x.astype(
        onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.DataType.Value(dtype.upper()))
    )
    wanted = pool_lp(feed.astype(np.float64), (3,), p=power, pads=(1, 1))
    found = run_model(after, {"x": feed})["y"]
    assert found.dtype == feed.dtype
    unit = 2.0**-11 if dtype == "float16" else 2.0**-8
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=1.01 * unit)
    if dtype == "float16":
        for made in levels(after, {"x": feed}):
            np.testing.assert_allclose(made[0].astype(np.float64), wanted, rtol=1.01 * unit)
