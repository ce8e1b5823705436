"""Functions of one number that are not arithmetic: in floats, and exactly where they can be."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Parameters = Mapping[str, Any]
Number = Fraction | float
"""A rational number, or an infinity."""


def _erf(x: Floats) -> Floats:
    made: Floats = np.vectorize(math.erf, otypes=[np.float64])(x)
    return made


def _sigmoid(x: Floats) -> Floats:
    result: Floats = 0.5 * (1 + np.tanh(x / 2))
    return result


def _softplus(x: Floats) -> Floats:
    return np.asarray(np.logaddexp(0, x))


def _gelu(x: Floats, p: Parameters) -> Floats:
    if p.get("approximate") == "tanh":
        inner: Floats = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        rounded: Floats = x / 2 * (1 + np.tanh(inner))
        return rounded
    return np.asarray(x / 2 * (1 + _erf(x / math.sqrt(2))))


def _selu(x: Floats, p: Parameters) -> Floats:
    alpha = float(p.get("alpha", 1.67326319217681884765625))
    gamma = float(p.get("gamma", 1.05070102214813232))
    return np.where(x > 0, gamma * x, gamma * alpha * np.expm1(np.minimum(x, 0)))


def _hard_sigmoid(x: Floats, p: Parameters) -> Floats:
    return np.asarray(np.clip(p.get("alpha", 0.2) * x + p.get("beta", 0.5), 0, 1))


FLOATS: dict[str, Callable[[Floats, Parameters], Floats]] = {
    "Abs": lambda x, _: np.abs(x),
    "Acos": lambda x, _: np.arccos(x),
    "Asin": lambda x, _: np.arcsin(x),
    "Atan": lambda x, _: np.arctan(x),
    "Ceil": lambda x, _: np.ceil(x),
    "Celu": lambda x, p: (
        np.maximum(x, 0)
        + np.minimum(0, p.get("alpha", 1.0) * np.expm1(np.minimum(x, 0) / p.get("alpha", 1.0)))
    ),
    "Cos": lambda x, _: np.cos(x),
    "Cosh": lambda x, _: np.cosh(x),
    "Elu": lambda x, p: np.where(x > 0, x, p.get("alpha", 1.0) * np.expm1(np.minimum(x, 0))),
    "Erf": lambda x, _: _erf(x),
    "Exp": lambda x, _: np.exp(x),
    "Floor": lambda x, _: np.floor(x),
    "Gelu": _gelu,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": lambda x, _: x * np.clip(x / 6 + 0.5, 0, 1),
    "LeakyRelu": lambda x, p: np.where(x < 0, p.get("alpha", 0.01) * x, x),
    "Log": lambda x, _: np.log(x),
    "Mish": lambda x, _: x * np.tanh(_softplus(x)),
    "Power": lambda x, p: np.power(x, float(p["exponent"])),
    "Reciprocal": lambda x, _: 1 / x,
    "Round": lambda x, _: np.rint(x),
    "Selu": _selu,
    "Shrink": lambda x, p: np.where(
        x < -p.get("lambd", 0.5),
        x + p.get("bias", 0.0),
        np.where(x > p.get("lambd", 0.5), x - p.get("bias", 0.0), 0.0),
    ),
    "Sigmoid": lambda x, _: _sigmoid(x),
    "Sign": lambda x, _: np.sign(x),
    "Sin": lambda x, _: np.sin(x),
    "Sinh": lambda x, _: np.sinh(x),
    "Softplus": lambda x, _: _softplus(x),
    "Softsign": lambda x, _: x / (1 + np.abs(x)),
    "Sqrt": lambda x, _: np.sqrt(x),
    "Swish": lambda x, p: x * _sigmoid(p.get("alpha", 1.0) * x),
    "Tan": lambda x, _: np.tan(x),
    "Tanh": lambda x, _: np.tanh(x),
    "ThresholdedRelu": lambda x, p: np.where(x > p.get("alpha", 1.0), x, 0.0),
}
"""By operator; every one of them is the same function in every opset that has it."""

LEAST: dict[str, int] = {
    **dict.fromkeys(("Abs", "Exp", "HardSigmoid", "Power", "Sigmoid", "Softplus", "Sqrt"), 0),
    **dict.fromkeys(("Cos", "Erf", "Sin", "Sign", "Softsign", "Tanh"), -1),
}
"""What a function never falls below."""

_AT_ZERO = {
    **dict.fromkeys(("Asin", "Atan", "Celu", "Elu", "Erf", "Gelu", "HardSwish"), Fraction(0)),
    **dict.fromkeys(("LeakyRelu", "Mish", "Selu", "Sin", "Sinh", "Softsign"), Fraction(0)),
    **dict.fromkeys(("Sqrt", "Swish", "Tan", "Tanh", "ThresholdedRelu"), Fraction(0)),
    **dict.fromkeys(("Cos", "Cosh", "Exp"), Fraction(1)),
    "Sigmoid": Fraction(1, 2),
}


def _power(number: Fraction, p: Parameters) -> Fraction | None:
    return number if number == 1 or (number == 0 and p["exponent"] > 0) else None


def _quantised(number: Number, zero: Number, p: Parameters) -> Fraction | None:
    """round(number) + zero, saturated; halves go to the even number."""
    low, high = Fraction(p["low"]), Fraction(p["high"])
    if not isinstance(number, Fraction):
        return high if number > 0 else low
    return min(max(round(number) + zero, low), high) if isinstance(zero, Fraction) else None


_EXACT: dict[str, Callable[[Fraction, Parameters], Fraction | None]] = {
    "Abs": lambda number, _: abs(number),
    "Ceil": lambda number, _: Fraction(math.ceil(number)),
    "Floor": lambda number, _: Fraction(math.floor(number)),
    "Power": _power,
    "Round": lambda number, _: Fraction(round(number)),
    "Sign": lambda number, _: Fraction((number > 0) - (number < 0)),
}


def exact(op: str, numbers: Sequence[Number], p: Parameters) -> Fraction | None:
    """The function at known numbers, where it is a rational number for certain."""
    if op == "Quantise":
        return _quantised(numbers[0], numbers[1], p)
    number = numbers[0]
    if len(numbers) > 1 or not isinstance(number, Fraction):
        return None
    if op in _EXACT:
        return _EXACT[op](number, p)
    return _AT_ZERO.get(op) if number == 0 else None
