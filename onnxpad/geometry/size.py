"""Sizes of axes: an integer, or a symbol with what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor, gcd
from typing import TypeAlias

from onnxpad.geometry.budgets import LARGEST_SIZE, LONGEST_NAME
from onnxpad.geometry.size_fact import NOTHING_KNOWN, SizeFact


@dataclass(frozen=True, slots=True)
class Symbol:
    """A size that is not known as a number.

    It is congruent to `residue` modulo `modulus` and at least `minimum`. `expression` plus
    `offset` says what it is in the model's dimensions, `root` is the dimension it comes from
    (None where it comes from several or from nowhere), `divisor` the product of the strides
    between both, and `stated` what is known of that dimension. `quotient` is the expression again
    as rounding, numerator, denominator; `linear` says that it is exactly a multiple of another
    size, plus a number.
    """

    expression: str
    modulus: int = 1
    residue: int = 0
    minimum: int = 1
    root: str | None = None
    divisor: int = 1
    offset: int = 0
    stated: SizeFact = field(default=NOTHING_KNOWN, compare=False)
    quotient: tuple[str, str, int] | None = None
    linear: tuple[Symbol, Fraction, Fraction] | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The symbol as people write it."""
        return f"{self.expression}{self.offset:+d}" if self.offset else self.expression

    @property
    def term(self) -> str:
        """The same as an operand."""
        return f"({self.name})" if self.offset else self.expression


Size: TypeAlias = int | Symbol


def stated_size(name: str, fact: SizeFact) -> Size:
    """The size that the dimension of a model has of which this is known."""
    if fact.number is not None:
        return fact.number
    return Symbol(name, fact.divisor, fact.rest, root=name, stated=fact)


def residue(size: Size, modulus: int) -> int | None:
    """`size` modulo `modulus`, or None where it is not known."""
    if isinstance(size, int):
        return size % modulus
    return size.residue % modulus if size.modulus % modulus == 0 else None


def residues(size: Size, modulus: int) -> Sequence[int]:
    """Every value that `size` modulo `modulus` can take, the smallest first."""
    if isinstance(size, int):
        return (size % modulus,)
    step = gcd(size.modulus, modulus)
    return range(size.residue % step, modulus, step)


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
    if abs(size.offset + amount) > LARGEST_SIZE:
        return Symbol(named(f"{size.expression}{size.offset + amount:+d}"), minimum=-LARGEST_SIZE)
    return replace(
        size,
        residue=(size.residue + amount) % size.modulus,
        minimum=size.minimum + amount,
        offset=size.offset + amount,
    )


def linear_in(symbol: Symbol) -> tuple[Symbol, Fraction, Fraction]:
    """(size, factor, number): the symbol is factor * size + number, exactly.

    The size is none that is such a multiple itself, and has no offset.
    """
    if symbol.linear is None:
        bare = plus(symbol, -symbol.offset)
        assert isinstance(bare, Symbol)  # noqa: S101 - plus keeps the kind of a size
        return bare, Fraction(1), Fraction(symbol.offset)
    found, factor, number = symbol.linear
    return found, factor, number + symbol.offset


def times(size: Size, factor: int) -> Size:
    """`size * factor`, factor at least 1; what was divided before without rest comes back."""
    if isinstance(size, int):
        return size * factor
    if factor == 1:
        return size
    whole, share, number = linear_in(size)
    if (share * factor).denominator == 1:
        return plus(_product(whole, int(share * factor)), int(number * factor))
    return replace(_product(size, factor), linear=(whole, share * factor, number * factor))


def _product(size: Symbol, factor: int) -> Symbol:
    if factor == 1:
        return size
    return _held(
        Symbol(
            expression=f"{factor}*{size.term}",
            modulus=size.modulus * factor,
            residue=size.residue * factor,
            minimum=size.minimum * factor,
            root=size.root,
            divisor=size.divisor,
            stated=size.stated,
            linear=(size, Fraction(factor), Fraction(0)),
        )
    )


