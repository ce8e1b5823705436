"""The search for a way to write a node that a target takes: a list of passes, tried in its order.

They are tried on a small model cut out around the node: each alone, then each behind the nearest
of these, and once more. The first that leaves nothing is the way. Whether something is left says
the judge: its table, or a run of the candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from onnxpad.model.editing.session import EditSession
from onnxpad.model.excerpt import Excerpt, excerpt, pads_before, readers_of
from onnxpad.model.graph.nodes import NodeId
from onnxpad.model.reading.survey import Site
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.probing.probes import outputs_without, rests, without_front
from onnxpad.rewriting.costs import work_of
from onnxpad.rewriting.for_target.judge import Judge
from onnxpad.rewriting.for_target.report import NoWay, Obstacle, PassPlan
from onnxpad.rewriting.passes import Pass, all_passes
from onnxpad.rewriting.pipeline import Change, inserted_by, run, would_change

FREE = (
    *("absorb-pad", "written-defaults", "plain-transpose", "floor-pool", "auto-pads", "all-axes"),
    *("static-pads", "plain-value", "explicit-pads", "quantised-pad"),
)
CHEAP = (
    *("symmetric-pads-by-kernel", "concat-pads", "average-by-conv", "lp-pool", "symmetric-pads"),
    *("lift-rank", "separate-bias", "symmetric-pads-by-slice", "plain-dilations"),
    *("counted-padding", "output-padding-by-kernel", "average-by-parts", "uncounted-padding"),
    *("odd-kernels", "slice-transpose", "plain-pad", "split-pads", "symmetric-pads-by-pad"),
    *("border-pads", "clipped-pads"),
)
LAST = ("transpose-by-conv", "crop-by-slice")
"""Passes by what they add to the work of a model: others stand in front of LAST, which are dear or
not exact for infinities, and tried where no others are a way."""
WIDTHS, OWN_WIDTHS = (1, 8, 2), (1, 8, 8)
"""How many candidates, the nearest to a way, get a first, a second and a third pass, for a known
target and for one of the user's own."""
MAX_RUNS, MAX_DOUBTED_RUNS, MAX_HANGS = 60, 12, 2
"""Candidates that a runtime is asked about for one node, those among them that its table has
something against (false alarms are few), and those that it may not end."""
MOST_OBJECTIONS = 4
"""Things that a runtime has against forms that were run, one being that against the node."""


class Unit(NamedTuple):
    """A node that is to be rewritten, and the padded nodes beside it that passes may change too.

    `readers` read a Pad and may take it over, `fronts` are Pads in front of an operator.
    """

    focus: NodeId
    readers: frozenset[NodeId]
    fronts: frozenset[NodeId]

    @classmethod
    def of(cls, scope: str, focus: int, readers: Iterable[int], fronts: Iterable[int]) -> Unit:
        """The unit of nodes of one scope, by their keys."""
        near = (frozenset((scope, key) for key in keys) for keys in (readers, fronts))
        return cls((scope, focus), *near)

    @classmethod
    def around(cls, site: Site) -> Unit:
        """The unit of a node of the whole model."""
        context, node = site.context, site.node
        is_pad = context.chains[node.key].op.kind is Kind.PAD
        readers = readers_of(context, node) if is_pad else []
        near = ([one.key for one in nodes] for nodes in (readers, pads_before(context, node)))
        return cls.of(context.scope.id, node.key, *near)

    def reached(self, rule: Pass) -> frozenset[NodeId]:
        """Those that a pass is to look at."""
        near = self.fronts | {self.focus}
        return near | self.readers if Form.PAD_NODE in rule.removes else near


def carry_out(session: EditSession, units: Sequence[Unit], passes: Sequence[Pass]) -> list[Change]:
    """Run passes, one after the other, on these units and on what became of them."""
    changes: list[Change] = []
    for rule in passes:
        ids = inserted_by(changes).union(*(unit.reached(rule) for unit in units))
        changes += run(session, [rule], lambda node, ids=ids: node.id in ids).changes  # type: ignore[misc]
    return changes


