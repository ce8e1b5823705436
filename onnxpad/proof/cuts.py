"""Where a change begins and ends.

Lemma 7. Tensors that are equal on both sides are cuts: what lies between cuts may be compared for
itself, with a free variable for every cut. If a change agrees, what it makes is equal as well, and
is a cut for what follows; by induction all cuts are the same functions of the inputs, and the
models are equal where all outputs are. A change that does not agree may still do so further back,
where less is free (behind a Relu nothing is negative).
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

from onnxpad.proof.classes import Classes
from onnxpad.proof.clock import Clock
from onnxpad.proof.endings import Undecided
from onnxpad.proof.graphs import ARGUMENT, Constant, Graph, Node
from onnxpad.proof.inner_sizes import Place, inner_facts
from onnxpad.proof.regions import Cut, Region
from onnxpad.proof.shapes import Shapes, shapes_of
from onnxpad.proof.sizes import Fact

_T = TypeVar("_T")
_LARGE = 16
_SAMPLE = 24


@dataclass(slots=True)
class Side:
    """A model with the classes of its tensors."""

    graph: Graph
    classes: Classes
    makers: dict[str, Node] = field(default_factory=dict)
    static: set[str] = field(default_factory=set)
    biases: set[str] = field(default_factory=set)
    arguments: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.static = set(self.graph.constants)
        for node in self.graph.nodes:
            self.makers |= {name: node for name in node.outputs if name}
            if node.op in ("Conv", "ConvTranspose") and not node.domain:
                self.biases |= set(node.inputs[2:3])
            sizes = node.op in ("Shape", "Size") and not node.domain
            if node.op == ARGUMENT:
                self.arguments |= set(node.outputs)
            elif sizes or (any(node.operands) and {*node.operands} - {""} <= self.static):
                self.static |= set(node.outputs)


@dataclass(slots=True)
class Cutting:
    """Both sides, and what is known of their tensors; `clock` ends the search for it."""

    sides: tuple[Side, Side]
    inputs: tuple[Cut, ...]
    facts: dict[str, Fact]
    clock: Clock
    _shapes: Shapes | None = None
    _inner: dict[Place, Fact] | None = None

    @property
    def is_static(self) -> bool:
        """Whether the model's inputs leave no size open."""
        return all(isinstance(one, int) for cut in self.inputs for one in cut.sizes)

    @property
    def shapes(self) -> Shapes:
        """Of the first side, at its fixed sizes and at one size of what is open."""
        if self._shapes is None:
            self._shapes = shapes_of(self.sides[0].graph, self.inputs, self._sample, self.clock)
        return self._shapes

    @property
    def _sample(self) -> dict[str, int]:
        """One size of all that is open."""
        return {
            name: next(one for one in fact.sizes() if one >= _SAMPLE)
            for name, fact in self.facts.items()
        }

    def _fact(self, names: tuple[str, ...], axis: int) -> Fact:
        """What the sizes of the inputs tell of an axis of a tensor with these names."""
        if self._inner is None:
            graph = self.sides[0].graph
            self._inner = inner_facts(graph, self.inputs, self.facts, self._sample, self.clock)
        known = (self._inner[name, axis] for name in names if (name, axis) in self._inner)
        return next(known, Fact())

    def regions(self, wanted: tuple[str, str], deepest: int) -> Iterator[Region]:
        """The change in front of two tensors, from its nearest cuts and from further back.

        The last one has the inputs of the model alone in front of it.
        """
        opened: set[int] = {
            side.classes[name] for side, name in zip(self.sides, wanted, strict=True)
        }
        seen: set[frozenset[int]] = set()
        for _ in range(deepest):
            frontier = self._frontier(wanted, opened)
            if frontier in seen:
                break
            seen.add(frontier)
            with suppress(Undecided):
                yield self._region(wanted, frontier)
            opened |= {one for one in frontier if one not in self._given}
        yield self.whole(wanted)

    def whole(self, wanted: tuple[str, str]) -> Region:
        """All that two tensors are made of."""
        graphs = (self.sides[0].graph, self.sides[1].graph)
        return Region(graphs, ((wanted[0],), (wanted[1],)), self._used(wanted))

    @property
    def _given(self) -> set[int]:
        """The classes of inputs and of arguments of bodies, behind which there is nothing."""
        names = {cut.names[0][0] for cut in self.inputs} | self.sides[0].arguments
        return {self.sides[0].classes[name] for name in names}

    def _used(self, wanted: tuple[str, str]) -> tuple[Cut, ...]:
        """The inputs that either side hangs on."""
        reached = set.union(
            *({name for name, _ in self._walk(at, wanted[at], set())} for at in (0, 1))
        )
        return tuple(cut for cut in self.inputs if cut.names[0][0] in reached)

    def _frontier(self, wanted: tuple[str, str], opened: set[int]) -> frozenset[int]:
        """The classes at which both sides are cut."""
        shared = set(self.sides[0].classes.values()) & set(self.sides[1].classes.values())
        found = [
            number
            for at in (0, 1)
            for _, number in self._walk(at, wanted[at], shared - opened)
            if number is not None
        ]
        return frozenset(found)

    def _walk(self, at: int, wanted: str, stops: set[int]) -> Iterator[tuple[str, int | None]]:
        """Tensors that one is made of; with its class where the way back stops there."""
        side, pending, seen = self.sides[at], [wanted], {wanted}
        while pending:
            name = pending.pop()
            number = side.classes.get(name)
            constant = side.graph.constants.get(name)
            stopped = number in stops and (
                name not in side.static
                or (constant is not None and (_is_weight(constant) or name in side.biases))
            )
            yield name, number if stopped else None
            if not stopped and name in side.makers:
                more = {*side.makers[name].operands} - seen - {""}
                seen |= more
                pending += sorted(more)

    def _region(self, wanted: tuple[str, str], frontier: frozenset[int]) -> Region:
        cuts = tuple(self._cut(number) for number in sorted(frontier))
        graphs = (self.sides[0].graph, self.sides[1].graph)
        return Region(graphs, ((wanted[0],), (wanted[1],)), cuts)

    def _cut(self, number: int) -> Cut:
        """A class as a free variable; raises Undecided where rank or type are not known."""
        names = self._names(number)
        for cut in self.inputs:
            if cut.names[0][0] in names[0]:
                return replace(cut, names=names)
        constant = self.sides[0].graph.constants.get(names[0][0])
        if constant is not None:
            return Cut(("class", number), names, constant.dtype, constant.shape, data=False)
        dtype, rank = _any(self.shapes.dtypes, names[0]), _any(self.shapes.ranks, names[0])
        if dtype is None or rank is None or not self.shapes.unsteady.isdisjoint(names[0]):
            raise Undecided(f"the type or the rank of {names[0][0]} is not known")
        shape = _any(self.shapes.shapes, names[0]) if self.is_static else None
        return Cut(("class", number), names, dtype, shape or self._open(names[0], rank))

    def _open(self, names: tuple[str, ...], rank: int) -> tuple[int | str, ...]:
        """Sizes that are open, but for those that no open size of an input changes.

        An open size has a name that no size of an input has.
        """
        sizes: list[int | str] = []
        known = [self.shapes.followed[name].axes for name in names if name in self.shapes.followed]
        taken = {one for cut in self.inputs for one in cut.sizes}
        for axis in range(rank):
            fixed = [size for axes in known if isinstance(size := axes[axis], int) and size]
            name = f"{names[0]}[{axis}]"
            while name in taken:
                name += "'"
            if not fixed:
                self.facts[name] = self._fact(names, axis)
            sizes += fixed[:1] or [name]
        return tuple(sizes)

    def _names(self, number: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        found = [
            tuple(name for name, one in side.classes.items() if one == number)
            for side in self.sides
        ]
        return found[0], found[1]


def _any(found: Mapping[str, _T], names: Iterable[str]) -> _T | None:
    """What is known of a tensor by any of its names."""
    return next((found[name] for name in names if name in found), None)


def _is_weight(constant: Constant) -> bool:
    """Whether a constant may be left open: floats in several axes that are nobody's size."""
    if constant.dtype.kind in "biu" or constant.size < 2:
        return False
    return len(constant.shape) > 2 or (len(constant.shape) > 1 and constant.size >= _LARGE)
