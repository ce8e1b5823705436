"""Excerpts: what stands around a node, and no more."""

from __future__ import annotations

from onnx import TensorProto, helper

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
    return list(Survey(model).sites())


def test_more_pads_in_front_of_a_node_than_an_excerpt_holds() -> None:
    site = rows(MAX_NODES + 9)[-1]
    found = excerpt(site.contexts[0], site.node)
    assert len(found.model.graph.node) <= MAX_NODES
    assert len(found.fronts) == len(found.model.graph.node) - 1


def test_pads_in_front_of_a_pad_count_where_something_else_reads_it() -> None:
    *_, middle, last, _ = rows(20)
    assert len(excerpt(last.contexts[0], last.node).fronts) == ROW - 1
    found = excerpt(middle.contexts[0], middle.node)
    assert found.fronts == ()
    assert [node.op_type for node in found.model.graph.node] == ["Pad", "Pad"]
    assert found.readers == (1,)
