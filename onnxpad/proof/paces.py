"""How numbers that were computed from open sizes grow with them.

Lemma 2 needs it: from some size n on, such a number is a n / d + r(n), with a whole number a and a
bounded r, both of which hang on the remainder of n by a period alone. A pace is (d, the bound of
r); d is 0 where the number does not grow. Whatever compares a growing number with another one may
turn over at sizes up to d times their bounds, whatever cuts it to a whole number or takes a
remainder makes the period longer by d.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.call import Call, Value
from onnxpad.proof.endings import Undecided

Array = NDArray[Any]
_WIDE = 31
_MOST = 1 << 12


class Pace(NamedTuple):
    """One number: the open sizes that it hangs on, (d, bound), and itself where it is fixed."""

    sizes: int
    steps: int
    rest: int
    number: Fraction | None = None


def packed(steps: int, rest: int) -> int:
    """A pace as one whole number, so that operators that move numbers can move paces."""
    if max(steps, rest) >= 1 << _WIDE:
        raise Undecided("numbers that are computed from sizes are too large")
    return steps << _WIDE | rest


def listed(value: Value) -> list[Pace]:
    """The paces of all numbers of a tensor, in order."""
    if value.cells.size > _MOST:
        raise Undecided("too many numbers are computed with sizes")
    found = []
    numbers = value.cells.ravel().tolist()
    masks = value.origins.ravel().tolist() if value.origins is not None else [0] * len(numbers)
    paces = value.paces.ravel().tolist() if value.paces is not None else [0] * len(numbers)
    for number, mask, pace in zip(numbers, masks, paces, strict=True):
        if mask:
            found.append(Pace(mask, pace >> _WIDE, pace & (1 << _WIDE) - 1))
        else:
            found.append(_fixed(number))
    return found


def _fixed(number: float) -> Pace:
    if not math.isfinite(number):
        raise Undecided("an infinity meets a size")
    return Pace(0, 0, math.ceil(abs(number)), Fraction(number))


def as_numbers(value: Value) -> Array:
    """The paces of a tensor in place of its numbers."""
    found = [packed(one.steps, one.rest) for one in listed(value)]
    return np.asarray(found, np.int64).reshape(value.shape)


def computed(call: Call, shape: tuple[int, ...]) -> Array:
    """The paces of what an operator makes cell by cell; notes what it asks of sizes."""
    columns = []
    for value in call.inputs:
        if value is not None:
            index = np.arange(value.cells.size).reshape(value.shape)
            paces = listed(value)
            columns.append([paces[at] for at in np.broadcast_to(index, shape).ravel().tolist()])
    rule = _RULES.get(call.op)
    if rule is None:
        call.notes.breaks(f"{call.op} of sizes")
        return np.zeros(shape, np.int64)
    made = [packed(*rule(call, row)) for row in zip(*columns, strict=True)]
    return np.asarray(made, np.int64).reshape(shape)


def together(call: Call) -> int:
    """One pace for all numbers of a result of which no more is known."""
    paces = [
        one for value in call.inputs if value is not None and value.known for one in listed(value)
    ]
    return packed(_steps(paces), max((one.rest for one in paces), default=0))


def as_bounds(call: Call, value: Value) -> None:
    """Note numbers that say how far an operator goes: where they turn their sign counts."""
    for one in listed(value):
        _turns(call, [one])


def _steps(paces: Sequence[Pace]) -> int:
    growing = [one.steps for one in paces if one.steps]
    return math.lcm(*growing) if growing else 0


def _rest(paces: Sequence[Pace]) -> int:
    return sum(one.rest for one in paces)


def _turns(call: Call, paces: Sequence[Pace]) -> None:
    """Numbers are compared with each other, or with 0."""
    for one in paces:
        call.notes.threshold(one.sizes, _steps(paces) * (_rest(paces) + 1))


def _cut(call: Call, one: Pace, steps: int) -> None:
    """A growing number is divided into whole ones, `steps` sizes for each."""
    if one.steps:
        call.notes.modulus(one.sizes, steps)


Made = tuple[int, int]


def _added(call: Call, paces: Sequence[Pace]) -> Made:
    del call
    return _steps(paces), _rest(paces)


def _extreme(call: Call, paces: Sequence[Pace]) -> Made:
    _turns(call, paces)
    return _steps(paces), _rest(paces)


def _compared(call: Call, paces: Sequence[Pace]) -> Made:
    _turns(call, paces)
    return 0, 1


def _chosen(call: Call, paces: Sequence[Pace]) -> Made:
    del call
    return _steps(paces[1:]), _rest(paces[1:])


def _multiplied(call: Call, paces: Sequence[Pace]) -> Made:
    steps, rest = 1, 1
    for one in paces:
        rest *= one.rest
    growing = [one for one in paces if one.steps]
    for one in paces:
        if one.number is not None:
            steps *= one.number.denominator
        elif len(growing) > 1 or (growing and call.need(0).dtype.kind == "f" and not one.steps):
            call.notes.breaks("a product of sizes")
    return steps * _steps(paces), rest


def _divided(call: Call, paces: Sequence[Pace]) -> Made:
    one, by = paces
    if not by.number:
        call.notes.breaks(f"{call.op} by sizes")
        return 0, 0
    factor = abs(by.number)
    steps, rest = one.steps * factor.numerator, math.ceil(one.rest / factor) + 1
    if call.need(0).dtype.kind in "iu":
        _cut(call, one, steps)
        _turns(call, [one])
    return steps, rest


def _remainder(call: Call, paces: Sequence[Pace]) -> Made:
    one, by = paces
    if not by.number:
        call.notes.breaks(f"{call.op} by sizes")
        return 0, 0
    _cut(call, one, one.steps * abs(by.number).numerator)
    _turns(call, [one])
    return 0, by.rest


def _kept(call: Call, paces: Sequence[Pace]) -> Made:
    del call
    return paces[0].steps, paces[0].rest


def _one_sided(call: Call, paces: Sequence[Pace]) -> Made:
    _turns(call, paces)
    return paces[0].steps, paces[0].rest


def _whole(call: Call, paces: Sequence[Pace]) -> Made:
    _cut(call, paces[0], paces[0].steps)
    _turns(call, paces)
    return paces[0].steps, paces[0].rest + 1


def _cast(call: Call, paces: Sequence[Pace]) -> Made:
    return (_whole if call.need(0).dtype.kind == "f" else _kept)(call, paces)


_RULES: dict[str, Callable[[Call, Sequence[Pace]], Made]] = {
    **dict.fromkeys(("Add", "Sub"), _added),
    **dict.fromkeys(("Max", "Min", "Clip"), _extreme),
    **dict.fromkeys(("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"), _compared),
    **dict.fromkeys(("And", "Or", "Xor", "Not", "Sign"), _compared),
    **dict.fromkeys(("Identity", "Neg"), _kept),
    **dict.fromkeys(("Abs", "Relu"), _one_sided),
    **dict.fromkeys(("Ceil", "Floor", "Round"), _whole),
    "Cast": _cast,
    "Div": _divided,
    "Mod": _remainder,
    "Mul": _multiplied,
    "Where": _chosen,
}
