"""Sums of multiples of sizes: what a model computes from sizes that are not known as numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from onnxpad.geometry.budgets import LARGEST_SIZE, MOST_TERMS
from onnxpad.geometry.size import (
    Size,
    Symbol,
    floor_divide,
    linear_in,
    lower_bound,
    named,
    plus,
    times,
)

Number: TypeAlias = int | Fraction
FAR = 2**62
_FINEST = 2**12


@dataclass(frozen=True, slots=True)
class Sum:
    """`offset` plus each size times its factor.

    `real` marks a number that the model computes in floating point. Rules for those hold where
    every float on the way is exact: sizes below 2**24, and factors that are powers of two until
    the next rounding.
    """

    terms: tuple[tuple[Symbol, Fraction], ...] = ()
    offset: Fraction = Fraction(0)
    real: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether floats hold it without rounding: every factor is a multiple of 1/2**n."""
        shares = (self.offset, *(factor for _, factor in self.terms))
        return all(_is_power_of_two(share.denominator) for share in shares)


def sum_of(size: Size | Fraction) -> Sum:
    """A size or a number as a sum."""
    if isinstance(size, Symbol):
        whole, factor, number = linear_in(size)
        return Sum(((whole, factor),), number)
    return Sum((), Fraction(size))


def added(one: Sum, other: Sum) -> Sum | None:
    """The sum of both; None where floating point may round it, or no int64 holds its numbers.

    One of very many sizes is a number of which nothing is known but how it is computed.
    """
    real = one.real or other.real
    if real and not (one.is_exact and other.is_exact):
        return None
    factors = dict(one.terms)
    for symbol, factor in other.terms:
        factors[symbol] = factors.get(symbol, Fraction(0)) + factor
    terms = sorted(((s, f) for s, f in factors.items() if f), key=lambda term: term[0].expression)
    found = _held(Sum(tuple(terms), one.offset + other.offset, real))
    if found is None or len(terms) <= MOST_TERMS:
        return found
    return replace(_named(text_of(found)), real=real)


def scaled(one: Sum, factor: Number) -> Sum | None:
    """The sum times a number; None as in `added`."""
    share = Fraction(factor)
    if one.real and not (one.is_exact and share.denominator <= _FINEST >= abs(share.numerator)):
        return None
    if not share:
        return Sum((), Fraction(0), one.real)
    terms = tuple((symbol, own * share) for symbol, own in one.terms)
    return _held(Sum(terms, one.offset * share, one.real))


def _held(one: Sum) -> Sum | None:
    """The sum, None where no int64 holds its numbers."""
    shares = (one.offset, *(factor for _, factor in one.terms))
    numbers = (number for share in shares for number in share.as_integer_ratio())
    return None if any(abs(number) > LARGEST_SIZE for number in numbers) else one


def remainder(one: Sum, modulus: int) -> Fraction | None:
    """The sum modulo a positive number where that is the same for all sizes, else None."""
    rest = one.offset
    for symbol, factor in one.terms:
        if (factor * symbol.modulus / modulus).denominator != 1:
            return None
        rest += factor * symbol.residue
    return rest % modulus


def at_least(one: Sum) -> Fraction | None:
    """A number that the sum is not below, None where there is none."""
    if any(factor < 0 for _, factor in one.terms):
        return None
    return one.offset + sum(factor * lower_bound(symbol) for symbol, factor in one.terms)


def at_most(one: Sum) -> Fraction | None:
    """A number that the sum is not above, None where there is none."""
    turned = scaled(replace(one, real=False), -1)
    least = None if turned is None else at_least(turned)
    return None if least is None else -least


def rounded_down(one: Sum, divisor: int = 1) -> Sum | None:
    """floor(sum / divisor), for a positive divisor; a real number stays one."""
    plain = replace(one, real=False)
    if (rest := remainder(plain, divisor)) is not None:
        share = added(plain, Sum((), -rest))
        found = None if share is None else scaled(share, Fraction(1, divisor))
        return None if found is None else replace(found, real=one.real)
    fine = lcm(*(share.denominator for share in (one.offset, *(f for _, f in one.terms))))
    whole = scaled(plain, fine)
    size = None if whole is None else size_of(whole)
    if whole is None or (size is not None and isinstance(size, int)):
        return None
    found = (
        _named(f"floor(({text_of(whole)})/{fine * divisor})")
        if size is None
        else sum_of(floor_divide(size, fine * divisor))
    )
    return replace(found, real=one.real)


def truncated(one: Sum, divisor: int = 1) -> Sum | None:
    """The sum divided by a number that is not 0, rounded towards 0 as integers of ONNX are."""
    turned = scaled(replace(one, real=False), -1)
    if turned is None:
        return None
    if divisor < 0:
        return truncated(turned, -divisor)
    least, most = at_least(one), at_most(one)
    if remainder(one, divisor) == 0 or (least is not None and least >= 0):
        return rounded_down(replace(one, real=False), divisor)
    if most is not None and most <= 0:
        found = rounded_down(turned, divisor)
        return None if found is None else scaled(found, -1)
    return _named(f"trunc(({text_of(one)})/{divisor})")


def size_of(one: Sum) -> Size | None:
    """The sum as a size; None where several sizes are in it, or one is taken away."""
    if not one.terms:
        fits = one.offset.denominator == 1 and abs(one.offset) <= LARGEST_SIZE
        return int(one.offset) if fits else None
    ((symbol, factor), *others) = one.terms
    if others or factor < 0:
        return None
    fine = lcm(factor.denominator, one.offset.denominator)
    return floor_divide(plus(times(symbol, int(factor * fine)), int(one.offset * fine)), fine)


def text_of(one: Sum) -> str:
    """The sum as people write it."""
    parts = [f"{factor}*({symbol.name})" for symbol, factor in one.terms]
    return "+".join([*parts, str(one.offset)] if one.offset or not parts else parts)


def _named(text: str) -> Sum:
    """A number of which nothing is known but how it is computed."""
    return sum_of(Symbol(named(text), minimum=-FAR))


def _is_power_of_two(number: int) -> bool:
    return not number & (number - 1)
