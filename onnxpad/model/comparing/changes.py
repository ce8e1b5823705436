"""The nodes of two models that are not the same in both."""

from __future__ import annotations

from itertools import zip_longest

from onnx import NodeProto, TensorProto

from onnxpad.model.comparing.networks import Network, free_names
from onnxpad.model.files.external import is_own


def changed_nodes(before: Network, after: Network) -> tuple[list[int], list[int]]:
    """Indices of the nodes of each main graph that the other one does not have.

    Two nodes are the same where operator, version, attributes, names of outputs and inputs agree;
    an initializer agrees by its content.
    """
    names = before.producers.keys() & after.producers.keys()
    names |= set(before.fed) & set(after.fed)
    for name in before.initializers.keys() & after.initializers.keys():
        if name not in before.producers and _is_equal(before, after, name):
            names.add(name)
    kept: tuple[set[int], set[int]] = set(), set()
    for index in _working(before):
        node = before.nodes[index]
        made = [name for name in node.output if name]
        twin = after.producers.get(made[0]) if made else None
        if twin is None or not free_names(node).union(made) <= names:
            continue
        if _are_alike(before, after, node, after.nodes[twin]):
            kept[0].add(index)
            kept[1].add(twin)
    first, second = (
        [index for index in _working(network) if index not in same]
        for network, same in zip((before, after), kept, strict=True)
    )
    return first, second


def _working(network: Network) -> list[int]:
    """Nodes that compute; Constants are initializers."""
    return [
        index
        for index, node in enumerate(network.nodes)
        if not (node.output and node.output[0] in network.initializers)
    ]


def _is_equal(before: Network, after: Network, name: str) -> bool:
    first, second = before.initializers[name], after.initializers[name]
    if first is second:
        return True
    if first.dims != second.dims or first.data_type != second.data_type:
        return False
    if before.left and after.left and is_own(first) and is_own(second):
        pairs = zip_longest(before.left.blocks(first), after.left.blocks(second))
        return all(one == other for one, other in pairs)
    is_outside = first.data_location == TensorProto.EXTERNAL == second.data_location
    if is_outside and before.left is after.left is None and before.folder == after.folder:
        entries = [sorted((e.key, e.value) for e in t.external_data) for t in (first, second)]
        if entries[0] == entries[1]:
            return True
    one, other = before.constant(name), after.constant(name)
    return one is not None and other is not None and one.tobytes() == other.tobytes()


def _are_alike(before: Network, after: Network, node: NodeProto, twin: NodeProto) -> bool:
    return (
        (node.op_type, node.domain) == (twin.op_type, twin.domain)
        and (node.input, node.output) == (twin.input, twin.output)
        and _attributes(node) == _attributes(twin)
        and before.opsets == after.opsets
    )


def _attributes(node: NodeProto) -> list[bytes]:
    return sorted(one.SerializeToString(deterministic=True) for one in node.attribute)
