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
LIFTED = ["Unsqueeze", "Conv", "MaxPool", "Squeeze"]


def two(between: str, *, y: str = "y = MaxPool") -> str:
    """The text of a Conv and a pool of what `between` makes of `a`: `b`."""
    return f"a = Conv {CONV} (x, k) {between} {y} {POOL} (b)"


def inferred(body: str, constants: str = "", opset: int = 17) -> onnx.ModelProto:
    """The model, which states the shapes of all its tensors."""
    held = KERNELS + (f", {constants}" if constants else "")
    model = tiny(body, "float[1,2,n]", constants=held, opset=opset)
    return onnx.shape_inference.infer_shapes(model)


@pytest.mark.parametrize("opset", [7, 11, 13, 22])
def test_two_share(opset: int) -> None:
    body = f"a = Conv {CONV} (x, k) y = MaxPool {POOL} (a)"
    after = agrees(inferred(body, opset=opset), LIFT, SHORT_SHAPES)
    assert kinds(after) == LIFTED
    assert len(after.graph.initializer) == (3 if opset >= 13 else 1)
    assert not any(value.name == "a" for value in after.graph.value_info)


@pytest.mark.parametrize(
    ("between", "constants"),
    [
        ("b = Relu (a)", ""),
        ("r = Tanh (a) b = LeakyRelu <alpha = 0.5> (r)", ""),
        ("b = Clip (a, low, high)", "float low = {-3}, float high = {6}"),
        ("b = Mul (s, a)", "float s = {2}"),
        ("b = PRelu (a, s)", "float[1] s = {0.5}"),
        (
            "r = Relu (a) b = BatchNormalization (r, s, t, t, s)",
            "float[2] s = {1, 4}, float[2] t = {-1, 2}",
        ),
        (
            "q = QuantizeLinear (a, s, z) b = DequantizeLinear (q, s, z)",
            "float s = {0.5}, int8 z = {3}",
        ),
    ],
)
def test_through_operators_that_work_cell_by_cell(between: str, constants: str) -> None:
    after = agrees(inferred(two(between), constants), LIFT, SHORT_SHAPES)
    assert [kind for kind in kinds(after) if "queeze" in kind] == ["Unsqueeze", "Squeeze"]


@pytest.mark.parametrize(
    ("between", "constants"),
    [
        ("b = Mul (a, s)", "float[2,1] s = {2, -3}"),
        ("b = PRelu (a, s)", "float[2,1] s = {2, -3}"),
        ("b = Softmax <axis = -2> (a)", ""),
        (
            """q = QuantizeLinear <axis = 1> (a, s, z)
            b = DequantizeLinear <axis = 1> (q, s, z)""",
            "float[2] s = {0.5, 0.25}, int8[2] z = {3, -3}",
        ),
    ],
)
def test_not_through_operators_that_look_at_axes(between: str, constants: str) -> None:
    after = agrees(inferred(two(between), constants), LIFT, SHORT_SHAPES)
    assert kinds(after).count("Squeeze") == kinds(after).count("Unsqueeze") == 2


@pytest.mark.parametrize(
    ("body", "squeezed"),
    [
        (f"a = Conv {CONV} (x, k) b = MaxPool {POOL} (a) y = Add (a, b)", 2),
        (two("b = Relu (a)", y="c = MaxPool") + "y = Add (b, c)", 2),
        (two("b = Relu (a)", y="c = MaxPool") + "y = Add (a, c)", 2),
        (
            two("b = Relu (a)", y="c = MaxPool")
            + "d = AveragePool <kernel_shape = [1]> (b) y = Add (c, d)",
            2,
        ),
    ],
)
def test_the_squeeze_stays_for_others(body: str, squeezed: int) -> None:
    after = agrees(inferred(body), LIFT, SHORT_SHAPES)
    assert (kinds(after).count("Unsqueeze"), kinds(after).count("Squeeze")) == (1, squeezed)


def test_it_is_not_led_behind_two_operators_that_others_read() -> None:
    body = two("b = Relu (a)", y="c = MaxPool") + "d = Add (a, b) y = Add (c, d)"
    after = agrees(inferred(body), LIFT, SHORT_SHAPES)
    assert kinds(after) == [
        *("Unsqueeze", "Conv", "Squeeze", "Relu"),
        *("Unsqueeze", "MaxPool", "Squeeze", "Add", "Add"),
    ]


