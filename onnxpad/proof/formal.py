"""The formal domain: every cell is an element of a field, and tables say what it stands for.

Sums and products are the field's. Maxima are sets: max is associative, commutative, idempotent and
-inf is neutral, so equal sets are equal functions. Every other function is a name: a random element
for the function and the elements that it is applied to, the same wherever they are the same.
"""

import math
import operator
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.domain import Domain
from onnxpad.proof.endings import Undecided
from onnxpad.proof.field import Cells, Field
from onnxpad.proof.functions import LEAST, Number, exact

Array = NDArray[Any]
_OPERATIONS = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Div": operator.truediv,
}
_DENOMINATOR = 1 << 10
_DRAWN = 1 << 10
_TOGETHER = 1 << 21
_LONG = 1 << 13
"""Products that are made at once: more of them would not fit into caches, nor into memory."""
_REGISTERED = 1 << 12
"""Constants with more different values than this are not looked up when a function meets them."""


def _part(a: Cells, axis: int, at: int, step: int) -> Cells:
    """Some entries of an axis, or the only one."""
    return a if a.shape[axis] == 1 else a[(slice(None),) * axis + (slice(at, at + step),)]


def _is_long(number: Fraction) -> bool:
    """Whether what is made of a number is not worth knowing: squares of squares grow endlessly."""
    return number.numerator.bit_length() + number.denominator.bit_length() > _LONG


