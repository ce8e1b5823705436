"""The search for a way to write a node that a target takes.

Passes are tried on a small model cut out around the node: first each alone, then with another one
behind it, where no candidate of that level is a way. Of each level the cheapest is asked first, and
the first that leaves nothing is the way. Whether something is left says the judge: its table of
every candidate, and where a runtime is asked a run of it, of those first that the table takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from onnxpad import processes
from onnxpad.geometry.budgets import PLANNED
from onnxpad.model.editing.session import EditSession
from onnxpad.model.excerpt import Excerpt, excerpt
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.probing.probes import outputs_without, rests, without_front
from onnxpad.rewriting.costs import Cost, work_of
from onnxpad.rewriting.for_target.judge import Judge
from onnxpad.rewriting.for_target.report import NoWay, Obstacle, PassPlan
from onnxpad.rewriting.for_target.units import Owners, Unit, advance, chosen, obstacles, unsettled
from onnxpad.rewriting.passes import Pass, all_passes
from onnxpad.rewriting.pipeline import would_change
from onnxpad.runtimes.onnxruntime.runtime_check import RuntimeCheck

DEPTH, WIDTH = 3, 8
"""Passes in a row, and how many candidates of a level, the nearest to a way, get one more."""
MAX_RUNS, MAX_DOUBTED_RUNS, MAX_HANGS = 60, 12, 2
"""Candidates that a runtime is asked about for one node, those among them that its table has
something against (false alarms are few), and those that it may not end."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user says about passes: those that cost nothing in the choice, and those left out.

    `prefer` and `exclude` are names of passes.
    """

    prefer: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class Planner:
    """Finds ways for the nodes of models; nodes that look alike are looked at once.

    `tries` is how many candidates all searches together may make.
    """

    def __init__(
        self, judge: Judge, wishes: Wishes = Wishes(), tries: Iterator[int] | None = None
    ) -> None:
        self.judge = judge
        self._wishes = wishes
        self._tries = tries or iter(range(PLANNED.most))
        self._ways: dict[object, PassPlan | NoWay] = {}

    def knowing(self, *, assumes_sizes: bool) -> Planner:
        """The same planner where the user knows sizes that the file leaves open, or none."""
        judge = self.judge.knowing(assumes_sizes=assumes_sizes)
        return self if judge is self.judge else Planner(judge, self._wishes, self._tries)

    def may_use(self, name: str) -> bool:
        """Whether the user did not leave this pass out."""
        return name not in self._wishes.exclude

    def plan(self, context: Context, node: Node) -> PassPlan | NoWay:
        """What to do with a node that the target does not take.

        A way that onnxruntime runs as well, else one for the target alone.
        """
        part = excerpt(context, node)
        key = part.fingerprint
        if key not in self._ways:
            check = RuntimeCheck()
            way = self._search(part, check).way()
            if isinstance(way, NoWay) and check.held_back:
                alone = self._search(part, RuntimeCheck(self.judge.target)).way()
                way = replace(alone, alone=True) if isinstance(alone, PassPlan) else way
            self._ways[key] = way
        return self._ways[key]

    def _search(self, part: Excerpt, check: RuntimeCheck) -> _Search:
        return _Search(part, self.judge, self._wishes, check, self._tries)


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """What passes made of an excerpt: `remaining` is what the table still objects to.

    `weight` is by how much the work grows, `looks` the model as bytes.
    """

    passes: tuple[Pass, ...]
    session: EditSession
    unit: Unit
    remaining: tuple[Obstacle, ...]
    cost: Cost
    weight: int
    looks: bytes

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(rule.name for rule in self.passes)

    @property
    def distance(self) -> tuple[int, int, int, int]:
        """How far it is from a form that the target takes: silent errors count most."""
        ranks = [obstacle.judgement.answer.rank for obstacle in self.remaining]
        return max(ranks, default=0), sum(ranks), len(self.passes), self.weight


class _Search:
    def __init__(
        self,
        part: Excerpt,
        judge: Judge,
        wishes: Wishes,
        check: RuntimeCheck,
        tries: Iterator[int],
    ) -> None:
        self._part, self._judge, self._check = part, judge, check
        self._wishes, self._tries = wishes, tries
        # Of two that come to the same model, the one that is for it is named.
        rules = sorted(all_passes().values(), key=lambda rule: not rule.removes)
        self._rules = [rule for rule in rules if rule.name not in wishes.exclude]
        self._session = part.opened()
        readers, fronts = (
            frozenset(("", key) for key in keys) for keys in (part.readers, part.fronts)
        )
        near = readers if judge.live else readers | fronts
        tolerated = unsettled(self._session, near, judge)
        self._unit = Unit(("", part.focus), readers, fronts, tolerated)
        self._before = work_of(self._session.contexts)
        self._runs = {False: MAX_RUNS, True: MAX_DOUBTED_RUNS}
        self._hangs = judge.live.hangs if judge.live else 0
        self._objection: Obstacle | None = None
        left = tuple(obstacles(self._session, self._unit, judge))
        looks = part.model.SerializeToString(deterministic=True)
        self._start = _Candidate((), self._session, self._unit, left, Cost(), 0, looks)

    def way(self) -> PassPlan | NoWay:
        """The first way; else the sequence that comes nearest to one, with what is left of it."""
        nearest = self._start
        level, seen = [nearest], {nearest.looks}
        for _ in range(DEPTH):
            going_on = sorted(level, key=lambda one: one.distance)[:WIDTH]
            level = sorted(self._followers(going_on, seen), key=self._order)
            for candidate in level:
                if self._takes(candidate):
                    return PassPlan(candidate.names, candidate.cost)
            nearest = min((nearest, *level), key=self._distance)
        if self._objection:
            return NoWay((), (self._objection,))
        return NoWay(nearest.names, nearest.remaining)

    def _distance(self, candidate: _Candidate) -> tuple[int, ...]:
        """How far it is from a form that is taken; of equals, one that another thing stops."""
        own = {one.judgement.reason for one in self._start.remaining if one.judgement.answer.fails}
        worst, ranks, *more = candidate.distance
        stays = any(one.judgement.reason in own for one in candidate.remaining)
        return worst, ranks, stays, *more

    def _followers(self, level: Sequence[_Candidate], seen: set[bytes]) -> Iterator[_Candidate]:
        """Each candidate with one pass more; none that comes to a model that others came to."""
        for before in level:
            for rule in self._rules:
                if not self._changes(before, rule):
                    continue
                if next(self._tries, None) is None:
                    what = f"plans for {self._judge.target.name}"
                    processes.current().met[what] = PLANNED.reason()
                    return
                session, unit = self._behind([*before.passes, rule])
                looks = _looks(session)
                if looks not in seen:
                    seen.add(looks)
                    yield self._candidate(before, rule, session, unit)

    def _changes(self, before: _Candidate, rule: Pass) -> bool:
        wanted = chosen(before.session, before.unit, self._judge, rule)
        sites = before.session.sites_at(wanted)
        return any(would_change(before.session, rule, site, self._check) for site in sites)

    def _behind(self, passes: Sequence[Pass]) -> tuple[EditSession, Unit]:
        session, unit = self._session.fork(), replace(self._unit, made=set())
        for rule in passes:
            ids = chosen(session, unit, self._judge, rule)
            advance(session, rule, ids, Owners([unit]), self._check)
        return session, unit

    def _candidate(
        self, before: _Candidate, rule: Pass, session: EditSession, unit: Unit
    ) -> _Candidate:
        cost = work_of(session.contexts) - self._before
        step = (cost - before.cost).weight
        weight = before.weight + (min(step, 0) if rule.name in self._wishes.prefer else step)
        left = tuple(obstacles(session, unit, self._judge))
        passes = (*before.passes, rule)
        return _Candidate(passes, session, unit, left, cost, weight, _looks(session))

    def _order(self, candidate: _Candidate) -> tuple[bool, int, int, int, tuple[str, ...]]:
        # Less work than before is no reason to change more of the model.
        more, new = max(0, candidate.weight), len(candidate.unit.made)
        return self._is_doubted(candidate), more, new, candidate.weight, candidate.names

    def _is_doubted(self, candidate: _Candidate) -> bool:
        """Whether the table objects; of the user's own runtimes, for which it is a guess, less.

        What it has against the node as it is says nothing of a form then.
        """
        if not self._judge.target.is_own:
            return bool(candidate.remaining)
        before, rows = (
            {row for one in each.remaining for row in one.judgement.rows}
            for each in (self._start, candidate)
        )
        return candidate.weight > 0 and not rows <= before

    def _takes(self, candidate: _Candidate) -> bool:
        """Whether the target takes what passes came to: by its table, or by a run of it."""
        live, tabled = self._judge.live, self._judge.tabled
        if live is None:
            return not candidate.remaining
        if tabled and any(obstacles(candidate.session, candidate.unit, tabled)):
            return False
        is_doubted = self._is_doubted(candidate)
        if not self._runs[is_doubted] or live.hangs - self._hangs >= MAX_HANGS:
            return False
        self._runs[is_doubted] -= 1
        main = candidate.session.contexts[0]
        tolerated = {main.scope.node(key).name for _, key in candidate.unit.tolerated}
        written = self._part.became(candidate.looks, dict(main.types))
        part = without_front(written, self._part)
        judged = outputs_without(part, tolerated)
        sites = self._session.sites_now()
        sizes = max(rests(site.chain) for site in sites)
        objection = live.candidate(self._judge.target, part, sizes, judged) if judged else None
        if objection and not objection.answer.fails:  # the table counts where nothing can be run
            return not candidate.remaining
        if objection and (self._objection is None or not candidate.remaining):
            site = next(self._session.sites_at({self._unit.focus}))
            label, op = site.address.label, site.chain.op.title
            self._objection = Obstacle(self._unit.focus, label, op, objection)
        return objection is None


def _looks(session: EditSession) -> bytes:
    looks: bytes = session.finish().SerializeToString(deterministic=True)
    return looks
