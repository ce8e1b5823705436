"""Excerpts: what stands around a node, and no more."""

from __future__ import annotations

from onnx import TensorProto, helper, numpy_helper, parser

from onnxpad.geometry.budgets import ROW
from onnxpad.model.excerpt import MAX_NODES, excerpt
from onnxpad.model.reading.survey import Site, Survey


def rows(count: int) -> list[Site]:
    """Pads in a row and the pool that reads the last of them."""
    pads = [helper.make_node("Pad", [f"t{n}", "p"], [f"t{n + 1}"]) for n in range(count)]
    pool = helper.make_node(
        "MaxPool", [f"t{count}"], ["y"], "op", kernel_shape=[3], auto_pad="SAME_UPPER"
    )
    graph = helper.make_graph(
        [*pads, pool],
        "long",
        [helper.make_tensor_value_info("t0", TensorProto.FLOAT, [1, 1, 9])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [helper.make_tensor("p", TensorProto.INT64, [6], [0, 0, 1, 0, 0, 1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    return list(Survey(model).sites_now())


def test_more_pads_in_front_of_a_node_than_an_excerpt_holds() -> None:
    site = rows(MAX_NODES + 9)[-1]
    found = excerpt(site.context, site.node)
    assert len(found.model.graph.node) <= MAX_NODES
    assert len(found.fronts) == len(found.model.graph.node) - 1


def test_pads_in_front_of_a_pad_count_where_something_else_reads_it() -> None:
    *_, middle, last, _ = rows(20)
    assert len(excerpt(last.context, last.node).fronts) == ROW - 1
    found = excerpt(middle.context, middle.node)
    assert found.fronts == ()
    assert [node.op_type for node in found.model.graph.node] == ["Pad", "Pad"]
    assert found.readers == (1,)


def test_a_number_that_a_constant_around_the_graph_holds() -> None:
    model = parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
    net (bool c, float[1,1,8] x) => (float[1,1,10] y)
    {
        minus = Constant <value_float = -1.0> ()
        y = If (c) <
            then_branch = t () => (float[1,1,10] u) <int64[6] p = {0, 0, 1, 0, 0, 1}> {
                u = Pad (x, p, minus)
            },
            else_branch = e () => (float[1,1,10] v) <int64[6] q = {0, 0, 2, 0, 0, 0}> {
                v = Pad (x, q)
            }
        >
    }
    """)
    site, _ = Survey(model).sites_now()
    found = excerpt(site.context, site.node)
    held = [numpy_helper.to_array(one).tolist() for one in found.model.graph.initializer]
    assert held == [[0, 0, 1, 0, 0, 1], -1.0]
