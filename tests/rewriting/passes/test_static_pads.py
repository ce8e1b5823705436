"""static-pads: pads that the model computes become constants."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest

from onnxpad.model.editing.session import EditSession
from onnxpad.padding.forms import Form, forms_of
from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import (
    X5,
    X6,
    attributes,
    by_onnxruntime,
    constant,
    done,
    kinds,
    left_alone,
    numbers,
    refused,
    tiny,
    values,
)
from tests.oracle.interpreter import run_model
from tests.oracle.onnxruntime_levels import ran

TORCHSCRIPT = """
 z = ConstantOfShape<value = int64[1] {0}>(four)
 c = Concat<axis = 0>(given, z)
 r = Reshape(c, pairs)
 s = Slice(r, last, first, axis, back)
 t = Transpose<perm = [1, 0]>(s)
 f = Reshape(t, flat)
 p = Cast<to = 7>(f)
 q = Pad<mode = "constant">(x, p)
"""
CONSTANTS = """int64[1] four = {4}, int64[2] given = {1, 2}, int64[2] pairs = {-1, 2},
 int64[1] last = {-1}, int64[1] first = {-9223372036854775807}, int64[1] axis = {0},
 int64[1] back = {-1}, int64[1] flat = {-1}"""


def test_the_arithmetic_of_torchscript() -> None:
    model = tiny(f"{TORCHSCRIPT} [op] y = Conv(q, w)", constants=CONSTANTS)
    after = done(model, "static-pads").model
    assert isinstance(after, onnx.ModelProto)
    assert kinds(after) == ["Pad", "Conv"]
    assert [tensor.name for tensor in after.graph.initializer] == ["w", "q/pads"]
    assert constant(after, "q/pads").tolist() == [0, 0, 1, 0, 0, 2]
    for x in (X5, -X5):
        assert values(after, x) == values(model, x)
        assert by_onnxruntime(after, x) == by_onnxruntime(model, x, optimised=True)
    assert left_alone(after, "static-pads")


def from_size(x: str, fill: str = "") -> onnx.ModelProto:
    """Pads at the end what is lacking to 8 cells."""
    text = f"""s = Shape(x) h = Gather<axis = 0>(s, two) n = Sub(eight, h) k = Unsqueeze(n, zero)
     p = Concat<axis = 0>(five, k) q = Pad(x, p{fill}) [op] y = Conv(q, w)"""
    constants = """int64 two = {2}, int64 eight = {8}, int64[1] zero = {0},
     int64[5] five = {0,0,0,0,0}"""
    return tiny(text, x, constants=constants)


def test_sizes_that_are_known() -> None:
    for x in ("float[1,1,5]", "float[N,1,5]", "float[N,C,5]"):
        after = done(from_size(x), "static-pads").model
        assert isinstance(after, onnx.ModelProto)
        assert kinds(after) == ["Pad", "Conv"], x
        assert constant(after, "q/pads").tolist() == [0, 0, 0, 0, 0, 3]
        assert values(after, X5) == values(from_size(x), X5)


def test_sizes_that_are_not_known_are_named() -> None:
    model = from_size("float[N,1,W]")
    skip = refused(model, "static-pads")
    assert "they are computed from the size of axis 2 of 'x' ('W')" in skip.reason
    assert skip.hints == ("--dim 'W=640'",)
    after = done(model, "static-pads", dims={"W": 5}).model
    assert isinstance(after, onnx.ModelProto)
    assert values(after, X5) == values(model, X5)
    unknown = tiny("p = Cast<to = 7>(x) y = Pad(x, p)", "float[6]")
    skip = refused(unknown, "static-pads")
    assert "computed while the model runs (by Cast)" in skip.reason
    assert skip.hints == ()


def test_row_60_an_initializer_that_an_input_can_replace() -> None:
    model = tiny("y = Pad(x, p)", constants="int64[6] p = {0,0,1,0,0,1}", inputs="int64[6] p")
    assert "an input of the model can replace" in refused(model, "static-pads").reason
    computed = tiny(
        "q = Concat<axis = 0>(p) y = Pad(x, q)",
        constants="int64[6] p = {0,0,1,0,0,1}",
        inputs="int64[6] p",
    )
    assert "computed while the model runs" in refused(computed, "static-pads").reason


def test_computed_axes_and_value() -> None:
    constants = "int64[1] one = {1}, int64[1] two = {2}, float c = {7}, int64[2] minus = {-1, -2}"
    text = """p = Concat<axis = 0>(one, two, two, one) v = Neg(c) a = Neg(minus) b = Neg(a)
     [op] y = Pad(x, p, v, b)"""
    model = tiny(text, constants=constants, opset=18)
    (site,) = EditSession(model).sites()
    assert site.chain.pad is not None
    assert site.chain.pad.computed == (1, 2, 3)
    assert Form.DYNAMIC in forms_of(site.chain)
    after = done(model, "static-pads").model
    assert isinstance(after, onnx.ModelProto)
    assert kinds(after) == ["Pad"]
    assert list(after.graph.node[0].input) == ["x", "op/pads", "op/value"]
    assert constant(after, "op/pads").tolist() == [0, 2, 1, 0, 1, 2]
    assert constant(after, "op/value").tolist() == -7
    assert values(after, X5) == values(model, X5)
    assert Form.DYNAMIC not in forms_of(next(iter(EditSession(after).sites())).chain)


def test_what_something_else_reads_stays() -> None:
    text = "p = Concat<axis = 0>(a, a) q = Pad(x, p) r = Conv(q, w) k = Cast<to = 1>(p) "
    model = tiny(text + "[op] y = Add(k, r)", "float[1,1,6]", constants="int64[3] a = {0,0,1}")
    after = done(model, "static-pads").model
    assert isinstance(after, onnx.ModelProto)
    assert kinds(after) == ["Concat", "Pad", "Conv", "Cast", "Add"]
    assert values(after, X6) == values(model, X6)


@pytest.mark.parametrize("fill", ["", ", c"])
def test_a_pool_that_onnxruntime_would_fuse_wrongly(fill: str) -> None:
    """Its optimiser computes what constants give, and then fuses; sizes it cannot know."""
    pool = "y = MaxPool<kernel_shape = [2]>(q)"
    from_constants = tiny(
        f"p = Concat<axis = 0>(a, a) q = Pad(x, p{fill}) {pool}",
        constants="int64[3] a = {0,0,1}, float c = {-5}",
    )
    after = done(from_constants, "static-pads").model
    assert isinstance(after, onnx.ModelProto)
    for optimised in (False, True):
        found = by_onnxruntime(after, -X5, optimised=optimised)
        assert found == by_onnxruntime(from_constants, -X5, optimised=optimised)
    text = f"""s = Shape(x) h = Gather<axis = 0>(s, two) n = Sub(eight, h) k = Unsqueeze(n, zero)
     p = Concat<axis = 0>(five, k) q = Pad(x, p{fill}) {pool}"""
    constants = """int64 two = {2}, int64 eight = {8}, int64[1] zero = {0},
     int64[5] five = {0,0,0,0,0}, float c = {-5}"""
    from_sizes = tiny(text, "float[1,1,W]", constants=constants)
    if not fill:
        assert (
            "keeps onnxruntime from fusing"
            in refused(from_sizes, "static-pads", dims={"W": 5}).reason
        )
        return
    after = done(from_sizes, "static-pads", dims={"W": 5}).model
    assert isinstance(after, onnx.ModelProto)
    for optimised in (False, True):
        found = by_onnxruntime(after, -X5, optimised=optimised)
        assert found == by_onnxruntime(from_sizes, -X5)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("pads", [(0, 1), (1, 0), (2, 1)])
def test_transposed_convolutions_with_dynamic_pads(pads: tuple[int, int], bias: bool) -> None:
    text = f"""p = Concat<axis = 0>(a, b) [op] y = com.microsoft.ConvTransposeWithDynamicPads
     <strides = [2], output_padding = [1], kernel_shape = [3]>(x, w, p{", c" if bias else ""})"""
    constants = f"int64[1] a = {{{pads[0]}}}, int64[1] b = {{{pads[1]}}}, float[1] c = {{5}}"
    model = tiny(text, constants=constants + ", float[1,1,3] w = {1, 10, 100}")
    (site,) = EditSession(model).sites()
    assert Form.PADS_INPUT in forms_of(site.chain)
    after = done(model, "static-pads").model
    assert isinstance(after, onnx.ModelProto)
    assert kinds(after) == ["ConvTranspose"]
    assert attributes(after, "op/convtranspose") == {
        "strides": [2],
        "output_padding": [1],
        "kernel_shape": [3],
        "pads": list(pads),
    }
    for x in (X5, -X6[:, :, 1:], numbers(1), numbers(3, -2)):
        assert by_onnxruntime(after, x) == by_onnxruntime(model, x)
    assert values(after, X5) == by_onnxruntime(after, X5)


def test_transposed_convolutions_whose_pads_are_not_known() -> None:
    text = "[op] y = com.microsoft.ConvTransposeWithDynamicPads(x, w, p)"
    model = tiny(text, inputs="int64[2] p")
    assert "computed while the model runs" in refused(model, "static-pads").reason
    both = text.replace("Pads(", 'Pads<auto_pad = "SAME_UPPER">(')
    model = tiny(both, constants="int64[2] p = {0, 1}, float[1,1,3] w = {1, 10, 100}")
    assert "pads as an input, which contradict each other" in refused(model, "static-pads").reason


def test_inside_a_function_and_a_branch() -> None:
    body = "p = Concat<axis = 0>(a, a) r = Pad(x, p)"
    text = f"""y = If(c) <then_branch = t () => (float[1,1,7] r) {{ {body} }},
        else_branch = e () => (float[1,1,5] s) {{ s = Identity(x) }}>"""
    model = tiny(text, constants="int64[3] a = {0,0,1}", inputs="bool c")
    after = done(model, "static-pads").model
    assert isinstance(after, onnx.ModelProto)
    assert kinds(after) == ["If", "Pad", "Identity"]
    for branch in (True, False):
        feed = {"x": X5, "c": np.array(branch)}
        np.testing.assert_array_equal(run_model(after, feed)["y"], run_model(model, feed)["y"])
        found = ran(after, feed, optimised=True)
        np.testing.assert_array_equal(found, run_model(model, feed)["y"])
    function = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["": 18, "f": 1]> g (float[1,1,5] x) => (float[1,1,n] y) '
        "<int64[3] a = {0,0,2}> { y = f.around(x, a) } "
        '<domain: "f", opset_import: ["": 18]> around (b, a) => (c) '
        "{ p = Concat<axis = 0>(a, a) c = Pad(b, p) }"
    )
    after = done(function, "static-pads").model
    assert isinstance(after, onnx.ModelProto)
    assert [node.op_type for node in after.functions[0].node] == ["Constant", "Pad"]
    assert by_onnxruntime(after, X5) == [0, 0, 1, 2, 3, 4, 5, 0, 0]


def test_a_graph_of_graphsurgeon() -> None:
    model = tiny(f"{TORCHSCRIPT} [op] y = Conv(q, w)", constants=CONSTANTS)
    model.graph.output[0].type.tensor_type.elem_type = 1
    graph = gs.import_onnx(model)
    assert rewrite(graph, passes=["static-pads"]).changed
    assert [node.op for node in graph.nodes] == ["Pad", "Conv"]
    assert by_onnxruntime(gs.export_onnx(graph), X5) == values(model, X5)
