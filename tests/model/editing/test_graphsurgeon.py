"""Rewriting a graphsurgeon Graph in place gives what rewriting the ModelProto gives."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx_graphsurgeon.importers.onnx_importer import OnnxImporter

from onnxpad import ModelError, inspect, rewrite
from tests.models.surgeon_graphs import (
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

ROOT = Path(__file__).resolve().parents[3]
MODELS = sorted((ROOT / "models").glob("*.onnx"))
CORPUS = sorted((ROOT.parent / "shared" / "corpus" / "models").glob("*.onnx"))
PASSES = [["explicit-pads"], ["symmetric-pads"], ["absorb-pad"], ["split-pads", "absorb-pad"]]


def outline(nodes: Iterable[NodeProto]) -> list[Any]:
    """Nodes as comparable values, with the nodes of their bodies."""
    return [
        (n.op_type, n.name, n.domain, list(n.input), list(n.output), attributes_of(n))
        for n in nodes
    ]


def attributes_of(node: NodeProto) -> list[Any]:
    return [
        (a.name, outline(a.g.node) if a.HasField("g") else a.ref_attr_name or held(a))
        for a in node.attribute
    ]


def held(attribute: onnx.AttributeProto) -> Any:
    value = helper.get_attribute_value(attribute)
    return numpy_helper.to_array(value).tolist() if isinstance(value, TensorProto) else value


@pytest.mark.part(24)
@pytest.mark.parametrize("passes", PASSES, ids="+".join)
@pytest.mark.parametrize(
    "path",
    [path for path in MODELS + CORPUS if not onnx.load(path).functions],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_a_graph_is_rewritten_like_its_model(
    path: Path, passes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Untouched nodes stay the same objects, and no weight is loaded."""

    def load(values: Any) -> None:
        raise AssertionError(f"{values.tensor.name} was loaded")

    graph = gs.import_onnx(onnx.load(path))
    of_model = rewrite(path, passes=passes)
    before = {id(node): node for node in graph.nodes}
    with monkeypatch.context() as patch:
        patch.setattr("onnx_graphsurgeon.ir.tensor.LazyValues.load", load)
        of_graph = rewrite(graph, passes=passes)
    assert of_graph.model is graph
    assert of_graph.script == of_model.script
    assert of_graph.to_json() == of_model.to_json() | {"operators": None}
    assert isinstance(of_model.model, ModelProto)
    assert outline(gs.export_onnx(graph).graph.node) == outline(of_model.model.graph.node)
    kept = [node for node in graph.nodes if id(node) in before]
    names_kept = {node.name for node in before.values()} & set(names(graph))
    assert {node.name for node in kept} >= names_kept - {""}


def identities(graph: gs.Graph) -> list[Any]:
    """Everything that a Graph holds, by identity, with what it holds in turn."""
    found: list[Any] = [id(graph.nodes), [id(t) for t in graph.inputs + graph.outputs]]
    for node in graph.nodes:
        found += [id(node), id(node.attrs), dict(node.attrs)]
        for tensor in (*node.inputs, *node.outputs):
            links = [[id(one) for one in linked] for linked in (tensor.inputs, tensor.outputs)]
            values = id(tensor._values) if isinstance(tensor, gs.Constant) else None  # noqa: SLF001
            found += [id(tensor), tensor.name, links, values]
    return found


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_graph_without_changes_is_not_touched(path: Path) -> None:
    graph = gs.import_onnx(onnx.load(path))
    before = identities(graph)
    if rewrite(graph, passes=["absorb-pad"]).changed:
        pytest.skip("there is a Pad to absorb")
    assert identities(graph) == before


def test_external_and_sparse_constants_are_read_by_nobody() -> None:
    elsewhere = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2])
    elsewhere.data_location = TensorProto.EXTERNAL
    elsewhere.external_data.add(key="location", value="nowhere.bin")
    values = numpy_helper.from_array(np.array([-3.0], np.float32), "s")
    sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array([5])), [4, 2])
    imported = [OnnxImporter.import_tensor(tensor) for tensor in (elsewhere, sparse)]
    x, t, y = tensors("x", "t", "y")
    graph = graph_of([gs.Node("Any", "n", {}, [x, *imported], [t]), pad(t, y)], x, y)
    assert [node.node for node in inspect(graph).nodes] == ["y_pad"]


def if_node(then: gs.Graph, other: gs.Graph) -> gs.Node:
    flag, branches = gs.Constant("flag", np.array(True)), ("then_branch", "else_branch")
    graphs = dict(zip(branches, (then, other), strict=True))
    return gs.Node("If", "if", graphs, [flag], [gs.Variable("y", np.float32)])


def body(*nodes: gs.Node) -> gs.Graph:
    nodes[-1].outputs[0].dtype = np.float32
    return gs.Graph(list(nodes), [], nodes[-1].outputs, nodes[-1].name)


