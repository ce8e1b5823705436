"""Nodes and their bodies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from onnx import AttributeProto, GraphProto, NodeProto

from onnxpad.errors import ModelError

NodeId: TypeAlias = tuple[str, int]
"""A node by the id of its scope and its key there."""


class Address(NamedTuple):
    """A node by identity: its scope and its place in it; `label` is for people."""

    scope: str
    key: int
    label: str

    @property
    def id(self) -> NodeId:
        """Without the label: what stays the same when a node is renamed."""
        return self.scope, self.key


class Node:
    """A node with its identity: `key` is its number in the scope as it was read."""

    __slots__ = ("domain", "inputs", "key", "name", "op_type", "outputs", "proto")

    def __init__(self, key: int, proto: NodeProto) -> None:
        self.key = key
        self.proto = proto
        self.op_type: str = proto.op_type
        self.domain: str = proto.domain
        self.name: str = proto.name
        self.inputs: list[str] = proto.input[:]
        self.outputs: list[str] = proto.output[:]
        names = (self.op_type, self.domain, self.name, *self.inputs, *self.outputs)
        if not _TEXT.issuperset(map(type, names)):  # protobuf gives what is no text as bytes
            odd = next(name for name in names if not isinstance(name, str))
            raise ModelError(f"node {key}: the name {odd!r} is no UTF-8 text")

    def input(self, position: int) -> str:
        """The name of an input, '' where it is left out."""
        return self.inputs[position] if len(self.inputs) > position else ""


_TEXT = frozenset({str})


def named_bodies(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """Graphs that a node holds, by attribute: 'then_branch', or 'graphs[1]' of a list of them."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.name, attribute.g
        elif attribute.type == AttributeProto.GRAPHS:
            for index, graph in enumerate(attribute.graphs):
                yield f"{attribute.name}[{index}]", graph


def bodies(node: NodeProto) -> list[GraphProto]:
    """Graphs that a node holds: branches of If, bodies of Loop and Scan."""
    return [graph for _, graph in named_bodies(node)]


def every_node(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Nodes with those of their bodies."""
    for node in nodes:
        yield node
        for body in bodies(node):
            yield from every_node(body.node)
