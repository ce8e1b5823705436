import numpy as np
import onnx
import pytest

from tests.models.one_node import Array, OneNode, assert_same, run_onnxruntime
from tests.oracle.interpreter import run_model

SAME_AT_RUN_TIME = """
<ir_version: 8, opset_import: ["" : 15]>
g (float[1,2,H,W] x) => (y, pads)
<int64[2] back = {-2, -3}, int64[2] span = {1, 2}, int64[1] zero = {0}, int64[1] two = {2},
 int64[2] none = {0, 0}, float lowest = {-1000}>
{
    hs = Shape <start = 2> (x)
    m = Mod (hs, back)
    t = Sub (span, m)
    total = Max (t, zero)
    small = Div (total, two)
    big = Sub (total, small)
    pads = Concat <axis = 0> (none, small, none, big)
    padded = Pad (x, pads, lowest)
    y = MaxPool <kernel_shape = [3, 3], strides = [2, 3]> (padded)
}
"""
OLD_FORMS = """
<ir_version: 8, opset_import: ["" : 8]>
g (float[1,2,H,W] x) => (y, z, s)
{
    p = Pad <pads = [0, 0, 1, 0, 0, 0, 0, 2], value = -1.5> (x)
    c = Slice <axes = [2, 3], starts = [1, -4], ends = [9223372036854775807, -1]> (p)
    y = Relu (c)
    u = Unsqueeze <axes = [0]> (c)
    t = Transpose <perm = [0, 1, 4, 3, 2]> (u)
    n = Neg (t)
    a = Abs (n)
    z = Squeeze <axes = [0]> (a)
    s = Shape (z)
}
"""
NEW_FORMS = """
<ir_version: 8, opset_import: ["" : 18]>
g (float[1,2,H,W] x) => (y, z, r, k)
<int64[1] axis = {-1}, int64[2] more = {2, -1}, float fill = {-3}, int64[1] last = {9},
 int64[1] first = {-9}, int64[1] step = {-2}, int64[1] flat = {-1}, int64[2] rows = {1, 0}>
{
    p = Pad (x, more, fill, axis)
    y = Slice (p, last, first, axis, step)
    u = Unsqueeze (y, axis)
    q = Squeeze (u, axis)
    g1 = Gather <axis = 1> (q, rows)
    s = Sigmoid (g1)
    h = Tanh (s)
    z = Mul (h, g1)
    r = Reshape (z, flat)
    i = Cast <to = 6> (r)
    two = Constant <value = int32[1] {-2}> ()
    d = Div (i, two)
    k = Mod (d, two)
}
"""
BRANCHES = """
<ir_version: 8, opset_import: ["" : 16]>
g (float[1,1,W] x, int64 trips) => (y, last, each)
<int64 one = {1}, int64[6] pads = {0, 0, 1, 0, 0, 1}, float lowest = {-1000}>
{
    go = Greater (trips, one)
    padded = Pad (x, pads, lowest)
    y = If (go) <
        then_branch = wide () => (float[1,1,U] a) { a = MaxPool <kernel_shape = [3]> (padded) },
        else_branch = thin () => (float[1,1,V] b) { b = MaxPool <kernel_shape = [2]> (padded) }
    >
    last, each = Loop (trips, , x) <
        body = step (int64 i, bool c, float[1,1,W] v) => (bool d, float[1,1,W] w, float[1,1,W] o) {
            d = Identity (c)
            w = Add (v, x)
            f = Cast <to = 1> (i)
            o = Mul (w, f)
        }
    >
}
"""
FUNCTIONS = """
<ir_version: 8, opset_import: ["" : 16, "local" : 1]>
g (float[1,1,W] x) => (y, z)
{
    y = local.Padded <pads = [1, 2]> (x)
    z = local.Twice <pads = [0, 1], kernel = [2]> (x)
}
<domain: "local", opset_import: ["" : 16, "local" : 1]>
Padded <pads, strides> (x) => (y)
{
    y = MaxPool <kernel_shape = [3], pads : ints = @pads, strides : ints = @strides> (x)
}
<domain: "local", opset_import: ["" : 16, "local" : 1]>
Twice <kernel, pads> (x) => (z)
{
    y = local.Padded <pads : ints = @pads, strides : ints = @kernel> (x)
    z = LpPool <kernel_shape : ints = @kernel> (y)
}
"""
QUANTISED = """
<ir_version: 8, opset_import: ["" : 16]>
g (float[1,2,W] x) => (q, y, z)
<float scale = {0.5}, int8 zero = {-3}, float[2] scales = {0.25, 2}, int8[2] zeros = {4, -5}>
{
    q = QuantizeLinear (x, scale, zero)
    y = DequantizeLinear (q, scale, zero)
    r = QuantizeLinear <axis = 1> (x, scales, zeros)
    z = DequantizeLinear <axis = 1> (r, scales, zeros)
}
"""
GRAPHS = {
    "same-at-run-time": SAME_AT_RUN_TIME,
    "old-forms": OLD_FORMS,
    "new-forms": NEW_FORMS,
    "branches": BRANCHES,
    "functions": FUNCTIONS,
    "quantised": QUANTISED,
}


