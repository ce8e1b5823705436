"""Sizes of axes: an integer, or a symbol with what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Symbol:
    """A size that is not known as a number.

    It is congruent to `residue` modulo `modulus` and at least `minimum`. `expression` plus
    `offset` says what it is in the model's dimensions, `root` is the dimension it comes from
    (None where it comes from several or from nowhere), and `divisor` the product of the strides
    between both. `quotient` is the expression again as rounding, numerator, denominator.
    """

    expression: str
    modulus: int = 1
    residue: int = 0
    minimum: int = 1
    root: str | None = None
    divisor: int = 1
    offset: int = 0
    quotient: tuple[str, str, int] | None = None

    @property
    def name(self) -> str:
        """The symbol as people write it."""
        return f"{self.expression}{self.offset:+d}" if self.offset else self.expression

    @property
    def term(self) -> str:
        """The same as an operand."""
        return f"({self.name})" if self.offset else self.expression


Size: TypeAlias = int | Symbol


def residue(size: Size, modulus: int) -> int | None:
    """`size` modulo `modulus`, or None where it is not known."""
    if isinstance(size, int):
        return size % modulus
    return size.residue % modulus if size.modulus % modulus == 0 else None


def residues(size: Size, modulus: int) -> tuple[int, ...]:
    """Every value that `size` modulo `modulus` can take."""
    if isinstance(size, int):
        return (size % modulus,)
    step = gcd(size.modulus, modulus)
    return tuple(range(size.residue % step, modulus, step))


def lower_bound(size: Size) -> int:
    """The smallest value that `size` can take."""
    if isinstance(size, int):
        return size
    return size.minimum + (size.residue - size.minimum) % size.modulus


def plus(size: Size, amount: int) -> Size:
    """`size + amount`."""
    if isinstance(size, int):
        return size + amount
    if amount == 0:
        return size
    return replace(
        size,
        residue=(size.residue + amount) % size.modulus,
        minimum=size.minimum + amount,
        offset=size.offset + amount,
    )


def times(size: Size, factor: int) -> Size:
    """`size * factor`, factor at least 1."""
    if isinstance(size, int):
        return size * factor
    if factor == 1:
        return size
    return Symbol(
        expression=f"{factor}*{size.term}",
        modulus=size.modulus * factor,
        residue=size.residue * factor,
        minimum=size.minimum * factor,
        root=size.root,
        divisor=size.divisor,
    )


def floor_divide(size: Size, divisor: int) -> Size:
    """`size // divisor`."""
    return size // divisor if isinstance(size, int) else _divided(size, divisor, "floor")


def ceil_divide(size: Size, divisor: int) -> Size:
    """`ceil(size / divisor)`."""
    return -(-size // divisor) if isinstance(size, int) else _divided(size, divisor, "ceil")


def _divided(size: Symbol, divisor: int, rounding: str) -> Symbol:
    """A quotient; roundings of the same kind in a row are one: ceil(ceil(n/a)/b) = ceil(n/ab)."""
    if divisor == 1:
        return size
    extra = divisor - 1 if rounding == "ceil" else 0
    exact = size.modulus % divisor == 0
    modulus = size.modulus // divisor if exact else 1
    numerator, denominator = size.term, divisor
    if size.quotient and size.quotient[0] == rounding and not size.offset:
        numerator, denominator = size.quotient[1], size.quotient[2] * divisor
    return Symbol(
        expression=f"{rounding}({numerator}/{denominator})",
        modulus=modulus,
        residue=(size.residue + extra) // divisor % modulus,
        minimum=(size.minimum + extra) // divisor,
        root=size.root,
        divisor=size.divisor * divisor,
        quotient=(rounding, numerator, denominator),
    )


def show(size: Size | None) -> str:
    """The size as people write it; `?` where nothing is known."""
    if size is None:
        return "?"
    return str(size) if isinstance(size, int) else size.name
