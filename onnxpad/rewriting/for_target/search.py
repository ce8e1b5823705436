"""Search over sequences of passes, on a small model cut out around one node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from math import inf

from onnxpad.model.editing.script import InsertNode
from onnxpad.model.editing.session import EditSession
from onnxpad.model.excerpt import Excerpt, excerpt
from onnxpad.model.reading.context import Context
from onnxpad.model.reading.model_inputs import is_model_input
from onnxpad.model.reading.nodes import Node, Place
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.model.shapes.types import Type
from onnxpad.padding.chain import Chain
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind
from onnxpad.rewriting.costs import Cost
from onnxpad.rewriting.for_target.report import NoWay, Obstacle, PassPlan
from onnxpad.rewriting.passes import Pass, all_passes
from onnxpad.rewriting.pipeline import Change, run, would_change
from onnxpad.rewriting.work import work_of
from onnxpad.runtimes.conditions.companions import BLOCKS, INPUT_CROP, OUTER_BLOCKS, PIECES
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.judge import Judgement, judge, judge_plain, lasting
from onnxpad.runtimes.onnxruntime.safe_spelling import Writer
from onnxpad.runtimes.targets import Target

_GONE: Place = ("", -1)
_STAYING = (Kind.CONVOLUTION, Kind.TRANSPOSED, Kind.MAX)


@dataclass
class Unit:
    """One node that is to be rewritten, what became of it, and what reads it.

    `readers` are padded nodes behind a Pad, into which it may be folded, `fronts` Pads in front of
    an operator, which may be what is wrong with it; what was wrong with either before
    (`tolerated`) is not this unit's business.
    """

    focus: Place
    readers: frozenset[Place] = frozenset()
    fronts: frozenset[Place] = frozenset()
    tolerated: frozenset[Place] = frozenset()
    made: dict[Place, str] = field(default_factory=dict)

    @property
    def members(self) -> set[Place]:
        """Every node that the unit answers for."""
        return {self.focus, *self.made, *self.readers, *self.fronts}

    def moved(self, places: Mapping[Place, Place]) -> Unit:
        """The same unit where its nodes have other places; those that are gone have none."""
        made = {places[one]: op for one, op in self.made.items() if one in places}
        readers, fronts, tolerated = (
            frozenset(places[one] for one in side if one in places)
            for side in (self.readers, self.fronts, self.tolerated)
        )
        return Unit(places.get(self.focus, _GONE), readers, fronts, tolerated, made)


class Judge:
    """What a target says of nodes; `allows_unknown` takes for granted what is not known.

    `assumes_sizes` says that some sizes are known to the user, and not to the target.
    """

    def __init__(
        self, target: Target, *, allows_unknown: bool = False, assumes_sizes: bool = False
    ) -> None:
        self.target = target
        self._assumes_sizes = assumes_sizes
        self.allows_unknown = allows_unknown
        self._known: dict[int, tuple[Chain, Judgement]] = {}

    def chain(self, chain: Chain) -> Judgement:
        """The judgement of a padded operator; chains that are one object are judged once."""
        if id(chain) not in self._known:
            self._known[id(chain)] = (chain, judge(self.target, self._seen(chain)))
        return self._known[id(chain)][1]

    def _seen(self, chain: Chain) -> Chain:
        if not self._assumes_sizes:
            return chain
        return replace(chain, read_as=replace(chain.read_as, assumes_sizes=True))

    def floor(self, chain: Chain) -> Answer:
        """What the target does at best with the operator behind any passes; TAKES is no promise."""
        found = lasting(self.target, self._seen(chain)) if self.stays(chain) else Answer.TAKES
        return Answer.TAKES if found.is_open and self.allows_unknown else found

    def stays(self, chain: Chain) -> bool:
        """Whether every pass leaves the operator in its place.

        Passes replace averages, LpPool, Pads and operators that read their pads from an input.
        """
        return chain.op.kind in _STAYING and chain.op.pads_input is None

    def site(self, site: Site) -> Judgement:
        """The worst judgement of a node's readings."""
        return max((self.chain(chain) for chain in site.chains), key=lambda j: j.answer.rank)

    def objects(self, judgement: Judgement) -> bool:
        """Whether a node with this judgement is to be rewritten."""
        return judgement.answer.fails or (judgement.answer.is_open and not self.allows_unknown)


def obstacles(session: EditSession, unit: Unit, judge: Judge) -> Iterator[Obstacle]:
    """Nodes of the unit that the target does not take, in graph order; plain ones last."""
    members = unit.members - unit.tolerated
    for site in session.sites():
        place = site.address.place
        if place in members and judge.objects(found := judge.site(site)):
            yield Obstacle(place, site.address.label, site.chain.op.title, found)
    yield from plain_obstacles(session, unit.made, judge)


