"""What cells are: here nothing, but for the shape that whatever is computed has."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.functions import Number

Array = NDArray[Any]


def hollow(shape: tuple[int, ...]) -> Array:
    """An array of this shape that is one byte, however many cells it has."""
    return np.broadcast_to(np.int8(0), shape)


class Domain:
    """Arithmetic of shapes; `Formal` and `Numeric` compute cells as well.

    `computes` is false where only shapes are kept, `holds_products` where sums need no room for
    their products.
    """

    computes = False
    holds_products = True

    def embed(self, numbers: Array) -> Array:
        """Numbers as cells."""
        return hollow(numbers.shape)

    def number(self, _: Number) -> float:
        """The cell of a number."""
        return 0

    def infinity(self, _: int) -> float:
        """The cell of an infinity, by its sign."""
        return 0

    def fresh(self, _: Hashable, shape: tuple[int, ...]) -> Array:
        """The cells of a free variable, by its key."""
        return hollow(shape)

    def add(self, a: Array, b: Array) -> Array:
        """a + b."""
        return hollow(np.broadcast_shapes(a.shape, b.shape))

    sub = mul = div = add

    def neg(self, a: Array) -> Array:
        """-a."""
        return a

    def bound(self, a: Array, least: Number) -> None:
        """Learn that no cell falls below a number."""

    def learn(self, op: str, made: Array, a: Array, b: Array) -> None:
        """Learn numbers and bounds of a result from those of its operands."""

    def total(self, a: Array) -> Array:
        """Sum over the last axis."""
        return hollow(a.shape[:-1])

    def contract(self, a: Array, b: Array) -> Array:
        """Sum of a b over the last axis."""
        return hollow(np.broadcast_shapes(a.shape, b.shape)[:-1])

    def largest(self, a: Array, lowest: Number, floor: Number | None = None) -> Array:
        """Maximum over the last axis; see `Formal`."""
        del lowest, floor
        return hollow(a.shape[:-1])

    def function(self, op: str, parameters: Mapping[str, Any], *args: Array) -> Array:
        """Apply the function of the operator `op` to each cell."""
        del op, parameters
        return hollow(np.broadcast_shapes(*(one.shape for one in args)))

    def chosen(self, a: Array, places: Array, lowest: Number, *, floats: bool) -> Array:
        """The place of the first maximum over the last axis."""
        del places, lowest, floats
        return hollow(a.shape[:-1])
