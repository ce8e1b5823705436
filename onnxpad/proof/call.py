"""One operator at one size: what a rule sees, and what it notes for the lemmas."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.functions import Number
from onnxpad.proof.outcomes import Undecided

Array = NDArray[Any]
FREE_BITS = 64
"""How many bits a constant may have that nobody looked at: a whole number."""


class Domain(Protocol):
    """What cells are; `Formal` and `Numeric` are two of them."""

    def embed(self, numbers: Array) -> Array: ...
    def number(self, number: Number) -> Any: ...
    def infinity(self, sign: int) -> Any: ...
    def fresh(self, key: Any, shape: tuple[int, ...]) -> Array: ...
    def add(self, a: Array, b: Array) -> Array: ...
    def sub(self, a: Array, b: Array) -> Array: ...
    def neg(self, a: Array) -> Array: ...
    def mul(self, a: Array, b: Array) -> Array: ...
    def div(self, a: Array, b: Array) -> Array: ...
    def total(self, a: Array) -> Array: ...
    def contract(self, a: Array, b: Array) -> Array: ...
    def largest(self, a: Array, lowest: Number, floor: Number | None = None) -> Array: ...
    def function(self, op: str, parameters: Mapping[str, Any], *args: Array) -> Array: ...
    def quantise(self, a: Array, zero: Array, low: int, high: int) -> Array: ...
    def chosen(self, a: Array, places: Array, lowest: Number, *, floats: bool) -> Array: ...


@dataclass(frozen=True, slots=True)
class Readings:
    """What the ONNX text leaves open or runtimes read otherwise; a verdict names those it used.

    `valid_ceil_up`: VALID together with ceil_mode rounds up, as onnxruntime and shape inference
    do, and not down, as the text's formula does. `wide_reflect`: a mirror that reaches beyond the
    data goes back and forth, and does not fail. `legacy_split`: ConvTranspose splits an odd crop as
    its text of opsets 1 to 10 says, the larger half at the end but for SAME_LOWER.
    """

    valid_ceil_up: bool = True
    wide_reflect: bool = False
    legacy_split: bool = False


@dataclass(slots=True)
class Notes:
    """What an evaluation tells the lemmas.

    Of every open size, by the bit that stands for it: `far` and `period` (lemma 2). `tied` are sets
    of open sizes that hang on each other, `irregular` is why lemma 2 does not hold, `readings` were
    used, `rounded` says that a float was taken for the fraction that it rounds, `degree` and `bits`
    are the largest of any tensor.
    """

    far: dict[int, int] = field(default_factory=dict)
    period: dict[int, int] = field(default_factory=dict)
    tied: set[int] = field(default_factory=set)
    irregular: str = ""
    readings: set[str] = field(default_factory=set)
    rounded: bool = False
    degree: int = 1
    bits: int = 1

    def window(self, sizes: int, reach: int, stride: int = 1) -> None:
        """Windows over axes that follow these sizes reach so many cells and step by `stride`."""
        for bit in bits(sizes):
            period = self.period.get(bit, 1)
            self.far[bit] = self.far.get(bit, 0) + reach * period
            self.period[bit] = period * stride
        self.tie(sizes)

    def modulus(self, sizes: int, number: int) -> None:
        """These sizes are divided by a number."""
        for bit in bits(sizes):
            self.period[bit] = math.lcm(self.period.get(bit, 1), max(1, abs(number)))

    def threshold(self, sizes: int, number: int) -> None:
        """These sizes are compared with, or moved by, a number."""
        for bit in bits(sizes):
            self.far[bit] = self.far.get(bit, 0) + abs(number)

    def tie(self, sizes: int) -> None:
        """These sizes hang on each other."""
        if sizes & (sizes - 1):
            self.tied.add(sizes)

    def breaks(self, reason: str) -> None:
        """Lemma 2 does not hold."""
        self.irregular = self.irregular or reason

    def merge(self, other: "Notes") -> None:
        """Take in what another evaluation told."""
        for mine, its in ((self.far, other.far), (self.period, other.period)):
            for axis, number in its.items():
                mine[axis] = max(mine.get(axis, 0), number)
        self.tied |= other.tied
        self.irregular = self.irregular or other.irregular
        self.readings |= other.readings
        self.rounded |= other.rounded
        self.degree, self.bits = max(self.degree, other.degree), max(self.bits, other.bits)


def bits(mask: int) -> list[int]:
    """The single bits of a mask."""
    return [1 << at for at in range(mask.bit_length()) if mask >> at & 1]


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor: cells of the domain, or where it is `known` the numbers themselves.

    `follows` says for every axis which open sizes its size hangs on, `origins` for every known
    number (None: for none of them), as masks of bits. `degree` and `bits` bound the polynomials
    that the cells are, in the random points and in their coefficients.
    """

    cells: Array
    dtype: np.dtype[Any]
    known: bool = False
    follows: tuple[int, ...] | None = None
    origins: Array | None = None
    degree: int = 0
    bits: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.cells.shape)

    @property
    def axes(self) -> tuple[int, ...]:
        """Which open sizes every axis follows."""
        return self.follows if self.follows is not None else (0,) * self.cells.ndim

    @property
    def sized(self) -> bool:
        """Whether numbers came from sizes."""
        return self.origins is not None

    @property
    def sources(self) -> int:
        """The open sizes that the numbers came from."""
        return 0 if self.origins is None else int(np.bitwise_or.reduce(self.origins, axis=None))


