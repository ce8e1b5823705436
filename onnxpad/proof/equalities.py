"""Tensors of two models set equal, one after the other (lemma 7).

A tensor of the second model and its namesake in the first are compared as a region. Where that
fails, and the same operator makes both, its operands are compared instead: equal operators on
equal operands are equal, whatever they compute. What the bodies of If, Loop and Scan make
are operands in this sense: functions of what they capture and of arguments, which may be anything.
"""

from collections.abc import Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from onnxpad.proof.channels import one_channel
from onnxpad.proof.classes import Numbering, plain
from onnxpad.proof.counterexamples import Counterexample, confirm
from onnxpad.proof.cuts import Cutting
from onnxpad.proof.endings import Undecided, WithoutResult
from onnxpad.proof.graphs import Node
from onnxpad.proof.regions import Mismatch, Region, Workshop, compare
from onnxpad.proof.sizes import Fact, moderate_sizes, prove_sizes, shrunk

_DEEPEST = 8
_PATIENCE = 1 / 4
_SEARCHED = ((5, 2, True), (12, 2, True), (32, 2, False), (32, 1, False), (64, 1, False))
"""Sizes for numbers: from where on, but for how many axes, and whether they differ."""
Pair = tuple[str, str]


@dataclass(slots=True)
class Limits:
    """How much a proof may take; `sizes` is per open axis.

    `seconds` are of the processor, in the thread that proves; by the clock on the wall it may be
    `slowdown` times as many.
    """

    cells: int = 300_000_000
    seconds: float = 60.0
    slowdown: float = 8.0
    sizes: int = 64
    deepest: int = 4


@dataclass(frozen=True, slots=True)
class Proved:
    """A region that was looked at: what it makes from which cuts, and at how many sizes."""

    outputs: tuple[str, ...]
    cuts: tuple[str, ...]
    open_sizes: tuple[str, ...]
    sizes: int
    rounded: bool = False


Result = list[Proved] | Counterexample | Undecided