@pytest.mark.parametrize("kept", ["a", "b"])
def test_names_of_outputs_are_kept(kept: str) -> None:
    model = inferred(two("b = Relu (a)"))
    model.graph.output.append(onnx.helper.make_tensor_value_info(kept, 1, None))
    after = agrees(model, LIFT, SHORT_SHAPES)
    assert [value.name for value in after.graph.output] == ["y", kept]
    assert kinds(after).count("Unsqueeze") == 1


def test_one_tensor_read_as_data_and_added() -> None:
    square = "float[2,2,1] one = {1, 2, -3, 4}"
    for between, count in (("", 1), ("b = Relu (a)", 2)):
        text = two(between).split("y =")[0]
        read = "b" if between else "a"
        text += f'y = com.microsoft.FusedConv <activation = "Relu"> ({read}, one, none, {read})'
        model = tiny(
            text, "float[1,2,6]", constants=f"{KERNELS}, {square}, float[2] none = {{0, 0}}"
        )
        after = agrees(model, LIFT, [(1, 2, 6)])
        assert kinds(after).count("Unsqueeze") == count


def test_a_squeeze_that_the_model_had() -> None:
    for axes, total in (("2", 0), ("-2", 0), ("-1", 1)):
        body = f"s = Squeeze (x, i) y = Conv {CONV} (s, k)"
        sizes = "1,2,7,1" if axes == "-1" else "1,2,1,7"
        model = tiny(body, f"float[{sizes}]", constants=f"{KERNELS}, int64[1] i = {{{axes}}}")
        shape = tuple(int(size) for size in sizes.split(","))
        after = agrees(model, LIFT, [shape])
        assert kinds(after).count("Unsqueeze") == total
    given = tiny(
        f"s = Squeeze (x, axes) y = Conv {CONV} (s, k)",
        "float[1,2,1,7]",
        constants=KERNELS,
        inputs="int64[1] axes",
    )
    assert kinds(rewritten_model(given, LIFT)).count("Unsqueeze") == 1


def test_nodes_lifted_one_after_the_other() -> None:
    model = inferred(two("b = Relu (a)").replace("a =", "[first] a =").replace("y =", "[last] y ="))
    once = rewrite(model, passes=LIFT, nodes="first").model
    assert isinstance(once, onnx.ModelProto)
    assert kinds(once) == ["Unsqueeze", "Conv", "Squeeze", "Relu", "MaxPool"]
    assert kinds(agrees(once, LIFT, SHORT_SHAPES)) == [
        "Unsqueeze",
        "Conv",
        "Relu",
        "MaxPool",
        "Squeeze",
    ]


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
    inside = [node.op_type for node in after.functions[0].node if node.op_type != "Constant"]
    assert inside == ["Unsqueeze", "Unsqueeze", "Conv", "Abs", "Unsqueeze", "Conv", "Squeeze"]
    assert kinds(after).count("Unsqueeze") == 2
    for chosen in (True, False):
        feed = {"x": drawn((1, 2, 7), "float32"), "c": np.array(chosen)}
        np.testing.assert_allclose(found_by(after, feed)[0], found_by(model, feed)[0], rtol=2e-6)


def test_not_through_a_normalisation_that_learns() -> None:
    text = (
        two("b, m, v = BatchNormalization <training_mode = 1> (a, s, t, t, s)") + "z = Add (m, v)"
    )
    model = inferred(text, "float[2] s = {1, 4}, float[2] t = {-1, 2}")
    model.graph.output.append(onnx.helper.make_tensor_value_info("z", 1, [2]))
    assert kinds(rewritten_model(model, LIFT)).count("Unsqueeze") == 2


def test_not_through_a_normalisation_of_each_cell() -> None:
    text = two("b = BatchNormalization <spatial = 0> (a, s, t, t, s)")
    held = (
        f"{KERNELS}, float[2,5] s = {{1,1,1,1,1,1,1,1,1,1}}, float[2,5] t = {{0,0,0,0,0,0,0,0,0,0}}"
    )
    model = tiny(text, "float[1,2,5]", constants=held, opset=8)
    assert kinds(rewritten_model(model, LIFT)).count("Unsqueeze") == 2
