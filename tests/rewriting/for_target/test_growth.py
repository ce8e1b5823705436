"""A search for a target looks at each node a few times, however many others the model has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from onnx import ModelProto, TensorProto, helper

import onnxpad
from onnxpad.model.reading.nodes import Node
from onnxpad.model.reading.scopes import Scope
from onnxpad.model.reading.survey import Site, Survey


def pools_in_a_row(count: int) -> ModelProto:
    """MaxPools of which CoreML takes none, in a row."""
    nodes = [
        helper.make_node("MaxPool", [f"t{n}"], [f"t{n + 1}"], kernel_shape=[3], pads=[1, 1])
        for n in range(count)
    ]
    made = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("t0", [1, 1, 9]), (f"t{count}", None))
    ]
    graph = helper.make_graph(nodes, "pools", made[:1], made[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def looks(model: ModelProto, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many nodes and sites are walked over while the model is fitted."""
    asked = 0
    ordered, sites = Scope.ordered, Survey.sites

    def nodes_counted(scope: Scope) -> Iterator[Node]:
        nonlocal asked
        for one in ordered(scope):
            asked += 1
            yield one

    def sites_counted(survey: Survey) -> Iterator[Site]:
        nonlocal asked
        for one in sites(survey):
            asked += 1
            yield one

    with monkeypatch.context() as patch:
        patch.setattr(Scope, "ordered", nodes_counted)
        patch.setattr(Survey, "sites", sites_counted)
        result = onnxpad.rewrite(model, target="coreml")
    assert len(result.changes) >= len(model.graph.node)
    return asked


def test_twice_the_nodes_are_looked_at_twice_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the last 200 nodes each is looked at as often as of the 100 before them."""
    few, some, many = (looks(pools_in_a_row(count), monkeypatch) for count in (100, 200, 400))
    assert many - some < 3 * (some - few)
