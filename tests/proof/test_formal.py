from fractions import Fraction

import numpy as np
import pytest

from onnxpad.proof import prove
from onnxpad.proof.call import Array
from onnxpad.proof.endings import Undecided
from onnxpad.proof.field import Field
from onnxpad.proof.formal import Formal
from tests.proof.small_models import text

LOWEST = Fraction(float(np.finfo(np.float32).min))


@pytest.fixture
def d() -> Formal:
    return Formal(Field())


def largest(d: Formal, *cells: int, floor: Fraction | None = None) -> int:
    return int(d.largest(np.asarray([cells]), LOWEST, floor)[0])


def test_maxima_are_sets(d: Formal) -> None:
    x, y, z = d.field.random((3,)).tolist()
    assert largest(d, x, y, x) == largest(d, y, x)
    assert largest(d, largest(d, x, y), z) == largest(d, x, largest(d, z, y))
    assert largest(d, x, y) != largest(d, x, z)
    assert largest(d, x, x) == x


def test_only_the_largest_constant_counts(d: Formal) -> None:
    x = int(d.field.random((1,))[0])
    minus, two = d.number(Fraction(-3)), d.number(Fraction(2))
    assert largest(d, x, minus, two) == largest(d, x, two)
    assert largest(d, x, minus) != x
    assert largest(d, minus, two) == two


def test_the_lowest_float_is_minus_infinity_beside_others_and_alone(d: Formal) -> None:
    x = int(d.field.random((1,))[0])
    low, endless = d.number(LOWEST), d.infinity(-1)
    assert largest(d, x, low) == largest(d, x, endless) == x
    assert largest(d, low) == largest(d, endless, low) == endless


def test_a_lower_bound_makes_a_constant_needless(d: Formal) -> None:
    x, zero = int(d.field.random((1,))[0]), d.number(Fraction(0))
    relu = largest(d, x, zero)
    assert largest(d, relu, zero) == relu
    assert largest(d, relu, d.number(Fraction(1))) != relu
    sigmoid = int(d.function("Sigmoid", {}, np.asarray([x]))[0])
    assert largest(d, sigmoid, zero) == sigmoid
    tanh = int(d.function("Tanh", {}, np.asarray([x]))[0])
    assert largest(d, tanh, zero) != tanh
    assert largest(d, x, d.number(Fraction(-128)), floor=Fraction(-128)) == x


def test_functions_are_names(d: Formal) -> None:
    x = d.field.random((4,))
    assert (d.function("Exp", {}, x) == d.function("Exp", {}, x)).all()
    assert (d.function("Exp", {}, x) != d.function("Sin", {}, x)).all()
    assert (d.function("Elu", {"alpha": 1.0}, x) != d.function("Elu", {"alpha": 2.0}, x)).all()
    assert (d.function("Abs", {}, x) == d.function("Abs", {}, d.neg(x))).all()
    assert (d.function("Exp", {}, x) != d.function("Exp", {}, d.neg(x))).all()


@pytest.mark.parametrize(("op", "at", "value"), [
    ("Abs", -2.0, 2.0), ("Sigmoid", 0.0, 0.5), ("Tanh", 0.0, 0.0), ("Exp", 0.0, 1.0),
    ("Floor", -1.5, -2.0), ("LeakyRelu", 3.0, 3.0), ("Sign", -4.0, -1.0),
])  # fmt: skip
def test_functions_of_known_numbers(d: Formal, op: str, at: float, value: float) -> None:
    made = d.function(op, {}, d.embed(np.asarray([at])))
    assert (made == d.embed(np.asarray([value]))).all()


