"""Answers to the questions of targets about what stands around a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from onnxpad.model.graph.attributes import Value
from onnxpad.model.graph.context import Context, is_stored
from onnxpad.model.graph.flat_numbers import constant_integers
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.crossing import data_position, hands_on
from onnxpad.model.reading.pads import read_pad
from onnxpad.model.reading.quantised import zero_fill
from onnxpad.padding.chain import Shape
from onnxpad.padding.fills import Fill
from onnxpad.padding.operators import Operator
from onnxpad.padding.surroundings import Answers, Neighbour, Surroundings


def answers_about(context: Context, node: Node, op: Operator) -> Answers:
    """What the model's reading was asked, with what holds of this node."""
    seen = _Seen(context)
    return tuple(
        [
            (one, one.answer(seen, node, op) if op.kind in one.kinds else one.nothing)
            for one in context.document.asked
        ]
    )


def looked_at(context: Context, node: Node, op: Operator) -> list[Node]:
    """The nodes around this one that the questions look at, each once."""
    found: list[Node] = []
    seen = _Noted(context, found.append)
    for one in context.document.asked:
        if op.kind in one.kinds:
            one.answer(seen, node, op)
    return list({each.key: each for each in found}.values())


def seen_from(context: Context) -> Surroundings:
    """A scope as what stands around the nodes in it."""
    return _Seen(context)


@dataclass(frozen=True, slots=True)
class _Seen:
    _context: Context

    @property
    def producer(self) -> str:
        return self._context.document.model.producer_name

    def makers(self, name: str, *, data: bool = False) -> Iterator[Node]:
        return self._context.makers(name, data_position if data else None)

    def readers(self, name: str) -> list[Node]:
        return self._context.readers(name)

    def has_one_reader(self, name: str) -> bool:
        scope = self._context.scope
        return scope.uses.get(name, 0) == 1 and name not in scope.outputs

    def leaves(self, name: str) -> bool:
        return name in self._context.scope.outputs or bool(self._context.inner_readers(name))

    def shape(self, name: str) -> Shape:
        return self._context.type_of(name).dims

    def dtype(self, name: str) -> str:
        return self._context.type_of(name).dtype

    def is_stored(self, name: str) -> bool:
        return is_stored(self._context, name)

    def integers(self, name: str) -> tuple[int, ...] | None:
        return constant_integers(self._context, name)

    def attributes(self, node: Neighbour) -> Mapping[str, Value]:
        return self._context.attributes(cast(Node, node))

    def data(self, node: Neighbour) -> str:
        return node.inputs[data_position(self._context, cast(Node, node))]

    def hands_on(self, node: Neighbour) -> bool:
        return hands_on(self._context, cast(Node, node))

    def zero_point(self, node: Neighbour) -> Fill:
        return zero_fill(self._context, cast(Node, node))

    def fill(self, node: Neighbour) -> Fill | None:
        step = read_pad(self._context, cast(Node, node), None)
        return step.fill if step.mode == "constant" else None


@dataclass(frozen=True, slots=True)
class _Noted(_Seen):
    """The same, and it notes which nodes it gave."""

    _note: Callable[[Node], None]

    def makers(self, name: str, *, data: bool = False) -> Iterator[Node]:
        for one in _Seen.makers(self, name, data=data):
            self._note(one)
            yield one

    def readers(self, name: str) -> list[Node]:
        found = _Seen.readers(self, name)
        for one in found:
            self._note(one)
        return found
