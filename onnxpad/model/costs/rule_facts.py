"""What rules for the largest sizes, and for bounds of numbers, may ask about a node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray
from onnx import AttributeProto, NodeProto, TensorProto, numpy_helper

from onnxpad.model.shapes.inference_bounds import LARGEST_STEP

Dims = tuple[int, ...]
WIDTH = 8
"""Bytes of a cell at most; tensors of wider ones, and of texts, have no bound here."""
WIDER = {
    *(TensorProto.UNDEFINED, TensorProto.STRING, TensorProto.COMPLEX64, TensorProto.COMPLEX128),
}
FOLLOWED_TYPES = {TensorProto.INT32, TensorProto.INT64}
FEW = 64
_FITTING = 2**31 - 1


class NoBoundError(Exception):
    """Nothing is known of a size here."""


class Numbers(NamedTuple):
    """The least and the largest values of whole numbers; `fit`: int32 holds them."""

    least: NDArray[Any]
    most: NDArray[Any]
    fit: bool

    @property
    def exact(self) -> list[int] | None:
        """The numbers themselves where there are no others."""
        most: list[int] = self.most.ravel().tolist()
        return most if self.least is self.most or self.least.ravel().tolist() == most else None


class Scope(Protocol):
    """What is known of the tensors of a graph by name."""

    def numbers(self, name: str) -> Numbers | None:
        """Bounds of the whole numbers in a small tensor, None where there are none."""

    def tensor(self, name: str) -> TensorProto | None:
        """A constant."""

    def is_filled(self, name: str) -> bool:
        """Whether a tensor surely has cells."""


class Facts:
    """What a rule may ask about its node; `dims` are of those inputs (`names`) that are there."""

    __slots__ = ("_attributes", "dims", "names", "node", "scope")

    def __init__(self, scope: Scope, node: NodeProto, names: list[str], dims: list[Dims]) -> None:
        self.scope, self.node, self.names, self.dims = scope, node, names, dims
        self._attributes: dict[str, AttributeProto] | None = None

    @property
    def attributes(self) -> dict[str, AttributeProto]:
        """The attributes by name."""
        if self._attributes is None:
            self._attributes = {one.name: one for one in self.node.attribute}
        return self._attributes

    def integer(self, name: str, default: int = 0) -> int:
        """An attribute."""
        return self.attributes[name].i if name in self.attributes else default

    def integers(self, name: str, default: Sequence[int] = ()) -> list[int]:
        """An attribute."""
        return list(self.attributes[name].ints if name in self.attributes else default)

    def text(self, name: str) -> str:
        """An attribute."""
        return self.attributes[name].s.decode() if name in self.attributes else ""

    def name(self, position: int) -> str:
        """The name of an input, '' where it is left out."""
        return self.names[position] if position < len(self.names) else ""

    def numbers(self, position: int) -> Numbers | None:
        """Whole numbers at an input."""
        name = self.name(position)
        return self.scope.numbers(name) if name else None

    def exact(self, attribute: str, position: int) -> list[int] | None:
        """Numbers that an attribute or input says; None where neither is there."""
        if attribute in self.attributes:
            return list(self.attributes[attribute].ints)
        return exact_of(self.numbers(position)) if self.name(position) else None

    def most(self, position: int) -> list[int]:
        """The largest values of numbers at an input."""
        found = self.numbers(position)
        if found is None:
            raise NoBoundError
        values: list[int] = found.most.ravel().tolist()
        return values


Rule = Callable[[Facts], Dims | list[Dims]]
Following = Callable[[Facts], Numbers | list[Numbers] | None]


def constant(tensor: TensorProto) -> NDArray[Any] | None:
    """The values of a small constant that lies in the file."""
    if prod(tensor.dims) > FEW or tensor.data_location == TensorProto.EXTERNAL:
        return None
    return numpy_helper.to_array(tensor)


def bounded(least: NDArray[Any], most: NDArray[Any]) -> Numbers:
    """Numbers between these, each side of int64."""
    fit = max(most.ravel().tolist(), default=0) <= _FITTING
    fit = fit and min(least.ravel().tolist(), default=0) >= -_FITTING
    return Numbers(least, most, fit)


def exact_of(numbers: Numbers | None) -> list[int]:
    """The numbers themselves; raises NoBoundError where only bounds are known, or nothing."""
    found = None if numbers is None else numbers.exact
    if found is None:
        raise NoBoundError
    return found


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the first; raises IndexError where there is none."""
    return range(rank)[axis]


def permutation(facts: Facts, rank: int) -> list[int]:
    """The order of axes that a Transpose says; raises NoBoundError for what is none."""
    perm = facts.integers("perm") or list(range(rank))[::-1]
    if sorted(perm) != list(range(rank)):
        raise NoBoundError
    return perm


def squeezed(facts: Facts, rank: int) -> set[int]:
    """The axes of a Squeeze or Unsqueeze; raises NoBoundError where it says none."""
    axes = facts.exact("axes", 1)
    if axes is None:
        raise NoBoundError
    return {axis_of(axis, rank) for axis in axes}


def cuts(facts: Facts, rank: int) -> list[tuple[int, int | None, int | None, int | None]]:
    """Axis, start, end and step of every cut; None where the number is not known."""
    steps = facts.exact("steps", 4)
    if any(abs(step) > LARGEST_STEP for step in steps or ()):
        raise NoBoundError  # opening a model steps through values by them
    places = [_places(facts, name, at) for at, name in ((1, "starts"), (2, "ends"))]
    axes = facts.exact("axes", 3)
    count = len(axes) if axes else max(map(len, places))
    known: list[Sequence[int | None]] = [place or [None] * count for place in places]
    numbers = [axis_of(axis, rank) for axis in axes or range(count)]
    return list(zip(numbers, *known, steps or [1] * count, strict=True))


def _places(facts: Facts, attribute: str, position: int) -> list[int]:
    if attribute in facts.attributes:
        return list(facts.attributes[attribute].ints)
    found = facts.numbers(position)
    return [] if found is None else found.exact or []
