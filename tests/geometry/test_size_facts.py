"""What is said of sizes besides what is known, against all sizes up to a few cycles."""

from __future__ import annotations

from itertools import product
from math import gcd, lcm

import pytest

from onnxpad.geometry.size_fact import SizeFact

KNOWN = [
    SizeFact(divisor, rest) for divisor in (1, 2, 3, 4, 6, 8, 9, 12) for rest in range(divisor)
]
DIVISORS = range(1, 25)


def allowed(fact: SizeFact) -> set[int]:
    return {size for size in range(1, 300) if size % fact.divisor == fact.rest}


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_what_is_left_by_a_divisor_besides(known: SizeFact) -> None:
    for divisor in DIVISORS:
        found = known.stronger(divisor)
        assert found.divisor == lcm(known.divisor, divisor)
        assert allowed(found) <= allowed(known)
        free = [part for part in DIVISORS if divisor % part == 0 and gcd(part, known.divisor) == 1]
        assert all(found.rest % part == 0 for part in free)
        if known.and_also(SizeFact(divisor, 0)):
            assert found.rest % divisor == 0


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_what_two_divisors_leave_holds_at_once(known: SizeFact) -> None:
    for one, other in product((2, 3, 4, 6, 8, 9, 12), repeat=2):
        both = known.stronger(one).and_also(known.stronger(other))
        assert both == known.stronger(lcm(one, other))


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_the_nearest_size(known: SizeFact) -> None:
    for about in (1, 2, 30, 64):
        distance = abs(known.near(about) - about)
        assert known.near(about) in allowed(known)
        assert distance == min(abs(size - about) for size in allowed(known))
