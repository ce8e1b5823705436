"""Branches in branches: what others of them read is counted once for all Pads in them."""

import pytest
from onnx import GraphProto, TensorProto, helper

from onnxpad import inspect
from onnxpad.model.graph.scopes import Scope
from onnxpad.model.reading import row_of_pads


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
