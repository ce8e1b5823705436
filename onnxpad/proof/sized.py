"""Numbers that hang on open sizes, and how they grow with them.

Lemma 2 needs it: from some size n on, such a number is linear in n plus what hangs on the remainder
of n by a period alone. A `Sized` is the number at the sizes of an evaluation, with its exact slope
for each. Sums keep that. Cutting to whole numbers does if the period times the slope is whole: the
denominator is noted. A comparison comes out the same at all larger sizes of that remainder, unless
the difference goes towards 0: the size at which it arrives there is noted, up to which to compare.
What a slope cannot tell (products, sizes compared with each other) is noted as irregular.

A float that grows with a size is the exact number only where that is a whole number over a power of
two, and not too large for its type. Elsewhere it is rounded, which no slope tells. Where it is a
whole number over another one it lies farther from where a cut turns than rounding reaches, and may
be cut; nothing else may be made of it.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from math import ceil, floor, lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.endings import NoResult, Undecided

Array = NDArray[Any]
_MOST = 1 << 12
_LARGEST = 1 << 16
"""Up to which size a float must be exact."""


class Way(NamedTuple):
    """What an open size meets on the way from the inputs to a tensor: see lemma 2."""

    far: int = 0
    period: int = 1


Ways = Mapping[int, Way]
"""By the bit that stands for an open size."""
PLAIN = Way()


def farther(one: Ways, other: Ways) -> dict[int, Way]:
    """Both ways together."""
    made = dict(one)
    for bit, way in other.items():
        own = made.get(bit, PLAIN)
        made[bit] = Way(max(own.far, way.far), lcm(own.period, way.period))
    return made


@dataclass(slots=True)
class Notes:
    """What an evaluation tells the lemmas.

    `sizes` are those of the evaluation, by bit. `ways` are the farthest of open sizes, `moduli`
    divide the period, `turns` are sizes at which a comparison turns over, and `only` the fixed
    sizes that an open one must be, by bit. `tied` are sets of open sizes that hang on each other,
    `irregular` is why lemma 2 does not hold, `readings` were used, `rounded` says that a float was
    taken for the fraction that it rounds, `degree` and `bits` are the largest of any tensor.
    """

    sizes: Mapping[int, int] = field(default_factory=dict)
    ways: dict[int, Way] = field(default_factory=dict)
    moduli: dict[int, int] = field(default_factory=dict)
    turns: dict[int, set[int]] = field(default_factory=dict)
    only: dict[int, set[int]] = field(default_factory=dict)
    tied: set[int] = field(default_factory=set)
    irregular: str = ""
    readings: set[str] = field(default_factory=set)
    rounded: bool = False
    degree: int = 1
    bits: int = 1

    def tie(self, sizes: int) -> None:
        """These sizes hang on each other."""
        if sizes & (sizes - 1):
            self.tied.add(sizes)

    def breaks(self, reason: str) -> None:
        """Lemma 2 does not hold."""
        self.irregular = self.irregular or reason

    def merge(self, other: "Notes") -> None:
        """Take in what another evaluation told."""
        self.ways = farther(self.ways, other.ways)
        for bit, number in other.moduli.items():
            self.moduli[bit] = lcm(self.moduli.get(bit, 1), number)
        for own, more in ((self.turns, other.turns), (self.only, other.only)):
            for bit, numbers in more.items():
                own.setdefault(bit, set()).update(numbers)
        self.tied |= other.tied
        self.irregular = self.irregular or other.irregular
        self.readings |= other.readings
        self.rounded |= other.rounded
        self.degree, self.bits = max(self.degree, other.degree), max(self.bits, other.bits)


@dataclass(frozen=True, slots=True, eq=False)
class Sized:
    """A number that hangs on open sizes: their bits, and its slope for each where that is not 0.

    It is a whole number for Python and numpy where it is one. Arithmetic and comparisons write what
    they ask of sizes to the notes. At all sizes it is a whole number over `unit`, or the `rounded`
    float of such a number, whose unit is 0 where a cut may turn by that.
    """

    number: Fraction
    sizes: int
    slopes: Mapping[int, Fraction]
    notes: Notes
    unit: int = 1
    rounded: bool = False

    def made(
        self, number: Fraction, slopes: Mapping[int, Fraction], *others: "Sized", unit: int = 1
    ) -> "Sized":
        """Another number that hangs on the same sizes, and on those of others."""
        sizes = reduce(operator.or_, (one.sizes for one in others), self.sizes)
        self.notes.tie(sizes)
        slopes = {bit: slope for bit, slope in slopes.items() if slope}
        return Sized(number, sizes, slopes, self.notes, unit if slopes else number.denominator)

    def as_float(self, dtype: np.dtype[Any]) -> "Sized":
        """As a type of floats has it."""
        number = Fraction(float(dtype.type(float(self))))
        if not self.slopes:
            return self.made(number, {})
        reach = max(abs(self.number), _LARGEST * max(map(abs, self.slopes.values())))
        unit = self.unit if reach * self.unit < 1 << np.finfo(dtype).nmant else 0
        rounded = self.rounded or not unit or bool(unit & (unit - 1))
        return replace(self, number=number, unit=unit, rounded=rounded)

    def exact(self) -> "Sized":
        """This one; raises Undecided for a rounded float."""
        if self.rounded:
            raise Undecided("a rounded float decides")
        return self

    def lifted(self, other: Any) -> "Sized":  # noqa: ANN401 - numbers of any type
        """A fixed number as one of this class."""
        if isinstance(other, Sized):
            return other
        number = Fraction(other.item() if isinstance(other, np.generic) else other)
        return Sized(number, 0, {}, self.notes, number.denominator)

    @property
    def is_size(self) -> bool:
        """Whether it is an open size itself, and not only grows as one."""
        return self.slopes == {self.sizes: 1} and self.number == self.notes.sizes[self.sizes]

    def __int__(self) -> int:
        return int(self.number)

    __index__ = __int__

    def __float__(self) -> float:
        return float(self.number)

    def __bool__(self) -> bool:
        return bool(self.number)

    def __add__(self, other: "Size") -> "Sized":
        one, more = self.exact(), self.lifted(other).exact()
        slopes = {
            bit: one.slopes.get(bit, Fraction(0)) + more.slopes.get(bit, Fraction(0))
            for bit in one.slopes.keys() | more.slopes.keys()
        }
        return one.made(one.number + more.number, slopes, more, unit=lcm(one.unit, more.unit))

    __radd__ = __add__

    def __neg__(self) -> "Sized":
        slopes = {bit: -slope for bit, slope in self.slopes.items()}
        return replace(self, number=-self.number, slopes=slopes)

    def __sub__(self, other: "Size") -> "Sized":
        return self + -other

    def __rsub__(self, other: "Size") -> "Sized":
        return -self + other

    def __mul__(self, other: "Size | Fraction") -> "Sized":
        by = self.exact().lifted(other).exact()
        if (self.slopes and by.sizes) or (by.slopes and self.sizes):
            self.notes.breaks("a product of sizes")
        slopes = {bit: slope * by.number for bit, slope in self.slopes.items()}
        slopes |= {bit: slope * self.number for bit, slope in by.slopes.items()}
        return self.made(self.number * by.number, slopes, by, unit=self.unit * by.unit)

    __rmul__ = __mul__

    def over(self, other: "Size | Fraction") -> "Sized":
        """The quotient, a fraction."""
        by = self.exact().lifted(other).exact()
        if by.sizes:
            self.notes.breaks("a division by sizes")
        if not by.number:
            raise NoResult("a division by 0")
        slopes = {bit: slope / by.number for bit, slope in self.slopes.items()}
        unit = self.unit * abs(by.number.numerator)
        return self.made(self.number / by.number, slopes, by, unit=unit)

    def whole(self, cut: Callable[[Fraction], int], turns: int = 1) -> "Sized":
        """Cut to a whole number, in a way that comes again after so many whole numbers."""
        if not self.unit:
            self.exact()
        for bit, slope in self.slopes.items():
            modulus = (slope / turns).denominator
            self.notes.moduli[bit] = lcm(self.notes.moduli.get(bit, 1), modulus)
        return self.made(Fraction(cut(self.number)), self.slopes)

    def __floordiv__(self, other: "Size") -> "Sized":
        return self.over(other).whole(lambda number: number.__floor__())

    def __mod__(self, other: "Size") -> "Sized":
        return self - (self // other) * other

    def truncated(self) -> "Sized":
        """Cut to a whole number towards 0."""
        return self.whole(floor if replace(self, rounded=not self.unit) >= 0 else ceil)

    def sign(self, other: "Size" = 0) -> int:
        """The sign of the difference of two numbers."""
        apart = self - other
        if len(apart.slopes) > 1:
            self.notes.breaks("sizes are compared with each other")
        for bit, slope in apart.slopes.items():
            if apart.number * slope <= 0:
                turn = self.notes.sizes[bit] + ceil(-apart.number / slope)
                self.notes.turns.setdefault(bit, set()).add(turn)
        return (apart.number > 0) - (apart.number < 0)

    def __lt__(self, other: "Size") -> bool:
        return self.sign(other) < 0

    def __le__(self, other: "Size") -> bool:
        return self.sign(other) <= 0

    def __gt__(self, other: "Size") -> bool:
        return self.sign(other) > 0

    def __ge__(self, other: "Size") -> bool:
        return self.sign(other) >= 0

    def chosen(self, *others: "Sized") -> "Sized":
        """This one, which others decided for."""
        made = self.made(self.number, self.slopes, *others, unit=self.unit)
        return replace(made, rounded=self.rounded)


Size = int | Sized
"""The size of an axis, or another number that may hang on open sizes."""


def hangs(*numbers: Any) -> int:  # noqa: ANN401 - numbers of any type
    """The open sizes that numbers hang on, as bits."""
    return reduce(operator.or_, (one.sizes for one in numbers if isinstance(one, Sized)), 0)


def variable(size: int, bit: int, notes: Notes) -> Sized:
    """An open size itself."""
    return Sized(Fraction(size), bit, {bit: Fraction(1)}, notes)


def fit(notes: Notes, sizes: Sequence[Size]) -> Size:
    """One of several sizes that must be equal; notes what that asks."""
    hanging = [one for one in sizes if isinstance(one, Sized)]
    fixed = {one for one in sizes if not isinstance(one, Sized)}
    if not hanging:
        return max(fixed, default=1)
    first = hanging[0]
    if len(fixed) == 1 and hangs(*hanging) == first.sizes and all(one.is_size for one in hanging):
        notes.only.setdefault(first.sizes, set()).update(fixed)
    else:
        for one in sizes:
            first.sign(one)
    return first


def broadcast(notes: Notes, shapes: Sequence[Sequence[Size]]) -> tuple[Size, ...]:
    """The shape of several tensors together, their axes counted from the last one."""

    def beside(at: int) -> list[Size]:
        axes = [one[at] for one in shapes if len(one) >= -at]
        return [one for one in axes if isinstance(one, Sized) or one != 1]

    places = range(-max(map(len, shapes), default=0), 0)
    return tuple(fit(notes, beside(at)) for at in places)


def larger(one: Size, other: Size) -> Size:
    """The larger number, which hangs on what both hang on."""
    if isinstance(one, Sized):
        return _larger(one, one.lifted(other))
    return larger(other, one) if isinstance(other, Sized) else max(one, other)


def smaller(one: Size, other: Size) -> Size:
    """The smaller number."""
    return -larger(-one, -other)


def _larger(one: Sized, other: Sized) -> Sized:
    return (max(one, other)).chosen(one, other)


def _smaller(one: Sized, other: Sized) -> Sized:
    return -_larger(-one, -other)


def _truth(says: Callable[[int], bool]) -> Callable[[Sized, Sized], Sized]:
    """A comparison, by the sign of the difference."""
    return lambda one, other: one.made(Fraction(says(one.sign(other))), {}, other)


def _logic(says: Callable[[bool, bool], bool]) -> Callable[[Sized, Sized], Sized]:
    return lambda one, other: one.made(Fraction(says(bool(one), bool(other))), {}, other)


def _absolute(one: Sized) -> Sized:
    return one if one >= 0 else -one


_RULES: dict[str, Callable[..., Sized]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Div": Sized.over,
    "Mod": operator.mod,
    "Max": _larger,
    "Min": _smaller,
    "Equal": _truth(lambda sign: sign == 0),
    "Greater": _truth(lambda sign: sign > 0),
    "GreaterOrEqual": _truth(lambda sign: sign >= 0),
    "Less": _truth(lambda sign: sign < 0),
    "LessOrEqual": _truth(lambda sign: sign <= 0),
    "And": _logic(operator.and_),
    "Or": _logic(operator.or_),
    "Xor": _logic(operator.xor),
    "Not": lambda one: one.made(1 - one.number, {}),
    "Neg": operator.neg,
    "Abs": _absolute,
    "Relu": lambda one: _larger(one, one.lifted(0)),
    "Sign": lambda one: one.made(Fraction(one.sign()), {}),
    "Floor": lambda one: one.whole(floor),
    "Ceil": lambda one: one.whole(ceil),
    "Round": lambda one: one.whole(round, 2),
    "Where": lambda choice, one, other: (one if choice else other).chosen(choice, one, other),
    "Clip": lambda one, low, high: _smaller(_larger(one, low), high),
    "Cast": Sized.chosen,
    "Truncated": Sized.truncated,
}


def is_sized(cells: Array) -> bool:
    """Whether numbers hang on sizes."""
    return cells.dtype == object


def sized(op: str, notes: Notes, dtype: np.dtype[Any], *arrays: Array) -> Array:
    """What an operator makes of numbers, cell by cell; floats are rounded as `dtype` is."""
    if op not in _RULES:
        raise Undecided(f"{op} of sizes")
    rule, zero = _RULES[op], Sized(Fraction(0), 0, {}, notes)
    made = np.empty(np.broadcast_shapes(*(one.shape for one in arrays)), object)
    if made.size > _MOST:
        raise Undecided("too many numbers are computed with sizes")
    columns = np.broadcast_arrays(*arrays)
    for at in np.ndindex(made.shape):
        one = rule(*(zero.lifted(column[at]) for column in columns))
        if dtype.kind == "f":
            one = one.as_float(dtype)
        made[at] = one
    return made


def hanging_on(sizes: int, cells: Array, notes: Notes) -> Array:
    """Numbers that hang on more sizes than they tell by themselves."""
    more = np.asarray(Sized(Fraction(0), sizes, {}, notes), object)
    return sized("Cast", notes, np.dtype(object), cells, more)


def plain(cells: Array, dtype: np.dtype[Any]) -> Array:
    """Numbers as they are at these sizes."""
    if not is_sized(cells):
        return cells
    numbers = [float(one) if dtype.kind == "f" else int(one) for one in cells.ravel().tolist()]
    return np.asarray(numbers, dtype).reshape(cells.shape)
