"""prove(before, after): whether two models are the same function over the reals."""

import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import onnx

from onnxpad.proof.call import Budget, Readings
from onnxpad.proof.channels import one_channel
from onnxpad.proof.classes import Numbering
from onnxpad.proof.counterexamples import Counterexample, confirm
from onnxpad.proof.cuts import Cutting, Side, merge_by_name
from onnxpad.proof.field import Source
from onnxpad.proof.graphs import Graph, Input, read
from onnxpad.proof.outcomes import Undecided
from onnxpad.proof.regions import Clock, Cut, Mismatch, Region, Workshop, compare
from onnxpad.proof.sizes import Fact, Facts, prove_sizes, shrunk

Verdict = Literal["proved", "refuted", "undecided"]
_FORMULA = re.compile(r"(\d+)\*(\w+)(?:\+(\d+))?")
_FACT = re.compile(r"%(\d+)==?(\d+)")


@dataclass(frozen=True, slots=True)
class Proved:
    """A region that was looked at: what it makes from which cuts, and at how many sizes."""

    outputs: tuple[str, ...]
    cuts: tuple[str, ...]
    open_sizes: tuple[str, ...]
    sizes: int
    rounded: bool = False


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether two models are the same function over the reals.

    `proved` holds for all inputs, and for all sizes that the inputs leave open, but for
    `probability`, in what `readings` name; `rounded` says that a float was taken for the fraction
    that it rounds. `refuted` has a counterexample. Otherwise `reason` says what stood in the way.
    Nothing is said about rounding, NaN, infinities in the data, overflow of integers, or what a
    runtime does with the models.
    """

    verdict: Verdict
    reason: str = ""
    regions: tuple[Proved, ...] = ()
    counterexample: Counterexample | None = None
    readings: tuple[str, ...] = ()
    rounded: bool = False
    probability: float = 0.0
    seconds: float = 0.0

    def __str__(self) -> str:
        return self.verdict + (f": {self.reason}" if self.reason else "")


@dataclass(slots=True)
class Limits:
    """How much a proof may take; `sizes` is per open axis."""

    cells: int = 50_000_000
    seconds: float = 60.0
    sizes: int = 64
    deepest: int = 4


def prove(  # noqa: PLR0913 - what may be said of two models
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    *,
    dims: Mapping[str, int | str] | None = None,
    readings: Readings | None = None,
    limits: Limits | None = None,
    folders: tuple[Path | None, Path | None] = (None, None),
    source: Source = os.urandom,
) -> Proof:
    """Compare two models; see the package's text for what a verdict means.

    `dims` says of named sizes that they are a number, or "%32=0"; `folders` are where external
    data lies; `source` gives the random bytes of the test points. Raises nothing of its own:
    whatever is not understood is undecided, with the reason.
    """
    limits = limits or Limits()
    start = time.monotonic()
    clock = Clock(start + limits.seconds)
    shop = Workshop(readings or Readings(), Budget(limits.cells), source, clock)
    try:
        proof = _proved(before, after, dims or {}, shop, limits, folders)
    except Undecided as reason:
        proof = Proof("undecided", str(reason))
    except RecursionError:
        proof = Proof("undecided", "bodies lie too deeply in each other")
    return _timed(proof, shop, time.monotonic() - start)


def _timed(proof: Proof, shop: Workshop, seconds: float) -> Proof:
    return replace(
        proof,
        seconds=seconds,
        readings=tuple(sorted(shop.used)),
        probability=shop.risk if proof.verdict == "proved" else 0.0,
    )


def _proved(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    dims: Mapping[str, int | str],
    shop: Workshop,
    limits: Limits,
    folders: tuple[Path | None, Path | None],
) -> Proof:
    graphs = (read(before, folders[0]), read(after, folders[1]))
    complaint = interface(*graphs)
    if complaint:
        return Proof("refuted", complaint)
    facts: dict[str, Fact] = {}
    inputs = tuple(_cut(one, dims, facts) for one in graphs[0].inputs)
    numbering = Numbering()
    sides = (
        Side(graphs[0], numbering.start(graphs[0])),
        Side(graphs[1], numbering.start(graphs[1])),
    )
    for node in graphs[0].nodes:
        numbering.add(node, sides[0].classes)
    cutting = Cutting(sides, inputs, facts, shop.readings)
    return _by_regions(cutting, numbering, shop, limits)


def _by_regions(cutting: Cutting, numbering: Numbering, shop: Workshop, limits: Limits) -> Proof:
    """Lemma 7: change after change, in the order of the second model."""
    first, second = cutting.sides
    regions: list[Proved] = []
    failed: dict[str, Undecided | Refuted] = {}
    ends = dict(zip(second.graph.outputs, first.graph.outputs, strict=True))
    names = {name: name for name in first.classes} | ends
    for twin, name in merge_by_name(numbering, cutting.sides, names):
        result = _region(cutting, (twin, name), shop, limits, last=name in ends)
        if isinstance(result, Proved):
            regions.append(result)
            second.classes[name] = first.classes[twin]
        else:
            failed[name] = result
    for name, twin in ends.items():
        if second.classes.get(name) == first.classes.get(twin) is not None:
            continue
        result = failed.get(name) or Undecided(f"{name} is computed otherwise")
        if isinstance(result, Refuted):
            return Proof("refuted", result.shown.text, tuple(regions), result.shown)
        raise result
    return Proof("proved", regions=tuple(regions), rounded=any(one.rounded for one in regions))


@dataclass(frozen=True, slots=True)
class Refuted:
    """A counterexample on the whole model."""

    shown: Counterexample


def _region(
    cutting: Cutting, wanted: tuple[str, str], shop: Workshop, limits: Limits, *, last: bool
) -> Proved | Refuted | Undecided:
    """One change, from its nearest cuts, then from further back."""
    reason = Undecided(f"{wanted[0]} is computed otherwise")
    region = None
    for region in _candidates(cutting, wanted, limits):
        shop.clock.divide(3)
        kept = shop.budget.cells
        shop.budget.cells = kept // 3
        try:
            found, rounded, count = _compared(region, cutting.facts, shop, limits)
        except Undecided as ended:
            reason = ended
            continue
        finally:
            shop.budget.cells += kept - kept // 3
        if found is True:
            cuts = tuple(cut.names[0][0] for cut in region.cuts)
            return Proved((wanted[0],), cuts, tuple(region.variables), count, rounded)
        if found is False:
            reason = Undecided("the first model has no result at any size")
            continue
        reason = Undecided(f"{found.reason} in form, and no numbers were found that differ")
        is_whole = all(cut in cutting.inputs for cut in region.cuts)
        shop.clock.divide(1)
        if last and is_whole and (shown := confirm(region, found, shop)):
            return Refuted(shown)
    return reason


def _candidates(cutting: Cutting, wanted: tuple[str, str], limits: Limits) -> Iterator[Region]:
    """Regions from the nearest cuts back, each with what may stand for it first."""
    for region in cutting.regions(wanted, limits.deepest):
        small = shrunk(one_channel(region) or region, cutting.facts)
        if small != region:
            yield small
        yield region


def _compared(
    region: Region, facts: Facts, shop: Workshop, limits: Limits
) -> tuple[Mismatch | bool, bool, int]:
    """The comparison, whether floats were taken for fractions, and the number of sizes."""
    found, count = prove_sizes(region, facts, shop, limits.sizes)
    if isinstance(found, Mismatch) and found.cell is not None:
        shop.fractions = True
        try:
            if compare(region, found.sizes, shop) is True:
                again, count = prove_sizes(region, facts, shop, limits.sizes)
                if again is True:
                    return again, True, count
        finally:
            shop.fractions = False
    return found, False, count


def interface(before: Graph, after: Graph) -> str:
    """What callers would notice of inputs and outputs; empty for nothing."""
    for what, first, second in (
        ("inputs", [one.name for one in before.inputs], [one.name for one in after.inputs]),
        ("outputs", before.outputs, after.outputs),
    ):
        if first != second:
            return f"the {what} were {', '.join(first)} and are {', '.join(second)}"
    for name in sorted(before.defaults.keys() | after.defaults.keys()):
        one, other = (graph.defaults.get(name) for graph in (before, after))
        if one is None or other is None or one.digest() != other.digest():
            return f"the input {name} has another default, or none"
    for given, taken in zip(before.inputs, after.inputs, strict=True):
        if given.dtype != taken.dtype:
            return f"the input {given.name} was {given.dtype} and is {taken.dtype}"
    return ""


def _cut(given: Input, dims: Mapping[str, int | str], facts: dict[str, Fact]) -> Cut:
    """A model's input as a free variable."""
    if given.dtype is None or given.sizes is None:
        raise Undecided(f"the type or the rank of the input {given.name} is not known")
    sizes: list[int | str] = []
    for at, size in enumerate(given.sizes):
        name = size if isinstance(size, str) else f"{given.name}[{at}]"
        stated = dims.get(name, size if isinstance(size, int) else "")
        if isinstance(stated, int):
            sizes.append(stated)
            continue
        sizes.append(name)
        facts[name] = _fact(name, stated)
    return Cut(("input", given.name), ((given.name,), (given.name,)), given.dtype, tuple(sizes))


def _fact(name: str, stated: str) -> Fact:
    if found := _FACT.fullmatch(stated.replace(" ", "")):
        return Fact(int(found[1]), int(found[2]) % int(found[1]))
    if stated:
        raise Undecided(f"{name} is said to be {stated}")
    if found := _FORMULA.fullmatch(name):
        factor, more = int(found[1]), int(found[3] or 0)
        return Fact(factor, more % factor, factor + more)
    return Fact()
