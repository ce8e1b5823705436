"""A model as scopes of nodes: the main graph, bodies of If, Loop and Scan, local functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from onnx import (
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorAnnotation,
    TensorProto,
)

from onnxpad.model.graph.inlined import Key, key_of
from onnxpad.model.graph.nodes import Address, Node
from onnxpad.padding.chain import NO_PREFERENCE, Preferences


@dataclass(eq=False)
class Scope:
    """One list of nodes and what its names mean.

    `id` addresses it in edit scripts: '' for the main graph, '5.then_branch' for a body of its
    node 5, 'domain:name' for a function. `label` is the same for people. `holder` is the node that
    a body stands in. `sparse` are initializers of which only the type is known. `rows` are new
    nodes with the node that they stand at, in order, by its key, `anchors` that key by theirs.
    `dropped` are tensors that edits removed, `forgotten` those of which the types in the file do
    not hold any more. `arrays` are the values of small constants by the identity of what holds
    them: every reading of the scope shares them.
    `dangling` are tensors that a node reads, here the first one, and that nothing made when the
    scope was read.
    """

    id: str
    label: str
    proto: GraphProto | FunctionProto
    parent: Scope | None
    opset: int
    holder: Node | None = None
    nodes: list[Node] = field(default_factory=list)
    initializers: dict[str, TensorProto] = field(default_factory=dict)
    sparse: frozenset[str] = frozenset()
    inputs: tuple[str, ...] = ()
    outputs: frozenset[str] = frozenset()
    producers: dict[str, Node] = field(default_factory=dict)
    uses: dict[str, int] = field(default_factory=dict)
    children: dict[int, list[tuple[str, Scope]]] = field(default_factory=dict)
    rows: dict[int, list[Node]] = field(default_factory=dict)
    anchors: dict[int, int] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)
    dropped: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)
    next_key: int = 0
    dangling: dict[str, Node] = field(default_factory=dict)
    arrays: dict[int, tuple[TensorProto, np.ndarray | None]] = field(default_factory=dict)

    @property
    def is_function(self) -> bool:
        """Whether this is the body of a model-local function."""
        return isinstance(self.proto, FunctionProto)

    @property
    def outermost(self) -> Scope:
        """The main graph or the function that it stands in."""
        return self if self.parent is None else self.parent.outermost

    @property
    def depth(self) -> int:
        """How many graphs it stands in."""
        return 0 if self.parent is None else self.parent.depth + 1

    @property
    def rearranged(self) -> bool:
        """Whether nodes came or went since it was read."""
        return bool(self.rows or self.removed)

    def ordered(self) -> Iterator[Node]:
        """Nodes in graph order, with what edits inserted and without what they removed."""
        if not self.rearranged:
            yield from self.nodes
            return
        for node in self.nodes:
            yield from self.row(node)

    def row(self, node: Node) -> Iterator[Node]:
        """The nodes that now stand where the scope had `node` when it was read."""
        row = self.rows.get(node.key, (node,))
        return (current for current in row if current.key not in self.removed)

    def insert(self, node: Node, near: int, *, behind: bool) -> None:
        """Let a new node stand at another, which edits may have inserted or removed."""
        anchor = self.anchors[node.key] = self.anchors.get(near, near)
        row = self.rows.setdefault(anchor, [self.nodes[self._places[anchor]]])
        row.insert([one.key for one in row].index(near) + behind, node)

    def node(self, key: int) -> Node:
        """The node with this key, which edits may have inserted and have not removed."""
        anchor = self.anchors.get(key, key)
        return next(one for one in self.row(self.nodes[self._places[anchor]]) if one.key == key)

    def stands_early(self, node: Node) -> bool:
        """Whether the file lists a node in front of one that makes what it reads."""
        makers = (self.producers.get(name) for name in node.inputs)
        return any(one and one.key in self._places and one.key > node.key for one in makers)

    def in_order(self, nodes: Iterable[Node]) -> list[Node]:
        """These nodes in graph order, whatever their number is among all others."""
        wanted = {node.key for node in nodes}
        anchors = {self._places[self.anchors.get(key, key)] for key in wanted}
        rows = (self.row(self.nodes[anchor]) for anchor in sorted(anchors))
        return [node for row in rows for node in row if node.key in wanted]

    @cached_property
    def input_places(self) -> dict[str, int]:
        """The position of each input by its name."""
        return {name: position for position, name in reversed(list(enumerate(self.inputs)))}

    @cached_property
    def _places(self) -> dict[int, int]:
        return {node.key: index for index, node in enumerate(self.nodes)}

    def owner(self, name: str) -> Scope | None:
        """The scope, this or an enclosing one, that defines the tensor."""
        scope: Scope | None = self
        while scope is not None:
            if scope.defines(name):
                return scope
            scope = scope.parent
        return None

    def defines(self, name: str) -> bool:
        """Whether the tensor is a result, an initializer or an input of this very scope."""
        return name in self.producers or name in self.initializers or name in self.input_places


@dataclass(eq=False)
class Document:
    """A model with its scopes; `overridable` are initializers that an input may replace.

    `functions` are those that stay, `kept` those of them that can pad, by scope, with the reason,
    `written_out` calls of those that are gone. `folded_cells` counts the cells of values that
    followed from others.
    `prefer` is how the user wants nodes read.
    """

    model: ModelProto
    main: Scope
    functions: dict[Key, Scope]
    scopes: dict[str, Scope]
    overridable: frozenset[str]
    kept: Mapping[str, str]
    written_out: tuple[NodeProto, ...] = ()
    folded_cells: int = 0
    prefer: Preferences = NO_PREFERENCE

    def function(self, node: Node) -> Scope | None:
        """The local function that a node calls."""
        if not self.functions:
            return None
        return self.functions.get(key_of(node.proto))

    @property
    def has_data_outside(self) -> bool:
        """Whether an initializer names another file that holds its data."""
        return any(
            tensor.data_location == TensorProto.EXTERNAL
            and any(entry.key == "location" for entry in tensor.external_data)
            for scope in self.scopes.values()
            for tensor in scope.initializers.values()
        )


def quantisation_notes(scope: Scope) -> Sequence[TensorAnnotation]:
    """What the file says of the quantisation of tensors; functions have no place for it."""
    return scope.proto.quantization_annotation if isinstance(scope.proto, GraphProto) else ()


def address_of(scope: Scope, node: Node) -> Address:
    """Identity of a node, with a label that leads people to it."""
    name = node.name or next((out for out in node.outputs if out), node.op_type)
    label = f"{scope.label}/{name}" if scope.label else name
    return Address(scope.id, node.key, label)


def scope_label(parent: Scope, node: Node, attribute: str) -> str:
    """'node/then_branch' for people; the first output names a node without a name."""
    name = node.name or (node.outputs[0] if node.outputs else node.op_type)
    return f"{parent.label}/{name}.{attribute}" if parent.label else f"{name}.{attribute}"
