"""Nodes that draw random numbers: what depends on them gives something else in every run."""

from __future__ import annotations

from onnx import NodeProto

from onnxpad.model.comparing.networks import Network, free_names
from onnxpad.model.graph.nodes import every_node

_DRAWING = {
    *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
    *("Bernoulli", "Multinomial"),
}


def random_nodes(network: Network) -> list[str]:
    """Labels of the nodes that draw random numbers and that an output depends on."""
    return [
        network.operation(index).label
        for index in _needed(network)
        if _draws(network, network.nodes[index])
    ]


def _needed(network: Network) -> list[int]:
    """Indices of the nodes that outputs depend on."""
    waiting = list(network.outputs)
    found: set[int] = set()
    while waiting:
        index = network.producers.get(waiting.pop())
        if index is not None and index not in found:
            found.add(index)
            waiting.extend(free_names(network.nodes[index]))
    return sorted(found)


def _draws(network: Network, node: NodeProto) -> bool:
    return any(
        one.op_type in _DRAWING or (one.op_type == "Dropout" and _trains(network, one))
        for one in every_node([node])
    )


def _trains(network: Network, node: NodeProto) -> bool:
    """Whether a Dropout drops: `training_mode` is not false, and the ratio not 0.

    ONNX Operators, Dropout: without `training_mode` it hands its input on.
    """
    if len(node.input) < 3 or not node.input[2]:
        return False
    training, ratio = (network.constant(name) if name else None for name in node.input[2:0:-1])
    if training is not None and not training.any():
        return False
    return ratio is None or bool(ratio.any())
