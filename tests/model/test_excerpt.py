"""Excerpts: what stands around a node, and no more."""

from __future__ import annotations

from onnx import TensorProto, helper

from onnxpad.model.excerpt import MAX_NODES, excerpt
from onnxpad.model.reading.survey import Survey


def test_more_pads_in_front_of_a_node_than_an_excerpt_holds() -> None:
    count = MAX_NODES + 9
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
    (site,) = [site for site in Survey(model).sites() if site.op == "MaxPool"]
    found = excerpt(site.contexts[0], site.node)
    assert len(found.model.graph.node) <= MAX_NODES
    assert len(found.fronts) == len(found.model.graph.node) - 1