@dataclass(slots=True)
class Budget:
    """How much an evaluation may compute."""

    cells: int

    def spend(self, count: int) -> None:
        """Raise Undecided where the budget does not reach."""
        self.cells -= int(count)
        if self.cells < 0:
            raise Undecided("the budget of cells is spent")


@dataclass(slots=True)
class Call:
    """An operator, its operands and attributes."""

    op: str
    domain: str
    opset: int
    inputs: Sequence[Value | None]
    attributes: Mapping[str, Any]
    d: Domain
    readings: Readings
    notes: Notes
    budget: Budget
    outputs: int = 1

    def get(self, name: str, default: Any = None) -> Any:
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
        return self.d.embed(value.cells) if value.known else value.cells

    def ints(self, index: int, attribute: str = "") -> list[int] | None:
        """Whole numbers from an attribute, or from an operand that must be known."""
        if attribute and attribute in self.attributes:
            return [int(one) for one in self.attributes[attribute]]
        value = self.optional(index)
        if value is None:
            return None
        if not value.known:
            raise Undecided(f"input {index} of {self.op} is not known before the model runs")
        return [int(one) for one in value.cells.ravel()]

    def made(self, cells: Array, dtype: Any = None) -> Value:
        """A result in the domain."""
        kind = self.need(0).dtype if dtype is None else np.dtype(dtype)
        return Value(np.asarray(cells), kind)

    def moved(self, cells: Array) -> Value:
        """The first operand with its cells moved about."""
        return replace(self.need(0), cells=np.asarray(cells), follows=None, origins=None)

    def window(self, axis: int, reach: int, stride: int = 1) -> None:
        """Note windows over an axis of the first operand (see Notes.window)."""
        self.notes.window(self.need(0).axes[axis], reach, stride)

    def computed(self, *indices: int) -> int:
        """The open sizes that numbers among these operands came from."""
        values = [value for at in indices if (value := self.optional(at)) is not None]
        found = 0
        for value in values:
            found |= value.sources
        return found

    def spend(self, count: float) -> None:
        """Take cells off the budget before they are made."""
        self.budget.spend(int(count))

    def reads(self, reading: str) -> None:
        """Name a reading that this result hangs on."""
        self.notes.readings.add(reading)


def lowest(dtype: np.dtype[Any]) -> tuple[Number, Number | None]:
    """The lowest finite number of a type, and the same as a floor where the type is whole."""
    from fractions import Fraction

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
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).min)


Rule = Callable[[Call], Sequence[Value]]
RULES: dict[tuple[str, str], Rule] = {}


def rule(*ops: str, domain: str = "") -> Callable[[Rule], Rule]:
    """Register the rule of operators."""

    def register(function: Rule) -> Rule:
        for op in ops:
            RULES[domain, op] = function
        return function

    return register
