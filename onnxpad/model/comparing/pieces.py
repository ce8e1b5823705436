"""Models made of a model: more outputs, some nodes, other names, attributes or padding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import (
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
    numpy_helper,
)

from onnxpad.errors import InternalError
from onnxpad.model.comparing.networks import Network, free_names, label_of
from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.nodes import bodies, every_node
from onnxpad.model.graph.types import write_sizes
from onnxpad.padding.chain import Chain, Preference

Array = NDArray[Any]
_BOTH = {"auto_pad", "pads"}


def exposed(network: Network, names: Iterable[str]) -> bytes:
    """The model's bytes with further tensors of the main graph as outputs.

    Merging two serialised messages appends their lists, so the model itself is not copied.
    """
    extra = ModelProto()
    for name in names:
        if name not in network.outputs and name not in network.fed:
            extra.graph.output.add().name = name
    return network.serialised(extra.SerializeToString())


def cut(
    network: Network,
    indices: Iterable[int],
    inputs: Mapping[str, np.dtype[Any]],
    outputs: Iterable[str],
) -> Network:
    """A model of the nodes at `indices` alone, fed with `inputs` of these element types."""
    nodes = [network.nodes[index] for index in indices]
    made = {name for node in nodes for name in node.output}
    graph = helper.make_graph(nodes, "cut", [], [])
    for name, dtype in inputs.items():
        code = helper.np_dtype_to_tensor_dtype(dtype)
        graph.input.append(helper.make_tensor_value_info(name, code, None))
    read = {name for node in nodes for name in free_names(node)} | set(outputs)
    for name in sorted(read - made - inputs.keys()):
        tensor = network.tensor(name)
        if tensor is not None:
            graph.initializer.add().CopyFrom(tensor)
            graph.initializer[-1].name = name
    for name in outputs:
        graph.output.append(ValueInfoProto(name=name))
    model = ModelProto(ir_version=network.model.ir_version, graph=graph)
    model.opset_import.extend(network.model.opset_import)
    model.functions.extend(network.model.functions)
    return Network(model, network.folder)


def standalone(part: Network, feeds: Mapping[str, Array]) -> ModelProto:
    """A part as a model for a file: inputs of the shapes that are fed, and every weight in it."""
    model = part.copied()
    for value in model.graph.input:
        write_sizes(value, feeds[value.name].shape)
    for tensor in model.graph.initializer:
        held = part.constant(tensor.name)
        if tensor.data_location == TensorProto.EXTERNAL and held is not None:
            tensor.CopyFrom(numpy_helper.from_array(held, tensor.name))
    return model


def renamed(network: Network, mapping: Mapping[str, str]) -> Network:
    """A copy in which tensors of the main graph have other names; clashing names make way."""
    changes = dict(mapping)
    taken = set(network.producers) | set(network.initializers) | set(network.fed)
    for name in set(mapping.values()) & taken - mapping.keys():
        changes[name] = f"{name}/renamed"
    model = network.copied()
    _rename(model.graph, changes)
    for value in [*model.graph.input, *model.graph.output, *model.graph.initializer]:
        value.name = changes.get(value.name, value.name)
    return network.like(model)


def _rename(graph: GraphProto, changes: Mapping[str, str]) -> None:
    for node in graph.node:
        for names in (node.input, node.output):
            for index, name in enumerate(names):
                names[index] = changes.get(name, name)
        for body in bodies(node):
            own = {name for inner in body.node for name in inner.output}
            own |= {value.name for value in [*body.input, *body.initializer]}
            outer = {old: new for old, new in changes.items() if old not in own}
            _rename(body, outer)
            for value in body.output:
                value.name = outer.get(value.name, value.name)


def variant(
    network: Network,
    indices: Sequence[int],
    inputs: Mapping[str, np.dtype[Any]],
    outputs: Sequence[str],
    change: Callable[[Chain], Chain],
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> Network:
    """The nodes at `indices` alone, the last of them padded as `change` says.

    `inputs` are element types by name, `shapes` those of weights that the model is fed: kernels
    are read from them.
    """
    part = cut(network, indices, inputs, outputs)
    for value in part.model.graph.input:
        for size in (shapes or {}).get(value.name, ()):
            value.type.tensor_type.shape.dim.add().dim_value = size
    made = network.nodes[indices[-1]].output[0]
    session = EditSession(part.model)
    site = next((one for one in session.sites_now() if made in one.node.outputs), None)
    if site is None:
        raise InternalError(f"the node that makes '{made}' is not padded where it stands alone")
    after = change(site.chain)
    if after == site.chain:
        return part
    session.change(site, after)
    return Network(session.finish(), network.folder)


def chosen(network: Network, keep: Preference) -> tuple[Network, list[str]]:
    """The model with only the attribute `keep` where a node has auto_pad and pads, and its nodes.

    Without `keep`, or where no node has both, the network itself. ONNX Operators call the two
    exclusive and do not say which one wins.
    """
    if keep is None or not _both_in(network.model.graph):
        return network, []
    model = network.copied()
    labels = []
    for node in _both_in(model.graph):
        given = {one.name: one for one in node.attribute}
        node.attribute.remove(given["pads" if keep == "auto_pad" else "auto_pad"])
        labels.append(label_of(node))
    return network.like(model), labels


def _both_in(graph: GraphProto) -> list[NodeProto]:
    written = [(node, {one.name: one for one in node.attribute}) for node in every_node(graph.node)]
    modes = [(node, given["auto_pad"].s) for node, given in written if given.keys() >= _BOTH]
    return [node for node, mode in modes if mode not in (b"", b"NOTSET")]
