"""What is said of one size: a number, or what a division of it leaves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import gcd, lcm

from onnxpad.errors import RequestError
from onnxpad.geometry.budgets import LARGEST_SIZE
from onnxpad.geometry.size import Size, Symbol

Told = int | str
"""As users write it: 640, '640', '%32=0', '%32==0'."""
_TOLD = re.compile(r"\s*(?:%\s*(\d{1,19})\s*==?\s*)?(-?\d{1,19})\s*")


@dataclass(frozen=True, order=True)
class SizeFact:
    """A size that leaves `rest` when it is divided by `divisor`; a divisor of 0: that is `rest`."""

    divisor: int
    rest: int

    @classmethod
    def read(cls, name: str, told: Told) -> SizeFact:
        """What is told of the dimension `name`.

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
        """'height=640' or 'height%32=0'."""
        return f"{name}{self.told}" if self.divisor else f"{name}={self.told}"

    def size(self, name: str) -> Size:
        """The size that a dimension has of which this holds."""
        return Symbol(name, self.divisor, self.rest, root=name) if self.divisor else self.rest

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