def _held(size: Symbol) -> Symbol:
    """The symbol as it can be worked with further, however it was computed.

    Numbers that no int64 holds say nothing that a model could mean.
    """
    linear, numbers = size.linear, [size.modulus, size.divisor]
    if linear is not None:
        numbers += [one for share in linear[1:] for one in share.as_integer_ratio()]
    if size.quotient is not None:
        numbers.append(size.quotient[2])
    if max(map(abs, numbers)) > LARGEST_SIZE or abs(size.minimum) > LARGEST_SIZE:
        return Symbol(named(size.name), minimum=-LARGEST_SIZE)
    text = named(size.expression)
    return size if text is size.expression else replace(size, expression=text, quotient=None)


def named(expression: str) -> str:
    """An expression as the name of a size: one that is too long gets a name of its own.

    Equal expressions get the same name.
    """
    if len(expression) <= LONGEST_NAME:
        return expression
    from hashlib import sha256  # costs more than all of this module

    return f"size_{sha256(expression.encode()).hexdigest()[:32]}"


def floor_divide(size: Size, divisor: int) -> Size:
    """`size // divisor`."""
    return size // divisor if isinstance(size, int) else _divided(size, divisor, "floor")


def ceil_divide(size: Size, divisor: int) -> Size:
    """`ceil(size / divisor)`."""
    return -(-size // divisor) if isinstance(size, int) else _divided(size, divisor, "ceil")


def _divided(size: Size, divisor: int, rounding: str) -> Size:
    """A quotient; roundings of the same kind in a row are one: ceil(ceil(n/a)/b) = ceil(n/ab).

    Of a multiple of the divisor it is a multiple again, and whole steps of the offset come out:
    floor((2*n+3)/2) = n+1 and floor((n-3)/2) = floor((n-1)/2)-1.
    """
    if divisor == 1 or isinstance(size, int):
        return size
    whole, share, number = linear_in(size)
    if (share / divisor).denominator == 1:
        more = floor(number / divisor) if rounding == "floor" else ceil(number / divisor)
        return plus(_product(whole, int(share / divisor)), more)
    if share.numerator == 1 != share.denominator:
        inner = plus(whole, int(number * share.denominator))
        return _divided(inner, share.denominator * divisor, rounding)
    steps = floor(size.offset / divisor) if rounding == "ceil" else ceil(size.offset / divisor)
    if steps:
        return plus(_divided(plus(size, -steps * divisor), divisor, rounding), steps)
    extra = divisor - 1 if rounding == "ceil" else 0
    exact = size.modulus % divisor == 0
    modulus = size.modulus // divisor if exact else 1
    rest = size.residue % divisor
    shift = -rest if rounding == "floor" else -rest % divisor
    numerator, denominator = size.term, divisor
    if size.quotient and size.quotient[0] == rounding and not size.offset:
        numerator, denominator = size.quotient[1], size.quotient[2] * divisor
    return _held(
        Symbol(
            expression=f"{rounding}({numerator}/{denominator})",
            modulus=modulus,
            residue=(size.residue + extra) // divisor % modulus,
            minimum=(size.minimum + extra) // divisor,
            root=size.root,
            divisor=size.divisor * divisor,
            stated=size.stated,
            quotient=(rounding, numerator, denominator),
            linear=(whole, share / divisor, (number + shift) / divisor) if exact else None,
        )
    )


def plain_sizes(sizes: tuple[Size | None, ...] | None) -> tuple[int | str | None, ...] | None:
    """Sizes as JSON can hold them: numbers, names and formulas, None where nothing is known."""
    if sizes is None:
        return None
    return tuple(one.name if isinstance(one, Symbol) else one for one in sizes)


def stated_names(sizes: Sequence[Size | None] | None) -> tuple[int | str, ...]:
    """Sizes as a file states them: numbers, names of dimensions, '' where it can say neither."""
    return tuple(
        size if isinstance(size, int) else size.name if size and size.root == size.name else ""
        for size in sizes or ()
    )


def show(size: Size | None) -> str:
    """The size as people write it; `?` where nothing is known."""
    if size is None:
        return "?"
    return str(size) if isinstance(size, int) else size.name
