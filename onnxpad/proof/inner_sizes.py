"""What follows for sizes inside of a model from what is said of the sizes of its inputs.

Lemma 8. Let n be an open size of which it is known what it leaves when it is divided, apart from
the others in the sense of lemma 2, and f(n) the size of an axis inside that follows n alone. By the
conditions of lemma 2, f(n + period) is f(n) plus a number that hangs on the remainder of n alone,
from n = far on, or from the first n on that has a result. So what divides all differences of f up
to 2 period beyond that divides all there are, and f is never less than there. Sizes at which the
model has no result are left out: there is nothing to prove.
"""

import math
from collections.abc import Callable, Sequence
from itertools import islice

from onnxpad.proof.clock import Clock
from onnxpad.proof.graphs import Graph
from onnxpad.proof.regions import Cut, Sizes, open_names
from onnxpad.proof.shapes import Shapes, shapes_of
from onnxpad.proof.sized import Sized
from onnxpad.proof.sizes import Fact, Facts, onset

_MOST = 64
"""Sizes that are looked at, of each open one."""
Place = tuple[str, int]


def inner_facts(
    graph: Graph, inputs: Sequence[Cut], facts: Facts, others: Sizes, clock: Clock
) -> dict[Place, Fact]:
    """Facts about axes of tensors, where what is said of the sizes of inputs tells some.

    `others` are sizes of all that is open. Raises Undecided where the time of the clock is over.
    """
    found: dict[Place, Fact] = {}
    for at, name in enumerate(open_names(inputs)):
        if facts[name].period > 1:

            def look(size: int, name: str = name) -> Shapes:
                return shapes_of(graph, inputs, {**others, name: size}, clock)

            found |= _facts(look, 1 << at, facts[name])
    return found


def _facts(look: Callable[[int], Shapes], bit: int, fact: Fact) -> dict[Place, Fact]:
    """Of the axes that follow an open size alone; `look` gives the shapes at a value of it."""
    sizes: dict[Place, list[int]] = {}
    limits: dict[Place, int] = {}
    looks = last = 0
    for last in islice(fact.sizes(), _MOST):
        if looks and last > max(limits.values(), default=0):
            break
        shapes = look(last)
        if not shapes.has_result:
            continue
        for tensor, value in shapes.followed.items():
            for axis, size in enumerate(value.axes):
                if isinstance(size, Sized) and [*size.slopes] == [bit]:
                    place = tensor, axis
                    sizes.setdefault(place, []).append(int(size))
                    start, period = onset(shapes.notes, size.far, bit, fact)
                    limit = max(start, last if not looks else 0) + 2 * period
                    limits[place] = max(limit, limits.get(place, 0))
        looks += 1
    found = {}
    for place, listed in sizes.items():
        step = math.gcd(*(size - listed[0] for size in listed))
        if step > 1 and len(listed) == looks and limits[place] <= last:
            found[place] = Fact(step, listed[0] % step, max(1, min(listed)))
    return found
