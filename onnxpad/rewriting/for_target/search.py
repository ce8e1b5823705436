"""Search over sequences of passes, on a small model cut out around one node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush

from onnxpad import processes
from onnxpad.geometry.budgets import PLANNED
from onnxpad.model.editing.script import InsertNode
from onnxpad.model.editing.session import EditSession
from onnxpad.model.excerpt import Excerpt, excerpt
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node, NodeId
from onnxpad.model.graph.scopes import Document
from onnxpad.model.graph.types import Type
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.probing.probes import outputs_without, rests, without_front
from onnxpad.rewriting.costs import Cost
from onnxpad.rewriting.for_target.obstacles import Judge, Owners, Unit, obstacles
from onnxpad.rewriting.for_target.report import NoWay, Obstacle, PassPlan
from onnxpad.rewriting.passes import Pass, all_passes
from onnxpad.rewriting.pipeline import Change, run, would_change
from onnxpad.rewriting.work import work_of
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.onnxruntime.runtime_check import RuntimeCheck

MAX_STEPS = 4
MAX_TRIALS, MAX_TRIALS_FOR_A_HINT = 400, 150
"""What is in use takes up to 143 until a plan is found, and most of it less than 20."""
_STEPS_PER_TRIAL, STEPS_PER_NODE = 15, 15
MAX_RUNS, MAX_DOUBTED_RUNS, MAX_HANGS = 60, 12, 2
"""Candidates that a runtime is asked about for one node, those among them that its table has
something against (false alarms are few), and those that it may not end."""


def chosen(session: EditSession, unit: Unit, judge: Judge, rule: Pass) -> set[NodeId]:
    """Nodes that a pass is to look at: those that the target does not take, and Pads before them.

    For a pass that folds Pads, what reads them as well. A runtime that is asked says no node, so
    that the pass looks at the focus and what was made of it.
    """
    if judge.live:
        ids = {unit.focus, *unit.made}
    else:
        ids = {obstacle.id for obstacle in obstacles(session, unit, judge)}
    if unit.focus in ids:
        ids |= unit.fronts
    if Form.PAD_NODE not in rule.removes:
        return ids
    has_pad = any(site.chain.op.kind is Kind.PAD for site in session.sites_at(ids))
    return ids | unit.readers if has_pad else ids


def unsettled(session: EditSession, ids: Iterable[NodeId], judge: Judge) -> frozenset[NodeId]:
    """Those of padded nodes that the target does not take as they are."""
    sites = session.sites_at(frozenset(ids))
    return frozenset(site.address.id for site in sites if judge.objects(judge.site(site)))


def would_do(session: EditSession, ids: set[NodeId], rule: Pass, check: RuntimeCheck) -> bool:
    """Whether a pass would change any of the nodes."""
    return any(would_change(session, rule, site, check) for site in session.sites_at(ids))


def advance(
    session: EditSession,
    rule: Pass,
    wanted: set[NodeId],
    owners: Owners,
    check: RuntimeCheck,
) -> tuple[Change, ...]:
    """Run one pass over the wanted nodes; what is new belongs to the unit of the node changed."""
    log = run(session, [rule], lambda address: address.id in wanted, check=check)
    for change in log.changes:
        unit = owners.of(change.node.id)
        for edit in change.edits:
            if unit is not None and isinstance(edit, InsertNode):
                owners.wrote(unit, edit.address.id, title_of(edit))
    return tuple(log.changes)


def title_of(edit: InsertNode) -> str:
    """The operator of a new node, with its domain."""
    return f"{edit.domain}.{edit.op_type}" if edit.domain else edit.op_type


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user says about passes: those that cost nothing in the choice, and those left out.

    `prefer` and `exclude` are names of passes.
    """

    prefer: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _State:
    """What passes came to; `new` is how many nodes they wrote, `unit` is that of the model written.

    `looks` is that model, `types` are those of its tensors. `barred`: a runtime that cannot be
    asked, and whose table alone counts, does not take it.
    """

    passes: tuple[str, ...]
    cost: Cost
    weight: int
    remaining: tuple[Obstacle, ...]
    new: int
    unit: Unit
    looks: bytes
    types: Mapping[str, Type]
    barred: bool = False

    @property
    def distance(self) -> tuple[int, int, int, int]:
        """How far it is from a form that the target takes: silent errors count most."""
        ranks = [obstacle.judgement.answer.rank for obstacle in self.remaining]
        return max(ranks, default=0), sum(ranks), len(self.passes), self.weight


