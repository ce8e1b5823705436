"""What inspect reads: sizes that settle pads, nodes in any order, what cannot be meant."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import ModelProto, helper, parser

from onnxpad import ModelError, RequestError, inspect

STRIDED = """g (float[1,3,h,w] x, float[4,3,3,3] k, float[4,4,3,3] k2) => (float[a,b,c,d] z) {
  y = Conv<auto_pad="SAME_UPPER", strides=[2,2]>(x, k)
  r = Relu(y)
  z = Conv<auto_pad="SAME_UPPER", strides=[2,2]>(r, k2)
}"""


def model(text: str) -> ModelProto:
    found: ModelProto = parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]>\n{text}')
    return found


def pads(given: ModelProto, **dims: Any) -> list[tuple[int, ...] | None]:
    return [node.pads for node in inspect(given, dims=dims).nodes]


@pytest.mark.parametrize(
    ("h", "w", "first", "second"),
    [
        (224, 224, (0, 0, 1, 1), (0, 0, 1, 1)),
        ("%4=0", "%4==0", (0, 0, 1, 1), (0, 0, 1, 1)),
        ("%4=1", 7, (1, 1, 1, 1), (1, 0, 1, 1)),
    ],
)
def test_facts_about_dimensions_settle_pads(h: Any, w: Any, first: Any, second: Any) -> None:
    assert pads(model(STRIDED), h=h, w=w) == [first, second]


def test_a_linear_dimension_name_is_a_fact_by_itself() -> None:
    named = model(STRIDED.replace("3,h,w]", '3,"32*h","8*w+2"]'))
    assert pads(named) == [(0, 0, 1, 1), (0, 1, 1, 1)]


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
        inspect(model(STRIDED), dims=dims)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ("pads=[1,1,1]", r"pads is \[1, 1, 1\], 4 numbers expected"),
        ("kernel_shape=[1]", r"kernel_shape is \[1\], 2 numbers expected for 2 spatial"),
        ("dilations=[0,1]", "all must be at least 1"),
    ],
)
def test_attributes_that_cannot_be_meant(attributes: str, message: str) -> None:
    text = "g (float[1,1,6,6] x, float[1,1,3,3] k) => (float[n,m,h,w] y)"
    with pytest.raises(ModelError, match=message):
        inspect(model(f"{text} {{ y = Conv<{attributes}>(x, k) }}"))


def test_cycles_and_double_writers_are_errors() -> None:
    for nodes, message in (
        ("a = Add(x, b) b = Relu(a) y = Relu(b)", "cycle through Add 'a'"),
        ("y = Relu(x) y = Relu(x)", "'y' is written by two nodes"),
    ):
        with pytest.raises(ModelError, match=message):
            inspect(model(f"g (float[1] x) => (float[1] y) {{ {nodes} }}"))


def test_unsorted_nodes_are_read_in_an_order_that_works() -> None:
    read = model(STRIDED)
    nodes = [type(node).FromString(node.SerializeToString()) for node in read.graph.node]
    del read.graph.node[:]
    read.graph.node.extend([helper.make_node("Identity", ["x"], ["unused"]), *reversed(nodes)])
    assert pads(read, h=8, w=8) == [(0, 0, 1, 1), (0, 0, 1, 1)]


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
    assert pads(model(text))[0] == (0, 0, 1, 1)
