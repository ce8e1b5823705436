"""A model without the nodes that its chosen outputs do not need."""

from __future__ import annotations

from collections.abc import Collection

from onnx import ModelProto

from onnxpad.model.comparing.networks import free_names


def pruned(model: ModelProto, outputs: Collection[str], given: Collection[str] = ()) -> ModelProto:
    """A copy with `outputs` alone, and the nodes, inputs and initializers that they need.

    The tensors `given` are inputs of it, where they are needed. Nodes stay in their order; outputs
    that are no tensor of the model are left out.
    """
    needed, kept = set(outputs), set[int]()
    for index in range(len(model.graph.node) - 1, -1, -1):
        node = model.graph.node[index]
        if needed.difference(given).intersection(node.output):
            kept.add(index)
            needed |= free_names(node)
    copy = ModelProto()
    copy.CopyFrom(model)
    for part, is_needed in (
        (copy.graph.node, [index in kept for index in range(len(copy.graph.node))]),
        (copy.graph.input, [value.name in needed for value in copy.graph.input]),
        (copy.graph.initializer, [value.name in needed for value in copy.graph.initializer]),
        (copy.graph.output, [value.name in outputs for value in copy.graph.output]),
    ):
        for index in range(len(part) - 1, -1, -1):
            if not is_needed[index]:
                del part[index]
    known = {value.name for value in copy.graph.input}
    for name in given:
        if name in needed and name not in known:
            copy.graph.input.add().name = name
    return copy
