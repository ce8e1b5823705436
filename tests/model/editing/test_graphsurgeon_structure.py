"""Rewriting a graphsurgeon Graph in place gives what rewriting the ModelProto gives."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx_graphsurgeon.importers.onnx_importer import OnnxImporter

from onnxpad.errors import ModelError
from onnxpad.model.editing.graphsurgeon import structure_of
from onnxpad.rewriting.rewrite import rewrite
from tests.models.one_node import Array, assert_same, run_onnxruntime

ROOT = Path(__file__).resolve().parents[3]
MODELS = sorted((ROOT / "models").glob("*.onnx"))
CORPUS = sorted((ROOT.parent / "shared" / "corpus" / "models").glob("*.onnx"))
PASSES = [["explicit-pads"], ["split-pads"], ["absorb-pad"], ["split-pads", "absorb-pad"]]


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


def sample(path: Path, model: ModelProto) -> dict[str, Array] | None:
    """The stored inputs of the first sample; None where the model wants more than was stored."""
    constants = {tensor.name for tensor in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in constants]
    with np.load(path.with_suffix(".npz")) as stored:
        keys = [f"s0_in{index}" for index in range(len(names))]
        if any(key not in stored for key in keys):
            return None
        return {name: stored[key] for name, key in zip(names, keys, strict=True)}


@pytest.mark.part(24)
@pytest.mark.parametrize("passes", PASSES, ids="+".join)
@pytest.mark.parametrize(
    "path",
    [path for path in MODELS + CORPUS if not onnx.load(path).functions],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_a_graph_is_rewritten_like_its_model(path: Path, passes: list[str]) -> None:
    graph = gs.import_onnx(onnx.load(path))
    of_model, of_graph = rewrite(path, passes=passes), rewrite(graph, passes=passes)
    assert of_graph.model is graph
    assert of_graph.script == of_model.script
    assert of_graph.to_json() == of_model.to_json() | {"operators": None}
    assert isinstance(of_model.model, ModelProto)
    exported = gs.export_onnx(graph)
    assert outline(exported.graph.node) == outline(of_model.model.graph.node)
    feed = sample(path, exported)
    if of_graph.changed and feed is not None:
        expected = run_onnxruntime(of_model.model, feed)
        for name, found in run_onnxruntime(exported, feed).items():
            assert_same(found, expected[name], rtol=1e-5)


def identities(graph: gs.Graph) -> list[Any]:
    """Everything that a Graph holds, by identity, with what it holds in turn."""
    found: list[Any] = [id(graph.nodes), [id(t) for t in graph.inputs + graph.outputs]]
    for node in graph.nodes:
        found += [id(node), id(node.attrs), dict(node.attrs)]
        found += [tensor_identity(tensor) for tensor in (*node.inputs, *node.outputs)]
    return found


def tensor_identity(tensor: gs.Tensor) -> Any:
    makers, readers = [id(n) for n in tensor.inputs], [id(n) for n in tensor.outputs]
    values = id(tensor._values) if isinstance(tensor, gs.Constant) else None  # noqa: SLF001
    return id(tensor), tensor.name, makers, readers, values


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_graph_without_changes_is_not_touched(path: Path) -> None:
    graph = gs.import_onnx(onnx.load(path))
    before = identities(graph)
    if rewrite(graph, passes=["absorb-pad"]).changed:
        pytest.skip("there is a Pad to absorb")
    assert identities(graph) == before


def chain(*nodes: gs.Node, size: int = 7, opset: int = 13, **facts: Any) -> gs.Graph:
    """A Graph from the first node's first input to the last node's first output."""
    first, last = nodes[0].inputs[0], nodes[-1].outputs[0]
    first.dtype, first.shape, last.dtype = np.float32, [1, 2, size, size], np.float32
    return gs.Graph(list(nodes), [first], [last], opset=opset, **facts)


def conv(
    source: gs.Tensor | str, target: gs.Tensor | str, weight: gs.Tensor | None = None, **attrs: Any
) -> gs.Node:
    source, target = (gs.Variable(t) if isinstance(t, str) else t for t in (source, target))
    weight = weight or gs.Constant(f"{target.name}_w", -np.ones((2, 2, 3, 3), np.float32))
    return gs.Node("Conv", f"{target.name}_conv", attrs, [source, weight], [target])


def values_of(tensor: TensorProto) -> list[Any]:
    found: list[Any] = numpy_helper.to_array(tensor).tolist()
    return found


def test_large_external_and_sparse_constants_are_headers() -> None:
    large = gs.Constant("large", np.zeros((3, 2000), np.float16))
    small = gs.Constant("small", np.array([1, 2], np.int64))
    elsewhere = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2])
    elsewhere.data_location = TensorProto.EXTERNAL
    elsewhere.external_data.add(key="location", value="nowhere.bin")
    values = numpy_helper.from_array(np.array([-3.0], np.float32), "s")
    places = numpy_helper.from_array(np.array([5], np.int64))
    sparse = helper.make_sparse_tensor(values, places, [4, 2])
    weights = numpy_helper.from_array(np.zeros((3, 2000), np.int8), "lazy")
    imported = [OnnxImporter.import_tensor(tensor) for tensor in (elsewhere, sparse, weights)]
    node = gs.Node("Any", "n", {}, [gs.Variable("x"), large, small, *imported], [gs.Variable("y")])
    found = {t.name: t for t in structure_of(chain(node)).graph.initializer}
    kinds = {name: (t.data_type, list(t.dims)) for name, t in found.items()}
    assert kinds == {
        "large": (TensorProto.FLOAT16, [3, 2000]),
        "small": (TensorProto.INT64, [2]),
        "w": (TensorProto.FLOAT, [2]),
        "s": (TensorProto.FLOAT, [4, 2]),
        "lazy": (TensorProto.INT8, [3, 2000]),
    }
    assert {t.name for t in found.values() if t.HasField("raw_data")} == {"small"}
    assert not any(t.external_data for t in found.values())
    assert values_of(found["small"]) == [1, 2]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_no_weight_is_loaded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(values: Any) -> None:
        raise AssertionError(f"{values.tensor.name} was loaded")

    graph = gs.import_onnx(onnx.load(path))
    monkeypatch.setattr("onnx_graphsurgeon.ir.tensor.LazyValues.load", load)
    rewrite(graph, passes=["split-pads", "absorb-pad"])


def if_node(then: gs.Graph, other: gs.Graph) -> gs.Node:
    attributes = {"then_branch": then, "else_branch": other}
    return gs.Node("If", "if", attributes, [gs.Variable("x")], [gs.Variable("y")])


def two_functions() -> Sequence[gs.Function]:
    return [gs.Function("f", "local", opset=13), gs.Function("f", "local", opset=13)]


def test_what_cannot_be_edited_apart_is_refused() -> None:
    body = chain(conv("a", "b"))
    with pytest.raises(ModelError, match=r"body of two nodes.*own copy"):
        rewrite(chain(if_node(body, body)))
    node = conv("x", "y")
    with pytest.raises(ModelError, match="Conv 'y_conv' stands in the Graph twice"):
        rewrite(chain(node, node))
    with pytest.raises(ModelError, match="two functions are called 'local:f'"):
        rewrite(chain(conv("x", "y"), functions=two_functions()))


@pytest.mark.parametrize("value", [None, {1: 2}.keys, [1, "a"], [[1]]])
def test_what_cannot_be_exported_is_refused(value: object) -> None:
    with pytest.raises(ModelError, match=r"Conv 'y_conv': .*cannot export it"):
        rewrite(chain(conv("x", "y", pads=value)))
