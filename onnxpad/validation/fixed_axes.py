"""Which sizes of a tensor no padding changes: those that weights or constants decide."""

from __future__ import annotations

from onnxpad.model.comparing.networks import Network, Operation
from onnxpad.padding.operators import PLAIN_DOMAINS

_ALIKE = {
    *("Identity", "Cast", "Dropout", "Relu", "LeakyRelu", "PRelu", "Elu", "Selu", "Celu", "Gelu"),
    *("Sigmoid", "HardSigmoid", "HardSwish", "Tanh", "Softplus", "Softsign", "Clip", "Erf", "Exp"),
    *("Softmax", "LogSoftmax", "BatchNormalization", "InstanceNormalization", "Neg", "Sqrt", "Log"),
}
"""Operators whose output has the shape of their first input."""
_WITH_CONSTANT = {"Add", "Sub", "Mul", "Div", "Min", "Max", "Pow"}
_POOLS = {"MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool"}
_MOST = 100
"""Nodes that are followed back."""


def decided_by(network: Network, tensor: str, axis: int, rank: int) -> str | None:
    """The node, as people name it, that decides the size of an axis whatever the padding."""
    for _ in range(_MOST):
        index = network.producers.get(tensor)
        if index is None:
            return None
        node = network.operation(index)
        if node.domain not in PLAIN_DOMAINS:
            return None
        if _decides(network, node, axis, rank):
            return node.label
        follow = _followed(network, node, axis)
        if follow is None:
            return None
        tensor, axis = follow
    return None


def _decides(network: Network, node: Operation, axis: int, rank: int) -> bool:
    held = len(node.inputs) > 1 and node.inputs[1] in network.initializers
    if node.op_type in ("Gemm", "MatMul"):
        return held and axis == rank - 1
    return node.op_type in ("Conv", "ConvTranspose") and held and axis == 1


def _followed(network: Network, node: Operation, axis: int) -> tuple[str, int] | None:
    """The tensor and axis that this axis is taken from."""
    if node.op_type in _ALIKE or (node.op_type in _POOLS and axis == 1):
        return node.inputs[0], axis
    if node.op_type in _WITH_CONSTANT:
        made = [name for name in node.inputs if name not in network.initializers]
        small = all(
            len(network.initializers[name].dims) <= 1
            for name in node.inputs
            if name in network.initializers
        )
        return (made[0], axis) if len(made) == 1 and small else None
    if node.op_type == "Transpose" and "perm" in node.attributes:
        return node.inputs[0], int(node.attributes["perm"][axis])
    return None
