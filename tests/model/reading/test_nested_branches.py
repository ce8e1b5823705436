"""Branches in branches: what others of them read is counted once for all Pads in them."""

import pytest
from onnx import GraphProto, TensorProto, helper

from onnxpad import inspect
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.scopes import Scope
from onnxpad.model.reading import row_of_pads
from onnxpad.model.reading.survey import Survey


def branch(depth: int, name: str) -> GraphProto:
    """A Pad and a pool in each leaf of a tree of If nodes."""
    if depth:
        bodies = {f"{way}_branch": branch(depth - 1, name + way) for way in ("then", "else")}
        nodes = [helper.make_node("If", ["c"], [name], **bodies)]
    else:
        nodes = [
            helper.make_node("Pad", ["x", "p"], [f"{name}_padded"]),
            helper.make_node("MaxPool", [f"{name}_padded"], [name], kernel_shape=[2]),
        ]
    made = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    return helper.make_graph(nodes, name, [], [made])


def test_uses_in_other_branches_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = branch(6, "y")
    graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 8]))
    graph.initializer.append(helper.make_tensor("p", TensorProto.INT64, [6], [0, 0, 1, 0, 0, 1]))
    graph.initializer.append(helper.make_tensor("c", TensorProto.BOOL, [], [True]))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    count, counted = [0], row_of_pads._uses_in  # noqa: SLF001

    def counting(scope: Scope, name: str) -> int:
        count[0] += 1
        return counted(scope, name)

    monkeypatch.setattr(row_of_pads, "_uses_in", counting)
    assert len(inspect(model).nodes) == 128
    assert count[0] <= 127 * 6  # graphs, and how deep they are; 15,360 in a walk for each Pad


def test_many_pads_deep_inside_climb_the_branches_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pads, depth = 100, 28
    nodes = [helper.make_node("Pad", ["x", "p"], [f"z{n}"]) for n in range(pads)]
    nodes += [
        helper.make_node("MaxPool", [f"z{n}"], [f"y{n}"], kernel_shape=[2]) for n in range(pads)
    ]
    name = "y0"
    for _ in range(depth):
        made = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        body = helper.make_graph(nodes, "body", [], [made])
        nodes, name = [helper.make_node("If", ["c"], ["r"], then_branch=body)], "r"
    graph = helper.make_graph(nodes, "main", [], [])
    graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 8]))
    graph.initializer.append(helper.make_tensor("p", TensorProto.INT64, [6], [0, 0, 1, 0, 0, 1]))
    graph.initializer.append(helper.make_tensor("c", TensorProto.BOOL, [], [True]))
    asked, constant = [0], Context.constant

    def counting(context: Context, name: str) -> object:
        asked[0] += name == "c"
        return constant(context, name)

    monkeypatch.setattr(Context, "constant", counting)
    survey = Survey(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    assert len(survey.sites_now()) == 2 * pads
    assert asked[0] <= 4 * depth  # 2,800 and more where each Pad climbs them