def two_functions() -> Sequence[gs.Function]:
    return [gs.Function("f", "local", opset=13), gs.Function("f", "local", opset=13)]


def test_what_cannot_be_edited_apart_or_exported_is_refused() -> None:
    x, y = tensors("x", "y")
    same = body(conv(x, gs.Variable("b")))
    node = if_node(same, same)
    with pytest.raises(ModelError, match=r"the Graph .* stands in the Graph twice.*own copy"):
        rewrite(graph_of([node], x, node.outputs[0]))
    node = conv(x, y)
    with pytest.raises(ModelError, match="Conv 'y_conv' stands in the Graph twice"):
        rewrite(graph_of([node, node], x, y))
    with pytest.raises(ModelError, match="the function 'local:f' stands in the Graph twice"):
        rewrite(graph_of([node], x, y, functions=two_functions()))
    for value in (None, {1: 2}.keys, [1, "a"], [[1]]):
        node.attrs["pads"] = value
        with pytest.raises(ModelError, match="graphsurgeon cannot export it"):
            rewrite(graph_of([node], x, y))


@pytest.mark.parametrize("facts", [{"opset": 9}, {"opset": 21}, {"ir_version": 3}])
def test_split_and_absorb_are_each_others_inverse(facts: dict[str, int]) -> None:
    """Before IR version 4 an initializer is an input as well, which graphsurgeon cannot say."""
    x, y, z = tensors("x", "y", "z")
    graph = graph_of([conv(x, y, pads=[1, 0, 1, 2]), conv(y, z, pads=[0, 1, 1, 0])], x, z, **facts)
    nodes, original = list(graph.nodes), gs.export_onnx(graph)
    assert rewrite(graph, passes=["split-pads"]).model is graph
    made = [name for name in names(graph) if name]
    assert made == ["y_conv/pad", "y_conv", "z_conv/pad", "z_conv"]
    assert_linked(graph)
    assert_computes(graph, original)
    rewrite(graph, passes=["absorb-pad"])
    assert [id(node) for node in graph.nodes] == [id(node) for node in nodes]
    assert [node.attrs["pads"] for node in graph.nodes] == [[1, 0, 1, 2], [0, 1, 1, 0]]
    assert_linked(graph)
    assert gs.export_onnx(graph).graph.node == original.graph.node


def test_a_reader_in_a_body_is_known_by_name() -> None:
    """Bodies may hold tensors of their own for what the outer graph makes."""
    x, a, b = tensors("x", "a", "b")
    branches = [
        body(gs.Node("Relu", name, {}, tensors("a"), tensors(name))) for name in ("then", "else")
    ]
    node = if_node(*branches)
    graph = graph_of([pad(x, a), conv(a, b), node], x, b, node.outputs[0])
    original = gs.export_onnx(graph)
    assert rewrite(graph, passes=["absorb-pad"]).changed
    assert names(graph) == ["a_pad", "b_conv", "if"]
    assert_computes(graph, original)


def test_bodies_with_equal_names_are_edited_apart() -> None:
    x = gs.Variable("x")
    branches = []
    for size in (1, 0):
        a, b = tensors("a", "b")
        pads = gs.Constant("p", np.array([0, 0, size, 0, 0, 0, 0, size], np.int64))
        branches.append(body(pad(x, a, pads), conv(a, b)))
    node = if_node(*branches)
    graph = graph_of([node], x, node.outputs[0])
    original = gs.export_onnx(graph)
    rewrite(graph, passes=["absorb-pad"])
    assert [one.nodes[0].attrs.get("pads") for one in branches] == [[1, 0, 0, 1], None]
    assert_computes(graph, original)
    rewrite(graph, passes=["split-pads"])
    assert [len(one.nodes) for one in branches] == [2, 1]
    assert_computes(graph, original)


def test_a_graph_keeps_its_functions() -> None:
    i, m, o = tensors("i", "m", "o")
    second = conv(m, o, auto_pad="SAME_UPPER", strides=[2, 2])
    graph = called_twice(conv(i, m, pads=[0, 1, 1, 0]), second)
    done = rewrite(graph, passes=["split-pads"])
    assert not done.changed
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


def calls_while_rewriting(count: int) -> int:
    graph, calls = long_chain(count), [0]

    def count_call(_frame: object, _event: str, _argument: object) -> None:
        calls[0] += 1

    sys.setprofile(count_call)
    try:
        rewrite(graph, passes=["absorb-pad", "split-pads"])
    finally:
        sys.setprofile(None)
    return calls[0]


@pytest.mark.sweep
def test_time_is_linear_in_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    def compare(one: object, other: object) -> bool:
        raise AssertionError(f"compared {one} with {other}")

    for kind in (gs.Node, gs.Tensor):
        monkeypatch.setattr(kind, "__eq__", compare)
    few, many = map(calls_while_rewriting, (100, 300))
    assert many < 3.3 * few
