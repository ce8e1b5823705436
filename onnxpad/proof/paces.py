"""How numbers that were computed from open sizes grow with them.

Lemma 2 needs it: from some size n on, such a number is a n / d + r(n), with a whole number a and a
bounded r, both of which hang on the remainder of n by a period alone. A pace has d (`steps`), the
bound of r (`rest`), and the slope a / d where it is one number; d is 0 where the number does not
grow, as that of a difference of numbers of one slope does not: a model that computes SAME takes a
size from what covers it. Whatever compares a growing number with another one may turn over at sizes
up to d times their bounds, whatever cuts it to a whole number or takes a remainder makes the period
longer by d.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from onnxpad.proof.call import PLAIN, Call, Pace, Slope, Value, bits, joined
from onnxpad.proof.endings import Undecided

_MOST = 1 << 12
_LEVEL = Fraction(0)
_SHARED = 1 << 61
"""The bit of more open sizes than one."""


def listed(value: Value) -> Sequence[Pace]:
    """The paces of all numbers of a tensor, in order."""
    if value.cells.size > _MOST:
        raise Undecided("too many numbers are computed with sizes")
    if value.paces is None:
        return [fixed(number) for number in value.cells.ravel().tolist()]
    return value.paces * value.cells.size if len(value.paces) == 1 else value.paces


@lru_cache(_MOST)
def fixed(number: float) -> Pace:
    """A number that hangs on no size."""
    if not math.isfinite(number):
        raise Undecided("an infinity meets a size")
    return Pace(0, 0, math.ceil(abs(number)), _LEVEL, Fraction(number))


def computed(call: Call, made: Value) -> tuple[Pace, ...]:
    """The paces of what an operator makes cell by cell; notes what it asks of sizes."""
    columns = []
    for value in call.inputs:
        if value is not None:
            index, paces = np.arange(value.cells.size).reshape(value.shape), listed(value)
            columns.append(
                [paces[at] for at in np.broadcast_to(index, made.shape).ravel().tolist()]
            )
    if (rule := _RULES.get(call.op)) is None:
        call.notes.breaks(f"{call.op} of sizes")
        return (Pace(joined(one.sizes for row in columns for one in row), 0, 0),)
    numbers = made.cells.ravel().tolist()
    return tuple(
        _of_row(call, rule, row, number)
        for row, number in zip(zip(*columns, strict=True), numbers, strict=True)
    )


def _of_row(call: Call, rule: "PaceRule", row: Sequence[Pace], number: float) -> Pace:
    """The pace of one number; those that hang on several sizes are tied, and have no slope."""
    sizes = joined(one.sizes for one in row)
    if not sizes:
        return fixed(number)
    call.notes.tie(sizes)
    if _are_several(sizes):
        row = [one if one.number is not None else one._replace(slope=None) for one in row]
    return Pace(sizes, *rule(call, row))


def together(call: Call, sizes: int) -> tuple[Pace]:
    """One pace for all numbers of a result of which no more is known than their open sizes."""
    paces = [
        one for value in call.inputs if value is not None and value.known for one in listed(value)
    ]
    return (Pace(sizes, _steps(paces), max((one.rest for one in paces), default=0)),)


def as_bounds(call: Call, value: Value) -> None:
    """Note numbers that say how far an operator goes, and that sizes of its results are sums of.

    Where they turn their sign counts.
    """
    for one in listed(value):
        _turns(call, [one])
        call.notes.steps(one.sizes, one.steps)


def of_axis(value: Value, axis: int) -> Pace:
    """How a size grows with the open sizes that it follows: one cell for every so many."""
    mask = value.axes[axis]
    if not mask:
        return fixed(value.shape[axis])
    ways = [value.ways.get(bit, PLAIN) for bit in bits(mask)]
    steps, far = math.lcm(*(way.steps for way in ways)), max(way.far for way in ways)
    stretch = max(way.stretch for way in ways)
    slope = value.slopes[axis] if value.slopes else None
    return Pace(mask, steps, stretch * (-(-far // steps) + 1), slope)


def broadcast(call: Call, values: Sequence[Value]) -> None:
    """Note that the axes of tensors, counted from the last one, fit each other or are 1."""
    for axis in range(1, max((len(value.shape) for value in values), default=0) + 1):
        found = [sized(value, -axis) for value in values if len(value.shape) >= axis]
        fit(call, [one for one in found if one[0].number != 1])


def sized(value: Value, axis: int) -> tuple[Pace, int]:
    """How an axis grows, and its size."""
    return of_axis(value, axis), value.shape[axis]


def fit(call: Call, axes: Sequence[tuple[Pace, int]]) -> None:
    """Note that axes must be of one size, or of size 1.

    Sizes that grow alike differ by what hangs on a remainder alone: if they are equal at one size
    of the input, they are at all that leave the same. Others are equal up to some size at most.
    """
    paces = [pace for pace, _ in axes]
    hanging = joined(pace.sizes for pace in paces)
    if not hanging or len(axes) < 2:
        return
    fixed = {size for pace, size in axes if pace.number is not None}
    if _are_several(hanging):
        call.notes.breaks("axes of several open sizes fit each other")
    elif len(fixed) == 1 and all(one.number is not None or _is_itself(one) for one in paces):
        call.notes.only.setdefault(hanging, set()).update(fixed)
    elif _one_slope(paces) is None or len({size for _, size in axes}) > 1:
        _turns(call, paces)


def _is_itself(pace: Pace) -> bool:
    """Whether an axis is an open size, and not only grows as one."""
    return pace.sizes != 0 and pace.steps == pace.rest == pace.slope == 1


def _are_several(sizes: int) -> bool:
    """Whether a mask stands for more open sizes than one."""
    return bool(sizes & (sizes - 1)) or sizes == _SHARED


def clamped(call: Call, bound: Pace, size: Pace) -> None:
    """Note a bound that is taken to lie between 0 and a size, or to count from its end."""
    _turns(call, [bound, size])


def _steps(paces: Sequence[Pace]) -> int:
    growing = [one.steps for one in paces if one.steps]
    return math.lcm(*growing) if growing else 0


def _rest(paces: Sequence[Pace]) -> int:
    return sum(one.rest for one in paces)


def _turns(call: Call, paces: Sequence[Pace]) -> None:
    """Numbers are compared with each other, or with 0."""
    call.notes.cross(joined(one.sizes for one in paces if one.steps))
    for one in paces:
        call.notes.threshold(one.sizes, _steps(paces) * (_rest(paces) + 1))


def _cut(call: Call, one: Pace, steps: int) -> None:
    """A growing number is divided into whole ones, `steps` sizes for each."""
    if one.steps:
        call.notes.modulus(one.sizes, steps)


Made = tuple[int, int, Slope]
PaceRule = Callable[[Call, Sequence[Pace]], Made]


def _added(call: Call, paces: Sequence[Pace]) -> Made:
    signs = [-1 if at and call.op == "Sub" else 1 for at in range(len(paces))]
    known = [
        sign * one.slope for sign, one in zip(signs, paces, strict=True) if one.slope is not None
    ]
    slope = sum(known, _LEVEL) if len(known) == len(paces) else None
    return _steps(paces) if slope != 0 else 0, _rest(paces), slope


def _one_slope(paces: Sequence[Pace]) -> Slope:
    """The slope of whichever of several numbers it is."""
    slopes = {one.slope for one in paces}
    return slopes.pop() if len(slopes) == 1 else None


def _extreme(call: Call, paces: Sequence[Pace]) -> Made:
    _turns(call, paces)
    return _steps(paces), _rest(paces), _one_slope(paces)


def _compared(call: Call, paces: Sequence[Pace]) -> Made:
    _turns(call, paces)
    return 0, 1, _LEVEL


def _chosen(call: Call, paces: Sequence[Pace]) -> Made:
    del call
    return _steps(paces[1:]), _rest(paces[1:]), _one_slope(paces[1:])


def _multiplied(call: Call, paces: Sequence[Pace]) -> Made:
    steps, rest, factor = 1, 1, Fraction(1)
    for one in paces:
        rest *= one.rest
    growing = [one for one in paces if one.steps]
    for one in paces:
        if one.number is not None:
            steps *= one.number.denominator
            factor *= one.number
        elif len(growing) > 1 or (growing and call.need(0).dtype.kind == "f" and not one.steps):
            call.notes.breaks("a product of sizes")
    hanging = [one.slope for one in paces if one.number is None]
    slope = factor * hanging[0] if len(hanging) == 1 and hanging[0] is not None else None
    return steps * _steps(paces), rest, slope


def _divided(call: Call, paces: Sequence[Pace]) -> Made:
    one, by = paces
    if not by.number:
        call.notes.breaks(f"{call.op} by sizes")
        return 0, 0, None
    factor = abs(by.number)
    steps, rest = one.steps * factor.numerator, math.ceil(one.rest / factor) + 1
    if call.need(0).dtype.kind in "iu":
        _cut(call, one, steps)
        _turns(call, [one])
    return steps, rest, None if one.slope is None else one.slope / by.number


def _remainder(call: Call, paces: Sequence[Pace]) -> Made:
    one, by = paces
    if not by.number:
        call.notes.breaks(f"{call.op} by sizes")
        return 0, 0, None
    _cut(call, one, one.steps * abs(by.number).numerator)
    _turns(call, [one])
    return 0, by.rest, _LEVEL


def _kept(call: Call, paces: Sequence[Pace]) -> Made:
    one = paces[0]
    turned = call.op == "Neg" and one.slope is not None
    return one.steps, one.rest, -one.slope if turned and one.slope is not None else one.slope


def _one_sided(call: Call, paces: Sequence[Pace]) -> Made:
    _turns(call, paces)
    slope = paces[0].slope
    return paces[0].steps, paces[0].rest, slope if slope == 0 else None


def _whole(call: Call, paces: Sequence[Pace]) -> Made:
    # Round takes halves to even numbers, so that it comes again after twice as many.
    _cut(call, paces[0], paces[0].steps * (1 + (call.op == "Round")))
    _turns(call, paces)
    return paces[0].steps, paces[0].rest + 1, paces[0].slope


def _cast(call: Call, paces: Sequence[Pace]) -> Made:
    return (_whole if call.need(0).dtype.kind == "f" else _kept)(call, paces)


_RULES: dict[str, PaceRule] = {
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
