"""Numbers that a model computes from a size: a multiple of it, and a number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from onnxpad.geometry.budgets import LARGEST_SIZE
from onnxpad.geometry.size import Form, Size, Symbol, computed, exact_form, lower_bound

_FINEST = 2**12


@dataclass(frozen=True, slots=True)
class Linear:
    """`factor` times the size `atom`, and `added`; a number by itself has no atom.

    `real` marks a number that the model computes in floating point. Rules for those hold where
    every float on the way is exact: sizes below 2**24, and factors that are powers of two until
    the next rounding.
    """

    atom: Symbol | None
    factor: Fraction
    added: Fraction
    real: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether floats hold both numbers without rounding: they are multiples of 1/2**n."""
        below = self.factor.denominator, self.added.denominator
        return not any(number & (number - 1) for number in below)

    def __neg__(self) -> Linear:
        return replace(self, factor=-self.factor, added=-self.added)


def linear_of(size: Size | Fraction) -> Linear:
    """A size or a number."""
    if not isinstance(size, Symbol):
        return Linear(None, Fraction(0), Fraction(size))
    atom, factor, number, divisor = exact_form(size)
    return Linear(atom, Fraction(factor, divisor), Fraction(number, divisor))


def added(one: Linear, other: Linear) -> Linear | None:
    """The sum; None of two sizes, of too large numbers, and where floating point may round."""
    real = one.real or other.real
    if (real and not (one.is_exact and other.is_exact)) or (
        one.atom and other.atom and one.atom != other.atom
    ):
        return None
    factor = one.factor + other.factor
    atom = (one.atom or other.atom) if factor else None
    return _bounded(Linear(atom, factor, one.added + other.added, real))


def minus(one: Linear, other: Linear) -> Linear | None:
    """The difference; None as in `added`."""
    return added(one, -other)


def scaled(one: Linear, share: Fraction) -> Linear | None:
    """The number times another; None as in `added`."""
    if one.real and not (one.is_exact and share.denominator <= _FINEST >= abs(share.numerator)):
        return None
    atom = one.atom if share else None
    return _bounded(Linear(atom, one.factor * share, one.added * share, one.real))


def _bounded(one: Linear) -> Linear | None:
    numbers = (*one.factor.as_integer_ratio(), *one.added.as_integer_ratio())
    return None if max(map(abs, numbers)) > LARGEST_SIZE else one


def remainder(one: Linear, modulus: int) -> Fraction | None:
    """The number modulo a positive one where that is the same for all sizes, else None."""
    if one.atom is None:
        return one.added % modulus
    if (one.factor * one.atom.modulus / modulus).denominator != 1:
        return None
    return (one.added + one.factor * one.atom.residue) % modulus


def never_below(one: Linear, least: int) -> bool:
    """Whether it is known to be at least that."""
    if one.atom is None:
        return one.added >= least
    return one.factor > 0 and one.added + one.factor * lower_bound(one.atom) >= least


def rounded_down(one: Linear, divisor: int = 1) -> Linear | None:
    """floor(number / divisor), for a positive divisor; a real number stays one."""
    if (rest := remainder(one, divisor)) is not None:
        whole = scaled(replace(one, added=one.added - rest, real=False), Fraction(1, divisor))
        return None if whole is None else replace(whole, real=one.real)
    if one.factor < 0:
        up = divisor - Fraction(1, lcm(one.factor.denominator, one.added.denominator))
        opposite = rounded_down(replace(-one, added=up - one.added), divisor)
        return None if opposite is None else -opposite
    return replace(linear_of(_quotient(one, divisor)), real=one.real)


def truncated(one: Linear, divisor: int = 1) -> Linear | None:
    """The number divided by one that is not 0, rounded towards 0 as integers of ONNX are.

    None where its sign is not known.
    """
    if divisor < 0:
        return truncated(-one, -divisor)
    if remainder(one, divisor) == 0 or never_below(one, 0):
        quotient = rounded_down(one, divisor)
    elif never_below(-one, 0):
        positive = rounded_down(-one, divisor)
        quotient = None if positive is None else -positive
    else:
        return None
    return None if quotient is None else replace(quotient, real=False)


def size_of(one: Linear) -> Size | None:
    """The number as a size; None where it is none, or a size is taken away."""
    if one.atom is None:
        return int(one.added) if one.added.denominator == 1 else None
    return _quotient(one, 1) if one.factor > 0 else None


def _quotient(one: Linear, divisor: int) -> Symbol:
    assert one.atom is not None  # noqa: S101 - a number by itself is divided by `remainder`
    fine = lcm(one.factor.denominator, one.added.denominator)
    return computed(Form(one.atom, int(one.factor * fine), int(one.added * fine), fine * divisor))