def signed(model: onnx.ModelProto, seed: int) -> dict[str, Array]:
    """Signed inputs in steps of a quarter, so that quantisation meets ties; scalars are 1 to 3."""
    rng = np.random.default_rng(seed)
    fed: dict[str, Array] = {}
    for info in model.graph.input:
        dims = info.type.tensor_type.shape.dim
        shape = [d.dim_value or int(rng.integers(4, 9)) for d in dims]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        values = rng.integers(-90, 90, shape) / 4 if shape else rng.integers(1, 4)
        fed[info.name] = np.asarray(values).astype(dtype)
    return fed


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_agree_with_onnxruntime(name: str, seed: int) -> None:
    model = onnx.parser.parse_model(GRAPHS[name])
    fed = signed(model, seed)
    expected, found = run_onnxruntime(model, fed), run_model(model, fed)
    assert found.keys() == expected.keys()
    for output, value in expected.items():
        assert_same(found[output], value, rtol=1e-6)


def test_pad_1_reads_paddings() -> None:
    x = np.array([[-1, -2]], np.float32)
    attributes = {"paddings": [0, 1, 0, 1], "value": -9.0}
    node = OneNode("Pad", [x], attributes, opset=1)
    assert run_model(node.model(), node.feed())["o0"].tolist() == [[-9, -1, -2, -9]]


def test_floats_are_rounded_once_per_operator() -> None:
    """Summed in float16 the four products would lose both ones."""
    x = np.array([[[2048, 1, 1, -2048]]], np.float16)
    node = OneNode("Conv", [x, np.ones((1, 1, 4), np.float16)])
    found = run_model(node.model(), node.feed())["o0"]
    assert found.dtype == np.float16
    assert found.tolist() == [[[2]]]


def test_bfloat16_max_pool() -> None:
    bfloat16 = onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.BFLOAT16)
    x = np.array([[[-3, -1, -2]]]).astype(bfloat16)
    node = OneNode("MaxPool", [x], {"kernel_shape": [3], "pads": [1, 1]}, opset=22)
    found = run_model(node.model(), node.feed())["o0"]
    assert found.dtype == bfloat16
    assert found.astype(float).tolist() == [[[-1, -1, -1]]]


X, W = np.ones((1, 1, 5), np.float32), np.ones((1, 1, 3), np.float32)
PADS = np.array([0, 1])
KERNEL = {"kernel_shape": [3]}
REFUSED = [
    (OneNode("Elu", [X]), NotImplementedError, "Elu"),
    (OneNode("Nothing", [X]), NotImplementedError, "Nothing"),
    (
        OneNode("FusedConv", [X, W], {"activation": "Elu"}, domain="com.microsoft"),
        NotImplementedError,
        "Elu",
    ),
    (OneNode("AveragePool", [X], KERNEL | {"dilations": [2]}, 11), ValueError, "dilations"),
    (OneNode("Pad", [X, PADS, None, np.array([2])], {}, 13), ValueError, "4 inputs"),
    (OneNode("Pad", [X, np.tile(PADS, 3), np.zeros(())], {}, 13), TypeError, "float64"),
    (OneNode("MaxPool", [X.astype(np.int8)], KERNEL, 11), TypeError, "int8"),
    (OneNode("Conv", [X, W], KERNEL | {"pads": [0, 0], "auto_pad": "VALID"}), ValueError, "VALID"),
    (OneNode("Conv", [X, W], {"kernel_shape": [2]}), ValueError, "kernel_shape"),
    (OneNode("Conv", [X, None]), ValueError, "input 1"),
]


@pytest.mark.parametrize(("node", "kind", "text"), REFUSED)
def test_refusals_name_what_was_found(node: OneNode, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        run_model(node.model(), node.feed())


@pytest.mark.parametrize(
    "fed",
    [{}, {"i0": X, "more": X}, {"i0": X.astype(np.float64)}, {"i0": X[..., :4]}],
    ids=["missing", "unknown", "type", "shape"],
)
def test_inputs_must_fit_the_model(fed: dict[str, Array]) -> None:
    with pytest.raises((ValueError, TypeError), match="i0"):
        run_model(OneNode("Relu", [X]).model(), fed)


def test_nodes_must_be_in_order_and_outputs_of_their_declared_type() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 16]>
        g (float[2] x) => (int64[2] y) { t = Relu (x)  y = Neg (t) }
    """)
    fed = {"x": np.zeros(2, np.float32)}
    with pytest.raises(TypeError, match="declares"):
        run_model(model, fed)
    model.graph.node.insert(0, model.graph.node.pop())
    with pytest.raises(ValueError, match="before it is computed"):
        run_model(model, fed)
