"""1-D convolutions and pools as 2-D ones, alone and in a row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest

from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import attributes, kinds, left_alone, refused, tiny
from tests.rewriting.passes.expanded import agrees, drawn, levels, rewritten_model

LIFT = "lift-rank"
K = "float[4,2,3] k = {1,-2,3,4,5,-6,7,8,9,-1,2,0,1,2,-3,1,0,1,2,2,-2,3,1,4}"
K1 = "float[4,1,3] k = {1,-2,3,4,5,-6,7,8,9,-1,2,0}"
SHAPES = [(1, 2, size) for size in (5, 6, 7, 8, 9, 12)]


@pytest.mark.parametrize("opset", [7, 11, 13, 22])
@pytest.mark.parametrize(
    "body",
    [
        "[op] y = Conv <pads = [1, 2]> (x, k)",
        '[op] y = Conv <auto_pad = "SAME_LOWER", strides = [2]> (x, k)',
        "[op] y = Conv <dilations = [2], kernel_shape = [3]> (x, k)",
        """z = Concat <axis = 1> (x, x)
        [op] y = ConvTranspose <strides = [2], pads = [1, 0], output_padding = [1]> (z, k)""",
        '[op] y = MaxPool <kernel_shape = [3], strides = [2], auto_pad = "SAME_UPPER"> (x)',
        "[op] y = AveragePool <kernel_shape = [3], pads = [1, 0], count_include_pad = 1> (x)",
        "[op] y = LpPool <kernel_shape = [2], p = 1> (x)",
    ],
)
def test_computes_the_same(body: str, opset: int) -> None:
    model = tiny(body, "float[1,2,n]", constants=K, opset=opset)
    after = agrees(model, LIFT, SHAPES)
    assert {len(value) for value in attributes(after).values() if isinstance(value, list)} <= {2, 4}
    assert sorted(set(kinds(after)) & {"Unsqueeze", "Squeeze"}) == ["Squeeze", "Unsqueeze"]


@pytest.mark.parametrize("storage_order", [0, 1])
def test_indices_lose_the_axis_too(storage_order: int) -> None:
    model = tiny(
        f"""[op] y, i = MaxPool <kernel_shape = [3], pads = [1, 1], strides = [2],
        storage_order = {storage_order}, ceil_mode = 1> (x)""",
        "float[2,2,7]",
    )
    model.graph.output.append(onnx.helper.make_tensor_value_info("i", 7, [2, 2, 4]))
    agrees(model, LIFT, [(2, 2, 7)])


def test_output_shape_and_groups() -> None:
    model = tiny(
        "[op] y = ConvTranspose <strides = [2], output_shape = [12], group = 2> (z, k) ".replace(
            "[op]", "z = Concat <axis = 1> (x, x) [op]"
        ),
        "float[1,2,6]",
        constants=K1,
    )
    agrees(model, LIFT, [(1, 2, 6)])


def test_quantised_channels_last_and_added_inputs() -> None:
    integers = tiny(
        "[op] y = ConvInteger <pads = [1, 0]> (x, k, zx, zw)",
        "uint8[1,2,n]",
        constants="uint8[4,2,3] k = {1,2,3,4,5,6,7,8,9,1,2,0,1,2,3,1,0,1,2,2,2,3,1,4},"
        "uint8 zx = {7}, uint8 zw = {2}",
        result="int32[]",
    )
    agrees(integers, LIFT, SHAPES, dtype="uint8")
    added = tiny(
        '[op] y = com.microsoft.FusedConv <pads = [1, 1], activation = "Relu"> (x, k, b, z)',
        "float[1,2,6]",
        constants=K
        + ", float[4] b = {1,2,3,-4}, float[1,4,6] z = "
        + "{"
        + ",".join(str(n % 7 - 3) for n in range(24))
        + "}",
    )
    agrees(added, LIFT, [(1, 2, 6)])
    last = tiny(
        "[op] y = com.microsoft.NhwcMaxPool <kernel_shape = [3], pads = [1, 1]> (x)",
        "uint8[1,n,2]",
        result="uint8[]",
    )
    after = rewrite(last, passes=[LIFT]).model
    assert isinstance(after, onnx.ModelProto)
    assert kinds(after) == ["Unsqueeze", "NhwcMaxPool", "Squeeze"]


def test_a_computed_weight_gets_its_own_unsqueeze() -> None:
    model = tiny("m = Neg(k) [op] y = Conv (x, m)", "float[1,2,n]", constants=K)
    after = agrees(model, LIFT, SHAPES)
    assert kinds(after).count("Unsqueeze") == 2


def test_a_shared_weight_stays_for_the_others() -> None:
    model = tiny(
        "a = Neg(k) s = ReduceSum <keepdims = 0> (a) [op] c = Conv (x, k) y = Add(c, s)",
        "float[1,2,n]",
        constants=K,
    )
    after = agrees(model, LIFT, SHAPES)
    assert {"k", "k/reshaped"} <= {tensor.name for tensor in after.graph.initializer}


def test_a_graph_of_graphsurgeon() -> None:
    model = tiny("[op] y = Conv <pads = [1, 2]> (x, k)", "float[1,2,7]", constants=K)
    graph = gs.import_onnx(model)
    rewrite(graph, passes=[LIFT])
    feed = {"x": drawn((1, 2, 7), "float32")}
    wanted = levels(rewritten_model(model, LIFT), feed)
    np.testing.assert_array_equal(levels(gs.export_onnx(graph), feed)[0][0], wanted[0][0])


def test_inside_an_if_and_a_function() -> None:
    text = f"""<ir_version: 8, opset_import: ["": 17, "own": 1]>
    g (float[1,2,n] x, bool c) => (float[] y) <{K}> {{
        a = own.f (x, k)
        y = If (c) <then_branch = t () => (float[] u) {{ u = Conv <pads = [1, 1]> (x, k) }},
                    else_branch = e () => (float[] v) {{ v = Identity (a) }}>
    }}
    <domain: "own", opset_import: ["": 17]>
    f (p, q) => (r) {{ r = Conv <auto_pad = "SAME_UPPER"> (p, q) }}"""
    model = onnx.parser.parse_model(text)
    after = rewritten_model(model, LIFT)
    for size in (5, 6, 9):
        for chosen in (True, False):
            feed = {"x": drawn((1, 2, size), "float32"), "c": np.array(chosen)}
            np.testing.assert_array_equal(levels(after, feed)[0][0], levels(model, feed)[0][0])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("[op] y = com.microsoft.ConvTransposeWithDynamicPads (x, k, p)", "its pads are an input"),
        ("[op] y = com.microsoft.MaxpoolWithMask <kernel_shape = [2]> (x, x)", "more inputs"),
        ('[op] y = Conv <auto_pad = "VALID", pads = [1, 1]> (x, k)', "contradict each other"),
        ('[op] y = Conv <auto_pad = "WIDE"> (x, k)', "which ONNX does not have"),
        ("[op] y = Conv <dilations = [4]> (x, k)", "fewer than the window's 9"),
    ],
)
def test_refuses(body: str, reason: str) -> None:
    model = tiny(body, "float[1,2,7]", constants=K + ", int64[2] p = {0, 1}")
    assert reason in refused(model, LIFT).reason


def test_leaves_images_alone() -> None:
    assert left_alone(tiny("[op] y = MaxPool <kernel_shape = [2, 2]> (x)", "float[1,1,4,4]"), LIFT)


KERNELS = "float[2,2,3] k = {1,-2,3,4,5,-6,7,8,9,-1,2,0}"
CONV, POOL = "<pads = [1, 1]>", "<kernel_shape = [3], pads = [1, 1]>"
SHORT_SHAPES = [(1, 2, size) for size in (5, 6, 9)]


def two(between: str, *, y: str = "y = MaxPool") -> str:
    """The text of a Conv and a pool of what `between` makes of `a`: `b`."""
    return f"a = Conv {CONV} (x, k) {between} {y} {POOL} (b)"


def inferred(body: str, constants: str = "", opset: int = 17) -> onnx.ModelProto:
    """The model, which states the shapes of all its tensors."""
    held = KERNELS + (f", {constants}" if constants else "")
    model = tiny(body, "float[1,2,n]", constants=held, opset=opset)
    return onnx.shape_inference.infer_shapes(model)


@pytest.mark.parametrize("opset", [7, 11, 13, 22])
def test_two_in_a_row(opset: int) -> None:
    body = f"a = Conv {CONV} (x, k) y = MaxPool {POOL} (a)"
    after = agrees(inferred(body, opset=opset), LIFT, SHORT_SHAPES)
    assert kinds(after) == ["Unsqueeze", "Conv", "Squeeze", "Unsqueeze", "MaxPool", "Squeeze"]


def found_by(after: onnx.ModelProto, feed: dict[str, np.ndarray]) -> Sequence[np.ndarray]:
    return levels(after, feed)[0]


def test_a_row_in_a_graph_of_graphsurgeon() -> None:
    body = two("b = Relu (a)", y="c = MaxPool") + "y = Add (b, c)"
    model = inferred(body)
    graph = gs.import_onnx(model)
    rewrite(graph, passes=[LIFT])
    exported = gs.export_onnx(graph)
    assert kinds(exported) == kinds(rewritten_model(model, LIFT))
    feed = {"x": drawn((1, 2, 7), "float32")}
    np.testing.assert_array_equal(found_by(exported, feed)[0], found_by(model, feed)[0])


def test_a_row_inside_an_if_and_a_function() -> None:
    text = f"""<ir_version: 8, opset_import: ["": 17, "own": 1]>
    g (float[1,2,n] x, bool c) => (float[] y) <{KERNELS}> {{
        h = Conv {CONV} (x, k)
        a = own.f (h, k)
        b = own.f (a, k)
        y = If (c) <then_branch = t () => (float[] u) {{
                        s = Relu (h) v = MaxPool {POOL} (s) u = Conv {CONV} (v, k) }},
                    else_branch = e () => (float[] w) {{ w = Identity (b) }}>
    }}
    <domain: "own", opset_import: ["": 17]>
    f (p, q) => (r) {{ s = Conv {CONV} (p, q) t = Abs (s) r = Conv {CONV} (t, q) }}"""
    model = onnx.parser.parse_model(text)
    after = rewritten_model(model, LIFT)
    for chosen in (True, False):
        feed = {"x": drawn((1, 2, 7), "float32"), "c": np.array(chosen)}
        np.testing.assert_allclose(found_by(after, feed)[0], found_by(model, feed)[0], rtol=2e-6)
