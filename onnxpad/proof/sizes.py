"""At which sizes two sides must agree so that they agree at all of them.

Lemma 2. Let `far` be how many cells windows, pads and bounds reach together along an axis, counted
at the input, or the last size at which a comparison of sizes turns over if that is larger. Let
`period` be the product of strides: the denominators of slopes (see `sized`). If the sides
agree at all sizes up to far + period, they agree at every size. A larger size adds windows whose
reading is a translate of one that was seen; cells near the front are counted from the front, cells
near the end from the end. Conditions: every operator is a product of maps of one axis each, and
sizes that are computed are linear plus a function of the remainder by the period.

Open sizes that are apart are taken one at a time, with the others at sizes that have a result. That
is enough where both sides are products of maps of one axis, F1(n) x F2(m) and G1(n) x G2(m): from
F1(n) x F2(M) = G1(n) x G2(M) for all n follows F1 = c G1 with the c of F2(M) = G2(M) / c, and with
the same c F2 = G2 / c from F1(N) x F2(m) = G1(N) x G2(m). A few combinations at random are taken as
well. Open sizes that hang on each other (pads of one axis computed from the size of another) are
irregular.

Lemma 3. A fixed size may stand for a smaller one beyond that bound with the same remainder.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, product, takewhile

from onnxpad.proof.endings import Undecided
from onnxpad.proof.regions import Mismatch, Region, Sizes, Workshop, compare
from onnxpad.proof.sized import Notes

_ROUNDS = 8
_LARGE = 12
_STARTS = [*product((2, 1), (5, 9, 17, 33, 65)), (0, 5), (0, 9), (0, 17), (0, 33)]
"""How many first axes are small, and the sizes of others, until there is a result."""
_STRIDES = 24
"""A multiple of what most regions step by, before that is known."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of a variable: size = remainder modulo period, and at least `least`.

    `only` is a fixed size that smaller ones stand for (lemma 3).
    """

    period: int = 1
    remainder: int = 0
    least: int = 1
    only: int = 0

    def sizes(self) -> Iterator[int]:
        """All sizes that agree with it, from the least on."""
        return self.sizes_from(self.least)

    def sizes_from(self, least: int) -> Iterator[int]:
        """All sizes that agree with it, from a number on."""
        first = max(least, self.least)
        first += (self.remainder - first) % self.period
        while True:
            yield first
            first += self.period

    def allows(self, size: int) -> bool:
        """Whether it agrees with a size."""
        return next(self.sizes_from(size)) == size


Facts = Mapping[str, Fact]


def onset(notes: Notes, far: int, bit: int, fact: Fact) -> tuple[int, int]:
    """From where on all comes again with an open size, and its period, by what was noted."""
    period = math.lcm(notes.moduli.get(bit, 1), fact.period)
    return max(far, *notes.turns.get(bit, ()), 0), period


def first_result(region: Region, facts: Facts, shop: Workshop) -> tuple[Mismatch | bool, Sizes]:
    """Compare at sizes that are large enough for a result, and which those are.

    They are sizes of images of few items and channels, or of long batches; what operators say of
    sizes that must be fixed ones (channels) is taken in.
    """
    for few, start in _STARTS:
        sizes = moderate_sizes(region, facts, start, few)
        for _ in range(_ROUNDS):
            found = compare(region, sizes, shop)
            if found is not False:
                return found, sizes
            fixed = {
                name: max(fitting)
                for at, name in enumerate(region.variables)
                if (fitting := [*filter(facts[name].allows, shop.notes.only.get(1 << at, ()))])
                and not facts[name].only
            }
            if fixed.items() <= sizes.items():
                break
            sizes |= fixed
    return False, moderate_sizes(region, facts, 17)


def moderate_sizes(
    region: Region, facts: Facts, start: int, few: int = 2, *, apart: bool = True
) -> dict[str, int]:
    """Sizes from `start` on, but small ones of the first axes, where windows are rare.

    They differ from each other where they are to be `apart`.
    """
    found: dict[str, int] = {}
    for cut in region.cuts:
        for axis, name in enumerate(cut.sizes):
            if isinstance(name, str) and name not in found:
                least = 2 if axis < few < len(cut.sizes) else start + len(found) * apart
                if only := facts[name].only:
                    found[name] = _stand_in(only, least, _STRIDES)
                else:
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
    found, moderate = first_result(region, facts, shop)
    if not found or isinstance(found, Mismatch):
        return found, 1
    done: set[tuple[int, ...]] = {tuple(moderate.values())}
    complaint = ""
    for _ in range(_ROUNDS):
        asked, complaint = _asked(region, facts, shop, moderate, most)
        todo = [one for one in asked if tuple(one.values()) not in done]
        if shop.notes.irregular:
            complaint = f"sizes are open, and {shop.notes.irregular}"
        if not todo:
            if complaint:
                raise Undecided(complaint)
            return True, len(done)
        for one in todo:
            done.add(tuple(one.values()))
            found = compare(region, one, shop)
            if isinstance(found, Mismatch):
                return found, len(done)
    raise Undecided(complaint or "the bound of sizes grows with the size")


def _asked(
    region: Region, facts: Facts, shop: Workshop, moderate: Sizes, most: int
) -> tuple[list[dict[str, int]], str]:
    """The sizes of all variables at which to compare; and why they do not suffice, if so."""
    columns: dict[str, list[int]] = {}
    complaint, notes = "", shop.notes
    for at, name in enumerate(region.variables):
        bit = 1 << at
        start, period = onset(notes, notes.far.get(bit, 0), bit, facts[name])
        limit = start + period + max(facts[name].least, facts[name].period)
        if facts[name].only:
            columns[name] = [_stand_in(facts[name].only, limit, period)]
            continue
        usual = list(islice(takewhile(limit.__ge__, facts[name].sizes()), most + 1))
        turning = _turning(facts[name], notes.turns.get(bit, set()))
        both = [*turning, *usual] if len(usual) <= most else [*usual, *turning]
        if len(notes.only.get(bit, ())) > 1:
            complaint = f"{name} fits several fixed sizes"
        only = [one for one in notes.only.get(bit, ()) if facts[name].allows(one)]
        columns[name] = list(dict.fromkeys([*only, *both])) or [next(facts[name].sizes())]
        if len(usual) > most:
            complaint = f"lemma 2 asks for more than {most} sizes of {name}"
    found = [{**moderate, name: one} for name, column in columns.items() for one in column]
    return found + shop.mixed(columns), complaint


def _turning(fact: Fact, numbers: set[int]) -> list[int]:
    """Sizes at which a comparison with a fixed number turns over, the first ones first.

    They are the likeliest to tell two sides apart.
    """
    near = {number + off for number in sorted(numbers)[:_ROUNDS] for off in (-1, 0, 1)}
    return sorted(one for one in near if fact.allows(one))


def _stand_in(size: int, limit: int, period: int) -> int:
    """The smallest size beyond a bound with the same remainder as a fixed one (lemma 3)."""
    return min(size, limit + (size - limit) % period)


def shrunk(region: Region, facts: dict[str, Fact]) -> Region:
    """The region with fixed sizes as variables that smaller ones may stand for.

    An axis is taken where all data that has it has one size there.
    """
    cuts = list(region.cuts)
    data = [cut for cut in cuts if cut.data]
    for axis in range(2, max((len(cut.sizes) for cut in data), default=0)):
        found = {cut.sizes[axis] for cut in data if len(cut.sizes) > axis}
        size = found.pop()
        if found or not isinstance(size, int) or size < _LARGE:
            continue
        name = f"axis {axis} of {size}"
        facts[name] = Fact(only=size)
        cuts = [
            replace(cut, sizes=(*cut.sizes[:axis], name, *cut.sizes[axis + 1 :]))
            if cut.data and len(cut.sizes) > axis
            else cut
            for cut in cuts
        ]
    return replace(region, cuts=tuple(cuts))
