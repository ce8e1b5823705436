"""The oracle where onnxruntime is no judge of it: numbers worked out by hand, and refusals.

Everything else it computes is held against onnxruntime, over random models.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto

from tests.models.text import text_model
from tests.oracle import operators as oracle
from tests.oracle.interpreter import run_model
from tests.oracle.onnxruntime_levels import outputs
from tests.oracle.operators import Array


def line(*values: float, dtype: Any = np.float64) -> Array:
    """Values along one spatial axis, N = C = 1."""
    return np.array(values, dtype)[None, None]


X3, X5, X6, X8 = (line(*range(1, n + 1)) for n in (3, 5, 6, 8))
N4, BYTES = line(-7, -1, -2, -2), line(10, 20, 30, 40, dtype=np.uint8)
W1, W3, THREE = line(1), line(1, 10, 100), line(1, 2, 3, dtype=np.uint8)
GRID = np.array([[1.0, 5, 3], [4, 2, 6]])[None, None]
Geometry = dict[str, Any]
UPPER: Geometry = {"auto_pad": "SAME_UPPER"}
LOWER: Geometry = {"auto_pad": "SAME_LOWER"}
CEIL: Geometry = {"strides": [2], "ceil_mode": 1}
COUNTS: Geometry = {"count_include_pad": 1}
BOTH: Geometry = {"pads": [1, 1]}

WORKED: list[tuple[Callable[[], Array], list[float]]] = [
    (lambda: oracle.conv(X5, W3, **UPPER, dilations=[2]), [310, 420, 531, 42, 53]),
    (lambda: oracle.conv(X8, W1, **UPPER, strides=[4]), [1, 5]),
    (lambda: oracle.conv(X5, W3, **LOWER, strides=[2]), [210, 432, 54]),
    (lambda: oracle.conv(X6, W3, **LOWER, strides=[2]), [210, 432, 654]),
    (lambda: oracle.conv(line(1, 2), W3, pads=[3, 4]), [0, 100, 210, 21, 2, 0, 0]),
    (lambda: oracle.conv_transpose(X3, W1, **UPPER, strides=[4]), [1, 0, 0, 0, 2, 0, 0, 0, 3]),
    (lambda: oracle.conv_transpose(X3, W3, strides=[2], pads=[4, 0]), [203, 30, 300]),
    (
        lambda: oracle.conv_transpose(X3, W3, strides=[2], output_shape=[8]),
        [1, 10, 102, 20, 203, 30, 300, 0],
    ),
    (
        lambda: oracle.conv_transpose(X3, W3, strides=[2], output_shape=[6], pads=[0, 1]),
        [10, 102, 20, 203, 30, 300],
    ),
    (lambda: oracle.conv_integer(BYTES, THREE, 7, 2, **BOTH), [13, 20, 20, -23]),
    (lambda: oracle.pool_max(X5, [3], **UPPER, dilations=[2])[0], [3, 4, 5, 4, 5]),
    (lambda: oracle.pool_max(X8, [1], **UPPER, strides=[4])[0], [1, 5]),
    (lambda: oracle.pool_max(line(1, 2), [1], **CEIL)[0], [1]),
    (lambda: oracle.pool_max(X6, [3], **CEIL, auto_pad="VALID")[0], [3, 5, 6]),
    (lambda: oracle.pool_max(N4, [3], **BOTH)[0], [-1, -1, -1, -2]),
    (lambda: oracle.pool_max(line(4), [2], **BOTH, dilations=[2])[0], [-np.inf]),
    (lambda: oracle.pool_max(line(4), [2], **BOTH, dilations=[2])[1], [-1]),
    (lambda: oracle.pool_max(GRID, [2, 2], pads=[1, 0, 0, 1])[1], [1, 1, 2, 1, 5, 5]),
    (
        lambda: oracle.pool_max(GRID, [2, 2], pads=[1, 0, 0, 1], storage_order=1)[1],
        [2, 2, 4, 2, 5, 5],
    ),
    (lambda: oracle.pool_average(line(4), [2], **BOTH, dilations=[2]), [0]),
    (lambda: oracle.pool_average(X5, [2], **CEIL, **COUNTS), [1.5, 3.5, 5]),
    (lambda: oracle.pool_average(X6, [3], **CEIL, **COUNTS, **BOTH), [1, 3, 5, 3]),
    (lambda: oracle.pool_average(X5, [3], **BOTH), [1.5, 2, 3, 4, 4.5]),
    (lambda: oracle.pool_lp(N4, [2], p=1, strides=[2]), [8, 4]),
    (lambda: oracle.pad(X5[0, 0], [-1, 2], mode="reflect"), [2, 3, 4, 5, 4, 3]),
    (lambda: oracle.pad(X5[0, 0], [-1, 2], value=-9), [2, 3, 4, 5, -9, -9]),
    (lambda: oracle.pad(X5[0, 0], [2, -3], mode="edge"), [1, 1, 1, 2]),
    (lambda: oracle.pad(X5[0, 0], [1, 2], mode="wrap"), [5, 1, 2, 3, 4, 5, 1, 2]),
    (lambda: oracle.conv(line(), np.ones((1, 1, 2)), np.array([3.0]), pads=[1, 2]), [3, 3]),
]


@pytest.mark.parametrize(("computed", "expected"), WORKED)
def test_numbers_worked_out_by_hand(computed: Callable[[], Array], expected: list[float]) -> None:
    assert computed().ravel().tolist() == expected


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint8"])
def test_padding_never_wins_a_max_pool(dtype: str) -> None:
    """However low the data lies in its type; a Pad of the lowest value is no other padding."""
    least = np.iinfo(dtype).min if dtype.endswith("int8") else -20
    x = (np.array([[[0, 2, 1, 0]]]) + least).astype(dtype)
    found, indices = oracle.pool_max(x, [3], **BOTH)
    assert found.dtype == np.dtype(dtype)
    assert (found.astype(int) - least).ravel().tolist() == [2, 2, 2, 1]
    assert indices.ravel().tolist() == [1, 1, 1, 2]
    padded = oracle.pad(x, [0, 0, 1, 0, 0, 1], value=oracle.lowest(x.dtype))
    assert oracle.pool_max(padded, [3])[0].tolist() == found.tolist()


def test_qlinear_conv_rounds_half_to_even_and_saturates() -> None:
    x, w = line(5, 6, 7, 8, 127, -128, dtype=np.int8), line(1, dtype=np.int8)
    found = oracle.qlinear_conv(x, 0.5, 0, w, 1.0, 0, 1.0, np.array(1, np.int8))
    assert found.ravel().tolist() == [3, 4, 5, 5, 65, -63]
    doubled = oracle.qlinear_conv(x, 2.0, 0, w, 1.0, 0, 1.0, np.array(1, np.int8))
    assert doubled.ravel().tolist() == [11, 13, 15, 17, 127, -128]


CONTRADICTIONS: list[Callable[[], object]] = [
    lambda: oracle.conv(X5, W3, auto_pad="SAME_UPPER", pads=[0, 0]),
    lambda: oracle.conv(X5, W3, auto_pad="FOO"),
    lambda: oracle.conv(X5, W3, pads=[-1, 1]),
    lambda: oracle.conv(X5, W3, pads=[1]),
    lambda: oracle.conv(line(1, 2), W3),
    lambda: oracle.conv(X5, W3, group=2),
    lambda: oracle.conv(line(), W1, auto_pad="SAME_UPPER"),
    lambda: oracle.conv_transpose(X3, W3, strides=[2], output_shape=[12]),
    lambda: oracle.conv_transpose(X3, W3, strides=[2], auto_pad="SAME_LOWER", pads=[0, 0]),
    lambda: oracle.conv_transpose(X3, W3, strides=[2], output_padding=[2]),
    lambda: oracle.pool_max(line(1, float("nan")), [2]),
    lambda: oracle.pad(X5[0, 0], [5, 0], mode="reflect"),
    lambda: oracle.pad(X5[0, 0], [-3, -3]),
    lambda: oracle.pad(X5[0, 0], [0, 0], mode="mirror"),
    lambda: oracle.pad(X5, [1, 1, 1, 1], axes=[2, -1]),
]


@pytest.mark.parametrize("call", CONTRADICTIONS)
def test_contradictions_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        call()


FORMS = """
    p = Pad (x, more, fill, axis)  y = Slice (p, last, first, axis, step)
    u = Unsqueeze (y, axis)  q = Squeeze (u, axis)  g1 = Gather <axis = 1> (q, rows)
    s = Sigmoid (g1)  h = Tanh (s)  z = Mul (h, g1)  r = Reshape (z, flat)  i = Cast <to = 6> (r)
    two = Constant <value = int32[1] {-2}> ()  d = Div (i, two)  k = Mod (d, two)
    sizes = Shape <start = 2> (x)  m = Mod (sizes, back)  t = Sub (span, m)  n = Max (t, none)
