"""What an edit script does to a graphsurgeon Graph: readers, order, bodies, functions, time."""

import sys

import numpy as np
import onnx_graphsurgeon as gs
import pytest

from onnxpad.rewriting.rewrite import rewrite
from tests.models.surgeon_graphs import (
    WIDE,
    assert_computes,
    assert_linked,
    called_twice,
    conv,
    graph_of,
    long_chain,
    names,
    pad,
    tensors,
)


@pytest.mark.parametrize("opset", [9, 10, 13, 21])
def test_split_and_absorb_are_each_others_inverse(opset: int) -> None:
    x, y, z = tensors("x", "y", "z")
    graph = graph_of(
        [conv(x, y, pads=[1, 0, 1, 2]), conv(y, z, pads=[0, 1, 1, 0])], x, z, opset=opset
    )
    nodes, original = list(graph.nodes), gs.export_onnx(graph)
    assert rewrite(graph, passes=["split-pads"]).model is graph
    assert names(graph) == ["y_conv/pad", "y_conv", "z_conv/pad", "z_conv"]
    assert_linked(graph)
    assert_computes(graph, original)
    rewrite(graph, passes=["absorb-pad"])
    assert [id(node) for node in graph.nodes] == [id(node) for node in nodes]
    assert [node.attrs["pads"] for node in graph.nodes] == [[1, 0, 1, 2], [0, 1, 1, 0]]
    assert_linked(graph)
    assert gs.export_onnx(graph).graph.node == original.graph.node


def test_one_script_may_split_and_absorb() -> None:
    x, y = tensors("x", "y")
    graph = graph_of([conv(x, y, pads=[1, 0, 1, 2])], x, y)
    rewrite(graph, passes=["split-pads", "absorb-pad"])
    assert names(graph) == ["y_conv"]
    assert [reader.name for reader in x.outputs] == ["y_conv"]
    assert_linked(graph)


def test_an_old_file_version_gets_constant_nodes() -> None:
    """Before IR version 4 an initializer is an input as well, which graphsurgeon cannot say."""
    x, y = tensors("x", "y")
    graph = graph_of([conv(x, y, pads=[1, 0, 1, 2])], x, y, ir_version=3)
    original = gs.export_onnx(graph)
    rewrite(graph, passes=["split-pads"])
    assert [node.op for node in graph.nodes] == ["Constant", "Pad", "Conv"]
    assert_linked(graph)
    assert_computes(graph, original)


def test_a_removed_pad_is_let_go_and_a_shared_constant_kept() -> None:
    x, a, b, c, y = tensors("x", "a", "b", "c", "y")
    pads = gs.Constant("pads", np.array(WIDE, np.int64))
    gone, kept = pad(x, a, pads), pad(b, c, pads)
    relu = gs.Node("Relu", "relu", {}, [c], [y])
    graph = graph_of([gone, conv(a, b), kept, relu], x, y)
    original = gs.export_onnx(graph)
    rewrite(graph, passes=["absorb-pad"])
    assert names(graph) == ["b_conv", "c_pad", "relu"]
    assert (list(gone.inputs), list(gone.outputs)) == ([], [])
    assert [node is kept for node in pads.outputs] == [True]
    assert_linked(graph)
    assert_computes(graph, original)


def test_a_pad_with_another_reader_or_as_an_output_stays() -> None:
    for read in (True, False):
        x, a, b, c = tensors("x", "a", "b", "c")
        extra = [gs.Node("Relu", "relu", {}, [a], [c])] if read else []
        graph = graph_of([pad(x, a), conv(a, b), *extra], x, b, c if read else a)
        original = gs.export_onnx(graph)
        assert rewrite(graph, passes=["absorb-pad"]).changed
        assert names(graph)[:2] == ["a_pad", "b_conv"]
        assert graph.nodes[1].inputs[0] is x
        assert_computes(graph, original)


