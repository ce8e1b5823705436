"""Models made of a model: more outputs, some nodes, other names, attributes or padding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

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
from onnxpad.model.small_models import copied
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
    network: Network, indices: Iterable[int], feeds: Mapping[str, Array], outputs: Iterable[str]
) -> Network:
    """A model of the nodes at `indices` alone, with inputs of the element types of `feeds`."""
    nodes = [network.nodes[index] for index in indices]
    made = {name for node in nodes for name in node.output}
    graph = helper.make_graph(nodes, "cut", [], [])
    for name, value in feeds.items():
        code = helper.np_dtype_to_tensor_dtype(value.dtype)
        graph.input.append(helper.make_tensor_value_info(name, code, None))
    read = {name for node in nodes for name in free_names(node)} | set(outputs)
    for name in sorted(read - made - feeds.keys()):
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
    """A part as a model in one file: its inputs have the shapes of `feeds`, weights are inside."""
    model = copied(part.model)
    for value in model.graph.input:
        write_sizes(value, feeds[value.name].shape)
    for tensor in model.graph.initializer:
        weight = part.constant(tensor.name)
        if tensor.data_location == TensorProto.EXTERNAL and weight is not None:
            tensor.CopyFrom(numpy_helper.from_array(weight, tensor.name))
    return model


def renamed(network: Network, mapping: Mapping[str, str]) -> Network:
    """A copy in which tensors have other names; clashing names make way."""
    model, changes = copied(network.model), dict(mapping)
    nodes = list(every_node(model.graph.node))
    graphs = [model.graph, *(body for node in nodes for body in bodies(node))]
    taken = {name for node in nodes for name in node.output}
    taken |= {one.name for graph in graphs for one in (*graph.input, *graph.initializer)}
    for name in set(mapping.values()) & taken - mapping.keys():
        changes[name] = f"{name}/renamed"
    for graph in graphs:
        for value in (*graph.input, *graph.output, *graph.initializer):
            value.name = changes.get(value.name, value.name)
    for node in nodes:
        for names in (node.input, node.output):
            names[:] = [changes.get(name, name) for name in names]
    return network.like(model)


def variant(
    network: Network,
    indices: Sequence[int],
    feeds: Mapping[str, Array],
    outputs: Sequence[str],
    change: Callable[[Chain], Chain],
) -> Network:
    """The nodes at `indices` alone, the last of them padded as `change` says."""
    part, last = cut(network, indices, feeds, outputs), network.nodes[indices[-1]]
    for value in part.model.graph.input:
        if value.name in last.input[1:]:  # kernels are read from weights that the model is fed
            write_sizes(value, feeds[value.name].shape)
    made = last.output[0]
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
    model = copied(network.model)
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
