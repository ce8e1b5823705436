"""Search over sequences of passes, on a small model cut out around one node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from onnxpad.costs import Cost
from onnxpad.graph.counting import work_of
from onnxpad.graph.editing.session import Session
from onnxpad.graph.excerpts import Excerpt, excerpt
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.ordering import Node
from onnxpad.passes import Pass, all_passes
from onnxpad.planning.trials import Judge, Unit, advance, chosen, obstacles, would_do
from onnxpad.planning.verdicts import NoWay, Obstacle, Place, Plan

MAX_STEPS = 4
MAX_TRIALS = 400


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user says about passes: those that cost nothing in the choice, and those left out.

    `prefer` and `exclude` are names of passes.
    """

    prefer: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _State:
    passes: tuple[str, ...]
    cost: Cost
    weight: int
    remaining: tuple[Obstacle, ...]
    new: int
    looks: bytes

    @property
    def distance(self) -> tuple[int, int, int, int]:
        """How far it is from a form that the target takes: silent errors count most."""
        ranks = [obstacle.judgement.answer.rank for obstacle in self.remaining]
        return max(ranks, default=0), sum(ranks), len(self.passes), self.weight


class Planner:
    """Plans for the nodes of one model; nodes that look alike are planned once."""

    def __init__(self, judge: Judge, wishes: Wishes | None = None) -> None:
        self.judge = judge
        self._wishes = wishes or Wishes()
        left_out = set(self._wishes.exclude)
        self._rules = [rule for name, rule in all_passes().items() if name not in left_out]
        self._known: dict[object, Plan | NoWay] = {}

    def assuming_sizes(self) -> Planner:
        """A planner with the same wishes, for sizes that the user knows alone."""
        judge = Judge(
            self.judge.target, allows_unknown=self.judge.allows_unknown, assumes_sizes=True
        )
        return Planner(judge, self._wishes)

    def plan(self, context: Context, node: Node) -> Plan | NoWay:
        """What to do with a node that the target does not take."""
        part = excerpt(context, node)
        key = part.fingerprint
        if key not in self._known:
            found = _Search(part, self.judge, self._rules, self._wishes).result()
            # What is wrong shows in the whole model alone, where no pass was tried.
            is_blind = isinstance(found, Plan) and not found.passes
            self._known[key] = NoWay((), ()) if is_blind else found
        return self._known[key]


class _Search:
    def __init__(self, part: Excerpt, judge: Judge, rules: list[Pass], wishes: Wishes) -> None:
        self._part = part
        self._judge = judge
        self._rules = rules
        self._wishes = wishes
        self._trials = 0
        session = self._opened()
        self._before = work_of(session.typed_contexts())
        readers = frozenset(("", key) for key in part.readers)
        fronts = frozenset(("", key) for key in part.fronts)
        everyone = Unit(("", part.focus), readers, fronts)
        self._readers, self._fronts = readers, fronts
        self._tolerated = frozenset(
            found.place
            for found in obstacles(session, everyone, judge)
            if found.place in readers | fronts
        )

    def result(self) -> Plan | NoWay:
        """The cheapest sequence, the shortest of equal ones, the first in the alphabet."""
        start = self._tried((), 0, Cost())
        if start is None:
            return NoWay((), ())
        queue, seen, nearest = [_entry(start)], {start.looks}, start
        while queue:
            state = heappop(queue)[-1]
            if not state.remaining:
                return Plan(state.passes, state.cost)
            nearest = min(nearest, state, key=lambda found: found.distance)
            if len(state.passes) == MAX_STEPS:
                continue
            for found in self._followers(state):
                if found.looks not in seen:
                    seen.add(found.looks)
                    heappush(queue, _entry(found))
        return NoWay(nearest.passes, nearest.remaining)

    def _followers(self, state: _State) -> Iterator[_State]:
        session, unit = self._replayed(state.passes)
        remaining = tuple(obstacles(session, unit, self._judge))
        for rule in self._rules:
            if self._trials >= MAX_TRIALS:
                return
            if would_do(session, chosen(session, unit, remaining, rule), rule):
                found = self._tried((*state.passes, rule.name), state.weight, state.cost)
                if found is not None:
                    yield found

    def _tried(self, passes: tuple[str, ...], weight: int, cost: Cost) -> _State | None:
        self._trials += 1
        session, unit = self._replayed(passes)
        total = work_of(session.typed_contexts()) - self._before
        step = (total - cost).weight
        if passes and passes[-1] in self._wishes.prefer:
            step = min(step, 0)
        found = tuple(obstacles(session, unit, self._judge))
        looks: bytes = session.finish().SerializeToString(deterministic=True)
        return _State(passes, total, weight + step, found, len(unit.made), looks)

    def _replayed(self, passes: tuple[str, ...]) -> tuple[Session, Unit]:
        session = self._opened()
        unit = Unit(("", self._part.focus), self._readers, self._fronts, self._tolerated)
        for name in passes:
            rule = all_passes()[name]
            wanted = chosen(session, unit, obstacles(session, unit, self._judge), rule)
            advance(session, rule, wanted, lambda place: _owner(unit, place))
        return session, unit

    def _opened(self) -> Session:
        return Session(
            self._part.model, owned=False, weightless=True, thorough=True, types=self._part.types
        )


def _owner(unit: Unit, place: Place) -> Unit | None:
    return unit if place in unit.members else None


def _entry(state: _State) -> tuple[int, int, int, tuple[str, ...], _State]:
    # Less work than before is no reason to change more of the model.
    return max(0, state.weight), len(state.passes), state.new, state.passes, state