class _Steps:
    """What all searches of one plan for a target may take together, and say where they end."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._left: int | None = None

    def begin(self, document: Document) -> None:
        if self._left is None:
            written = sum(len(scope.nodes) for scope in document.scopes.values())
            self._left = max(PLANNED.most, STEPS_PER_NODE * written)

    def take(self, nodes: int) -> bool:
        """Whether a way may be tried on so many nodes."""
        assert self._left is not None  # noqa: S101  begun
        self._left -= nodes + _STEPS_PER_TRIAL
        if self._left < 0:
            processes.current().met[f"plans for {self._target}"] = PLANNED.reason()
        return self._left >= 0


Ways = Mapping[NodeId, Sequence[PassPlan | NoWay]]
"""What plans came to, by node and in the order asked for."""


class _Ways:
    """What plans came to; or what is `given` instead of a search, where `tried` if it holds."""

    def __init__(self, given: Ways | None = None, *, tried: bool = False) -> None:
        self.found: dict[NodeId, list[PassPlan | NoWay]] = {}
        self._left = None if given is None else {node: iter(ways) for node, ways in given.items()}
        self.tried = tried

    def given(self, node: NodeId) -> PassPlan | NoWay | None:
        """The next one of a node; None where all are searched."""
        if self._left is None:
            return None
        return next(self._left.get(node, iter(())), NoWay((), ()))


class Planner:
    """Plans for the nodes of one model; nodes that look alike are planned once."""

    def __init__(
        self,
        judge: Judge,
        wishes: Wishes | None = None,
        steps: _Steps | None = None,
        ways: _Ways | None = None,
    ) -> None:
        self.judge = judge
        self._steps = steps or _Steps(judge.target.name)
        self._ways = ways or _Ways()
        self._wishes = wishes or Wishes()
        left_out = set(self._wishes.exclude)
        self._rules = [rule for name, rule in all_passes().items() if name not in left_out]
        self._known: dict[object, PassPlan | NoWay] = {}
        self._taken: dict[object, bool] = {}
        self._most = MAX_TRIALS

    def for_hints(self, *, assumes_sizes: bool) -> Planner:
        """A planner with the same wishes that tries less; or for sizes that the user knows alone.

        It takes over what is planned, and its steps come out of the same budget.
        """
        judge, known = self.judge, dict(self._known)
        if assumes_sizes:
            judge = judge.knowing(assumes_sizes=True)
            known.clear()
        other = Planner(judge, self._wishes, self._steps)
        other._known, other._most = known, MAX_TRIALS_FOR_A_HINT
        return other

    def knowing(self, *, assumes_sizes: bool) -> Planner:
        """A planner with the same wishes for a model whose sizes the file states by now, or not."""
        judge = self.judge.knowing(assumes_sizes=assumes_sizes)
        return Planner(judge, self._wishes, self._steps, self._ways)

    def following(self, ways: Ways, *, tried: bool = False) -> Planner:
        """A planner that searches no more: it gives these ways, where `tried` those that hold."""
        return Planner(self.judge, self._wishes, self._steps, _Ways(ways, tried=tried))

    @property
    def ways(self) -> Ways:
        """The ways that were found so far."""
        return self._ways.found

    def may_use(self, name: str) -> bool:
        """Whether the user did not leave this pass out."""
        return any(rule.name == name for rule in self._rules)

    def plan(self, context: Context, node: Node, floor: Answer = Answer.TAKES) -> PassPlan | NoWay:
        """What to do with a node that the target does not take, and at best does `floor` with."""
        node_id = (context.scope.id, node.key)
        way = self._ways.given(node_id)
        if way is None:
            way = self._planned(context, node, floor)
            self._ways.found.setdefault(node_id, []).append(way)
        elif self._ways.tried and isinstance(way, PassPlan):
            way = self._along(context, node, way)
        return way

    def _planned(self, context: Context, node: Node, floor: Answer) -> PassPlan | NoWay:
        self._steps.begin(context.document)
        part = excerpt(context, node)
        key = part.fingerprint
        if key not in self._known:
            begins = self._steps.take(len(part.model.graph.node))
            found = self._search(part, floor) if begins else NoWay((), ())
            # What is wrong shows in the whole model alone, where no pass was tried.
            is_blind = isinstance(found, PassPlan) and not found.passes
            self._known[key] = NoWay((), ()) if is_blind else found
        return self._known[key]

    def _along(self, context: Context, node: Node, plan: PassPlan) -> PassPlan | NoWay:
        """The passes of `plan` at this node, where the target takes what they come to."""
        self._steps.begin(context.document)
        check = RuntimeCheck(self.judge.target) if plan.alone else RuntimeCheck()
        search = _PassSearch(
            excerpt(context, node), self.judge, self._rules, self._wishes, check, self._steps
        )
        found = search.along([all_passes()[name] for name in plan.passes])
        return replace(found, alone=plan.alone) if isinstance(found, PassPlan) else found

    def takes_behind(self, context: Context, node: Node, rule: Pass) -> bool:
        """Whether the target takes all that this pass makes of a node."""
        self._steps.begin(context.document)
        part = excerpt(context, node)
        key = (rule.name, part.fingerprint)
        if key not in self._taken:
            check = RuntimeCheck(self.judge.target)
            search = _PassSearch(part, self.judge, [rule], self._wishes, check, self._steps)
            self._taken[key] = search.ends_with(rule)
        return self._taken[key]

    def _search(self, part: Excerpt, floor: Answer) -> PassPlan | NoWay:
        """A way that onnxruntime runs as well, else one for the target alone."""
        check, alone = RuntimeCheck(), RuntimeCheck(self.judge.target)
        found = self._with(check, part, floor)
        if isinstance(found, PassPlan) or not check.held_back:
            return found
        other = self._with(alone, part, floor)
        return replace(other, alone=True) if isinstance(other, PassPlan) else found

    def _with(self, check: RuntimeCheck, part: Excerpt, floor: Answer) -> PassPlan | NoWay:
        search = _PassSearch(part, self.judge, self._rules, self._wishes, check, self._steps)
        return search.result(floor, self._most)


class _PassSearch:
    def __init__(
        self,
        part: Excerpt,
        judge: Judge,
        rules: list[Pass],
        wishes: Wishes,
        check: RuntimeCheck,
        steps: _Steps,
    ) -> None:
        self._part = part
        self._steps = steps
        self._judge = judge
        self._rules = rules
        self._wishes = wishes
        self._check = check
        self._trials = 1
        readers = frozenset(("", key) for key in part.readers)
        fronts = frozenset(("", key) for key in part.fronts)
        unit = Unit(("", part.focus), readers, fronts)
        self._opened = session = part.opened()
        self._before = work_of(session.typed_contexts())
        unit.tolerated = unsettled(session, readers if judge.live else readers | fronts, judge)
        left = tuple(obstacles(session, unit, judge))
        self._runs, self._doubted_runs = MAX_RUNS, MAX_DOUBTED_RUNS
        self._hangs = judge.live.hangs if judge.live else 0
        self._objection: Obstacle | None = None
        self._tabled = judge.tabled
        looks: bytes = part.model.SerializeToString(deterministic=True)
        self._seen = {looks}
        self._start = _State((), Cost(), 0, left, 0, unit, looks, part.types)

    def result(self, floor: Answer, most_trials: int) -> PassPlan | NoWay:
        """The cheapest sequence, the shortest of equal ones, the first in the alphabet.

        Where the target fails it behind any sequence, longer ones than that to the nearest form
        are not tried.
        """
        best = (floor.rank, floor.rank)
        queue, nearest = [_entry(self._start)], self._start
        while queue:
            state = heappop(queue)[-1]
            if self._serves(state):
                return PassPlan(state.passes, state.cost)
            nearest = min(nearest, state, key=lambda found: found.distance)
            most = MAX_STEPS
            if floor is not Answer.TAKES and nearest.distance[:2] == best:
                most = len(nearest.passes)
            if len(state.passes) >= most:
                continue
            for found in self._followers(state, most_trials):
                doubted = bool(found.remaining) and self._judge.live is not None
                if (
                    self._judge.target.is_own
                ):  # no table knows it: what costs nothing is tried first
                    doubted = doubted and found.weight > 0
                heappush(queue, _entry(found, doubted=doubted))
        if self._objection:
            return NoWay((), (self._objection,))
        return NoWay(nearest.passes, nearest.remaining)

    def _serves(self, state: _State) -> bool:
        """Whether the target takes what passes came to: by its table, or by a run of it."""
        live = self._judge.live
        if live is None:
            return not state.remaining
        if state is self._start or state.barred or not self._runs:
            return False
        if live.hangs - self._hangs >= MAX_HANGS:
            return False
        if state.remaining and not self._doubted_runs:
            return False
        self._runs -= 1
        self._doubted_runs -= bool(state.remaining)
        written = self._part.became(state.looks, state.types)
        nodes = written.model.graph.node
        tolerated = {nodes[place].name for _, place in state.unit.tolerated}
        part = without_front(written, self._part)
        sites = self._opened.sites_now()
        sizes = max(rests(chain) for site in sites for chain in site.chains)
        judged = outputs_without(part, tolerated)
        objection = live.candidate(self._judge.target, part, sizes, judged) if judged else None
        if objection and not objection.answer.fails:  # the table counts where nothing can be run
            return not state.remaining
        if objection and (self._objection is None or not state.remaining):
            focus = self._start.unit.focus
            site = next(self._opened.sites_at({focus}))
            op = site.chain.op.title
            self._objection = Obstacle(focus, site.address.label, op, objection)
        return objection is None

    def along(self, rules: Sequence[Pass]) -> PassPlan | NoWay:
        """These passes alone, one after the other, where nothing is left behind them."""
        state = self._start
        for rule in rules:
            session = self._opened_at(state)
            wanted = chosen(session, state.unit, self._judge, rule)
            found = next(self._tried(state, session.fork(), rule, wanted), None)
            if found is None:
                return NoWay((), ())
            state = found
        return PassPlan(state.passes, state.cost) if self._serves(state) else NoWay((), ())

    def ends_with(self, rule: Pass) -> bool:
        """Whether nothing is left behind this pass alone, where it changes the node."""
        session = self._opened.fork()
        found = self._tried(self._start, session, rule, {self._start.unit.focus})
        return any(map(self._serves, found))

    def _followers(self, state: _State, most_trials: int) -> Iterator[_State]:
        session = self._opened_at(state)
        for rule in self._rules:
            if self._trials >= most_trials:
                return
            wanted = chosen(session, state.unit, self._judge, rule)
            if would_do(session, wanted, rule, self._check):
                if not self._steps.take(len(self._part.model.graph.node)):
                    return
                yield from self._tried(state, session.fork(), rule, wanted)

    def _opened_at(self, state: _State) -> EditSession:
        if state is self._start:
            return self._opened
        return self._part.opened(state.looks, state.types)

    def _tried(
        self, state: _State, session: EditSession, rule: Pass, wanted: set[NodeId]
    ) -> Iterator[_State]:
        """The state behind one more pass; nothing where others came to the same model before."""
        self._trials += 1
        unit = replace(state.unit, made=dict(state.unit.made))
        advance(session, rule, wanted, Owners([unit]), self._check)
        looks: bytes = session.finish().SerializeToString(deterministic=True)
        if looks in self._seen:
            return
        self._seen.add(looks)
        total = work_of(session.typed_contexts()) - self._before
        step = (total - state.cost).weight
        if rule.name in self._wishes.prefer:
            step = min(step, 0)
        found = tuple(obstacles(session, unit, self._judge))
        passes, weight = (*state.passes, rule.name), state.weight + step
        nodes = session.document.main.ordered()
        written = unit.moved({("", node.key): ("", index) for index, node in enumerate(nodes)})
        types = dict(session.contexts[0].types)
        tabled = self._tabled
        barred = tabled is not None and any(obstacles(session, unit, tabled))
        yield _State(passes, total, weight, found, len(unit.made), written, looks, types, barred)


_Entry = tuple[bool, int, int, int, int, tuple[str, ...], _State]


def _entry(state: _State, *, doubted: bool = False) -> _Entry:
    # Less work than before is no reason to change more of the model.
    more, count = max(0, state.weight), len(state.passes)
    return doubted, more, count, state.new, state.weight, state.passes, state
