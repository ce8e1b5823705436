"""The nodes of a model that another one does not have."""

from __future__ import annotations

from onnx import NodeProto

from onnxpad.model.comparing.networks import Network, free_names


def changed_nodes(before: Network, after: Network) -> set[int]:
    """Indices of the nodes of `before` that `after` does not have.

    Two nodes are the same where operator, version, attributes, names of outputs and inputs agree;
    an initializer agrees by its content.
    """
    names = before.producers.keys() & after.producers.keys()
    names |= set(before.fed) & set(after.fed)
    names |= {name for name in before.initializers if _is_equal(before, after, name)}
    return {
        index
        for index in before.producers.values()
        if before.opsets != after.opsets or not _has(after, before.nodes[index], names)
    }


def _has(after: Network, node: NodeProto, names: set[str]) -> bool:
    """Whether a model has a node, of which the tensors `names` are the same."""
    made = next(name for name in node.output if name)
    index = after.producers.get(made)
    read = free_names(node)
    return index is not None and read <= names and _content(node) == _content(after.nodes[index])


def _is_equal(before: Network, after: Network, name: str) -> bool:
    one, other = before.constant(name), after.constant(name)
    if one is None or other is None or one.dtype != other.dtype or one.shape != other.shape:
        return False
    return one.tobytes() == other.tobytes()


def _content(node: NodeProto) -> tuple[object, ...]:
    attributes = sorted(one.SerializeToString(deterministic=True) for one in node.attribute)
    return node.op_type, node.domain, [*node.input], [*node.output], attributes