@dataclass(slots=True)
class Equalities:
    """Both models with what is known to be equal, and what was tried in vain.

    `wasted` are the seconds since something was settled; after too many of them it is `hopeless`.
    """

    cutting: Cutting
    numbering: Numbering
    shop: Workshop
    limits: Limits
    proved: list[Proved] = field(default_factory=list)
    failed: dict[tuple[Pair, bool], Counterexample | Undecided] = field(default_factory=dict)
    wasted: float = 0.0
    hopeless: bool = False

    def merge(self, ends: Mapping[str, str]) -> None:
        """Give the second side its classes, and set equal what can be shown to be.

        `ends` are its outputs with those of the first. What stays unequal makes all behind it
        unequal as a rule: where a share of the time went without success, outputs alone are tried.
        """
        first, second = self.cutting.sides
        names = {**{name: name for name in first.classes}, **ends}
        clock = self.shop.clock
        patience = clock.left * _PATIENCE
        for node in second.graph.nodes:
            self.numbering.add(node, second.classes)
            for name in node.outputs:
                twin = names.get(name)
                if not twin or second.classes[name] == first.classes[twin]:
                    continue
                self.hopeless = self.hopeless or self.wasted > patience
                if name not in ends and self.hopeless:
                    continue
                start = clock.now
                found = self.settle((twin, name), last=name in ends)
                self.wasted += clock.now - start
                self.wasted *= not isinstance(found, list)

    def settle(self, wanted: Pair, *, last: bool = False, depth: int = 0) -> Result:
        """Try to show that two tensors are equal; they have one class then."""
        if (wanted, last) in self.failed:
            return self.failed[wanted, last]
        result = self._settled(wanted, depth, last=last)
        if isinstance(result, list):
            first, second = self.cutting.sides
            self.proved += result
            second.classes[wanted[1]] = first.classes[wanted[0]]
        else:
            self.failed[wanted, last] = result
        return result

    def _settled(self, wanted: Pair, depth: int, *, last: bool) -> Result:
        """From the nearest cuts, then operand by operand, then from further back."""
        reason = Undecided(f"{wanted[0]} is computed otherwise")
        region: Region | None = None
        regions = self.cutting.regions(wanted, self.limits.deepest)
        if last and self.failed and (shown := self._searched(self.cutting.whole(wanted))):
            return shown
        if self.hopeless:
            return self._compared(self.cutting.whole(wanted), reason, last=last)
        for at, region in enumerate(regions):
            result = self._compared(region, reason, last=last)
            if not isinstance(result, Undecided):
                return result
            reason = result
            if at == 0 and depth < _DEEPEST and self._by_operands(wanted, depth):
                return []
        if last and (shown := self._searched(region)):
            return shown
        return reason

    def _compared(self, region: Region, reason: Undecided, *, last: bool) -> Result:
        """One region, with what may stand for it first."""
        shop = self.shop
        for form in _forms(region, self.cutting.facts):
            shop.clock.divide(3)
            kept = shop.budget.cells
            shop.budget.cells = kept // 3
            try:
                found, rounded, count = self._at_sizes(form)
            except Undecided as ended:
                reason = ended
                continue
            finally:
                shop.budget.cells += kept - kept // 3
            if found is True:
                cuts = tuple(cut.names[0][0] for cut in form.cuts)
                return [Proved(form.wanted[0], cuts, tuple(form.variables), count, rounded)]
            if found is False:
                reason = WithoutResult("the first model has no result at any size")
                continue
            reason = Undecided(f"{found.reason} in form, and no numbers were found that differ")
            shop.clock.divide(1)
            if last and self._is_whole(form) and (shown := confirm(form, found, shop)):
                return shown
        return reason

    def _searched(self, region: Region | None) -> Counterexample | None:
        """Numbers that differ though the formal domain could not say so, at a few sizes."""
        if region is None or not self._is_whole(region):
            return None
        self.shop.clock.divide(4)
        for least, few, apart in _SEARCHED:
            sizes = moderate_sizes(region, self.cutting.facts, least, few, apart=apart)
            with suppress(Undecided):
                found = Mismatch(sizes, 0, None, "")
                if shown := confirm(region, found, self.shop, ties=False):
                    return shown
        return None

    def _is_whole(self, region: Region) -> bool:
        return all(cut in self.cutting.inputs for cut in region.cuts)

    def _at_sizes(self, region: Region) -> tuple[Mismatch | bool, bool, int]:
        """The comparison, whether floats were taken for fractions, and the number of sizes."""
        shop, facts, most = self.shop, self.cutting.facts, self.limits.sizes
        found, count = prove_sizes(region, facts, shop, most)
        if isinstance(found, Mismatch) and found.cell is not None:
            shop.fractions = True
            try:
                if compare(region, found.sizes, shop) is True:
                    again, count = prove_sizes(region, facts, shop, most)
                    if again is True:
                        return again, True, count
            finally:
                shop.fractions = False
        return found, False, count

    def _by_operands(self, wanted: Pair, depth: int) -> bool:
        """Whether the same operator makes both tensors from equal operands."""
        first, second = self.cutting.sides
        one, other = first.makers.get(wanted[0]), second.makers.get(wanted[1])
        if one is None or other is None or _kind(one, wanted[0]) != _kind(other, wanted[1]):
            return False
        draws = self.numbering.draws
        if draws(one, first.classes) or draws(other, second.classes):
            return False
        for pair in zip(one.operands, other.operands, strict=True):
            if not (all(pair) or pair == ("", "")):
                return False
            if all(pair) and None in (first.classes.get(pair[0]), second.classes.get(pair[1])):
                return False
            if all(pair) and first.classes.get(pair[0]) != second.classes.get(pair[1]):
                result = self.settle(pair, depth=depth + 1)
                if not isinstance(result, list):
                    return False
        return True


def _kind(node: Node, name: str) -> Hashable:
    """What makes a tensor, but for its operands and bodies."""
    result = node.outputs.index(name), len(node.outputs)
    return (
        node.domain,
        node.op,
        node.opset,
        len(node.inputs),
        *result,
        plain(node),
    )


def _forms(region: Region, facts: dict[str, Fact]) -> Iterator[Region]:
    """A region, what may stand for it first."""
    small = shrunk(one_channel(region) or region, facts)
    if small != region:
        yield small
    yield region
