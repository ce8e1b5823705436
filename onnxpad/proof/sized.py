"""Numbers that hang on open sizes, and how they grow with them.

Lemma 2 needs it: from some size n on, such a number is linear in n plus what hangs on the remainder
of n by a period alone. A `Sized` is the number at the sizes of an evaluation, with its exact slope
for each. Sums keep that. Cutting to whole numbers does if the period times the slope is whole: the
denominator is noted. A comparison comes out the same at all larger sizes of that remainder, unless
the difference goes towards 0: the size at which it arrives there is noted, up to which to compare.
What a slope cannot tell (products, floats, two sizes at once) is noted as irregular.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from math import ceil, floor, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.endings import NoResult, Undecided

Array = NDArray[Any]
_MOST = 1 << 12
_LONGEST = 64
"""Bits of the types of whole numbers: larger ones are cut off there, and take long."""
_ZERO = Fraction(0)


@dataclass(slots=True)
class Notes:
    """What an evaluation tells the lemmas.

    `sizes` are those of the evaluation, by bit. By bit as well: `far` is how many cells windows and
    pads reach together, `moduli` divide the period, `turns` are sizes at which a comparison turns
    over, and `only` the fixed sizes that an open one must be. `irregular` is why lemma 2 does not
    hold, `readings` were used, `rounded` says that a float was taken for the fraction that it
    rounds, `degree` and `bits` are the largest of any tensor.
    """

    sizes: Mapping[int, int] = field(default_factory=dict)
    far: dict[int, int] = field(default_factory=dict)
    moduli: dict[int, int] = field(default_factory=dict)
    turns: dict[int, set[int]] = field(default_factory=dict)
    only: dict[int, set[int]] = field(default_factory=dict)
    irregular: str = ""
    readings: set[str] = field(default_factory=set)
    rounded: bool = False
    degree: int = 1
    bits: int = 1

    def breaks(self, reason: str) -> None:
        """Lemma 2 does not hold."""
        self.irregular = self.irregular or reason

    def merge(self, other: "Notes") -> None:
        """Take in what another evaluation told."""
        for bit, number in other.far.items():
            self.far[bit] = max(self.far.get(bit, 0), number)
        for bit, number in other.moduli.items():
            self.moduli[bit] = lcm(self.moduli.get(bit, 1), number)
        for own, more in ((self.turns, other.turns), (self.only, other.only)):
            for bit, numbers in more.items():
                own.setdefault(bit, set()).update(numbers)
        self.irregular = self.irregular or other.irregular
        self.readings |= other.readings
        self.rounded |= other.rounded
        self.degree, self.bits = max(self.degree, other.degree), max(self.bits, other.bits)


@dataclass(frozen=True, slots=True, eq=False)
class Sized:
    """A number that hangs on open sizes, with its slope for each of their bits.

    It is a whole number for Python and numpy where it is one. Arithmetic and comparisons write what
    they ask of sizes to the notes. `far` is how many cells, counted at the input, windows
    and pads reach on the way here; `pace` how many of those make one cell, at most.
    """

    number: Fraction
    slopes: Mapping[int, Fraction]
    notes: Notes
    far: int = 0
    pace: Fraction = Fraction(1)

    def made(
        self, number: Fraction | int, slopes: Mapping[int, Fraction], *others: "Sized"
    ) -> "Sized":
        """Another number that hangs on the same sizes, and on those of others."""
        bits = self.slopes.keys() | {bit for one in others for bit in one.slopes}
        if len(bits) > 1:
            self.notes.breaks("a number hangs on two sizes")
        if int(number).bit_length() > _LONGEST:
            raise Undecided("a number that hangs on sizes is too large for its type")
        slopes = {bit: slopes.get(bit, _ZERO) for bit in bits}
        paces = [abs(1 / slope) for slope in slopes.values() if slope.denominator > 1]
        pace = max(paces + [one.pace for one in (self, *others)])
        far = max(one.far for one in (self, *others))
        return Sized(Fraction(number), slopes, self.notes, far, pace)

    def lifted(self, other: Any) -> "Sized":  # noqa: ANN401 - numbers of any type
        """A fixed number as one of this class."""
        if isinstance(other, Sized):
            return other
        number = other.item() if isinstance(other, np.generic) else other
        return Sized(Fraction(number), {}, self.notes)

    @property
    def is_level(self) -> bool:
        """Whether it is the same at all sizes of one remainder."""
        return not any(self.slopes.values())

    @property
    def is_size(self) -> bool:
        """Whether it is an open size itself, and not only grows as one."""
        size = [self.notes.sizes[bit] for bit in self.slopes]
        return size == [self.number] and set(self.slopes.values()) == {Fraction(1)}

    def reached(self, cells: int) -> "Sized":
        """See the function `reached`."""
        far = self.far + ceil(cells * self.pace)
        for bit in self.slopes:
            self.notes.far[bit] = max(far, self.notes.far.get(bit, 0))
        return replace(self, far=far)

    def __int__(self) -> int:
        return int(self.number)

    __index__ = __int__

    def __bool__(self) -> bool:
        return bool(self.number)

    def __add__(self, other: "Size") -> "Sized":
        more = self.lifted(other)
        slopes = {
            bit: self.slopes.get(bit, _ZERO) + more.slopes.get(bit, _ZERO)
            for bit in self.slopes.keys() | more.slopes.keys()
        }
        return self.made(self.number + more.number, slopes, more)

    __radd__ = __add__

    def __neg__(self) -> "Sized":
        return self * -1

    def __sub__(self, other: "Size") -> "Sized":
        return self + -other

    def __rsub__(self, other: "Size") -> "Sized":
        return -self + other

    def __mul__(self, other: "Size | Fraction") -> "Sized":
        by = self.lifted(other)
        if self.slopes and by.slopes:
            self.notes.breaks("a product of sizes")
        slopes = {bit: slope * by.number for bit, slope in self.slopes.items()}
        slopes |= {bit: slope * self.number for bit, slope in by.slopes.items()}
        return self.made(self.number * by.number, slopes, by)

    __rmul__ = __mul__

    def whole(self, cut: Callable[[Fraction], int]) -> "Sized":
        """Cut to a whole number, in a way that comes again after whole numbers."""
        for bit, slope in self.slopes.items():
            self.notes.moduli[bit] = lcm(self.notes.moduli.get(bit, 1), slope.denominator)
        return self.made(cut(self.number), self.slopes)

    def over(self, other: "Size") -> "Sized":
        """The quotient, a fraction."""
        by = self.lifted(other)
        if by.slopes:
            self.notes.breaks("a division by sizes")
        if not by.number:
            raise NoResult("a division by 0")
        return (self * (1 / by.number)).chosen(by)

    def __floordiv__(self, other: "Size") -> "Sized":
        return self.over(other).whole(floor)

    def __mod__(self, other: "Size") -> "Sized":
        return self - (self // other) * other

    def truncated(self, other: "Sized") -> "Sized":
        """The quotient cut towards 0 (Div-14)."""
        quotient = self.over(other)
        return quotient.whole(floor if quotient >= 0 else ceil)

    def sign(self, other: "Size" = 0) -> int:
        """The sign of the difference of two numbers."""
        apart = self - other
        for bit, slope in apart.slopes.items():
            if slope and apart.number * slope <= 0:
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
        return self.made(self.number, self.slopes, *others)


Size = int | Sized
"""The size of an axis, or another number that may hang on open sizes."""


def hangs(*numbers: Any) -> bool:  # noqa: ANN401 - numbers of any type
    """Whether numbers hang on open sizes."""
    return any(isinstance(one, Sized) and bool(one.slopes) for one in numbers)


def reached(size: Size, cells: int) -> Size:
    """The size of an axis under windows, or beside pads, that reach so many of its cells."""
    return size.reached(cells) if isinstance(size, Sized) else size


def fit(notes: Notes, sizes: Sequence[Size]) -> Size:
    """One of several sizes that must be equal; notes what that asks."""
    hanging = [one for one in sizes if isinstance(one, Sized)]
    fixed = {one for one in sizes if not isinstance(one, Sized)}
    if not hanging:
        return max(fixed, default=1)
    first = hanging[0].chosen(*hanging[1:])
    if len(fixed) == 1 and first.is_size and all(one.is_size for one in hanging):
        notes.only.setdefault(next(iter(first.slopes)), set()).update(fixed)
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
        more = one.lifted(other)
        return max(one, more).chosen(one, more)
    return larger(other, one) if isinstance(other, Sized) else max(one, other)


def smaller(one: Size, other: Size) -> Size:
    """The smaller number."""
    return -larger(-one, -other)


def _truth(says: Callable[[int], bool]) -> Callable[[Sized, Sized], Size]:
    """A comparison, by the sign of the difference."""
    return lambda one, other: one.made(says(one.sign(other)), {}, other)


def _logic(says: Callable[[bool, bool], bool]) -> Callable[[Sized, Sized], Size]:
    return lambda one, other: one.made(says(bool(one), bool(other)), {}, other)


_RULES: dict[str, Callable[..., Size]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Div": Sized.truncated,
    "Mod": operator.mod,
    "Max": lambda *numbers: reduce(larger, numbers),
    "Min": lambda *numbers: reduce(smaller, numbers),
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
    "Abs": lambda one: larger(one, -one),
    "Relu": lambda one: larger(one, 0),
    "Sign": lambda one: one.made(one.sign(), {}),
    "Where": lambda choice, one, other: (one if choice else other).chosen(choice, one, other),
}


def is_sized(cells: Array) -> bool:
    """Whether numbers hang on sizes."""
    return cells.dtype == object


def sized(op: str, notes: Notes, *arrays: Array) -> Array | None:
    """What an operator makes of numbers, cell by cell; None where no rule says."""
    if op not in _RULES:
        notes.breaks(f"{op} of sizes")
        return None
    zero = Sized(Fraction(0), {}, notes)
    made = np.empty(np.broadcast_shapes(*(one.shape for one in arrays)), object)
    if made.size > _MOST:
        raise Undecided("too many numbers are computed with sizes")
    columns = np.broadcast_arrays(*arrays)
    for at in np.ndindex(made.shape):
        made[at] = _RULES[op](*(zero.lifted(column[at]) for column in columns))
    return made


def plain(cells: Array, dtype: np.dtype[Any]) -> Array:
    """Numbers as they are at these sizes."""
    if not is_sized(cells):
        return cells
    return np.asarray([int(one) for one in cells.ravel()], dtype).reshape(cells.shape)