def test_a_reader_is_known_by_name() -> None:
    """Bodies may hold tensors of their own for what the outer graph makes."""
    x, a, b, y, flag = *tensors("x", "a", "b", "y"), gs.Constant("flag", np.array(True))
    bodies = []
    for name in ("then", "else"):
        outer, given = tensors("a", name)
        given.dtype = np.float32
        bodies.append(gs.Graph([gs.Node("Relu", name, {}, [outer], [given])], [], [given], name))
    branches = dict(zip(("then_branch", "else_branch"), bodies, strict=True))
    graph = graph_of([pad(x, a), conv(a, b), gs.Node("If", "if", branches, [flag], [y])], x, b, y)
    original = gs.export_onnx(graph)
    assert rewrite(graph, passes=["absorb-pad"]).changed
    assert names(graph) == ["a_pad", "b_conv", "if"]
    assert_computes(graph, original)


def test_bodies_with_equal_names_are_edited_apart() -> None:
    x, y, flag = *tensors("x", "y"), gs.Constant("flag", np.array(True))
    bodies = []
    for size in (1, 0):
        a, b = tensors("a", "b")
        pads = gs.Constant("p", np.array([0, 0, size, 0, 0, 0, 0, size], np.int64))
        b.dtype = np.float32
        bodies.append(gs.Graph([pad(x, a, pads), conv(a, b)], [], [b], f"body{size}"))
    branches = dict(zip(("then_branch", "else_branch"), bodies, strict=True))
    graph = graph_of([gs.Node("If", "if", branches, [flag], [y])], x, y)
    original = gs.export_onnx(graph)
    rewrite(graph, passes=["absorb-pad"])
    assert [names(body) for body in bodies] == [["b_conv"], ["b_conv"]]
    assert [body.nodes[0].attrs.get("pads") for body in bodies] == [[1, 0, 0, 1], None]
    assert_computes(graph, original)
    rewrite(graph, passes=["split-pads"])
    assert [len(body.nodes) for body in bodies] == [2, 1]
    assert_computes(graph, original)


def test_a_graph_keeps_its_functions() -> None:
    i, m, o = tensors("i", "m", "o")
    second = conv(m, o, auto_pad="SAME_UPPER", strides=[2, 2])
    graph = called_twice(conv(i, m, pads=[0, 1, 1, 0]), second)
    done = rewrite(graph, passes=["split-pads"])
    assert not done.changed
    assert [node.op for node in graph.nodes] == ["f", "MaxPool", "f"]
    assert "a Graph keeps its functions" in done.skips[0].skip.reason


def test_nodes_that_share_their_attributes_are_edited_apart() -> None:
    x, y, z = tensors("x", "y", "z")
    shared = {"auto_pad": "SAME_UPPER", "strides": [2, 2]}
    graph = graph_of([conv(x, y), conv(y, z)], x, z)
    for node in graph.nodes:
        node.attrs = shared
    original = gs.export_onnx(graph)
    rewrite(graph, passes=["explicit-pads"])
    assert shared == {"auto_pad": "SAME_UPPER", "strides": [2, 2]}
    assert_computes(graph, original)


def calls_while_rewriting(count: int, passes: list[str]) -> int:
    graph, calls = long_chain(count), [0]

    def count_call(_frame: object, _event: str, _argument: object) -> None:
        calls[0] += 1

    sys.setprofile(count_call)
    try:
        rewriting = rewrite(graph, passes=passes)
    finally:
        sys.setprofile(None)
    assert len(rewriting.changes) == count * len(passes)
    return calls[0]


@pytest.mark.sweep
def test_time_is_linear_in_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    def compare(one: object, other: object) -> bool:
        raise AssertionError(f"compared {one} with {other}")

    for kind in (gs.Node, gs.Tensor):
        monkeypatch.setattr(kind, "__eq__", compare)
    few, many = (calls_while_rewriting(count, ["absorb-pad", "split-pads"]) for count in (100, 300))
    assert many < 3.3 * few
