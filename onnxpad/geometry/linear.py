"""Numbers that a model computes from sizes: a multiple of it, and a number; a few sizes at most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from onnxpad.geometry.budgets import LARGEST_SIZE
from onnxpad.geometry.size import Form, Size, Symbol, computed, exact_form, lower_bound, named

_FINEST = 2**12
_MOST_TERMS = 3
"""Padding of an odd number of cells is a size, what a division of it leaves, and half of that."""


@dataclass(frozen=True, slots=True)
class Linear:
    """`added` plus each size of `terms` times its factor.

    `real` marks a number that the model computes in floating point. Rules for those hold where
    every float on the way is exact: sizes below 2**24, and factors that are powers of two until
    the next rounding.
    """

    terms: tuple[tuple[Symbol, Fraction], ...]
    added: Fraction
    real: bool = False

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The number and every factor."""
        return (self.added, *(factor for _, factor in self.terms))

    @property
    def is_exact(self) -> bool:
        """Whether floats hold it without rounding: all numbers are multiples of 1/2**n."""
        return not any(share.denominator & (share.denominator - 1) for share in self.shares)

    def __neg__(self) -> Linear:
        terms = tuple((atom, -factor) for atom, factor in self.terms)
        return replace(self, terms=terms, added=-self.added)


def linear_of(size: Size | Fraction) -> Linear:
    """A size or a number."""
    if not isinstance(size, Symbol):
        return Linear((), Fraction(size))
    atom, factor, number, divisor = exact_form(size)
    return Linear(((atom, Fraction(factor, divisor)),), Fraction(number, divisor))


def added(one: Linear, other: Linear) -> Linear | None:
    """The sum; None where floating point may round, or it has too many or too large parts."""
    real = one.real or other.real
    if real and not (one.is_exact and other.is_exact):
        return None
    factors = dict(one.terms)
    for atom, factor in other.terms:
        factors[atom] = factors.get(atom, Fraction(0)) + factor
    terms = tuple((atom, factor) for atom, factor in factors.items() if factor)
    return _bounded(Linear(terms, one.added + other.added, real))


def minus(one: Linear, other: Linear) -> Linear | None:
    """The difference; None as in `added`."""
    return added(one, -other)


def scaled(one: Linear, share: Fraction) -> Linear | None:
    """The number times another; None as in `added`."""
    if one.real and not (one.is_exact and share.denominator <= _FINEST >= abs(share.numerator)):
        return None
    terms = tuple((atom, factor * share) for atom, factor in one.terms if share)
    return _bounded(Linear(terms, one.added * share, one.real))


def _bounded(one: Linear) -> Linear | None:
    numbers = (abs(number) for share in one.shares for number in share.as_integer_ratio())
    return None if len(one.terms) > _MOST_TERMS or max(numbers) > LARGEST_SIZE else one


def remainder(one: Linear, modulus: int) -> Fraction | None:
    """The number modulo a positive one where that is the same for all sizes, else None."""
    if any((factor * atom.modulus / modulus).denominator != 1 for atom, factor in one.terms):
        return None
    return (one.added + sum(factor * atom.residue for atom, factor in one.terms)) % modulus


def never_below(one: Linear, least: int) -> bool:
    """Whether it is known to be at least that."""
    if any(factor < 0 for _, factor in one.terms):
        return False
    return one.added + sum(factor * lower_bound(atom) for atom, factor in one.terms) >= least


def rounded_down(one: Linear, divisor: int = 1) -> Linear | None:
    """floor(number / divisor), for a positive divisor; a real number stays one."""
    if (rest := remainder(one, divisor)) is not None:
        whole = scaled(replace(one, added=one.added - rest, real=False), Fraction(1, divisor))
        return None if whole is None else replace(whole, real=one.real)
    if len(one.terms) != 1:
        return None
    if one.terms[0][1] < 0:
        up = divisor - Fraction(1, lcm(*(share.denominator for share in one.shares)))
        found = rounded_down(replace(-one, added=up - one.added), divisor)
        return None if found is None else -found
    return replace(linear_of(_quotient(one, divisor)), real=one.real)


def truncated(one: Linear, divisor: int = 1) -> Linear | None:
    """The number divided by one that is not 0, rounded towards 0 as integers of ONNX are."""
    if divisor < 0:
        return truncated(-one, -divisor)
    if remainder(one, divisor) == 0 or never_below(one, 0):
        found = rounded_down(one, divisor)
    elif never_below(-one, 0):
        positive = rounded_down(-one, divisor)
        found = None if positive is None else -positive
    else:  # Conv2dSame halves differences of sizes whose sign is not known
        parts = [f"{factor}*({atom.name})" for atom, factor in one.terms]
        text = named(f"trunc(({'+'.join([*parts, str(one.added)])})/{divisor})")
        found = linear_of(Symbol(text, minimum=-LARGEST_SIZE))
    return None if found is None else replace(found, real=False)


def size_of(one: Linear) -> Size | None:
    """The number as a size; None where it is none, has two sizes, or one is taken away."""
    if not one.terms:
        return int(one.added) if one.added.denominator == 1 else None
    return _quotient(one, 1) if len(one.terms) == 1 and one.terms[0][1] > 0 else None


def _quotient(one: Linear, divisor: int) -> Symbol:
    ((atom, factor),) = one.terms
    fine = lcm(factor.denominator, one.added.denominator)
    return computed(Form(atom, int(factor * fine), int(one.added * fine), fine * divisor))