def plain_obstacles(
    session: EditSession, made: Mapping[Place, str], judge: Judge
) -> Iterator[Obstacle]:
    """Those of the nodes in `made`, operators by place, that have no padding and are not taken."""
    padded = {site.address.place for site in session.sites()}
    for place, op in made.items():
        if place in padded or not _exists(session, place):
            continue
        context = next(one for one in session.contexts if one.scope.id == place[0])
        node = next(one for one in context.scope.ordered() if one.key == place[1])
        name = _told_apart(context, node, op)
        found = judge_plain(judge.target, name, context.scope.opset)
        if judge.objects(found):
            yield Obstacle(place, name, op, found)


def _exists(session: EditSession, place: Place) -> bool:
    scope = session.document.scopes[place[0]]
    return place[1] not in scope.removed


def written_padding(survey: Survey) -> Iterator[tuple[Context, Node, str]]:
    """Concats that pad what an operator reads with a block of constants, as targets name them.

    So concat-pads writes padding, and so people do by hand.
    """
    blocks = (*BLOCKS, *OUTER_BLOCKS)
    for context in survey.contexts:
        found: dict[int, tuple[Context, Node, str]] = {}
        for node in reversed(list(context.scope.ordered())):
            if node.op_type == "Concat" and node.domain in PLAIN_DOMAINS:
                readers = context.readers(node.outputs[0])
                feeds = any(
                    one.key in found or _reads_cells(context, one, node.outputs[0])
                    for one in readers
                )
                if feeds and (name := _told_apart(context, node, "Concat")) in blocks:
                    found[node.key] = (context, node, name)
        yield from reversed(found.values())


def _reads_cells(context: Context, node: Node, name: str) -> bool:
    """Whether a padded operator reads a tensor as cells, not as the numbers of its padding."""
    chain = context.chains.get(node.key)
    if chain is None:
        return False
    return chain.op.kind is not Kind.PAD or node.inputs[0] == name


def _told_apart(context: Context, node: Node, op: str) -> str:
    """The name under which targets speak of a node without padding.

    Of Slice, whether it reads an input of the model and is no part of a Concat; of Concat, whether
    it joins a constant or what Expand makes, whether that is infinite, and on which axis.
    """
    if op == "Slice" and is_model_input(context, node.inputs[0]):
        joined = any(one.op_type == "Concat" for one in context.readers(node.outputs[0]))
        return op if joined else INPUT_CROP[0]
    if op != "Concat":
        return op
    makers = map(context.scope.producers.get, node.inputs)
    made = [one.inputs[0] for one in makers if one is not None and one.op_type == "Expand"]
    stored = [name for name in node.inputs if context.constant_tensor(name) is not None]
    if not made and not stored:
        return PIECES[0]
    kinds = OUTER_BLOCKS if context.attributes(node).get("axis") in (0, 1) else BLOCKS
    return kinds[any(_is_infinite(context, name) for name in (*made, *stored))]


def _is_infinite(context: Context, name: str) -> bool:
    """Whether a cell of a constant is infinite; of large ones, which passes do not write, no."""
    value = context.constant(name)
    return value is not None and value.dtype.kind == "f" and bool((abs(value) == inf).any())


def chosen(session: EditSession, unit: Unit, found: Iterable[Obstacle], rule: Pass) -> set[Place]:
    """Nodes that a pass is to look at: those that the target does not take, and Pads before them.

    For a pass that folds Pads, what reads them as well.
    """
    places = {obstacle.place for obstacle in found}
    if unit.focus in places:
        places |= unit.fronts
    if Form.PAD_NODE not in rule.removes:
        return places
    pads = {site.address.place for site in session.sites() if site.chain.op.kind is Kind.PAD}
    return places | unit.readers if places & pads else places


def would_do(session: EditSession, places: set[Place], rule: Pass, writer: Writer) -> bool:
    """Whether a pass would change any of the nodes."""
    return any(
        would_change(session, rule, site, writer)
        for site in session.sites()
        if site.address.place in places
    )


def advance(
    session: EditSession,
    rule: Pass,
    wanted: set[Place],
    owner: Callable[[Place], Unit | None],
    writer: Writer,
) -> tuple[Change, ...]:
    """Run one pass over the wanted nodes; what is new belongs to the unit of the node changed."""
    outcome = run(session, [rule], lambda address: address.place in wanted, writer=writer)
    for change in outcome.changes:
        unit = owner(change.node.place)
        for edit in change.edits:
            if unit is not None and isinstance(edit, InsertNode):
                unit.made[edit.address.place] = title_of(edit)
    return tuple(outcome.changes)


