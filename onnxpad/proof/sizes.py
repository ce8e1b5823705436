"""At which sizes two sides must agree so that they agree at all of them.

Lemma 2. Let `far` be how many cells windows, pads and bounds reach together along an axis, counted
at the input, and `period` the product of strides (with the numbers that sizes are divided by). If
the sides agree at all sizes up to far + period, they agree at every size. A larger size adds windows
whose reading is a translate of one that was seen; cells near the front are counted from the front,
cells near the end from the end. Conditions: every operator is a product of maps of one axis each,
and sizes that are computed are linear plus a function of the remainder by the period.

Where axes are apart, sizes are taken along a diagonal; where sizes become numbers, axes can hang
on each other, and all combinations are taken.

Lemma 3. A fixed size may stand for a smaller one beyond that bound with the same remainder.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from onnxpad.proof.call import Notes
from onnxpad.proof.outcomes import Undecided
from onnxpad.proof.regions import Cut, Mismatch, Region, Sizes, Workshop, compare

_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of a variable: size = remainder modulo period, and at least `least`."""

    period: int = 1
    remainder: int = 0
    least: int = 1

    def sizes(self) -> Iterator[int]:
        """All sizes that agree with it, from the least on."""
        first = self.least + (self.remainder - self.least) % self.period
        while True:
            yield first
            first += self.period


Facts = Mapping[str, Fact]


def bound(region: Region, variable: str, notes: Notes, fact: Fact) -> int:
    """far + period of a variable, over all axes that it is the size of."""
    places = {at for cut in region.cuts for at, one in enumerate(cut.sizes) if one == variable}
    if notes.mixed:
        places |= set(notes.far) | set(notes.period)
    places |= {-1}
    far = max((notes.far.get(at, 0) for at in places - {-1}), default=0) + notes.far.get(-1, 0)
    period = max((notes.period.get(at, 1) for at in places), default=1)
    return far + math.lcm(period, fact.period)


def first_result(region: Region, facts: Facts, shop: Workshop) -> Mismatch | bool:
    """Compare at sizes that are large enough for a result, to learn what reaches how far."""
    for start in (6, 12, 24, 48):
        sizes = {}
        for at, name in enumerate(region.variables):
            sizes[name] = next(one for one in facts[name].sizes() if one >= start + at)
        found = compare(region, sizes, shop)
        if found is not False:
            return found
    return False


def prove_sizes(
    region: Region, facts: Facts, shop: Workshop, most: int
) -> tuple[Mismatch | bool, int]:
    """Compare at all sizes that lemma 2 asks for; the result, and at how many sizes.

    False: the first side has no result at any of them. Raises Undecided.
    """
    shop.notes = Notes(readings=shop.used)
    if not region.variables:
        return compare(region, {}, shop), 1
    found = first_result(region, facts, shop)
    if not found or isinstance(found, Mismatch):
        return found, 1
    done: set[tuple[int, ...]] = set()
    for _ in range(_ROUNDS):
        if shop.notes.irregular:
            raise Undecided(f"sizes are open, and {shop.notes.irregular}")
        todo = [one for one in _asked(region, facts, shop.notes, most) if one not in done]
        if not todo:
            return True, len(done)
        for one in todo:
            done.add(one)
            found = _compare_at(region, one, facts, shop)
            if isinstance(found, Mismatch):
                return found, len(done)
    raise Undecided("the bound of sizes grows with the size")


def _asked(region: Region, facts: Facts, notes: Notes, most: int) -> list[tuple[int, ...]]:
    """The sizes of all variables at which to compare."""
    columns = []
    for name in region.variables:
        limit = bound(region, name, notes, facts[name])
        column = []
        for one in facts[name].sizes():
            if column and one > limit + facts[name].least:
                break
            column.append(one)
            if len(column) > most:
                raise Undecided(f"lemma 2 asks for more than {most} sizes of {name}")
        columns.append(column)
    if notes.computed:
        count = 1
        for column in columns:
            count *= len(column)
        if count > most * most:
            raise Undecided(f"lemma 2 asks for {count} combinations of sizes")
        return list(product(*columns))
    return [_diagonal(columns, turn) for turn in range(max(map(len, columns)))]


def _diagonal(columns: Sequence[Sequence[int]], turn: int) -> tuple[int, ...]:
    """The `turn`-th size of each variable, one further for each; around where there are fewer."""
    return tuple(column[(turn + at) % len(column)] for at, column in enumerate(columns))


def _compare_at(
    region: Region, sizes: Sequence[int], facts: Facts, shop: Workshop
) -> Mismatch | bool:
    """Compare; where there is no result, each size is also taken with large ones of the others."""
    names = region.variables
    found = compare(region, dict(zip(names, sizes, strict=True)), shop)
    if found is not False or len(names) == 1:
        return found
    for at, one in enumerate(sizes):
        large = [next(n for n in facts[name].sizes() if n >= 24) for name in names]
        large[at] = one
        other = compare(region, dict(zip(names, large, strict=True)), shop)
        if isinstance(other, Mismatch):
            return other
    return False


__all__ = ["Cut", "Fact", "Facts", "Sizes", "prove_sizes"]
