"""Models in which a node writes both auto_pad and pads, read by one of them."""

from __future__ import annotations

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto

from onnxpad.graph.comparison.networks import Network, bodies
from onnxpad.graph.reading.chains import Preference


def chosen(network: Network, keep: Preference) -> tuple[Network, list[str]]:
    """The model with only the attribute `keep` where a node has auto_pad and pads, and its nodes.

    Without `keep`, or where no node has both, the network itself. ONNX Operators call the two
    exclusive and do not say which one wins.
    """
    if keep is None or not _both_in(network.model.graph):
        return network, []
    model = ModelProto()
    model.CopyFrom(network.model)
    labels = []
    for node in _both_in(model.graph):
        kept = [a for a in node.attribute if a.name == keep or a.name not in ("auto_pad", "pads")]
        attributes = [AttributeProto.FromString(a.SerializeToString()) for a in kept]
        del node.attribute[:]
        node.attribute.extend(attributes)
        labels.append(f"{node.op_type} '{node.name or next(iter(node.output), '?')}'")
    return Network(model, network.folder), labels


def _both_in(graph: GraphProto) -> list[NodeProto]:
    found = []
    for node in graph.node:
        written = {attribute.name: attribute for attribute in node.attribute}
        mode = written["auto_pad"].s if "auto_pad" in written else b""
        if "pads" in written and mode not in (b"", b"NOTSET"):
            found.append(node)
        for body in bodies(node):
            found.extend(_both_in(body))
    return found
