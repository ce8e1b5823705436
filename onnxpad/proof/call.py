"""One operator at one size: what a rule sees, and what it notes for the lemmas."""

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.clock import Clock
from onnxpad.proof.domain import Domain
from onnxpad.proof.endings import Undecided
from onnxpad.proof.functions import Number

Array = NDArray[Any]


class Way(NamedTuple):
    """What an open size meets on the way from the inputs to a tensor.

    `far` and `period` are those of lemma 2; `steps` is the product of strides alone, `stretch` that
    of strides that make more cells of it.
    """

    far: int = 0
    period: int = 1
    steps: int = 1
    stretch: int = 1


Ways = Mapping[int, Way]
"""By the bit that stands for an open size."""
Slope = Fraction | None
PLAIN = Way()


class Pace(NamedTuple):
    """How a known number grows: the open sizes that it hangs on, and as `paces` says, d and bound.

    The slope is None where it is not known, or the number hangs on several sizes; `number` is the
    number itself where it is fixed.
    """

    sizes: int
    steps: int
    rest: int
    slope: Slope = None
    number: Fraction | None = None


@dataclass(slots=True)
class Notes:
    """What an evaluation tells the lemmas.

    `ways` are those of open sizes, `turns` sizes near which a comparison turns over, and `only` the
    fixed sizes that an open one must be, by bit. `tied` are sets of open sizes that hang on each
    other, `crossed` those that are compared, `irregular` is why lemma 2 does not hold, `readings`
    were used, `rounded` says that a float was taken for the fraction that it rounds, `degree` and
    `bits` are the largest of any tensor.
    """

    ways: dict[int, Way] = field(default_factory=dict)
    turns: dict[int, set[int]] = field(default_factory=dict)
    tied: set[int] = field(default_factory=set)
    crossed: set[int] = field(default_factory=set)
    only: dict[int, set[int]] = field(default_factory=dict)
    irregular: str = ""
    readings: set[str] = field(default_factory=set)
    rounded: bool = False
    degree: int = 1
    bits: int = 1

    def _each(self, sizes: int, change: Callable[[Way], Way]) -> None:
        for bit in bits(sizes):
            self.ways[bit] = change(self.ways.get(bit, PLAIN))

    def window(self, sizes: int, reach: int, stride: int = 1) -> None:
        """Windows over axes that follow these sizes reach so many cells and step by `stride`."""
        self._each(
            sizes,
            lambda way: way._replace(
                far=way.far + reach * way.period,
                period=way.period * stride,
                steps=way.steps * stride,
            ),
        )
        self.tie(sizes)

    def stretched(self, sizes: int, stride: int) -> None:
        """An axis that follows these sizes has so many cells for each."""
        self._each(sizes, lambda way: way._replace(stretch=way.stretch * stride))

    def modulus(self, sizes: int, number: int) -> None:
        """What hangs on these sizes comes again after a number of cells."""
        least = max(1, abs(number))
        self._each(sizes, lambda way: way._replace(period=math.lcm(way.period, least)))

    def steps(self, sizes: int, number: int) -> None:
        """Numbers that grow by one for so many cells are part of sizes."""
        self._each(sizes, lambda way: way._replace(steps=math.lcm(way.steps, max(1, number))))

    def threshold(self, sizes: int, number: int) -> None:
        """What hangs on these sizes may turn over at sizes up to a number."""
        self._each(sizes, lambda way: way._replace(far=way.far + abs(number)))
        for bit in bits(sizes):
            self.turns.setdefault(bit, set()).add(abs(number))

    def tie(self, sizes: int) -> None:
        """These sizes hang on each other."""
        if sizes & (sizes - 1):
            self.tied.add(sizes)

    def cross(self, sizes: int) -> None:
        """Numbers that grow with these sizes are compared with each other."""
        if sizes & (sizes - 1):
            self.crossed.add(sizes)

    def breaks(self, reason: str) -> None:
        """Lemma 2 does not hold."""
        self.irregular = self.irregular or reason

    def reach(self, ways: Ways) -> None:
        """Take in how far another way to the inputs reaches."""
        for bit, one in ways.items():
            own = self.ways.get(bit, PLAIN)
            self.ways[bit] = Way(
                max(own.far, one.far),
                math.lcm(own.period, one.period),
                math.lcm(own.steps, one.steps),
                max(own.stretch, one.stretch),
            )

    def merge(self, other: "Notes") -> None:
        """Take in what another evaluation told."""
        self.reach(other.ways)
        for own, more in ((self.turns, other.turns), (self.only, other.only)):
            for bit, numbers in more.items():
                own.setdefault(bit, set()).update(numbers)
        self.tied |= other.tied
        self.crossed |= other.crossed
        self.irregular = self.irregular or other.irregular
        self.readings |= other.readings
        self.rounded |= other.rounded
        self.degree, self.bits = max(self.degree, other.degree), max(self.bits, other.bits)


