"""Arithmetic on sizes that are no numbers, against arithmetic on all numbers they may be."""

import math
import operator
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from onnxpad.geometry.size import (
    Size,
    Symbol,
    ceil_divide,
    floor_divide,
    lower_bound,
    plus,
    residues,
    show,
    times,
)

LIMIT = 130
SYMBOLS = [
    Symbol("H", modulus, rest, minimum)
    for modulus in range(1, 9)
    for rest in range(modulus)
    for minimum in (0, 1, 5)
]
AMOUNTS = range(-4, 5)
DIVISORS = range(1, 7)
Step = tuple[str, Callable[[Size], Size], Callable[[int], int]]


def admitted(symbol: Symbol) -> list[int]:
    return [n for n in range(symbol.minimum, LIMIT) if n % symbol.modulus == symbol.residue]


def floor_of(divisor: int, number: int) -> int:
    return math.floor(number / divisor)


def ceil_of(divisor: int, number: int) -> int:
    return math.ceil(number / divisor)


def steps() -> Iterator[Step]:
    """Name, what the product does with a size, what Python does with a number."""
    for n in AMOUNTS:
        yield f"{n:+d}", partial(plus, amount=n), partial(operator.add, n)
    for n in DIVISORS:
        yield f"*{n}", partial(times, factor=n), partial(operator.mul, n)
        yield f"floor {n}", partial(floor_divide, divisor=n), partial(floor_of, n)
        yield f"ceil {n}", partial(ceil_divide, divisor=n), partial(ceil_of, n)


STEPS = list(steps())
each_step = pytest.mark.parametrize(
    ("of_size", "of_number"), [row[1:] for row in STEPS], ids=[row[0] for row in STEPS]
)


def told(symbol: Symbol, number: int) -> int:
    """The symbol's own text, worked out for one number."""
    names = {"H": number, "floor": math.floor, "ceil": math.ceil}
    value = eval(show(symbol), {"__builtins__": {}}, names)  # noqa: S307 - made by the test
    assert isinstance(value, int)
    return value


def assert_holds(found: Size, numbers: dict[int, int]) -> None:
    """`numbers` are the values of H with the results that they really have."""
    if isinstance(found, int):
        assert set(numbers.values()) == {found}
        return
    for number, result in numbers.items():
        assert result % found.modulus == found.residue, (number, found)
        assert result >= found.minimum, (number, found)
        assert told(found, number) == result, (number, found)
    assert 0 <= found.residue < found.modulus


@pytest.mark.part(11)
@each_step
def test_steps(of_size: Callable[[Size], Size], of_number: Callable[[int], int]) -> None:
    """One step of every size, and a second one of some."""
    for place, symbol in enumerate(SYMBOLS):
        once = of_size(symbol)
        assert_holds(once, {n: of_number(n) for n in admitted(symbol)})
        for _, then_size, then_number in STEPS if place % 4 == 0 else ():
            numbers = {n: then_number(of_number(n)) for n in admitted(symbol)[:30]}
            assert_holds(then_size(once), numbers)
    for number in range(-10, 30):
        assert of_size(number) == of_number(number)


@pytest.mark.parametrize("modulus", range(1, 13))
def test_residues_are_those_that_occur(modulus: int) -> None:
    for symbol in SYMBOLS:
        occur = {n % modulus for n in admitted(symbol)}
        assert set(residues(symbol, modulus)) == occur, symbol
        assert len(residues(symbol, modulus)) == len(occur), symbol
    for number in range(-10, 30):
        assert residues(number, modulus) == (number % modulus,)


def test_lower_bound_is_reached_or_below() -> None:
    for symbol in SYMBOLS:
        assert lower_bound(symbol) <= min(admitted(symbol))
    assert lower_bound(7) == 7


def test_names_keep_where_they_come_from() -> None:
    symbol = Symbol("H", 32, 0, root="height")
    half = ceil_divide(plus(symbol, 2), 2)
    assert isinstance(half, Symbol)
    assert (half.root, half.divisor) == ("height", 2)
    assert show(half) == "floor(H/2)+1"
    assert show(plus(half, -1)) == "floor(H/2)"
    assert show(floor_divide(plus(Symbol("W"), -1), 2)) == "ceil(W/2)-1"
    assert show(floor_divide(plus(symbol, 3), 5)) == "floor((H+3)/5)"
    assert (show(None), show(12)) == ("?", "12")


@pytest.mark.parametrize(("first", "second"), [(-3, 3), (1, -1), (-3, 1), (3, -2)])
def test_steps_that_cancel_out_give_the_same_size(first: int, second: int) -> None:
    symbol = Symbol("H", 4, 1, 9)
    back = plus(plus(plus(symbol, first), second), -first - second)
    assert back == symbol