def title_of(edit: InsertNode) -> str:
    """The operator of a new node, with its domain."""
    return f"{edit.domain}.{edit.op_type}" if edit.domain else edit.op_type


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
    session: EditSession
    unit: Unit
    looks: bytes
    types: Mapping[str, Type]

    @property
    def new(self) -> int:
        """How many nodes the passes wrote."""
        return len(self.unit.made)

    def in_file(self) -> Unit:
        """The unit by the places that its nodes have in the model as it was written."""
        nodes = self.session.document.main.ordered()
        places = {("", node.key): ("", place) for place, node in enumerate(nodes)}
        return self.unit.moved(places)

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
        self._known: dict[object, PassPlan | NoWay] = {}

    def assuming_sizes(self) -> Planner:
        """A planner with the same wishes, for sizes that the user knows alone."""
        judge = Judge(
            self.judge.target, allows_unknown=self.judge.allows_unknown, assumes_sizes=True
        )
        return Planner(judge, self._wishes)

    def plan(self, context: Context, node: Node, floor: Answer = Answer.TAKES) -> PassPlan | NoWay:
        """What to do with a node that the target does not take, and at best does `floor` with."""
        part = excerpt(context, node)
        key = part.fingerprint
        if key not in self._known:
            found = self._search(part, floor)
            # What is wrong shows in the whole model alone, where no pass was tried.
            is_blind = isinstance(found, PassPlan) and not found.passes
            self._known[key] = NoWay((), ()) if is_blind else found
        return self._known[key]

    def _search(self, part: Excerpt, floor: Answer) -> PassPlan | NoWay:
        """A way that onnxruntime runs as well, else one for the target alone."""
        writer, alone = Writer(), Writer(self.judge.target)
        found = _PassSearch(part, self.judge, self._rules, self._wishes, writer).result(floor)
        if isinstance(found, PassPlan) or not writer.held_back:
            return found
        other = _PassSearch(part, self.judge, self._rules, self._wishes, alone).result(floor)
        return replace(other, alone=True) if isinstance(other, PassPlan) else found


class _PassSearch:
    def __init__(
        self, part: Excerpt, judge: Judge, rules: list[Pass], wishes: Wishes, writer: Writer
    ) -> None:
        self._part = part
        self._judge = judge
        self._rules = rules
        self._wishes = wishes
        self._writer = writer
        self._trials = 0
        readers = frozenset(("", key) for key in part.readers)
        fronts = frozenset(("", key) for key in part.fronts)
        self._unit = Unit(("", part.focus), readers, fronts)
        session = self._opened(None)
        self._before = work_of(session.typed_contexts())
        self._unit.tolerated = frozenset(
            found.place
            for found in obstacles(session, self._unit, judge)
            if found.place in readers | fronts
        )

    def result(self, floor: Answer) -> PassPlan | NoWay:
        """The cheapest sequence, the shortest of equal ones, the first in the alphabet.

        Where the target fails it behind any sequence, longer ones than that to the nearest form
        are not tried.
        """
        best = (floor.rank, floor.rank)
        start = self._tried(None, None)
        queue, seen, nearest = [_entry(start)], {start.looks}, start
        while queue:
            state = heappop(queue)[-1]
            if not state.remaining:
                return PassPlan(state.passes, state.cost)
            nearest = min(nearest, state, key=lambda found: found.distance)
            most = MAX_STEPS
            if floor is not Answer.TAKES and nearest.distance[:2] == best:
                most = len(nearest.passes)
            if len(state.passes) >= most:
                continue
            for found in self._followers(state):
                if found.looks not in seen:
                    seen.add(found.looks)
                    heappush(queue, _entry(found))
        return NoWay(nearest.passes, nearest.remaining)

    def _followers(self, state: _State) -> Iterator[_State]:
        for rule in self._rules:
            if self._trials >= MAX_TRIALS:
                return
            wanted = chosen(state.session, state.unit, state.remaining, rule)
            if would_do(state.session, wanted, rule, self._writer):
                yield self._tried(state, rule)

    def _tried(self, state: _State | None, rule: Pass | None) -> _State:
        """The state behind one more pass, which goes on from the model that `state` came to."""
        self._trials += 1
        session = self._opened(state)
        unit = state.in_file() if state else self._unit
        if rule is not None:
            wanted = chosen(session, unit, obstacles(session, unit, self._judge), rule)
            advance(session, rule, wanted, lambda place: _owner(unit, place), self._writer)
        passes = (*(state.passes if state else ()), *((rule.name,) if rule else ()))
        total = work_of(session.typed_contexts()) - self._before
        step = (total - (state.cost if state else Cost())).weight
        if passes and passes[-1] in self._wishes.prefer:
            step = min(step, 0)
        found = tuple(obstacles(session, unit, self._judge))
        types = dict(session.contexts[0].types)
        weight = step + (state.weight if state else 0)
        looks: bytes = session.finish().SerializeToString(deterministic=True)
        return _State(passes, total, weight, found, session, unit, looks, types)

    def _opened(self, state: _State | None) -> EditSession:
        if state is None:
            return self._part.opened()
        return self._part.opened(state.looks, state.types)


def _owner(unit: Unit, place: Place) -> Unit | None:
    return unit if place in unit.members else None


def _entry(state: _State) -> tuple[int, int, int, tuple[str, ...], _State]:
    # Less work than before is no reason to change more of the model.
    return max(0, state.weight), len(state.passes), state.new, state.passes, state
