"""Lists of the file brought in line with a scope that gained or lost nodes and constants."""

from __future__ import annotations

from collections.abc import Callable, MutableSequence
from typing import Any

from onnx import FunctionProto, GraphProto, NodeProto

from onnxpad.graph.reading.scopes import Scope


def drop(scope: Scope, names: set[str], forgotten: set[str]) -> None:
    """Take constants and types of removed tensors out of the file's lists, keeping the order.

    The types of `forgotten` tensors go, whether these are still there or not.
    """
    if isinstance(scope.proto, GraphProto):
        _keep_only(scope.proto.initializer, names - scope.initializers.keys())
        gone = names - scope.initializers.keys() - scope.producers.keys()
        _keep_only(scope.proto.quantization_annotation, gone, lambda entry: entry.tensor_name)
    _keep_only(scope.proto.value_info, (names - scope.producers.keys()) | forgotten)


def _keep_only(
    entries: MutableSequence[Any],
    gone: set[str],
    name: Callable[[Any], str] = lambda entry: str(entry.name),
) -> None:
    places = [index for index, entry in enumerate(entries) if name(entry) in gone]
    if len(places) * 8 < len(entries):
        for index in reversed(places):
            del entries[index]
    elif places:
        kept = [entry for entry in entries if name(entry) not in gone]
        del entries[:]
        entries.extend(kept)


def rebuild(scope: Scope) -> None:
    """Write the nodes of the file anew: its own order, new ones in front of their anchors."""
    in_file_order = sorted(scope.nodes, key=lambda node: node.key)
    ordered: list[NodeProto] = []
    for node in in_file_order:
        ordered += [one.proto for one in scope.row(node)]
    container: GraphProto | FunctionProto = scope.proto
    del container.node[:]
    container.node.extend(ordered)
