"""static-pads: pads that the model computes, those of exporters too, become constants."""

from __future__ import annotations

import re
from math import ceil, floor

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from onnx import ModelProto, ValueInfoProto, parser

from onnxpad.geometry.size import show
from onnxpad.inspection import inspect
from onnxpad.model.editing.session import EditSession
from onnxpad.model.reading.survey import Survey
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
    (site,) = EditSession(model).sites_now()
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
    assert Form.DYNAMIC not in forms_of(next(iter(EditSession(after).sites_now())).chain)


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
    (site,) = EditSession(model).sites_now()
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
    assert (kinds(after), len(after.functions)) == (["Pad"], 0)
    assert by_onnxruntime(after, X5) == [0, 0, 1, 2, 3, 4, 5, 0, 0]


def test_a_graph_of_graphsurgeon() -> None:
    model = tiny(f"{TORCHSCRIPT} [op] y = Conv(q, w)", constants=CONSTANTS)
    model.graph.output[0].type.tensor_type.elem_type = 1
    graph = gs.import_onnx(model)
    assert rewrite(graph, passes=["static-pads"]).changed
    assert [node.op for node in graph.nodes] == ["Pad", "Conv"]
    assert by_onnxruntime(gs.export_onnx(graph), X5) == values(model, X5)


EXPORTED = """float[4,2,3,3] k, int64 two = {2}, int64 three = {3}, int64 zero = {0},
 int64 one = {1}, int64[1] ax = {0}, int64[1] eight = {8}, int64[1] minus = {-1},
 int64[1] far = {-9223372036854775807}, int64[2] rows = {-1, 2}, int64[1] first = {0},
 int64[2] spatial = {2, 3}, int64[2] ones = {1, 1}, int64[2] twos = {2, 2}, int64[2] zeros = {0, 0},
 int64[4] nothing = {0, 0, 0, 0}, int64[2,1] back = {2, 3}, int64[2,1] front = {6, 7},
 int64[2] halves = {2, 2}, float ftwo = {2}, int64[2] fours = {4, 4}, int64[2] kernel = {3, 3}"""
# F.pad and ZeroPad2d of TorchScript: amounts [left, right, top, bottom] to ONNX order, with the
# rank taken from the shape of the list itself.
FLIP = """
 len_ = Shape(amounts) more = Sub(eight, len_) fill = ConstantOfShape<value = int64[1] {0}>(more)
 all = Concat<axis = 0>(amounts, fill) table = Reshape(all, rows)
 turned = Slice(table, minus, far, first, minus) flipped = Transpose<perm = [1, 0]>(turned)
 flat = Reshape(flipped, minus) pads = Cast<to = 7>(flat)"""
SIZE = """s{0} = Shape(x) h{0} = Gather(s{0}, {1}) """
SIZES = SIZE.format(2, "two") + SIZE.format(3, "three")
# timm's Conv2dSame, traced: ceil is -(-h // 2), max(..., 0) is gone.
TIMM = SIZES + "".join(
    f"""n{i} = Neg(h{i}) q{i} = Div(n{i}, two) c{i} = Neg(q{i}) o{i} = Sub(c{i}, one)
 m{i} = Mul(o{i}, two) e{i} = Add(m{i}, three) t{i} = Sub(e{i}, h{i}) a{i} = Div(t{i}, two)
 b{i} = Sub(t{i}, a{i}) l{i} = Unsqueeze(a{i}, ax) r{i} = Unsqueeze(b{i}, ax) """
    for i in (2, 3)
)
# The same in floating point: math.ceil(h / 2).
FLOATS = SIZES + "".join(
    f"""n{i} = Cast<to = 1>(h{i}) q{i} = Div(n{i}, ftwo) c{i} = Ceil(q{i}) d{i} = Cast<to = 7>(c{i})
 o{i} = Sub(d{i}, one) m{i} = Mul(o{i}, two) e{i} = Add(m{i}, three) t{i} = Sub(e{i}, h{i})
 z{i} = Max(t{i}, zero) a{i} = Div(z{i}, two) b{i} = Sub(z{i}, a{i})
 l{i} = Unsqueeze(a{i}, ax) r{i} = Unsqueeze(b{i}, ax) """
    for i in (2, 3)
)
FOUR = " amounts = Concat<axis = 0>(l3, r3, l2, r2)" + FLIP
# Up to a multiple of 4: (4 - size % 4) % 4 at the end.
MULTIPLE = """s = Shape<start = 2>(x) rest = Mod(s, fours) less = Sub(fours, rest)
 end = Mod(less, fours) pads = Concat<axis = 0>(nothing, zeros, end)"""
