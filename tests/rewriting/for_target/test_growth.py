"""A search for a target looks at each node a few times, however many others the model has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from onnx import ModelProto, TensorProto, helper

import onnxpad
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.scopes import Scope
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


def pads_in_a_row(count: int) -> ModelProto:
    """Pads of which ncnn takes none as it is written, each of another size, and a pool."""
    nodes = [helper.make_node("Pad", [f"t{n}", "p"], [f"t{n + 1}"]) for n in range(count)]
    same: dict[str, Any] = {"kernel_shape": [3], "strides": [2], "auto_pad": "SAME_UPPER"}
    nodes.append(helper.make_node("MaxPool", [f"t{count}"], ["y"], **same))
    made = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("t0", [1, 1, 10]), ("y", None))
    ]
    pads = helper.make_tensor("p", TensorProto.INT64, [6], [0, 0, 1, 0, 0, 1])
    graph = helper.make_graph(nodes, "pads", made[:1], made[1:], [pads])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def looks(model: ModelProto, target: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many nodes and sites are walked over while the model is fitted."""
    asked = 0
    ordered, sites = Scope.ordered, Survey.sites_now

    def nodes_counted(scope: Scope) -> Iterator[Node]:
        nonlocal asked
        for one in ordered(scope):
            asked += 1
            yield one

    def sites_counted(survey: Survey) -> tuple[Site, ...]:
        nonlocal asked
        found = sites(survey)
        asked += len(found)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Scope, "ordered", nodes_counted)
        patch.setattr(Survey, "sites_now", sites_counted)
        result = onnxpad.rewrite(model, target=target, require_device=True)
    assert len(result.changes) >= len(model.graph.node)
    return asked


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("made", "target", "few"), [(pools_in_a_row, "coreml", 100), (pads_in_a_row, "ncnn", 10)]
)
def test_twice_the_nodes_are_looked_at_twice_as_often(
    made: Callable[[int], ModelProto], target: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the last nodes each is looked at as often as of those before them."""
    counts = [looks(made(count), target, monkeypatch) for count in (few, 2 * few, 4 * few)]
    assert counts[2] - counts[1] < 3 * (counts[1] - counts[0])
