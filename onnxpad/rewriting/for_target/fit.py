"""A whole model fitted to a target: what is done to all of it, every node's plan, judged again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from onnxpad.geometry.size import show
from onnxpad.model.editing.opsets import NEWEST, Kept, moved
from onnxpad.model.editing.script import Edit, FixSize, InsertNode, Resize, WriteOut
from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.broken import title_of
from onnxpad.model.graph.nodes import Address, NodeId
from onnxpad.model.graph.scopes import address_of
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.model.stated_sizes import inferred_sizes
from onnxpad.padding.chain import Mark
from onnxpad.padding.operators import Kind, Since
from onnxpad.reports import reported
from onnxpad.rewriting.costs import Cost, work_of
from onnxpad.rewriting.for_target.judge import Judge, Selected, judged
from onnxpad.rewriting.for_target.plain_facts import judged_plain, plain_facts, unshaped
from onnxpad.rewriting.for_target.report import NodeVerdict, NoWay, Opening, PassPlan
from onnxpad.rewriting.for_target.requests import beyond_batch
from onnxpad.rewriting.for_target.search import Planner, Unit, carry_out
from onnxpad.rewriting.passes import find_pass
from onnxpad.rewriting.pipeline import Change, run
from onnxpad.runtimes.conditions.plain_facts import CALLS, FACTS, UNSHAPED
from onnxpad.runtimes.conditions.rows import Row
from onnxpad.runtimes.installed import OnInstalled
from onnxpad.runtimes.judge import judge_plain

MAX_ROUNDS = 4
_OLDEST = 7
_MOST_TRIALS = 8
_COMPANIONS = ("Slice", "Concat", "Identity", "Mul", "Unsqueeze", "Squeeze")
"""What passes write most, which a target may know in some opsets alone."""
Dims = Mapping[str, int | str]
Progress = Callable[[str, int, int], None]


@reported(
    *("note", "unmeasured", "installed", "plans", "no_way", "cost", "opening"),
    *("granted", "prepared"),
)
class Fitted(NamedTuple):
    """What was done for a target: `plans` that were carried out, and nodes with `no_way`.

    `cost` is what the work of the whole model grew by, `opening` what a user can add to the request
    for those without a way. `granted` are nodes of which nothing is known, where the user takes
    that for granted. `unmeasured` says what is not known of the release that was asked for,
    `installed` what installed ones do otherwise; `note` is both in words. `whole` is what was done
    to the model as a whole, `prepared` that and what could not be done. Of `judged` nodes the
    target takes `taken` as they are now. `open_sizes` are those of the model's inputs, each of
    which counts as 64 in `cost`. `first` are the nodes as they were, with a way where one is
    needed.
    """

    plans: tuple[NodeVerdict, ...]
    no_way: tuple[NodeVerdict, ...]
    changes: tuple[Change, ...]
    cost: Cost
    opening: Opening = Opening()
    granted: tuple[NodeVerdict, ...] = ()
    unmeasured: str = ""
    installed: tuple[OnInstalled, ...] = ()
    prepared: tuple[str, ...] = ()
    judged: int = 0
    taken: int = 0
    open_sizes: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    first: tuple[NodeVerdict, ...] = ()

    @property
    def note(self) -> str:
        """What is worth a word about the releases, in one line."""
        return "; ".join(filter(None, (self.unmeasured, *(one.note for one in self.installed))))

    @property
    def left(self) -> dict[Address, str]:
        """Why there is no way, by node."""
        return {one.node: one.judgement.reason for one in self.no_way}

    @property
    def ways(self) -> dict[Address, PassPlan]:
        """The plans that were carried out, by node."""
        return {one.node: one.way for one in self.plans if isinstance(one.way, PassPlan)}

    @property
    def unfit(self) -> tuple[NodeVerdict, ...]:
        """Nodes for whose sake nothing is written: what is only not known is left as it is.

        Of a node that says two things it is not even known what it is to compute.
        """
        return tuple(
            one
            for one in self.no_way
            if one.brought_by or not one.judgement.answer.is_open or one.judgement.settled_by
        )

    @property
    def writes(self) -> bool:
        """Whether a rewrite writes the model."""
        return not self.unfit

    @property
    def before(self) -> tuple[NodeVerdict, ...]:
        """Nodes as they were, each with its way: to passes, or to what changes the whole model."""
        ways: dict[tuple[Address, str], PassPlan | NoWay] = {
            (one.node, one.op): replace(one.way, whole=self.whole)
            for one in self.plans
            if isinstance(one.way, PassPlan)
        }
        ways |= {(one.node, one.op): one.way for one in self.no_way if one.way}
        settled = PassPlan((), Cost(), self.whole)
        return tuple(
            replace(one, way=ways.get((one.node, one.op), settled)) if one.way else one
            for one in self.first
        )


def fit(
    session: EditSession,
    planner: Planner,
    selected: Selected,
    earlier: Sequence[Change] = (),
    progress: Progress | None = None,
    dims: Dims | None = None,
) -> Fitted:
    """Rewrite what the target does not take, node by node, until nothing changes any more.

    What `earlier` passes wrote is judged as well: for it there is no way but other passes.
    `dims` are sizes that the user gave, where the model may be changed as a whole; None where not.
    """
    return _Fit(session, planner, selected, dims).done(earlier, progress)


class _Fit:
    """One model on its way: `_whole` names what was done to all of it, `_kept` what was not.

    `_plans` are the ways of nodes, `_changes` those of passes.
    """

    def __init__(
        self, session: EditSession, planner: Planner, selected: Selected, dims: Dims | None
    ) -> None:
        self._session, self._planner, self._selected = session, planner, selected
        self._dims, self._judge = dims, planner.judge
        self._whole, self._kept = list[str](), list[str]()
        self._plans: dict[tuple[Address, str], NodeVerdict] = {}
        self._changes: list[Change] = []
        self._is_opset_tried = False

    def done(self, earlier: Sequence[Change], progress: Progress | None) -> Fitted:
        session = self._session
        before, first = work_of(session.contexts), list(self._verdicts())
        if self._dims is not None and any(one.way for one in first):
            self._prepare()
        for number in range(2 * MAX_ROUNDS):
            if progress and number < MAX_ROUNDS:
                progress(f"planning for {self._judge.target.name}", number, MAX_ROUNDS)
            judged = list(self._verdicts(planned=True))
            left = [one for one in judged if one.way]
            if not self._writes(left) and not self._prepares_for(left):
                break
        judge = self._judge
        if judge.live:  # what cannot pad is judged by the run of the whole model
            padded = {(site.address, site.chain.op.title) for site in session.sites_now()}
            judged = [one for one in judged if (one.node, one.op) in padded]
            left = [one for one in left if one in judged]
        brought = list(_brought_by(session, judge, (*earlier, *self._changes)))
        ours = [one for one in brought if one.way]
        final = (*(one for one in left if one.node not in {it.node for it in ours}), *ours)
        failing = {one.node for one in final}
        open_now = (one for one in (*judged, *brought) if one.judgement.answer.is_open)
        granted = (one for one in open_now if not one.judgement.settled_by)
        main = session.contexts[0]
        sizes = (size for name in main.scope.input_places for size in main.type_of(name).dims or ())
        return Fitted(
            tuple(self._plans.values()),
            final,
            tuple(self._changes),
            work_of(session.contexts) - before,
            granted=tuple(granted) if judge.allows_unknown else (),
            unmeasured=judge.target.note,
            prepared=(*self._whole, *self._kept),
            judged=len({one.node for one in judged} | failing),
            taken=sum(one.verdict == "takes" for one in judged if one.node not in failing),
            open_sizes=tuple(dict.fromkeys(show(one) for one in sizes if not isinstance(one, int))),
            whole=tuple(self._whole),
            first=tuple(first),
        )

    def _verdicts(self, *, planned: bool = False) -> Iterator[NodeVerdict]:
        """Every node that is judged; those that the target does not take come with a way.

        Other than for padded nodes there is none but another pass, or another model.
        """
        for address, op, judgement, site in judged(self._session, self._judge, self._selected):
            way: PassPlan | NoWay | None = None
            if op in FACTS or self._judge.objects(judgement):
                way = self._planner.plan(site) if site and planned else NoWay((), ())
            yield NodeVerdict(address, op, judgement, way)

    def _writes(self, left: Sequence[NodeVerdict]) -> bool:
        """Whether carrying out the plans of nodes changes something."""
        planned = [(one, one.way) for one in left if isinstance(one.way, PassPlan)]
        groups: dict[tuple[str, ...], list[NodeId]] = {}
        for one, way in planned:
            groups.setdefault(way.passes, []).append(one.node.id)
        changes: list[Change] = []
        for names, ids in sorted(groups.items()):
            units = [Unit.around(site) for site in self._session.sites_at(ids)]
            changes += carry_out(self._session, units, [find_pass(name) for name in names])
        self._changes += changes
        if changes:
            self._plans |= {(one.node, one.op): one for one, _ in planned}
        return bool(changes)

    def _prepare(self) -> None:
        """Before any search: what costs nothing, where it is in the way of any node."""
        session, judge = self._session, self._judge
        facts = plain_facts(session, judge.target, judge.live)
        calls = [node for _, node, name, _ in facts if name in CALLS and node.key < 0]
        if calls:
            session.restate([WriteOut(tuple(dict.fromkeys(map(title_of, calls))))])
            self._whole.append("local functions written out")
        self._declare_shapes()
        failing = [site for site in session.sites_now() if judge.objects(judge.site(site))]
        wrong = [one for one in failing if Mark.DECLARED_OTHERWISE in one.chain.around.marks]
        if self._run("declared-shapes", {one.address for one in wrong}):
            self._name_shapes([one.node.outputs[0] for one in wrong])
        failing = [site for site in session.sites_now() if judge.objects(judge.site(site))]
        self._move_opset(_rows(failing, judge))

    def _prepares_for(self, left: Sequence[NodeVerdict]) -> bool:
        """Behind a search: for the nodes that have no way, and what is nearest to one."""
        if self._dims is None or not left:
            return False
        before = len(self._whole)
        rows = _rows(self._session.sites_at({one.node.id for one in left}), self._judge)
        nearest = [one.way.remaining for one in left if isinstance(one.way, NoWay)]
        rows += [row for each in nearest for one in each for row in one.judgement.rows]
        numbers = {name: size for name, size in self._dims.items() if isinstance(size, int)}
        inputs = "inputs of " + ", ".join(f"{name}={size}" for name, size in numbers.items())
        asks_for_sizes = any(row.asks_for_sizes for row in rows)
        if numbers and inputs not in self._whole and asks_for_sizes:
            self._session.restate([FixSize(name, size) for name, size in numbers.items()])
            self._whole.append(inputs)
            facts = {name: fact for name, fact in self._dims.items() if name not in numbers}
            others = beyond_batch(self._session.document.model, facts)
            self._planner = self._planner.knowing(assumes_sizes=bool(others))
            self._judge = self._planner.judge
        self._move_opset(rows)
        return len(self._whole) > before

    def _run(self, name: str, nodes: Collection[Address]) -> Sequence[Change]:
        """The changes of one pass at these nodes, unless the user left it out."""
        if not self._planner.may_use(name):
            return ()
        changes = run(self._session, [find_pass(name)], nodes.__contains__).changes
        self._changes += changes
        return changes

    def _declare_shapes(self) -> None:
        session = self._session
        unclear = plain_facts(session, self._judge.target, self._judge.live, UNSHAPED)
        met = {context.scope.id: context for context, *_ in unclear}
        inferred = inferred_sizes(session.document) if met else {}
        edits = [
            Resize(Address(scope, -1, name), name, sizes)
            for scope, context in met.items()
            for name in sorted(unshaped(context) - context.scope.input_places.keys())
            if (sizes := inferred.get(scope, {}).get(name)) is not None
        ]
        session.restate(edits)
        if edits:
            self._name_shapes([edit.tensor for edit in edits])

    def _name_shapes(self, tensors: Iterable[str]) -> None:
        self._whole.append(f"the shapes of {', '.join(sorted(set(map(repr, tensors))))} declared")

    def _move_opset(self, rows: Iterable[Row]) -> None:
        if self._is_opset_tried or not any(row.asks_for_opset for row in rows):
            return
        session, reason = self._session, ""
        self._is_opset_tried, now = True, session.document.main.opset
        for opset in _better(session, self._judge, now):
            try:
                _moved_to(session.fork(), opset)
            except Kept as kept:
                reason = reason or str(kept)
                continue
            changes, edits = _moved_to(session, opset)
            self._changes += changes
            session.restate(edits)
            self._whole.append(f"opset {opset} instead of {now}")
            return
        if reason:
            self._kept.append(f"the model stays of opset {now}: {reason}")


def _moved_to(session: EditSession, opset: int) -> tuple[Sequence[Change], Sequence[Edit]]:
    """What another opset takes: Pads over all axes, where it has no others, and edits of the rest.

    Raises Kept where a node keeps the model in its opset.
    """
    changes: Sequence[Change] = ()
    if opset < Since.PAD_AXES <= session.document.main.opset:
        sites = session.sites_now()
        pads = {site.address for site in sites if site.chain.op.kind is Kind.PAD}
        changes = run(session, [find_pass("all-axes")], pads.__contains__).changes
    return changes, moved(session.contexts, session.names, opset)


def _rows(sites: Iterable[Site], judge: Judge) -> list[Row]:
    """Rows against padded nodes."""
    return [row for chain in {site.chain for site in sites} for row in judge.rows(chain)]


def _better(survey: Survey, judge: Judge, now: int) -> list[int]:
    """Opsets in which fewer operators are in the way than now, or of those passes write."""
    chains = {site.chain for site in survey.sites_now()}

    def objections(opset: int) -> tuple[int, int]:
        seen = (replace(chain, opset=opset) for chain in chains)
        plain = (judge_plain(judge.target, one, opset) for one in _COMPANIONS)
        rows = (row for chain in seen for row in judge.rows(chain) if row.asks_for_opset)
        return sum(1 for _ in rows), sum(one.answer.fails for one in plain)

    costs = {one: objections(one) for one in range(_OLDEST, NEWEST + 1)}
    best = sorted(costs, key=lambda one: (*costs[one], abs(one - now)))[:_MOST_TRIALS]
    return [one for one in best if costs[one] < objections(now)]


def _brought_by(
    session: EditSession, judge: Judge, changes: Sequence[Change]
) -> Iterator[NodeVerdict]:
    """The nodes without padding that `changes` wrote, as they are judged; of a live judge none."""
    rules: dict[NodeId, str] = {
        edit.address.id: change.rule
        for change in changes
        for edit in change.edits
        if isinstance(edit, InsertNode)
    }
    plain: Collection[NodeId] = () if judge.live else rules
    for node_id, _, op, judgement in judged_plain(session, plain, judge.target):
        scope = session.document.scopes[node_id[0]]
        address = address_of(scope, scope.node(node_id[1]))
        way = NoWay((), ()) if judge.objects(judgement) else None
        yield NodeVerdict(address, op, judgement, way, rules[node_id])