def joined(masks: Iterable[int]) -> int:
    """The bits of all masks."""
    return reduce(operator.or_, masks, 0)


def bits(mask: int) -> list[int]:
    """The single bits of a mask."""
    return [1 << at for at in range(mask.bit_length()) if mask >> at & 1]


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor: cells of the domain, or where it is `known` the numbers themselves.

    `follows` says for every axis which open sizes its size hangs on, as masks of bits; `paces` are
    those of known numbers in their order, or one for all (None: no number came from a size). `ways`
    lead here from the inputs. `slopes` say how many cells an axis grows by with each of the one
    open size that it follows, None or () for what is not known; that of a free variable is 1.
    `degree` and `bits` bound the polynomials that the cells are, in the random points and in their
    coefficients.
    """

    cells: Array
    dtype: np.dtype[Any]
    known: bool = False
    follows: tuple[int, ...] | None = None
    paces: tuple[Pace, ...] | None = None
    ways: Ways = field(default_factory=dict)
    slopes: tuple[Slope, ...] = ()
    degree: int = 0
    bits: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its axes."""
        return tuple(self.cells.shape)

    @property
    def axes(self) -> tuple[int, ...]:
        """Which open sizes every axis follows."""
        return self.follows if self.follows is not None else (0,) * self.cells.ndim

    @property
    def sized(self) -> bool:
        """Whether numbers came from sizes."""
        return self.paces is not None

    @property
    def sources(self) -> int:
        """The open sizes that the numbers came from."""
        return joined(one.sizes for one in self.paces or ())


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
    """An operator, its operands and attributes; `strides` are those of its windows by axis."""

    op: str
    domain: str
    opset: int
    inputs: Sequence[Value | None]
    attributes: Mapping[str, Any]
    d: Domain
    notes: Notes
    budget: Budget
    outputs: int = 1
    strides: dict[int, Fraction] = field(default_factory=dict)

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
        if value.sources:
            self.notes.breaks("a size becomes data")
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
        if any(value.axes):
            self.notes.breaks("numbers are read from a list whose length hangs on sizes")
        return [int(one) for one in value.cells.ravel()]

    def made(self, cells: Array, dtype: "np.dtype[Any] | type[np.generic] | None" = None) -> Value:
        """A result in the domain."""
        kind = self.need(0).dtype if dtype is None else np.dtype(dtype)
        return Value(np.asarray(cells), kind)

    def moved(self, cells: Array) -> Value:
        """The first operand with its cells moved about."""
        kept = self.need(0)
        return replace(kept, cells=np.asarray(cells), follows=None, slopes=(), paces=None)

    def window(self, axis: int, reach: int, stride: int = 1) -> None:
        """Note windows over an axis of the first operand (see Notes.window)."""
        self.strides[axis] = Fraction(stride)
        self.notes.window(self.need(0).axes[axis], reach, stride)

    def breaks(self, reason: str, *axes: int) -> None:
        """Lemma 2 does not hold where one of these axes of the first operand (of all) is open."""
        masks = self.need(0).axes
        if any(masks[axis] for axis in axes) or (not axes and any(masks)):
            self.notes.breaks(reason)

    def computed(self, *indices: int) -> int:
        """The open sizes that numbers among these operands came from."""
        return joined(value.sources for at in indices if (value := self.optional(at)) is not None)

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
    """The lowest finite number of a type, and the same as a floor where the type is whole."""
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
