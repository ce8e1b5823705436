"""The graph around a node, as conditions of targets see it, and the questions that they ask.

What one runtime alone makes of a node's surroundings is a question beside that target's conditions.
Where the target is asked for, a reading answers it together with the other facts of `Around`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from onnxpad.geometry.size import Size
from onnxpad.padding.fills import Fill
from onnxpad.padding.operators import Kind, Operator

Answer = TypeVar("Answer", bound=Hashable)


class Neighbour(Protocol):
    """A node of the graph; an input that is left out is ''."""

    op_type: str
    domain: str
    inputs: list[str]
    outputs: list[str]


class Surroundings(Protocol):
    """The graph that a node stands in, its tensors by their names."""

    @property
    def producer(self) -> str:
        """The tool that wrote the model."""

    def makers(self, name: str, *, data: bool = False) -> Iterator[Neighbour]:
        """What makes a tensor, what makes the first input of that, or its data, and so on."""

    def readers(self, name: str) -> Sequence[Neighbour]:
        """Nodes of the graph that read a tensor."""

    def has_one_reader(self, name: str) -> bool:
        """Whether one node alone reads a tensor, and it is no result of the graph."""

    def leaves(self, name: str) -> bool:
        """Whether a tensor is a result of the graph, or read by a graph inside."""

    def shape(self, name: str) -> tuple[Size | None, ...] | None:
        """The sizes of a tensor."""

    def dtype(self, name: str) -> str:
        """The element type of a tensor, '' where it is not known."""

    def is_stored(self, name: str) -> bool:
        """Whether a tensor is a constant of the file."""

    def integers(self, name: str) -> tuple[int, ...] | None:
        """The numbers of a tensor that never changes; None where they are not known."""

    def attributes(self, node: Neighbour) -> Mapping[str, Any]:
        """What a node says."""

    def data(self, node: Neighbour) -> str:
        """The input that a node works on, of products and sums the one that is computed."""

    def hands_on(self, node: Neighbour) -> bool:
        """Whether a node gives what it reads."""

    def zero_point(self, node: Neighbour) -> Fill:
        """What is 0 for a QuantizeLinear, a DequantizeLinear or the input of a QLinearConv."""

    def fill(self, node: Neighbour) -> Fill | None:
        """What a Pad in mode constant writes; None for one in another mode."""


def quantised_at(around: Surroundings, node: Neighbour, *, alone: bool) -> Neighbour | None:
    """The QuantizeLinear with a zero point that reads a result first, or `alone`."""
    readers = around.readers(node.outputs[0])
    if not readers or (alone and not around.has_one_reader(node.outputs[0])):
        return None
    first = readers[0]
    return first if first.op_type == "QuantizeLinear" and first.inputs[2:] else None


@dataclass(frozen=True, eq=False)
class Question(Generic[Answer]):
    """What is to be known of the surroundings of operators of these `kinds`.

    Of others, and where no model was read, the answer is `nothing`.
    """

    kinds: frozenset[Kind]
    answer: Callable[[Surroundings, Neighbour, Operator], Answer]
    nothing: Answer


Answers: TypeAlias = tuple[tuple[Question[Any], Hashable], ...]
"""The questions that a reading was asked, each with its answer."""
