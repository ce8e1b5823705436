"""Branches in branches: conditions are asked a few times each, however many Pads are inside."""

import pytest
from onnx import TensorProto, helper

from onnxpad.model.graph.context import Context
from onnxpad.model.reading.survey import Survey


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
