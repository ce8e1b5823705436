"""At which sizes two sides must agree so that they agree at all of them.

Lemma 2. Let `far` be how many cells windows, pads and bounds reach together along an axis, counted
at the input, and `period` the product of strides (with the numbers that sizes are divided by). If
the sides agree at all sizes up to far + period, they agree at every size. A larger size adds
windows whose reading is a translate of one that was seen; cells near the front are counted from
the front, cells near the end from the end. Conditions: every operator is a product of maps of one
axis each, and sizes that are computed are linear plus a function of the remainder by the period.

Open sizes that are apart are taken along a diagonal; of those that hang on each other (pads of one
axis computed from the size of another, say) all combinations are taken.

Lemma 3. A fixed size may stand for a smaller one beyond that bound with the same remainder.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from onnxpad.proof.call import Notes
from onnxpad.proof.outcomes import Undecided
from onnxpad.proof.regions import Mismatch, Region, Sizes, Workshop, bit_of, compare

_ROUNDS = 8
_LARGE = 24


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


def bound(bit: int, notes: Notes, fact: Fact) -> int:
    """far + period of an open size."""
    return notes.far.get(bit, 0) + math.lcm(notes.period.get(bit, 1), fact.period)


def first_result(region: Region, facts: Facts, shop: Workshop) -> Mismatch | bool:
    """Compare at sizes that are large enough for a result, to learn what reaches how far."""
    for start in (6, 12, 24, 48):
        sizes = _large(region, facts, start)
        found = compare(region, sizes, shop)
        if found is not False:
            return found
    return False


def _large(region: Region, facts: Facts, start: int) -> dict[str, int]:
    """Sizes from `start` on, but small ones of the first two axes, where windows are rare."""
    found: dict[str, int] = {}
    for cut in region.cuts:
        for axis, name in enumerate(cut.sizes):
            if isinstance(name, str) and name not in found:
                least = 2 if axis < 2 < len(cut.sizes) else start + len(found)
                found[name] = next(one for one in facts[name].sizes() if one >= least)
    return {name: found[name] for name in region.variables}


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
        asked = _asked(region, facts, shop.notes, most)
        todo = [one for one in asked if tuple(one.values()) not in done]
        if not todo:
            return True, len(done)
        for one in todo:
            done.add(tuple(one.values()))
            found = _compare_at(region, one, facts, shop)
            if isinstance(found, Mismatch):
                return found, len(done)
    raise Undecided("the bound of sizes grows with the size")


def _asked(region: Region, facts: Facts, notes: Notes, most: int) -> list[Sizes]:
    """The sizes of all variables at which to compare."""
    columns: dict[str, list[int]] = {}
    for at, name in enumerate(region.variables):
        limit = bound(bit_of(at), notes, facts[name])
        column: list[int] = []
        columns[name] = column
        for one in facts[name].sizes():
            if column and one > limit + facts[name].least:
                break
            column.append(one)
            if len(column) > most:
                raise Undecided(f"lemma 2 asks for more than {most} sizes of {name}")
    rows = []
    for names in _groups(region.variables, notes):
        combined = [columns[name] for name in names]
        count = math.prod(map(len, combined))
        if count > most * most:
            raise Undecided(f"lemma 2 asks for {count} combinations of {', '.join(names)}")
        rows.append([dict(zip(names, one, strict=True)) for one in product(*combined)])
    turns = range(max(map(len, rows)))
    return [
        {
            name: size
            for at, row in enumerate(rows)
            for name, size in row[(turn + at) % len(row)].items()
        }
        for turn in turns
    ]


def _groups(names: Sequence[str], notes: Notes) -> list[list[str]]:
    """Open sizes that hang on each other, together."""
    masks = [bit_of(at) for at in range(len(names))]
    for tied in notes.tied:
        whole = tied
        for mask in masks:
            whole |= mask if mask & tied else 0
        masks = [whole if mask & whole else mask for mask in masks]
    found: dict[int, list[str]] = {}
    for name, mask in zip(names, masks, strict=True):
        found.setdefault(mask, []).append(name)
    return list(found.values())


def _compare_at(region: Region, sizes: Sizes, facts: Facts, shop: Workshop) -> Mismatch | bool:
    """Compare; where there is no result, each size is also taken with large ones of the others."""
    found = compare(region, sizes, shop)
    if found is not False or len(sizes) == 1:
        return found
    for name, one in sizes.items():
        other = compare(region, {**_large(region, facts, _LARGE), name: one}, shop)
        if isinstance(other, Mismatch):
            return other
    return False