class Formal(Domain):
    """Cells of a field with their meaning; shared by all that is compared.

    `names` has the random elements, by the function and the arguments that each stands for. What
    else is known of an element: its number (`numbers`, with `infinities`), a number that it is not
    below (`least`), or the elements that it is the maximum of (`members`). `asked` are the
    elements that functions told apart, which two that are equal by chance would spoil. With
    `fractions`, floats count as the fractions that they round; `rounded` says that one did.
    `readings` are those that maxima used.
    """

    computes = True

    def __init__(self, field: Field, *, fractions: bool = False) -> None:
        self.field = field
        self.fractions, self.rounded = fractions, False
        self.asked: set[int] = set()
        self.names: dict[Hashable, int] = {}
        self.numbers: dict[int, Number] = {0: Fraction(0)}
        self.members: dict[int, frozenset[int]] = {}
        self.least: dict[int, Number] = {}
        self.infinities: list[int] = []
        self.readings: set[str] = set()
        self._embedded: dict[int, tuple[Array, Cells]] = {}
        self._maxima: dict[Hashable, dict[frozenset[int], int]] = {}
        self._drawn: list[int] = []
        self._inputs: dict[Hashable, Cells] = {}

    # Constants.

    def embed(self, numbers: Array) -> Cells:
        """Numbers as cells; raises Undecided for NaN."""
        known = self._embedded.get(id(numbers))
        if known is not None:
            return known[1]
        if numbers.dtype.kind in "biu":
            cells = self.field.embedded(numbers)
            wide = numbers
        else:
            wide = numbers.astype(np.float64)
            if np.isnan(wide).any():
                raise Undecided("a constant is NaN")
            endless = np.isinf(wide)
            cells = self._meant(np.where(endless, 0, wide), numbers.dtype)
            for sign in (-1, 1):
                here = endless & (np.sign(wide) == sign)
                if here.any():
                    cells = np.where(here, self.infinity(sign), cells)
        self._register(wide)
        self._embedded[id(numbers)] = (numbers, cells)
        return cells

    def _meant(self, numbers: Array, dtype: np.dtype[Any]) -> Cells:
        """Floats as cells; as the fractions that they round, where that is asked."""
        cells = self.field.embedded(numbers)
        if not self.fractions:
            return cells
        for one in np.unique(numbers).tolist():
            near = Fraction(one).limit_denominator(_DENOMINATOR)
            if near != Fraction(one) and float(np.asarray(float(near)).astype(dtype)) == one:
                self.rounded = True
                cells = np.where(numbers == one, self.number(near), cells)
                self.number(-near)
        return cells

    def infinity(self, sign: int) -> int:
        """The field element that stands for the infinity of this sign."""
        element = self.name(("infinity", sign))
        if element not in self.infinities:
            self.infinities.append(element)
            self.numbers[element] = sign * math.inf
        return element

    def number(self, number: Number) -> int:
        """The element of a rational number or an infinity."""
        if not isinstance(number, Fraction):
            return self.infinity(1 if number > 0 else -1)
        element = self.field.fraction(number.numerator, number.denominator)
        self.numbers[element] = number
        return element

    def _register(self, numbers: Array) -> None:
        found = np.unique(numbers)
        if found.size <= _REGISTERED:
            for one in found[np.isfinite(found)].tolist():
                self.number(Fraction(one))
                self.number(-Fraction(one))

    # Names.

    def name(self, key: Hashable) -> int:
        """The random element of a key."""
        element = self.names.get(key)
        if element is None:
            if not self._drawn:
                self._drawn = self.field.random((_DRAWN,)).tolist()
            element = self.names[key] = self._drawn.pop()
        return element

    def fresh(self, key: Hashable, shape: tuple[int, ...]) -> Cells:
        """Independent random cells for the tensor that `key` names; the same on each call."""
        if (key, shape) not in self._inputs:
            self._inputs[key, shape] = self.field.random(shape)
        return self._inputs[key, shape]

    # Arithmetic.

    def add(self, a: Cells, b: Cells) -> Cells:
        """a + b."""
        return self.field.add(self._finite(a), self._finite(b))

    def sub(self, a: Cells, b: Cells) -> Cells:
        """a - b."""
        return self.add(a, self.neg(b))

    def neg(self, a: Cells) -> Cells:
        """-a; the infinities change places."""
        negated = self.field.neg(a)
        for element in list(self.infinities):
            if (here := a == element).any():
                sign = 1 if self.numbers[element] < 0 else -1
                negated = np.where(here, self.infinity(sign), negated)
        return negated

    def mul(self, a: Cells, b: Cells) -> Cells:
        """a b."""
        return self.field.mul(self._finite(a), self._finite(b))

    def div(self, a: Cells, b: Cells) -> Cells:
        """a / b; raises Undecided where b may be 0."""
        try:
            return self.field.mul(self._finite(a), self.field.inverse(self._finite(b)))
        except ZeroDivisionError:
            raise Undecided("a division by 0") from None

    def total(self, a: Cells) -> Cells:
        """Sum over the last axis."""
        return self.field.total(self._finite(a))

    def contract(self, a: Cells, b: Cells) -> Cells:
        """Sum of a b over the last axis, broadcast."""
        a, b = self._finite(a), self._finite(b)
        count = math.prod(np.broadcast_shapes(a.shape, b.shape))
        for axis in range(a.ndim - 1):
            if count > _TOGETHER and max(a.shape[axis], b.shape[axis]) > 1:
                width = max(a.shape[axis], b.shape[axis])
                step = max(1, width * _TOGETHER // count)
                parts = [
                    self.contract(_part(a, axis, at, step), _part(b, axis, at, step))
                    for at in range(0, width, step)
                ]
                return np.concatenate(parts, axis=axis)
        return self.field.total(self.field.mul(a, b))

    def _finite(self, a: Cells) -> Cells:
        for element in self.infinities:
            if (a == element).any():
                raise Undecided("an infinity meets arithmetic")
        return a

    def bound(self, a: Cells, least: Number) -> None:
        """Keep that no unknown cell falls below a number."""
        for element in np.unique(a).tolist():
            if element not in self.numbers:
                self.least[element] = max(self.least.get(element, least), least)

    def learn(self, op: str, made: Cells, a: Cells, b: Cells) -> None:
        """Keep the numbers and lower bounds that a + b, a - b, a b or a / b has, for known b."""
        a, b = np.broadcast_arrays(a, b)
        rows = np.stack([made.ravel(), a.ravel(), b.ravel()], axis=-1)
        known = np.fromiter(self.numbers, np.int64)
        rows = rows[np.isin(rows[:, 2], known)]
        for element, left, right in np.unique(rows, axis=0).tolist():
            number = self.numbers[right]
            if not isinstance(number, Fraction) or element in self.numbers:
                continue
            at = self.numbers.get(left)
            if _is_long(number) or (isinstance(at, Fraction) and _is_long(at)):
                continue
            if isinstance(at, Fraction) and (number or op != "Div"):
                self.numbers[element] = _OPERATIONS[op](at, number)
            elif isinstance(bound := self.least.get(left), Fraction) and (
                op in ("Add", "Sub") or number > 0
            ):
                self.least[element] = _OPERATIONS[op](bound, number)

    # Maxima.

    def largest(self, a: Cells, lowest: Number, floor: Number | None = None) -> Cells:
        """Maximum over the last axis.

        `lowest` is the lowest finite number of the type: it counts as -inf beside anything else,
        and where nothing else is left the maximum is -inf, if `floor` is None. A floor is a number
        that no cell of `a` falls below, whatever its value (integers have one).
        """
        known = self._maxima.setdefault((lowest, floor), {})
        found = []
        for row in map(frozenset, a.reshape(-1, a.shape[-1]).tolist()):
            element = known.get(row)
            if element is None:
                self.asked |= row
                element = known[row] = self._make_largest(row, lowest, floor)
            found.append(element)
        return np.asarray(found, np.int64).reshape(a.shape[:-1])

    def _make_largest(self, row: frozenset[int], lowest: Number, floor: Number | None) -> int:
        flat: set[int] = set()
        for element in row:
            flat |= self.members.get(element, {element})
        known = flat & self.numbers.keys()
        members = flat - known
        bounds = [self.least[element] for element in members & self.least.keys()]
        if floor is not None and members:
            bounds.append(floor)
        if known:
            top = max(self.numbers[element] for element in known)
            if top == math.inf:
                return self.infinity(1)
            neutral = floor is None and top <= lowest
            if not neutral and not any(bound >= top for bound in bounds):
                members.add(self.number(top))
                bounds.append(top)
        if not members:
            return self._bottom(known)
        if len(members) == 1:
            return members.pop()
        key = frozenset(members)
        element = self.name(("max", key))
        self.members[element] = key
        if bounds:
            self.least[element] = max(bounds)
        return element

    def _bottom(self, known: set[int]) -> int:
        """The maximum of -inf and the lowest finite number, where nothing else is in it."""
        if not known <= set(self.infinities):
            self.readings.add("a maximum of the lowest finite numbers alone is -inf")
        return self.infinity(-1)

    # Other functions.

    def function(self, op: str, parameters: Mapping[str, Any], *args: Cells) -> Cells:
        """A function of numbers, cell by cell; `op` and `parameters` say which."""
        columns = np.broadcast_arrays(*args)
        rows = np.stack([column.ravel() for column in columns], axis=-1)
        found, positions = np.unique(rows, axis=0, return_inverse=True)
        fixed = tuple(sorted(parameters.items()))
        made = [self._function_of(op, parameters, fixed, tuple(row)) for row in found.tolist()]
        return np.asarray(made, np.int64)[positions.ravel()].reshape(columns[0].shape)

    def _function_of(
        self, op: str, parameters: Mapping[str, Any], fixed: Hashable, args: tuple[int, ...]
    ) -> int:
        numbers = [self.numbers[one] for one in args if one in self.numbers]
        if len(numbers) == len(args):
            if len(args) == 1 and not isinstance(numbers[0], Fraction):
                raise Undecided(f"an infinity meets {op}")
            if (value := exact(op, numbers, parameters)) is not None:
                return self.number(value)
        if op == "Quantise" and not args[0]:
            return args[1]
        if op == "Abs":
            opposite = int(self.field.neg(np.asarray(args)).item())
            args = (min(args[0], opposite),)
        self.asked.update(args)
        element = self.name((op, fixed, args))
        if (least := parameters.get("low", LEAST.get(op))) is not None:
            self.least[element] = Fraction(least)
        return element

    # Positions of maxima.

    def chosen(self, a: Cells, places: Array, lowest: Number, *, floats: bool) -> Cells:
        """Where the first maximum over the last axis is, as the number in `places` (-1: nowhere).

        Equal candidates in equal orders at equal places are equal functions.
        """
        places = np.broadcast_to(places, a.shape)
        rows = zip(
            a.reshape(-1, a.shape[-1]).tolist(),
            places.reshape(-1, a.shape[-1]).tolist(),
            strict=True,
        )
        made = [self._chosen_of(row, where, lowest, floats=floats) for row, where in rows]
        return np.asarray(made, np.int64).reshape(a.shape[:-1])

    def _chosen_of(
        self, row: Sequence[int], where: Sequence[int], lowest: Number, *, floats: bool
    ) -> int:
        first: dict[int, int] = {}
        for element, position in zip(row, where, strict=True):
            if position >= 0:
                first.setdefault(element, position)
        if floats and len(first) > 1:
            least = {e for e in first if self.numbers.get(e, math.inf) <= lowest}
            first = {e: position for e, position in first.items() if e not in least}
        if len(set(first.values())) == 1:
            return self.number(Fraction(next(iter(first.values()))))
        self.asked.update(first)
        return self.name(("position", tuple(first.items())))