class Planner:
    """Finds ways for the nodes of models; nodes that look alike are looked at once.

    prefer: names of passes that cost nothing in the choice.
    exclude: names of passes that are left out.
    """

    def __init__(
        self, judge: Judge, prefer: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> None:
        self.judge = judge
        self._prefer, self._exclude = prefer, exclude
        passes = all_passes()
        names = dict.fromkeys((*FREE, *prefer, *CHEAP, *passes))
        self._passes = [passes[name] for name in names if self.may_use(name)]
        self._ways: dict[object, PassPlan | NoWay] = {}
        self._by_sizes = {judge.assumes_sizes: self}

    def knowing(self, *, assumes_sizes: bool) -> Planner:
        """The same planner where the user knows sizes that the file leaves open, or none."""
        if assumes_sizes not in self._by_sizes:
            judge = replace(self.judge, assumes_sizes=assumes_sizes)
            other = Planner(judge, self._prefer, self._exclude)
            self._by_sizes[assumes_sizes], other._by_sizes = other, self._by_sizes
        return self._by_sizes[assumes_sizes]

    def may_use(self, name: str) -> bool:
        """Whether the user did not leave this pass out."""
        return name not in self._exclude

    def plan(self, site: Site) -> PassPlan | NoWay:
        """What to do with a node that the target does not take."""
        part = excerpt(site.context, site.node)
        key = part.fingerprint
        if key not in self._ways:
            # A table is asked twice; runs of a runtime take longer, and some do not end.
            usual = [one for one in self._passes if self.judge.live or one.name not in LAST]
            way = _Search(part, self.judge, usual).way()
            if isinstance(way, NoWay) and len(usual) < len(self._passes):
                way = _Search(part, self.judge, self._passes).way()
            self._ways[key] = way
        return self._ways[key]


class _Candidate(NamedTuple):
    """What passes made of an excerpt: `made` are new nodes, `left` what the table objects to."""

    passes: tuple[Pass, ...]
    session: EditSession
    made: frozenset[NodeId]
    left: tuple[Obstacle, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.passes)

    @property
    def objections(self) -> set[tuple[str, object]]:
        return {(one.op, row) for one in self.left for row in one.judgement.rows}


class _Search:
    def __init__(self, part: Excerpt, judge: Judge, passes: Sequence[Pass]) -> None:
        self._part, self._judge, self._passes = part, judge, passes
        self._session = part.opened()
        self._unit = Unit.of("", part.focus, part.readers, part.fronts)
        # What was wrong with its neighbours before is not this node's business.
        own = {self._unit.focus, *(self._unit.fronts if judge.live else ())}
        self._tolerated = frozenset(
            site.address.id
            for site in self._session.sites_now()
            if site.address.id not in own and judge.objects(judge.site(site))
        )
        self._start = self._candidate((), self._session, frozenset())
        self._runs = {False: MAX_RUNS, True: MAX_DOUBTED_RUNS}
        self._hangs = judge.live.hangs if judge.live else 0
        self._objections: dict[str, Obstacle] = {}

    def way(self) -> PassPlan | NoWay:
        """The first way; else the sequence that comes nearest to one, with what is left of it."""
        tried, level = [self._start], [self._start]
        for width in OWN_WIDTHS if self._judge.target.is_own else WIDTHS:
            nearest = sorted(level, key=self._distance)[:width]
            followers: Iterable[_Candidate] = self._followers(nearest)
            if self._judge.live:
                followers = sorted(followers, key=self._is_doubted)
            level = []
            for candidate in followers:
                if self._takes(candidate):
                    cost = work_of(candidate.session.contexts) - work_of(self._session.contexts)
                    return PassPlan(candidate.names, cost)
                level.append(candidate)
            tried += level
            if not self._judge.live and set.intersection(*(one.objections for one in tried)):
                # What no pass takes away may go behind one that takes other things away.
                before = self._start.objections
                level = [
                    one
                    for one in level
                    if not before <= one.objections or any(one.session.sites_at(one.made))
                ]
        if self._objections:
            return NoWay((), tuple(self._objections.values())[:MOST_OBJECTIONS])
        best = min(tried, key=self._distance)
        return NoWay(best.names, best.left)

    def _followers(self, level: Sequence[_Candidate]) -> Iterator[_Candidate]:
        """Each candidate with one pass more that changes something; of two in any order, once."""
        seen = set[frozenset[str]]()
        for before in level:
            for rule in self._passes:
                names = frozenset((*before.names, rule.name))
                sites = before.session.sites_at(self._reached(before, rule))
                if names in seen or not any(
                    would_change(before.session, rule, site) for site in sites
                ):
                    continue
                seen.add(names)
                passes, session = (*before.passes, rule), self._session.fork()
                changes = carry_out(session, [self._unit], passes)
                yield self._candidate(passes, session, inserted_by(changes))

    def _reached(self, before: _Candidate, rule: Pass) -> frozenset[NodeId]:
        """What a pass may change for the better: no node that the table takes already."""
        near, left = self._unit.reached(rule) | before.made, {one.id for one in before.left}
        if self._judge.live:
            return near
        fronts = self._unit.fronts if self._unit.focus in left else frozenset[NodeId]()
        return near & (self._unit.readers | fronts | left)

    def _candidate(
        self, passes: tuple[Pass, ...], session: EditSession, made: frozenset[NodeId]
    ) -> _Candidate:
        left = tuple(self._judge.left(session, made, self._tolerated))
        return _Candidate(passes, session, made, left)

    def _distance(self, candidate: _Candidate) -> tuple[int, ...]:
        """How far it is from a form that is taken; of equals, one that another thing stops."""
        ranks = [one.judgement.answer.rank for one in candidate.left]
        own = {one.judgement.reason for one in self._start.left if one.judgement.answer.fails}
        stays = any(one.judgement.reason in own for one in candidate.left)
        return max(ranks, default=0), sum(ranks), stays, len(candidate.passes)

    def _is_doubted(self, candidate: _Candidate) -> bool:
        """Whether the table objects; of the user's own runtimes, for which it is a guess, anew."""
        if not self._judge.target.is_own:
            return bool(candidate.left)
        return not candidate.objections <= self._start.objections

    def _takes(self, candidate: _Candidate) -> bool:
        """Whether the target takes what passes came to: by its table, or by a run of it."""
        live, tabled = self._judge.live, self._judge.tabled
        if live is None:
            return not candidate.left
        session, is_doubted = candidate.session, self._is_doubted(candidate)
        if tabled and any(tabled.left(session, candidate.made, self._tolerated)):
            return False
        if not self._runs[is_doubted] or live.hangs - self._hangs >= MAX_HANGS:
            return False
        self._runs[is_doubted] -= 1
        scope, types = session.contexts[0].scope, session.contexts[0].types
        looks = session.finish().SerializeToString(deterministic=True)
        part = without_front(self._part.became(looks, dict(types)), self._part)
        judged = outputs_without(part, {scope.node(key).name for _, key in self._tolerated})
        sizes = max(rests(site.chain) for site in self._session.sites_now())
        objection = live.candidate(self._judge.target, part, sizes, judged) if judged else None
        if objection and not objection.answer.fails:  # the table counts where nothing can be run
            return not candidate.left
        if objection:
            site = next(self._session.sites_at({self._unit.focus}))
            title, alike = site.chain.op.title, re.sub(r"[-\d.]+", "", objection.reason)
            obstacle = Obstacle(self._unit.focus, site.address.label, title, objection)
            self._objections.setdefault(alike, obstacle)
        return objection is None
