"""Graphs of graphsurgeon written by hand, and what must hold of one after it was edited."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx_graphsurgeon as gs
from onnx import ModelProto

from tests.oracle.onnxruntime_levels import outputs

SHAPE = (1, 2, 7, 7)
WIDE = [0, 0, 1, 1, 0, 0, 1, 1]


def pad(source: gs.Tensor, target: gs.Tensor, pads: gs.Tensor | None = None) -> gs.Node:
    name = f"{target.name}_pad"
    pads = pads or gs.Constant(f"{name}s", np.array(WIDE, np.int64))
    return gs.Node("Pad", name, {"mode": "constant"}, [source, pads], [target])


def conv(source: gs.Tensor, target: gs.Tensor, **attributes: Any) -> gs.Node:
    weight = np.random.default_rng(3).integers(-9, 9, (2, 2, 3, 3)).astype(np.float32)
    constant = gs.Constant(f"{target.name}_w", weight)
    return gs.Node("Conv", f"{target.name}_conv", attributes, [source, constant], [target])


def tensors(*names: str) -> list[gs.Variable]:
    return [gs.Variable(name) for name in names]


def graph_of(
    nodes: Sequence[gs.Node], source: gs.Variable, *outputs: gs.Variable, **facts: Any
) -> gs.Graph:
    source.dtype, source.shape = np.float32, list(SHAPE)
    for output in outputs:
        output.dtype = np.float32
    facts = {"opset": 13, "ir_version": 8} | facts
    return gs.Graph(nodes, [source], outputs, **facts)


def assert_computes(graph: gs.Graph, original: ModelProto) -> None:
    """The Graph's outputs are those of the model that was exported before."""
    feed = {"x": np.random.default_rng(0).integers(-9, 9, SHAPE).astype(np.float32)}
    expected, found = outputs(original, feed), outputs(gs.export_onnx(graph), feed)
    assert not isinstance(expected, str), expected
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def assert_linked(graph: gs.Graph) -> None:
    """Nodes and tensors agree about who reads and who makes what."""
    here = {id(node) for node in graph.nodes}
    for node in graph.nodes:
        for tensor in node.inputs:
            readers = [reader for reader in tensor.outputs if reader is node]
            assert len(readers) == sum(one is tensor for one in node.inputs)
            assert {id(reader) for reader in tensor.outputs} <= here
        for tensor in node.outputs:
            assert [maker is node for maker in tensor.inputs] == [True]


def names(graph: gs.Graph) -> list[str]:
    return [node.name for node in graph.nodes]


def called_twice(*body: gs.Node) -> gs.Graph:
    """A function of these nodes, from `i` to `o`, called on inputs of two sizes."""
    x, y, s, z = tensors("x", "y", "s", "z")
    ends = [body[0].inputs[0]], [body[-1].outputs[0]]
    nodes = [
        gs.Node("f", "cally", {}, [x], [y], domain="local"),
        gs.Node("MaxPool", "smaller", {"kernel_shape": [2, 2]}, [x], [s]),
        gs.Node("f", "callz", {}, [s], [z], domain="local"),
    ]
    return graph_of(
        nodes, x, y, z, functions=[gs.Function("f", "local", list(body), *ends, opset=13)]
    )


def long_chain(count: int) -> gs.Graph:
    """Pairs of Pad and Conv, which all share the Pads' constant and the weight."""
    weight, pads = (
        gs.Constant("w", -np.ones((2, 2, 3, 3), np.float32)),
        gs.Constant("pads", np.array(WIDE, np.int64)),
    )
    nodes, (last,) = [], tensors("x")
    first = last
    for index in range(count):
        a, b = tensors(f"a{index}", f"b{index}")
        nodes += [pad(last, a, pads), gs.Node("Conv", f"conv{index}", {}, [a, weight], [b])]
        last = b
    return graph_of(nodes, first, last)
