"""What is said of one size: a number, or what a division of it leaves."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import gcd, lcm

from onnxpad.errors import RequestError
from onnxpad.geometry.budgets import LARGEST_SIZE

Told = int | str
"""As users write it: 640, '640', '%32=0', '%32==0'."""
_TOLD = re.compile(r"\s*(?:%\s*(\d{1,19})\s*==?\s*)?(-?\d{1,19})\s*")


@dataclass(frozen=True, order=True)
class SizeFact:
    """A fact about a size: size % divisor == rest, or size == rest if the divisor is 0.

    is_batch: whether the dimension is the first axis of an input.
    """

    divisor: int
    rest: int
    is_batch: bool = field(default=False, compare=False)

    @classmethod
    def read(cls, name: str, told: Told) -> SizeFact:
        """Read a fact about the dimension `name`.

        Raises:
            RequestError: it is no fact, or can never hold.
        """
        match = _TOLD.fullmatch(str(told))
        if match is None:
            raise RequestError(f"cannot read '{told}' for '{name}': expected a number or '%32=0'")
        rest = int(match[2])
        if match[1]:
            divisor = int(match[1])
            if divisor < 1:
                raise RequestError(f"'{name}{told}' can never hold: a divisor is at least 1")
            if not 0 <= rest < divisor:
                why = "a remainder is below its divisor" if rest > 0 else "a remainder is 0 or more"
                raise RequestError(f"'{name}{told}' can never hold: {why}")
            return cls(divisor, rest)
        if not 1 <= rest <= LARGEST_SIZE:
            bound = "at least 1" if rest < 1 else f"at most {LARGEST_SIZE}"
            raise RequestError(f"dimension '{name}' cannot be {rest}: a size is {bound}")
        return cls(0, rest)

    @property
    def number(self) -> int | None:
        """The size, where it is one number."""
        return None if self.divisor else self.rest

    @property
    def told(self) -> Told:
        """The fact as `read` takes it."""
        return f"%{self.divisor}={self.rest}" if self.divisor else self.rest

    def of(self, name: str) -> str:
        """The fact in the spelling of --dim: 'height=640' or 'height%32=0'."""
        return f"{name}{self.told}" if self.divisor else f"{name}={self.told}"

    def and_also(self, other: SizeFact) -> SizeFact | None:
        """Where both hold (the Chinese remainder theorem); None for nowhere."""
        (m, a), (n, b) = sorted([(self.divisor, self.rest), (other.divisor, other.rest)])
        if m == 0:
            holds = a == b if n == 0 else a % n == b
            return SizeFact(m, a) if holds else None
        shared = gcd(m, n)
        if (b - a) % shared:
            return None
        whole = lcm(m, n)
        steps = (b - a) // shared * pow(m // shared, -1, n // shared) if n > shared else 0
        return SizeFact(whole, (a + m * steps) % whole)

    def stronger(self, divisor: int) -> SizeFact:
        """This, and what is left by `divisor` besides: nothing, as far as this allows that.

        With nothing known and 8 it is %8=0, with %3=1 and 8 it is %24=16. Where this leaves a rest
        by a prime of both, that rest stays: with %4=2 and 8 it is %8=2. What is found for two
        divisors holds at once, and is what is found for their least common multiple.
        """
        if not self.divisor:
            return self
        whole = lcm(self.divisor, divisor)
        leaving = self.divisor // gcd(self.divisor, self.rest)
        without = whole
        while (shared := gcd(without, leaving)) > 1:
            without //= shared
        most = whole // without
        kept = SizeFact(most, self.rest % gcd(self.divisor, most))
        return kept.and_also(SizeFact(without, 0)) or self

    def near(self, about: int) -> int:
        """The size nearest to `about` of which this holds, at least 1."""
        if not self.divisor:
            return self.rest
        fewest = self.rest or self.divisor
        below = fewest + self.divisor * max(0, (about - fewest) // self.divisor)
        return min(below, below + self.divisor, key=lambda size: abs(size - about))

    @property
    def example(self) -> int:
        """A size of which this holds: near 640, the smallest one of a batch."""
        return self.near(1 if self.is_batch else _PIXELS)


_PIXELS = 640
NOTHING_KNOWN = SizeFact(1, 0)
"""What holds of every size."""
BATCH = SizeFact(1, 0, is_batch=True)
"""The same, of a batch."""
