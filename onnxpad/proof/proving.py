"""prove(before, after): whether two models are the same function over the reals."""

import os
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import onnx
from numpy.typing import NDArray

from onnxpad.proof.call import Budget
from onnxpad.proof.classes import Numbering
from onnxpad.proof.clock import Clock
from onnxpad.proof.counterexamples import Counterexample
from onnxpad.proof.cuts import Cutting, Side
from onnxpad.proof.endings import Undecided
from onnxpad.proof.equalities import Equalities, Limits, Proved
from onnxpad.proof.field import Source
from onnxpad.proof.graphs import Graph, Input, Outside, read
from onnxpad.proof.regions import Cut, Workshop
from onnxpad.proof.sizes import Fact

Array = NDArray[Any]
Decision = Literal["proved", "refuted", "undecided"]
_FORMULA = re.compile(r"(\d+)\*(\w+)(?:\+(\d+))?")
_FACT = re.compile(r"%(\d+)==?(\d+)")


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether two models are the same function over the reals.

    `proved` holds for all inputs, and for all sizes that the inputs leave open, but for
    `probability`, in what `readings` name; `rounded` says that a float was taken for the fraction
    that it rounds. `refuted` has a counterexample. Otherwise `reason` says what stood in the way.
    Nothing is said about rounding, NaN, infinities in the data, overflow of integers, or what a
    runtime does with the models.
    """

    verdict: Decision
    reason: str = ""
    regions: tuple[Proved, ...] = ()
    counterexample: Counterexample | None = None
    readings: tuple[str, ...] = ()
    rounded: bool = False
    probability: float = 0.0
    seconds: float = 0.0

    def __str__(self) -> str:
        return self.verdict + (f": {self.reason}" if self.reason else "")


def prove(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    *,
    dims: Mapping[str, int | str] | None = None,
    limits: Limits | None = None,
    outside: tuple[Outside, Outside] = (None, None),
    source: Source = os.urandom,
) -> Proof:
    """Compare two models; see the package's text for what a verdict means.

    `dims` says of named sizes that they are a number, or "%32=0"; `outside` says where
    external data lies; `source` gives the random bytes of the test points. Raises nothing of its
    own: whatever is not understood is undecided, with the reason.
    """
    limits = limits or Limits()
    start = time.monotonic()
    clock = Clock(limits.seconds, limits.slowdown)
    shop = Workshop(Budget(limits.cells, clock=clock), source, clock)
    try:
        graphs = read(before, outside[0]), read(after, outside[1])
        proof = _proved(graphs, dims or {}, shop, limits)
    except Undecided as reason:
        proof = Proof("undecided", str(reason))
    except RecursionError:
        proof = Proof("undecided", "bodies lie too deeply in each other")
    return replace(
        proof,
        seconds=time.monotonic() - start,
        readings=tuple(sorted(shop.used)),
        probability=shop.risk if proof.verdict == "proved" else 0.0,
    )


def _proved(
    graphs: tuple[Graph, Graph],
    dims: Mapping[str, int | str],
    shop: Workshop,
    limits: Limits,
) -> Proof:
    """The verdict on two graphs."""
    other = _other_defaults(graphs)
    if kept := _kept_defaults(graphs, other):
        shop.used.add(f"{', '.join(kept)} keep{'s' * (len(kept) < 2)} the default")
    complaint = interface(*graphs)
    if complaint:
        return Proof("refuted", complaint)
    facts: dict[str, Fact] = {}
    _check_names(graphs[0])
    inputs = tuple(_cut(one, dims, facts) for one in graphs[0].inputs)
    numbering = Numbering()
    sides = (
        Side(graphs[0], numbering.start(graphs[0])),
        Side(graphs[1], numbering.start(graphs[1])),
    )
    for node in graphs[0].nodes:
        numbering.add(node, sides[0].classes)
    cutting = Cutting(sides, inputs, facts, shop.clock)
    found = _by_regions(Equalities(cutting, numbering, shop, limits))
    if other and found.verdict == "proved":
        raise Undecided(f"{', '.join(sorted(other))} has another default, and may be given")
    return found


def _by_regions(found: Equalities) -> Proof:
    """Lemma 7: change after change, in the order of the second model."""
    sides = found.cutting.sides
    ends = dict(zip(sides[1].graph.outputs, sides[0].graph.outputs, strict=True))
    found.merge(ends)
    for name, twin in ends.items():
        if sides[1].classes.get(name) == sides[0].classes.get(twin) is not None:
            continue
        failed = found.failed.get(((twin, name), True))
        result = failed or Undecided(f"{name} is computed otherwise")
        if isinstance(result, Counterexample):
            return Proof("refuted", result.text, tuple(found.proved), result)
        raise result
    rounded = any(one.rounded for one in found.proved)
    return Proof("proved", regions=tuple(found.proved), rounded=rounded)


def _kept_defaults(graphs: tuple[Graph, Graph], other: Collection[str]) -> list[str]:
    """Inputs whose default one side alone has, or another one; they become constants here."""
    names = sorted({*(graphs[0].defaults.keys() ^ graphs[1].defaults.keys()), *other})
    for graph in graphs:
        for name in names:
            if name in graph.defaults:
                graph.constants[name] = graph.defaults.pop(name)
        graph.inputs = [given for given in graph.inputs if given.name not in graph.constants]
    return names


def _other_defaults(graphs: tuple[Graph, Graph]) -> set[str]:
    """Inputs whose default is not the same on both sides."""
    first, second = (graph.defaults for graph in graphs)
    both = first.keys() & second.keys()
    return {name for name in both if first[name].digest() != second[name].digest()}


def interface(before: Graph, after: Graph) -> str:
    """The first difference in names or types of inputs and outputs, as a sentence; '' for none."""
    for what, first, second in (
        ("inputs", [item.name for item in before.inputs], [item.name for item in after.inputs]),
        ("outputs", before.outputs, after.outputs),
    ):
        if first != second:
            return f"the {what} were {', '.join(first)} and are {', '.join(second)}"
    for given, taken in zip(before.inputs, after.inputs, strict=True):
        if given.dtype != taken.dtype:
            return f"the input {given.name} was {given.dtype} and is {taken.dtype}"
    return ""


def _check_names(graph: Graph) -> None:
    """Raise Undecided where a size has the name that another one without a name would get."""
    named, without = set(), set()
    for given in graph.inputs:
        for at, size in enumerate(given.sizes or ()):
            named |= {size} if isinstance(size, str) else set()
            without |= {f"{given.name}[{at}]"} if size is None else set()
    if both := sorted(named & without):
        raise Undecided(f"two sizes are called {both[0]}")


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
