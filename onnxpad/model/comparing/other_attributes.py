"""A model with another value of an attribute, in every node of some operators."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from onnx import AttributeProto, NodeProto, helper

from onnxpad.model.comparing.networks import Network


def nodes_without(
    network: Network, operators: Collection[str], name: str, value: float | str
) -> tuple[list[str], int]:
    """Which of the operators stand in the main graph, and how many of their nodes lack the value.

    An attribute that a node leaves out counts as lacking.
    """
    nodes = [node for node in network.nodes if node.op_type in operators]
    lacking = sum(not _has(node, name, value) for node in nodes)
    return sorted({node.op_type for node in nodes}), lacking


def with_attribute(
    network: Network, operators: Collection[str], name: str, value: float | str
) -> Network:
    """A copy of the model whose nodes of these operators, in the main graph, have the value."""
    found = network.copied()
    for node in found.graph.node:
        if node.op_type in operators:
            kept = [one for one in node.attribute if one.name != name]
            del node.attribute[:]
            node.attribute.extend([*kept, helper.make_attribute(name, value)])
    return Network(found, network.folder)


def _has(node: NodeProto, name: str, value: float | str) -> bool:
    found = next((one for one in node.attribute if one.name == name), None)
    if found is None:
        return False
    if isinstance(value, str):
        return bool(found.s == value.encode())
    return bool(found.type == AttributeProto.FLOAT and found.f == np.float32(value))
