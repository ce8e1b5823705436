"""Nodes that draw random numbers: what depends on them gives something else in every run."""

from __future__ import annotations

from onnx import NodeProto

from onnxpad.model.comparing.networks import Network
from onnxpad.model.graph.nodes import every_node

_DRAWING = {
    *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
    *("Bernoulli", "Multinomial"),
}


def random_nodes(network: Network) -> list[str]:
    """Labels of the nodes that draw random numbers and that an output depends on."""
    return [
        network.operation(index).label
        for index in network.behind(network.outputs)
        if any(_draws(network, node) for node in every_node([network.nodes[index]]))
    ]


def _draws(network: Network, node: NodeProto) -> bool:
    """Whether a node is random; a Dropout where `training_mode` is not false, nor the ratio 0.

    ONNX Operators, Dropout: without `training_mode` it hands its input on.
    """
    if node.op_type != "Dropout" or not node.input[2:] or not node.input[2]:
        return node.op_type in _DRAWING
    training, ratio = (network.constant(name) if name else None for name in node.input[2:0:-1])
    return all(value is None or bool(value.any()) for value in (training, ratio))