WHERE = """s = Shape(x) hw = Gather(s, spatial) odd = Mod(hw, twos) is_ = Equal(odd, ones)
 end = Where(is_, ones, zeros) pads = Concat<axis = 0>(nothing, zeros, end)"""
SCATTER = """s = Shape(x) hw = Gather(s, spatial) end = Mod(hw, twos)
 all = Expand(zero, eight) pads = ScatterND(all, front, end)"""
SPLIT = """s = Shape(x) nc, hw = Split<axis = 0>(s, halves) h, w = Split<axis = 0>(hw, ones)
 both = Concat<axis = 0>(h, w) end = Mod(both, twos) pads = Concat<axis = 0>(nothing, zeros, end)"""
STYLES = {
    "timm": TIMM + FOUR,
    "floats": FLOATS + FOUR,
    "multiple": MULTIPLE,
    "where": WHERE,
    "scatter": SCATTER,
    "split": SPLIT,
}


def model(style: str, shape: str = "N,2,H,W") -> ModelProto:
    body = STYLES[style] + ' p = Pad<mode = "constant">(x, pads) y = Conv<strides = [2, 2]>(p, k)'
    text = f"g (float[{shape}] x) => (float[a,b,c,d] y) <{EXPORTED}> {{ {body} }}"
    values = ", ".join(map(str, np.random.default_rng(0).standard_normal(72).round(3)))
    text = text.replace("float[4,2,3,3] k,", f"float[4,2,3,3] k = {{{values}}},")
    read: ModelProto = parser.parse_model('<ir_version: 9, opset_import: ["" : 18]>\n' + text)
    return read


def data(height: int, width: int) -> dict[str, np.ndarray]:
    values = np.random.default_rng(height).standard_normal((2, 2, height, width))
    return {"x": values.astype(np.float32)}


def assert_alike(before: ModelProto, after: ModelProto, given: dict[str, np.ndarray]) -> None:
    expected = ran(before, given, optimised=False)
    assert not isinstance(expected, str), expected
    for optimised in (False, True):
        found = ran(after, given, optimised=optimised)
        assert not isinstance(found, str), found
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 if optimised else 0)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("height", "width"), [(8, 8), (9, 8), (7, 13), (16, 5)])
def test_pads_from_known_sizes_become_constants(style: str, height: int, width: int) -> None:
    before = model(style)
    done = rewrite(before, passes=["static-pads"], dims={"H": height, "W": width})
    assert [change.rule for change in done.changes] == ["static-pads"]
    assert isinstance(done.model, ModelProto)
    kinds = [node.op_type for node in done.model.graph.node if node.op_type != "If"]
    assert kinds[-2:] == ["Pad", "Conv"]
    assert set(kinds[:-2]) <= {"Shape", "Gather"}
    given = data(height, width)
    assert_alike(before, done.model, given)


@pytest.mark.parametrize("style", STYLES)
def test_a_shape_in_the_file_is_enough(style: str) -> None:
    done = rewrite(model(style, "1,2,9,12"), passes=["static-pads"])
    assert done.changes
    assert not done.skips


@pytest.mark.parametrize("style", STYLES)
def test_a_remainder_is_enough(style: str) -> None:
    before = model(style)
    done = rewrite(before, passes=["static-pads"], dims={"H": "%4=0", "W": "%4=1"})
    assert done.changes
    assert isinstance(done.model, ModelProto)
    for height, width in ((4, 5), (8, 9), (12, 5), (4, 13)):
        given = data(height, width)
        assert_alike(before, done.model, given)


