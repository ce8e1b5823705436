"""Long expressions of sizes as people would say them."""

from __future__ import annotations

import ast
import operator
import re
from math import ceil, floor
from typing import Any

_NAMES = re.compile(r"[A-Za-z_][\w.]*")
_LARGE = 2**30 * 3**3 * 5**2 * 7
_ROUNDING = {"ceil": ceil, "floor": floor}
_ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def about(size: str) -> str:
    """'~H/16' of 'ceil(ceil(ceil(ceil(H/2)/2)/2)/2)', worked out at a large H.

    'computed' for what is no arithmetic, and for sizes that come from several dimensions.
    """
    names = set(_NAMES.findall(size)) - _ROUNDING.keys()
    try:
        (name,) = names
        share = _value(ast.parse(size, mode="eval").body) / _LARGE
        part = round(1 / share)
    except (SyntaxError, ValueError, KeyError, RecursionError, ArithmeticError):
        return "computed"
    if part and abs(1 / share - part) < part / 1000:
        return f"~{name}/{part}" if part > 1 else f"~{name}"
    return f"~{share:.3g}*{name}"


def _value(node: ast.expr) -> Any:  # noqa: ANN401 - a number
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name():
            return _LARGE
        case ast.Call(func=ast.Name(id=rounding), args=[inner]):
            return _ROUNDING[rounding](_value(inner))
        case ast.BinOp(left, op, right):
            return _ARITHMETIC[type(op)](_value(left), _value(right))
    raise ValueError(ast.dump(node))
