"""What follows for sizes inside of a model from what is said of the sizes of its inputs.

Lemma 8. Let n be an open size of which it is known what it leaves when it is divided, apart from
the others in the sense of lemma 2, and f(n) the size of an axis inside that follows n alone. By the
conditions of lemma 2, f(n + period) is f(n) plus a number that hangs on the remainder of n alone,
from n = far on, or from the first n on that has a result. So what divides all differences of f up
to 2 period beyond that divides all there are, and f is never less than there.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from onnxpad.proof.call import PLAIN, Value
from onnxpad.proof.clock import Clock
from onnxpad.proof.graphs import Graph
from onnxpad.proof.regions import Cut, Sizes, bit_of
from onnxpad.proof.shapes import Hollowed, Shapes, shapes_of
from onnxpad.proof.sizes import Fact, Facts, bound

_MOST = 64
"""Sizes that are looked at, of each open one."""
Place = tuple[str, int]


def inner_facts(
    graph: Graph,
    inputs: Sequence[Cut],
    facts: Facts,
    others: Sizes,
    clock: Clock,
) -> dict[Place, Fact]:
    """Facts about axes of tensors, where what is said of the sizes of inputs tells some.

    `others` are sizes of all that is open. Raises Undecided where the time of the clock is over.
    """
    found: dict[Place, Fact] = {}
    masks = _masks(inputs)
    for name, mask in masks.items():
        # From the 62nd open size on they share one bit: what follows it may follow another one.
        if facts[name].period > 1 and [*masks.values()].count(mask) == 1:
            looked = _Looked(mask, facts[name])
            for size in looked.sizes():
                looked.at(shapes_of(graph, followed(inputs, {**others, name: size}), clock))
            found |= looked.facts()
    return found


def followed(inputs: Sequence[Cut], sizes: Sizes) -> dict[str, Hollowed]:
    """Inputs of these sizes, with the bits of the open ones that their axes follow."""
    masks = _masks(inputs)
    return {
        cut.names[0][0]: (
            cut.dtype,
            cut.shape(sizes),
            tuple(masks[one] if isinstance(one, str) else 0 for one in cut.sizes),
        )
        for cut in inputs
    }


def _masks(inputs: Sequence[Cut]) -> dict[str, int]:
    names = dict.fromkeys(one for cut in inputs for one in cut.sizes if isinstance(one, str))
    return {name: bit_of(at) for at, name in enumerate(names)}


@dataclass(slots=True)
class _Axis:
    """Sizes of an axis inside, and up to which value of the open size lemma 8 asks to look."""

    sizes: list[int] = field(default_factory=list)
    first: int = 0
    limit: int = 0


@dataclass(slots=True)
class _Looked:
    """An open size, and what the axes that follow it alone were at some of its values.

    `void` says of a tensor at how many of the first values it has no result.
    """

    bit: int
    fact: Fact
    count: int = 0
    last: int = 0
    apart: bool = True
    axes: dict[Place, _Axis] = field(default_factory=dict)
    void: dict[str, int] = field(default_factory=dict)

    def sizes(self) -> Iterator[int]:
        """Values to look at: up to the largest limit, which is found meanwhile, or very many."""
        for size in islice(self.fact.sizes(), _MOST):
            self.last = size
            yield size
            if size > max((one.limit for one in self.axes.values()), default=0):
                return

    def at(self, shapes: Shapes) -> None:
        """Take in what was found at the next value."""
        self.apart &= not any(mask & self.bit and mask != self.bit for mask in shapes.tied)
        for tensor in shapes.void:
            if self.void.get(tensor, 0) == self.count:
                self.void[tensor] = self.count + 1
        for tensor, value in shapes.followed.items():
            for axis in (at for at, mask in enumerate(value.axes) if mask == self.bit):
                one = self.axes.setdefault((tensor, axis), _Axis(first=self.last))
                one.sizes.append(value.shape[axis])
                one.limit = max(one.limit, one.first + self._reach(value))
        self.count += 1

    def facts(self) -> Iterator[tuple[Place, Fact]]:
        """What holds at all values."""
        for place, one in self.axes.items():
            is_whole = self.void.get(place[0], 0) + len(one.sizes) == self.count
            if self.apart and is_whole and one.limit <= self.last:
                step = math.gcd(*(size - one.sizes[0] for size in one.sizes))
                if step > 1:
                    yield place, Fact(step, one.sizes[0] % step, max(1, min(one.sizes)))

    def _reach(self, value: Value) -> int:
        """far + 2 period."""
        way = value.ways.get(self.bit, PLAIN)
        return bound(way, self.fact) + math.lcm(way.period, self.fact.period)