@pytest.mark.parametrize("style", STYLES)
def test_without_a_size_both_verbs_say_what_to_try(style: str) -> None:
    before = model(style)
    (skip,) = rewrite(before, passes=["static-pads"]).skips
    (pad, _) = inspect(before).nodes
    assert "computed from the size of axis 2 of 'x' ('H')" in skip.skip.reason
    assert skip.skip.hints == pad.hints
    assert skip.skip.reason == pad.reason
    numbers, divisors = skip.skip.hints
    assert numbers == "--dim 'H=640' --dim 'W=640'"
    assert re.fullmatch(r"--dim 'H%(\d+)=0' --dim 'W%\1=0'", divisors)


@pytest.mark.parametrize("style", STYLES)
def test_sizes_behind_the_pad_are_those_that_it_gives(style: str) -> None:
    """The batch and the channels at least; the rest where one name says it."""
    before = model(style)
    (pad, _) = Survey(before).sites_now()
    before.graph.output[0].CopyFrom(ValueInfoProto(name="p"))
    for height in range(3, 12):
        real = ran(before, data(height, height + 3), optimised=False)
        sizes = pad.context.type_of(pad.node.outputs[0]).dims
        assert sizes is not None
        assert not isinstance(real, str)
        assert (show(sizes[0]), sizes[1]) == ("N", 2)
        for size, number in zip(sizes[2:], real.shape[2:], strict=True):
            names = {"H": height, "W": height + 3, "floor": floor, "ceil": ceil}
            assert size is None or eval(show(size), {}, names) == number  # noqa: S307
        assert (None in sizes) is (style != "timm")


def test_absorb_pad_says_as_well_what_to_try() -> None:
    (skip,) = rewrite(model("timm"), passes=["absorb-pad"]).skips
    numbers, divisors = skip.skip.hints
    assert numbers == "--dim 'H=640' --dim 'W=640'"
    assert re.fullmatch(r"--dim 'H%(\d+)=0' --dim 'W%\1=0'", divisors)
    assert rewrite(model("timm"), passes=["absorb-pad"], dims={"H": "%2=0", "W": 9}).changes


def like(reader: str, shape: str, kind: str = "float") -> ModelProto:
    """A function of PyTorch's exporter, whose value is CastLike(0, x)."""
    text = f"""<ir_version: 10, opset_import: ["" : 18, "f" : 1]>
    g ({kind}[{shape}] x) => ({kind}[a,b,c,d] y)
      <int64[8] amounts = {{0, 0, 1, 0, 0, 0, 2, 1}}, float zero = {{0}}>
      {{ p = f.pad(x, amounts, zero) y = {reader}(p) }}
    <domain: "f", opset_import: ["" : 18]> pad (a, amounts, zero) => (b)
      {{ value = CastLike(zero, a) b = Pad(a, amounts, value) }}"""
    read: ModelProto = parser.parse_model(text)
    return read


@pytest.mark.parametrize("shape", ["N,2,H,W", "1,2,4,5", "1,2,40,50"])
@pytest.mark.parametrize("kind", ["float", "double", "float16"])
def test_the_value_of_functions_has_the_type_of_the_data(shape: str, kind: str) -> None:
    before = like("Neg", shape, kind)
    done = rewrite(before, passes=["static-pads"])
    assert isinstance(done.model, ModelProto)
    assert kinds(done.model) == ["Pad", "Neg"]
    dtype = {"float": "float32", "double": "float64"}.get(kind, kind)
    x = data(40, 50) if "40" in shape else data(4, 5)
    assert_alike(before, done.model, {"x": x["x"][:1].astype(dtype)})


def test_a_value_of_the_datas_type_does_not_keep_onnxruntime_from_fusing_the_pad() -> None:
    """It writes a CastLike as a Cast, which it computes: constants in its place change nothing."""
    before = like("MaxPool<kernel_shape = [3, 3]>", "N,2,H,W")
    done = rewrite(before, passes=["static-pads"])
    assert isinstance(done.model, ModelProto)
    plain, *fused = (ran(before, data(4, 5), optimised=level) for level in (False, True))
    assert not np.array_equal(plain, fused[0])
    for level, expected in ((False, plain), (True, fused[0])):
        np.testing.assert_array_equal(ran(done.model, data(4, 5), optimised=level), expected)