"""
HELD = """int64[1] axis = {-1}, int64[2] more = {2, -1}, float fill = {-3}, int64[1] last = {9},
    int64[1] first = {-9}, int64[1] step = {-2}, int64[1] flat = {-1}, int64[2] rows = {1, 0},
    int64[2] back = {-2, -3}, int64[2] span = {1, 2}, int64[1] none = {0}"""


@pytest.mark.parametrize("size", range(4, 9))
def test_what_stands_around_is_computed_as_onnxruntime_does(size: int) -> None:
    model = text_model(FORMS, "float[1,2,H,W] x", outputs="y, z, r, k, n", constants=HELD, opset=18)
    x = np.random.default_rng(size).integers(-90, 90, (1, 2, 5, size)).astype(np.float32) / 4
    expected, found = outputs(model, {"x": x}), run_model(model, {"x": x})
    assert not isinstance(expected, str), expected
    for one, other in zip(expected, found.values(), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16])
def test_floats_are_rounded_once_per_operator(dtype: int) -> None:
    """Summed in float16 the four products would lose both ones."""
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    name = onnx.TensorProto.DataType.Name(dtype).lower()
    model = text_model("y = Conv (x, w)", f"{name}[1,1,4] x, {name}[1,1,4] w", opset=22)
    x, w = np.array([[[256, 1, 1, -256]]]).astype(kind), np.ones((1, 1, 4), kind)
    found = run_model(model, {"x": x, "w": w})["y"]
    assert (found.dtype, found.astype(float).tolist()) == (kind, [[[2.0]]])


LINE, POOL = "float[1,1,5] x", "y = MaxPool <kernel_shape=[3]"
UNFIT: list[tuple[ModelProto, type[Exception], str]] = [
    (text_model("y = com.microsoft.Gelu (x)", LINE), NotImplementedError, "Gelu"),
    (text_model(f"{POOL}, dilations=[2]> (x)", LINE, opset=9), ValueError, "dilations"),
    (text_model(f"{POOL}> (x)", "int8[1,1,5] x", opset=11), TypeError, "int8"),
    (text_model('y = Conv <pads=[0,0], auto_pad="VALID"> (x, x)', LINE), ValueError, "VALID"),
    (text_model("y = Conv <kernel_shape=[2]> (x, x)", LINE), ValueError, "kernel_shape"),
    (text_model("y = Conv (x)", LINE), ValueError, "input 1"),
    (text_model("y = Relu (t)  t = Relu (x)", LINE), ValueError, "before it is computed"),
    (text_model("y = Relu (x)", LINE, outputs="int64[1,1,5] y"), TypeError, "declares"),
    (text_model("y = Relu (x)", "float[1,1,4] x"), ValueError, "x"),
    (text_model("y = Relu (x)", "double[1,1,5] x"), TypeError, "x"),
    (text_model("y = Relu (z)", "float[1,1,5] z"), ValueError, "x"),
]


@pytest.mark.parametrize(("model", "kind", "text"), UNFIT)
def test_what_does_not_fit_a_model_or_its_opset_is_refused(
    model: ModelProto, kind: type[Exception], text: str
) -> None:
    held = np.int8 if text == "int8" else np.float32
    with pytest.raises(kind, match=text):
        run_model(model, {"x": np.ones((1, 1, 5), held)})