def test_infinities_in_arithmetic(d: Formal) -> None:
    endless, x = d.embed(np.asarray([-np.inf])), d.field.random((1,))
    assert (d.add(endless, x) == endless).all()
    assert (d.sub(endless, x) == endless).all()
    assert (d.sub(x, endless) == d.neg(endless)).all()
    assert (d.total(np.stack([x, endless, endless], axis=-1)) == endless).all()
    with pytest.raises(Undecided, match="the other one"):
        d.add(endless, d.neg(endless))
    with pytest.raises(Undecided, match="the other one"):
        d.total(np.stack([endless, x, d.neg(endless)], axis=-1))
    with pytest.raises(Undecided, match="infinity"):
        d.mul(endless, x)
    half = d.embed(np.asarray([0.5]))
    assert (d.div(endless, half) == endless).all()
    with pytest.raises(Undecided, match="infinity"):
        d.mul(endless, d.neg(half))
    assert (d.neg(d.neg(endless)) == endless).all()
    with pytest.raises(Undecided, match="NaN"):
        d.embed(np.asarray([np.nan]))


def test_division_by_zero_is_undecided(d: Formal) -> None:
    with pytest.raises(Undecided, match="division"):
        d.div(d.field.random((2,)), np.asarray([1, 0]))


def test_quantising(d: Formal) -> None:
    zero = d.embed(np.asarray(3))

    def quantised(values: Array) -> list[float]:
        made = d.quantise(d.embed(values), zero, 0, 255)
        return [float(d.numbers[cell]) for cell in made.tolist()]

    assert quantised(np.asarray([0.0, 2.5, 3.5, -9.0, 400.0])) == [3, 5, 7, 0, 255]
    assert quantised(np.asarray([-np.inf, np.inf])) == [0, 255]
    x = d.field.random((2,))
    assert (d.quantise(x, zero, 0, 255) == d.quantise(x, zero, 0, 255)).all()
    assert (d.quantise(x, zero, 0, 255) != d.quantise(x, zero, -128, 127)).all()


def test_places_keep_the_order_of_candidates(d: Formal) -> None:
    a = d.field.random((1, 3))

    def chosen(cells: Array, places: list[int]) -> int:
        return int(d.chosen(cells, np.asarray([places]), LOWEST, floats=True)[0])

    assert chosen(a, [4, 5, -1]) == chosen(a, [4, 5, -1])
    assert chosen(a, [4, 5, -1]) != chosen(a[:, [1, 0, 2]], [5, 4, -1])
    assert chosen(a, [4, -1, -1]) == d.number(Fraction(4))


def test_known_numbers_survive_arithmetic(d: Formal) -> None:
    a, b = d.embed(np.asarray([5.0])), d.embed(np.asarray([2.0]))
    made = d.mul(a, b)
    assert made.item() not in d.numbers
    d.learn("Mul", made, a, b)
    assert d.numbers[made.item()] == 10


def test_a_float_may_stand_for_the_fraction_that_it_rounds() -> None:
    third = np.asarray([1 / 3], np.float32)
    plain, meant = Formal(Field()), Formal(Field(), fractions=True)
    assert plain.embed(third).item() != plain.field.fraction(1, 3)
    assert meant.embed(third).item() == meant.field.fraction(1, 3)
    assert meant.rounded
    assert not plain.rounded


QUANTISED = """g (float[1,1,6] x) => (float[a,b,c] y) {{
    s = Constant<value = float {{0.5}}>()
    z = Constant<value = {0} {{{1}}}>()
    q = QuantizeLinear(x, s, z)
    m = MaxPool<kernel_shape = [3], pads = [1, 1]>(q)
    n = MaxPool<kernel_shape = [2]>(m)
    y = DequantizeLinear(n, s, z)
}}"""


@pytest.mark.parametrize(
    ("kind", "zero", "verdict"),
    [("uint8", 125, "proved"), ("uint8", 124, "refuted"), ("int8", -2, "refuted")],
)
def test_types_that_differ_by_their_zero_point(kind: str, zero: int, verdict: str) -> None:
    """int8 with -3 and uint8 with 125 reach as far down and up."""
    before = text(QUANTISED.format("int8", -3), 13)
    assert prove(before, text(QUANTISED.format(kind, zero), 13)).verdict == verdict
