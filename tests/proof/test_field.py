import os
from fractions import Fraction

import numpy as np
import pytest

from onnxpad.proof.field import Field, is_prime


def test_primes() -> None:
    sieve = [n for n in range(2, 2000) if all(n % d for d in range(2, int(n**0.5) + 1))]
    assert [n for n in range(2000) if is_prime(n)] == sieve
    assert is_prime(2**61 - 1)
    assert not is_prime((2**31 - 1) * (2**19 - 1))
    assert not is_prime(3215031751)  # a strong pseudoprime for 2, 3, 5 and 7


def test_arithmetic_is_that_of_whole_numbers() -> None:
    field = Field()
    a = np.concatenate([field.random((2000,)), [0, 1, field.prime - 1, field.prime - 1]])
    b = np.concatenate([field.random((2000,)), [field.prime - 1, 0, field.prime - 1, 1]])
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    p = field.prime
    assert field.mul(a, b).tolist() == [x * y % p for x, y in pairs]
    assert field.add(a, b).tolist() == [(x + y) % p for x, y in pairs]
    assert field.neg(a).tolist() == [-x % p for x in a.tolist()]
    whole = a[a > 0]
    assert (field.mul(whole, field.inverse(whole)) == 1).all()
    with pytest.raises(ZeroDivisionError):
        field.inverse(a)


def test_floats_are_embedded_exactly() -> None:
    field = Field()
    numbers = np.array([0.1, -3.4028235e38, 1e-300, 5e-324, 7, 0, -0.0, 2**61, 1 / 3])
    for number, cell in zip(numbers.tolist(), field.embedded(numbers).tolist(), strict=True):
        exact = Fraction(number)
        assert cell == field.fraction(exact.numerator, exact.denominator)
    assert field.embedded(np.array([-1, 2], np.int8)).tolist() == [field.prime - 1, 2]
    assert field.embedded(np.array([2**64 - 1], np.uint64)).tolist() == [(2**64 - 1) % field.prime]


def test_random_cells_come_from_the_operating_system() -> None:
    assert Field.__init__.__defaults__ == (os.urandom,)
