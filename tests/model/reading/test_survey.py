from __future__ import annotations

import pytest
from onnx import ModelProto, helper, parser

from onnxpad.errors import ModelError, RequestError
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.padding.chain import Skip
from onnxpad.padding.effective_pads import effective_pads

HEADER = '<ir_version: 9, opset_import: ["" : 17, "com.microsoft" : 1]>\n'


def model(text: str, header: str = HEADER) -> ModelProto:
    found: ModelProto = parser.parse_model(header + text)
    return found


def sites(text: str, **facts: int | str) -> dict[str, Site]:
    read = Survey(model(text), dims={name.replace("__", "%"): fact for name, fact in facts.items()})
    return {site.address.label: site for site in read.sites_now()}


def pads(site: Site) -> tuple[int, ...] | str:
    found = effective_pads(site.chain)
    return found.reason if isinstance(found, Skip) else found.flat


STRIDED = """g (float[1,3,h,w] x, float[4,3,3,3] k, float[4,4,3,3] k2) => (float[a,b,c,d] z) {
  y = Conv<auto_pad="SAME_UPPER", strides=[2,2]>(x, k)
  r = Relu(y)
  z = Conv<auto_pad="SAME_UPPER", strides=[2,2]>(r, k2)
}"""


@pytest.mark.parametrize(
    ("h", "w", "first", "second"),
    [
        pytest.param(224, 224, (0, 0, 1, 1), (0, 0, 1, 1), id="even numbers"),
        pytest.param("%4=0", "%4==0", (0, 0, 1, 1), (0, 0, 1, 1), id="multiples of 4"),
        pytest.param("%4=1", 7, (1, 1, 1, 1), (1, 0, 1, 1), id="one more than a multiple"),
    ],
)
def test_facts_about_dimensions_settle_pads(
    h: int | str, w: int | str, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    found = sites(STRIDED, h=h, w=w)
    assert (pads(found["y"]), pads(found["z"])) == (first, second)


def test_a_linear_dimension_name_is_a_fact_by_itself() -> None:
    read = model(STRIDED)
    read.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "32*h"
    read.graph.input[0].type.tensor_type.shape.dim[3].dim_param = "8*w+2"
    found = {site.address.label: site for site in Survey(read).sites_now()}
    assert pads(found["y"]) == (0, 0, 1, 1)
    assert pads(found["z"]) == (0, 1, 1, 1)


@pytest.mark.parametrize(
    ("dims", "message"),
    [
        ({"q": 3}, "no dimension is called 'q'.*h, w"),
        ({"h": "%2"}, "cannot read '%2' for 'h'"),
        ({"h": "%2=2"}, "can never hold: a remainder is below its divisor"),
        ({"h": "%0=0"}, "can never hold: a divisor is at least 1"),
        ({"h": 0}, "at least 1"),
    ],
)
def test_bad_facts_are_errors(dims: dict[str, int | str], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        Survey(model(STRIDED), dims=dims)


def test_own_rule_beats_a_wrong_declared_shape() -> None:
    """Before opset 22 inference keeps the window that starts in the end padding."""
    text = """g (float[1,1,2,2] x, float[1,1,3,3] k) => (float[1,1,c,d] y)
    <float[1,1,2,2] p> {
      p = MaxPool<kernel_shape=[1,1], strides=[2,2], ceil_mode=1>(x)
      y = Conv<auto_pad="SAME_UPPER", strides=[2,2]>(p, k)
    }"""
    found = sites(text)
    assert [axis.size for axis in found["y"].chain.axes] == [1, 1]
    assert pads(found["y"]) == (1, 1, 1, 1)


def test_inference_never_sees_what_it_gets_wrong() -> None:
    """The ceil pool's true size is 1; what onnx infers for it would make the Resize 4 wide."""
    text = """g (float[1,1,2,2] x, float[1,1,3,3] k) => (float[a,b,c,d] y)
    <float[4] scales = {1, 1, 2, 2}> {
      p = MaxPool<kernel_shape=[1,1], strides=[2,2], ceil_mode=1>(x)
      u = Resize<mode="nearest">(p, , scales)
      y = Conv<auto_pad="SAME_UPPER", strides=[3,3]>(u, k)
    }"""
    assert [axis.size for axis in sites(text)["y"].chain.axes] == [2, 2]


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ("pads=[1,1,1]", r"pads is \[1, 1, 1\], 4 numbers expected"),
        ("kernel_shape=[1]", r"kernel_shape is \[1\], 2 numbers expected for 2 spatial"),
        ("strides=[1]", r"strides is \[1\], 2 numbers"),
        ("dilations=[0,1]", "all must be at least 1"),
        ("kernel_shape=[3,3,3]", r"kernel_shape is \[3, 3, 3\], 2 numbers expected"),
    ],
)
def test_attributes_that_cannot_be_meant(attributes: str, message: str) -> None:
    text = f"""g (float[1,1,6,6] x, float[1,1,3,3] k) => (float[n,m,h,w] y) {{
      y = Conv<{attributes}>(x, k)
    }}"""
    with pytest.raises(ModelError, match=message):
        Survey(model(text))


def test_cycles_and_double_writers_are_errors() -> None:
    cycle = model("g (float[1] x) => (float[1] y) { a = Add(x, b) b = Relu(a) y = Relu(b) }")
    with pytest.raises(ModelError, match="cycle through Add 'a'"):
        Survey(cycle)
    double = model("g (float[1] x) => (float[1] y) { y = Relu(x) y = Relu(x) }")
    with pytest.raises(ModelError, match="'y' is written by two nodes"):
        Survey(double)


def test_unsorted_nodes_are_read_in_an_order_that_works() -> None:
    read = model(STRIDED)
    nodes = list(read.graph.node)
    shuffled = [helper.make_node("Identity", ["x"], ["unused"])] + [
        type(nodes[0]).FromString(node.SerializeToString()) for node in reversed(nodes)
    ]
    del read.graph.node[:]
    read.graph.node.extend(shuffled)
    found = {site.address.label: site for site in Survey(read, dims={"h": 8, "w": 8}).sites_now()}
    assert (pads(found["y"]), pads(found["z"])) == ((0, 0, 1, 1), (0, 0, 1, 1))


def test_a_body_that_reads_a_later_node_puts_its_owner_behind_it() -> None:
    text = """g (bool c, float[1,1,6,6] x, float[1,1,3,3] k) => (float[n,m,h,w] y) {
      y = If (c) <
        then_branch = a () => (float[n,m,h,w] t) {
          t = Conv<auto_pad="SAME_UPPER", strides=[2,2]>(r, k)
        },
        else_branch = b () => (float[n,m,h,w] e) { e = MaxPool<kernel_shape=[2,2]>(q) }
      >
      q = Relu(r)
      r = Relu(x)
    }"""
    assert pads(sites(text)["y.then_branch/t"]) == (0, 0, 1, 1)
