"""Long expressions of sizes as people would say them."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil, floor

_NAMES = re.compile(r"[A-Za-z_][\w.]*")
_LARGE = 2**30 * 3**3 * 5**2 * 7
_NEAR = Fraction(1, 1000)
_ROUNDING = {"ceil": ceil, "floor": floor}


def about(size: str) -> str | None:
    """'~H/16' of 'ceil(ceil(ceil(ceil(H/2)/2)/2)/2)', worked out at a large H.

    None for what is no arithmetic, and for sizes that come from several dimensions.
    """
    names = set(_NAMES.findall(size)) - _ROUNDING.keys()
    if len(names) != 1:
        return None
    (name,) = names
    try:
        value = _value(ast.parse(size, mode="eval").body, name)
    except (SyntaxError, ValueError, RecursionError, ZeroDivisionError, OverflowError):
        return None
    share = value / _LARGE
    if share <= 0:
        return None
    times, part = round(share), round(1 / share)
    if times and abs(share - times) < _NEAR * times:
        return f"~{times}*{name}" if times > 1 else f"~{name}"
    if part and abs(1 / share - part) < _NEAR * part:
        return f"~{name}/{part}"
    return f"~{float(share):.3g}*{name}"


def _value(node: ast.expr, name: str) -> Fraction:
    match node:
        case ast.Constant(value=int(number)):
            return Fraction(number)
        case ast.Name(id=found) if found == name:
            return Fraction(_LARGE)
        case ast.Call(func=ast.Name(id=rounding), args=[inner]) if rounding in _ROUNDING:
            return Fraction(_ROUNDING[rounding](_value(inner, name)))
        case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC:
            return Fraction(_ARITHMETIC[type(op)](_value(left, name), _value(right, name)))
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, name)
    raise ValueError(ast.dump(node))


_ARITHMETIC: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
