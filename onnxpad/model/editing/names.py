"""Names and keys of what edits add to a model."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.scopes import Document, Scope, quantisation_notes
from onnxpad.padding.operators import FREE_INITIALIZERS


class Names:
    """Hands out names that no tensor and no node of the model has, nor anything said of one.

    `copies` are the outputs of copied nodes by scope, node and what the copy reads.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._taken: set[str] | None = None
        self._numbers: dict[str, int] = {}
        self.copies: dict[tuple[str, int, str], str] = {}

    def new(self, wanted: str) -> str:
        """`wanted`, with a number where it is taken."""
        if self._taken is None:
            self._taken = set(_all_names(self._document))
        name, number = wanted, self._numbers.get(wanted, 1)
        while name in self._taken:
            name = f"{wanted}_{number}"
            number += 1
        self._taken.add(name)
        self._numbers[wanted] = number
        return name


def next_key(scope: Scope) -> int:
    """The identity of a new node."""
    scope.next_key += 1
    return scope.next_key - 1


def stem(node: Node) -> str:
    """What names of new nodes and tensors beside `node` begin with."""
    return node.name or next((out for out in node.outputs if out), node.op_type)


def as_nodes(context: Context) -> bool:
    """Whether new constants are Constant nodes: old models have no other."""
    model = context.document.model
    return model.ir_version < FREE_INITIALIZERS


def _all_names(document: Document) -> Iterator[str]:
    for scope in document.scopes.values():
        yield from scope.inputs
        yield from scope.outputs
        yield from scope.initializers
        for node in scope.ordered():
            yield node.name
            yield from node.outputs
        yield from (value.name for value in scope.proto.value_info)
        for entry in quantisation_notes(scope):
            yield entry.tensor_name
            yield from (pair.value for pair in entry.quant_parameter_tensor_names)
