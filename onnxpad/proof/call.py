"""One operator at one size: what a rule sees, and what it notes for the lemmas."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.clock import Clock
from onnxpad.proof.domain import Domain
from onnxpad.proof.endings import Undecided
from onnxpad.proof.functions import Number
from onnxpad.proof.sized import Notes, Size, Sized, hangs, is_sized, plain

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor: cells of the domain, or where it is `known` the numbers themselves.

    `written` are the sizes of its axes where some hang on open ones. `degree` and `bits` bound the
    polynomials that the cells are, in the random points and in their coefficients.
    """

    cells: Array
    dtype: np.dtype[Any]
    known: bool = False
    written: tuple[Size, ...] | None = None
    degree: int = 0
    bits: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its axes, as numbers."""
        return tuple(self.cells.shape)

    @property
    def axes(self) -> tuple[Size, ...]:
        """The sizes of its axes, as they hang on open ones."""
        return self.shape if self.written is None else self.written

    @property
    def numbers(self) -> Array:
        """Known numbers as they are at these sizes."""
        return plain(self.cells, self.dtype)

    @property
    def is_sized(self) -> bool:
        """Whether its numbers hang on open sizes."""
        return self.known and is_sized(self.cells) and hangs(*self.cells.ravel())


@dataclass(slots=True)
class Budget:
    """How many cells an evaluation may compute, in all and at once (memory goes by that).

    `clock` says for how long.
    """

    cells: int
    at_once: int = 1 << 24
    clock: Clock = field(default_factory=Clock)

    def spend(self, count: int, *, at_once: bool = True) -> None:
        """Raise Undecided where the budget does not reach."""
        self.cells -= int(count)
        if self.cells < 0 or (at_once and count > self.at_once):
            raise Undecided("the budget of cells is spent")
        self.clock.in_time()


@dataclass(slots=True)
class Call:
    """An operator, its operands and attributes.

    `written` are the sizes of the axes of a result, where the rule tells them.
    """

    op: str
    domain: str
    opset: int
    inputs: Sequence[Value | None]
    attributes: Mapping[str, Any]
    d: Domain
    notes: Notes
    budget: Budget
    outputs: int = 1
    written: Sequence[Size] | None = None

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - of any type
        """An attribute."""
        return self.attributes.get(name, default)

    def optional(self, index: int) -> Value | None:
        """An operand, or None where it is left out."""
        return self.inputs[index] if index < len(self.inputs) else None

    def need(self, index: int) -> Value:
        """An operand that must be there."""
        value = self.optional(index)
        if value is None:
            raise Undecided(f"{self.op} lacks input {index}")
        return value

    def cells(self, index: int) -> Array:
        """An operand in the domain."""
        return self.embedded(self.need(index))

    def embedded(self, value: Value) -> Array:
        """A tensor in the domain."""
        if value.is_sized:
            self.notes.breaks("a size becomes data")
        return self.d.embed(value.numbers) if value.known else value.cells

    def sizes(self, index: int, attribute: str = "") -> list[Size] | None:
        """Whole numbers from an attribute, or from an operand that must be known.

        Where they turn their sign is noted.
        """
        if attribute and attribute in self.attributes:
            return [int(one) for one in self.attributes[attribute]]
        value = self.optional(index)
        if value is None:
            return None
        if not value.known:
            raise Undecided(f"input {index} of {self.op} is not known before the model runs")
        if hangs(*value.axes):
            self.notes.breaks("numbers are read from a list whose length hangs on sizes")
        listed = [one if isinstance(one, Sized) else int(one) for one in value.cells.ravel()]
        for one in listed:
            if isinstance(one, Sized):
                one.sign()
        return listed

    def ints(self, index: int, attribute: str = "") -> list[int] | None:
        """The same as numbers."""
        listed = self.sizes(index, attribute)
        return None if listed is None else [int(one) for one in listed]

    def made(
        self,
        cells: Array,
        dtype: "np.dtype[Any] | type[np.generic] | None" = None,
        axes: Sequence[Size] | None = None,
    ) -> Value:
        """A result in the domain; `axes` where they are not those of the operands."""
        kind = self.need(0).dtype if dtype is None else np.dtype(dtype)
        axes = self.written if axes is None else axes
        return Value(np.asarray(cells), kind, written=None if axes is None else tuple(axes))

    def moved(self, cells: Array, axes: Sequence[Size] | None = None) -> Value:
        """The first operand with its cells moved about."""
        written = None if axes is None else tuple(axes)
        return replace(self.need(0), cells=np.asarray(cells), written=written)

    def breaks(self, reason: str, *axes: int) -> None:
        """Lemma 2 does not hold where one of these axes of the first operand (of all) is open."""
        sizes = self.need(0).axes
        if hangs(*(sizes[axis] for axis in axes) if axes else sizes):
            self.notes.breaks(reason)

    def spend(self, count: float) -> None:
        """Take cells off the budget before they are made."""
        self.budget.spend(int(count))

    def multiply(self, a: Array, b: Array) -> Array:
        """Sum of a b over the last axis, which the budget pays where cells are computed."""
        if self.d.computes:
            products = math.prod(np.broadcast_shapes(a.shape, b.shape))
            self.budget.spend(products, at_once=self.d.holds_products)
        return self.d.contract(a, b)

    def reads(self, reading: str) -> None:
        """Name a reading that this result hangs on."""
        self.notes.readings.add(reading)


def lowest(dtype: np.dtype[Any]) -> tuple[Number, Number | None]:
    """(lowest finite number of a type, lower bound of its values: None for floats)."""
    if dtype.kind == "b":
        return Fraction(0), Fraction(0)
    if dtype.kind in "iu":
        least = Fraction(int(np.iinfo(dtype).min))
        return least, least
    least = Fraction(float(_finfo_min(dtype)))
    return least, None


def _finfo_min(dtype: np.dtype[Any]) -> float:
    if dtype.kind == "f":
        return float(np.finfo(dtype).min)
    finite = np.arange(1 << 16, dtype=np.uint16).view(dtype) if dtype.itemsize == 2 else None
    if finite is None:
        raise Undecided(f"maxima of {dtype}")
    wide = finite.astype(np.float64)
    return float(wide[np.isfinite(wide)].min())


Rule = Callable[[Call], Sequence[Value]]
RULES: dict[tuple[str, str], Rule] = {}


def rule(*ops: str, domain: str = "") -> Callable[[Rule], Rule]:
    """Register the rule of operators."""

    def register(function: Rule) -> Rule:
        for op in ops:
            RULES[domain, op] = function
        return function

    return register
