"""Arithmetic modulo a random prime of 50 bits, on whole arrays.

Cells are int64 arrays of numbers below the prime. The prime is drawn anew for every proof: modulo
a prime that is known beforehand, 61 doublings could be the identity (2**61 = 1 modulo 2**61 - 1).
"""

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.int64]
Source = Callable[[int], bytes]
"""Gives that many random bytes; `os.urandom` unless a test injects another one."""

BITS = 50
PRIMES = 2**43
"""There are more primes than this between 2**49 and 2**50 (x / ln x, twice)."""
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
_WITNESSED = math.prod(_WITNESSES)
_TERMS = 1 << 12


def is_prime(number: int) -> bool:
    """Miller-Rabin, which these witnesses make a proof below 3.3e24 (Sorenson and Webster)."""
    if number < 2 or math.gcd(number, _WITNESSED) > 1:
        return number in _WITNESSES
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for witness in _WITNESSES:
        power = pow(witness, odd, number)
        if power not in (1, number - 1) and not any(
            pow(power, 2**turn, number) == number - 1 for turn in range(1, twos)
        ):
            return False
    return True


class Field:
    """The integers modulo a random prime; `source` gives random bytes."""

    def __init__(self, source: Source = os.urandom) -> None:
        self._source = source
        self.prime = 0
        while not is_prime(self.prime):
            drawn = int.from_bytes(source(8), "little")
            self.prime = 2 ** (BITS - 1) | (drawn % 2 ** (BITS - 1)) | 1
        self._reciprocal = 1 / self.prime
        self._powers: dict[int, int] = {}

    def random(self, shape: tuple[int, ...]) -> Cells:
        """Independent cells; no cell is more likely than 1.001 / prime."""
        count = int(np.prod(shape, dtype=np.int64))
        drawn = np.frombuffer(self._source(8 * count), np.uint64)
        cells: Cells = (drawn % np.uint64(self.prime)).astype(np.int64).reshape(shape)
        return cells

    def add(self, a: Cells, b: Cells) -> Cells:
        """a + b, broadcast."""
        return self._reduced(a + b)

    def neg(self, a: Cells) -> Cells:
        """-a."""
        return self._reduced(-a)

    def mul(self, a: Cells, b: Cells) -> Cells:
        """a b, broadcast.

        The quotient of a b by the prime is below 2**50 and known to 3 * 2**-53 of itself from
        float64, so that it is off by one at most; the remainder then fits into int64, whose
        products wrap around.
        """
        quotient = (a.astype(np.float64) * b * self._reciprocal).astype(np.int64)
        with np.errstate(over="ignore"):
            return self._reduced(np.asarray(a * b - quotient * np.int64(self.prime)))

    def total(self, a: Cells) -> Cells:
        """Sum over the last axis."""
        while a.shape[-1] > _TERMS:
            parts = [self.total(a[..., at : at + _TERMS]) for at in range(0, a.shape[-1], _TERMS)]
            a = np.stack(parts, axis=-1)
        return self._reduced(np.asarray(a.sum(axis=-1)))

    def inverse(self, a: Cells) -> Cells:
        """1 / a; raises ZeroDivisionError where a cell is 0."""
        found, positions = np.unique(a, return_inverse=True)
        if found.size and found[0] == 0:
            raise ZeroDivisionError
        powers = [pow(int(one), -1, self.prime) for one in found]
        return np.asarray(powers, np.int64)[positions].reshape(a.shape)

    def embedded(self, numbers: NDArray[Any]) -> Cells:
        """Finite numbers as cells, exactly: floats are whole numbers times powers of 2."""
        if numbers.dtype.kind == "b":
            return numbers.astype(np.int64)
        if numbers.dtype.kind in "iu":
            if numbers.dtype == np.uint64:
                return (numbers % np.uint64(self.prime)).astype(np.int64)
            return self._reduced(numbers.astype(np.int64))
        mantissa, exponent = np.frexp(numbers.astype(np.float64))
        whole = self._reduced((mantissa * 2.0**53).astype(np.int64))
        found, positions = np.unique(exponent, return_inverse=True)
        powers = [self._power(int(one) - 53) for one in found]
        return self.mul(whole, np.asarray(powers, np.int64)[positions].reshape(whole.shape))

    def fraction(self, numerator: int, denominator: int) -> int:
        """A rational number as one cell."""
        return numerator * pow(denominator, -1, self.prime) % self.prime

    def _power(self, exponent: int) -> int:
        if exponent not in self._powers:
            self._powers[exponent] = pow(2, exponent, self.prime)
        return self._powers[exponent]

    def _reduced(self, a: Cells) -> Cells:
        reduced: Cells = np.asarray(a % np.int64(self.prime))
        return reduced
