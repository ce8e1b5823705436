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
from onnxpad.rewriting.for_target.judge import Judge
from onnxpad.rewriting.for_target.plain_facts import judged_plain, plain_facts, unshaped
from onnxpad.rewriting.for_target.report import NodeVerdict, NoWay, Opening, PassPlan
from onnxpad.rewriting.for_target.requests import beyond_batch
from onnxpad.rewriting.for_target.search import Planner, carry_out, unit_of
from onnxpad.rewriting.for_target.verdicts import Selected, verdicts
from onnxpad.rewriting.passes import all_passes, find_pass
from onnxpad.rewriting.pipeline import Change, run
from onnxpad.runtimes.conditions.plain_facts import CALLS, FACTS, UNSHAPED
from onnxpad.runtimes.conditions.rows import Row
from onnxpad.runtimes.installed import OnInstalled
from onnxpad.runtimes.judge import judge_plain
from onnxpad.runtimes.onnxruntime.runtime_check import RuntimeCheck

MAX_ROUNDS = 4
_OLDEST = 7
_MOST_TRIALS = 8
_COMPANIONS = ("Slice", "Concat", "Identity", "Mul", "Unsqueeze", "Squeeze")
"""What passes write most, which a target may know in some opsets alone."""
Dims = Mapping[str, int | str]
Progress = Callable[[str, int, int], None]


@reported(
    *("note", "unmeasured", "installed", "plans", "no_way", "cost", "opening"),
    *("elsewhere as onnxruntime", "granted", "prepared"),
)
class Fitted(NamedTuple):
    """What was done for a target: `plans` that were carried out, and nodes with `no_way`.

    `cost` is what the work of the whole model grew by, `opening` what a user can add to the
    request for those without a way. `elsewhere` are nodes that the target takes as they are
    now, and onnxruntime, which ran them before, computes wrongly or refuses. `granted` are nodes
    of which nothing is known, where the user takes that for granted. `unmeasured` says
    what is not known of the release that was asked for, `installed` what installed ones do
    otherwise; `note` is both in words. `prepared` is what was done to the model as a whole, in
    sentences, `kept` those of them that say what could not be, and `whole` names it. Of
    `judged` nodes the target takes `taken` as they are now. `open_sizes` are those of the
    model's inputs, each of which counts as 64 in what it costs.
    """

    plans: tuple[NodeVerdict, ...]
    no_way: tuple[NodeVerdict, ...]
    changes: tuple[Change, ...]
    cost: Cost
    opening: Opening = Opening()
    elsewhere: tuple[NodeVerdict, ...] = ()
    granted: tuple[NodeVerdict, ...] = ()
    unmeasured: str = ""
    installed: tuple[OnInstalled, ...] = ()
    prepared: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    judged: int = 0
    taken: int = 0
    open_sizes: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()

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

    def ways_of(self, before: Sequence[NodeVerdict]) -> Iterator[NodeVerdict]:
        """Nodes as they were before, each with the way that was gone here."""
        plans = self.ways
        left = {(one.node, one.op): one.way for one in self.no_way}
        for one in before:
            if one.way is None:
                yield one
            elif (one.node, one.op) in left:
                yield one._replace(way=left[one.node, one.op])
            elif one.way != (plan := plans.get(one.node, PassPlan((), Cost()))):
                yield one._replace(way=replace(plan, whole=self.whole))
            else:
                yield one


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


def may_prepare(survey: Survey, judge: Judge, found: Sequence[NodeVerdict], dims: Dims) -> bool:
    """Whether something may be done to the whole model for nodes that the target does not take."""
    rows = _in_the_way(survey, judge, [one for one in found if one.way])
    asked = any(row.asks_for_opset or (row.asks_for_sizes and dims) for row in rows)
    sites = survey.sites_at({one.node.id for one in found if one.way})
    misdeclared = any(_is_misdeclared(site, judge) for site in sites)
    return asked or misdeclared or any(one.op in FACTS and one.way for one in found)


class _Fit:
    """One model on its way: `_whole` names what was done to all of it, `_told` and `_kept` say it.

    `_plans` are the first ways of nodes, `_changes` those of passes.
    """

    def __init__(
        self, session: EditSession, planner: Planner, selected: Selected, dims: Dims | None
    ) -> None:
        self._session, self._planner, self._selected = session, planner, selected
        self._dims, self._judge = dims, planner.judge
        self._whole, self._told, self._kept = list[str](), list[str](), list[str]()
        self._plans: dict[tuple[Address, str], NodeVerdict] = {}
        self._changes: list[Change] = []
        self._is_opset_tried = False

    def done(self, earlier: Sequence[Change], progress: Progress | None) -> Fitted:
        session, judge = self._session, self._judge
        before = work_of(session.contexts)
        if self._dims is not None:
            self._prepare()
        for number in range(2 * MAX_ROUNDS):
            if progress and number < MAX_ROUNDS:
                progress(f"planning for {judge.target.name}", number, MAX_ROUNDS)
            judged = list(verdicts(session, self._planner, self._selected))
            left = [one for one in judged if one.way]
            if self._writes(left):
                continue
            if self._dims is None or not left or not self._prepares_for(left, self._dims):
                break
        if judge.live:  # what cannot pad is judged by the run of the whole model
            padded = {(site.address, site.chain.op.title) for site in session.sites_now()}
            judged = [one for one in judged if (one.node, one.op) in padded]
            left = [one for one in left if one in judged]
        brought = list(_brought_by(session, judge, (*earlier, *self._changes)))
        ours = [one for one in brought if judge.objects(one.judgement)]
        final = (*(one for one in left if one.node not in {it.node for it in ours}), *ours)
        failing = {one.node for one in final}
        open_now = (one for one in (*judged, *brought) if one.judgement.answer.is_open)
        granted = (one for one in open_now if not one.judgement.settled_by)
        main = session.contexts[0]
        sizes = (size for name in main.scope.input_places for size in main.type_of(name).dims or ())
        return Fitted(
            tuple(self._carried_out(failing)),
            final,
            tuple(self._changes),
            work_of(session.contexts) - before,
            granted=tuple(granted) if judge.allows_unknown else (),
            unmeasured=judge.target.note,
            prepared=(*self._told, *self._kept),
            kept=tuple(self._kept),
            judged=len({one.node for one in judged} | failing),
            taken=sum(one.verdict == "takes" for one in judged if one.node not in failing),
            open_sizes=tuple(dict.fromkeys(show(one) for one in sizes if not isinstance(one, int))),
            whole=tuple(self._whole),
        )

    def _writes(self, left: Sequence[NodeVerdict]) -> bool:
        """Whether carrying out the plans of nodes changes something."""
        planned = [(one, one.way) for one in left if isinstance(one.way, PassPlan)]
        self._plans |= {key: one for one in left if (key := (one.node, one.op)) not in self._plans}
        # What else reads a Pad shows in the whole model alone, and is onnxruntime's business.
        for alone in (False, True):
            groups: dict[tuple[tuple[str, ...], bool], list[NodeId]] = {}
            for one, way in planned:
                groups.setdefault((way.passes, alone or way.alone), []).append(one.node.id)
            changes: list[Change] = []
            for (names, is_alone), ids in sorted(groups.items()):
                sites = list(self._session.sites_at(ids))
                units = [unit_of(site.context, site.node) for site in sites]
                check = RuntimeCheck(self._judge.target if is_alone else None)
                passes = [all_passes()[name] for name in names]
                changes += carry_out(self._session, units, passes, check)
            if changes:
                for one, way in planned:
                    gone = replace(way, alone=alone or way.alone)
                    self._plans[one.node, one.op] = one._replace(way=gone)
                self._changes += changes
                return True
        return False

    def _carried_out(self, failing: set[Address]) -> Iterator[NodeVerdict]:
        """Nodes with the way that was gone: their own, or that of a node beside them."""
        rules: dict[Address, dict[str, None]] = {}
        for change in self._changes:
            rules.setdefault(change.node, {})[change.rule] = None
        for one in self._plans.values():
            if isinstance(one.way, PassPlan):
                yield one
            elif one.node in rules and one.node not in failing:
                yield one._replace(way=PassPlan(tuple(rules[one.node]), Cost()))

    def _prepare(self) -> None:
        """Before any search: what costs nothing, where it is in the way of any node.

        Functions written out, shapes for results, as numbers known pads that the target wants so,
        another opset.
        """
        session, judge = self._session, self._judge
        facts = plain_facts(session, judge.target, judge.live)
        calls = [node for _, node, name, _ in facts if name in CALLS and node.key < 0]
        if calls:
            session.restate([WriteOut(tuple(dict.fromkeys(map(title_of, calls))))])
            self._whole.append("local functions written out")
        self._declare_shapes()
        if self._planner.may_use("declared-shapes"):
            self._mend_shapes()
        if self._planner.may_use("static-pads"):
            self._write_pads()
        failing = [site for site in session.sites_now() if judge.objects(judge.site(site))]
        self._move_opset(_asking(failing, judge))

    def _prepares_for(self, left: Sequence[NodeVerdict], dims: Dims) -> bool:
        """Behind a search: for the nodes that have no way, and what is nearest to one."""
        before = len(self._whole)
        rows = _in_the_way(self._session, self._judge, left)
        numbers = {name: size for name, size in dims.items() if isinstance(size, int)}
        told = ", ".join(f"{name}={size}" for name, size in numbers.items())
        said = f"inputs of {told}"
        if told and said not in self._whole and any(row.asks_for_sizes for row in rows):
            self._session.restate([FixSize(name, size) for name, size in numbers.items()])
            self._whole.append(said)
            self._told.append(f"the sizes of --dim are written into the model: {told}")
            rest = {name: fact for name, fact in dims.items() if name not in numbers}
            known = beyond_batch(self._session.document.model, rest)
            self._planner = self._planner.knowing(assumes_sizes=bool(known))
            self._judge = self._planner.judge
        self._move_opset(rows)
        return len(self._whole) > before

    def _declare_shapes(self) -> None:
        session = self._session
        unclear = plain_facts(session, self._judge.target, self._judge.live, UNSHAPED)
        met = {context.scope.id: context for context, *_ in unclear}
        known = inferred_sizes(session.document) if met else {}
        edits = [
            Resize(Address(scope, -1, name), name, sizes)
            for scope, context in met.items()
            for name in sorted(unshaped(context) - context.scope.input_places.keys())
            if (sizes := known.get(scope, {}).get(name)) is not None
        ]
        session.restate(edits)
        if edits:
            shapes = f"the shapes of {', '.join(sorted({repr(edit.tensor) for edit in edits}))}"
            self._whole.append(shapes)
            self._told.append(f"{shapes} are declared: it stops at results without one")

    def _mend_shapes(self) -> None:
        sites = [one for one in self._session.sites_now() if _is_misdeclared(one, self._judge)]
        chosen = {one.address for one in sites}
        changes = run(self._session, [find_pass("declared-shapes")], chosen.__contains__).changes
        self._changes += changes
        if changes:
            shapes = f"the shapes of {', '.join(repr(one.node.outputs[0]) for one in sites)}"
            self._whole.append(shapes)
            self._told.append(f"{shapes} are declared as they are")

    def _write_pads(self) -> None:
        facts = plain_facts(self._session, self._judge.target, self._judge.live)
        met = {(context.scope.id, node.key) for context, node, *_ in facts}
        pads = {one.address for one in (_pads(self._session) if met else ()) if met & _makers(one)}
        changes = run(self._session, [find_pass("static-pads")], pads.__contains__).changes
        self._changes += changes
        if changes:
            pads_of = f"the pads of {', '.join(repr(change.node.label) for change in changes)}"
            self._whole.append(f"{pads_of} as numbers")
            self._told.append(f"{pads_of} are numbers now: it stops at what computed them")

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
            self._told.append(f"the model is of opset {opset} now, and was of {now}")
            return
        if reason:
            self._kept.append(f"the model stays of opset {now}: {reason}")


def _is_misdeclared(site: Site, judge: Judge) -> bool:
    """Whether the target stops at a wrong shape that the file declares."""
    marks = site.chain.around.marks
    return Mark.DECLARED_OTHERWISE in marks and judge.objects(judge.site(site))


def _pads(survey: Survey) -> list[Site]:
    return [site for site in survey.sites_now() if site.chain.op.kind is Kind.PAD]


def _moved_to(session: EditSession, opset: int) -> tuple[Sequence[Change], Sequence[Edit]]:
    """What another opset takes: Pads over all axes, where it has no others, and edits of the rest.

    Raises Kept where a node keeps the model in its opset.
    """
    changes: Sequence[Change] = ()
    if opset < Since.PAD_AXES <= session.document.main.opset:
        pads = {site.address for site in _pads(session)}
        changes = run(session, [find_pass("all-axes")], pads.__contains__).changes
    return changes, moved(session.contexts, session.names, opset)


def _makers(site: Site) -> set[NodeId]:
    """The nodes of its own graph that compute the pads of a Pad, or its value."""
    producers, makers = site.context.scope.producers, set[NodeId]()
    waiting = list(site.node.inputs[1:])
    while waiting:
        maker = producers.get(waiting.pop())
        if maker is not None and (node_id := (site.address.id[0], maker.key)) not in makers:
            makers.add(node_id)
            waiting += maker.inputs
    return makers


def _asking(sites: Iterable[Site], judge: Judge) -> Iterator[Row]:
    """Rows against padded nodes for the model's opset, or for sizes that its file leaves open."""
    for chain in dict.fromkeys(site.chain for site in sites):
        rows = judge.rows(chain)
        yield from (row for row in rows if row.asks_for_opset or row.asks_for_sizes)


def _in_the_way(survey: Survey, judge: Judge, left: Sequence[NodeVerdict]) -> list[Row]:
    """Rows in the way of nodes that have no way, and of what is nearest to one."""
    rows = list(_asking(survey.sites_at({one.node.id for one in left}), judge))
    for one in left:
        nearest = one.way.remaining if isinstance(one.way, NoWay) else ()
        rows += [row for obstacle in nearest for row in obstacle.judgement.rows]
    return rows


def _better(survey: Survey, judge: Judge, now: int) -> list[int]:
    """Opsets in which fewer operators are in the way than now, or of those passes write."""
    chains = list(dict.fromkeys(site.chain for site in survey.sites_now()))

    def objections(opset: int) -> tuple[int, int]:
        seen = (replace(chain, opset=opset) for chain in chains)
        plain = (judge_plain(judge.target, one, opset) for one in _COMPANIONS)
        against = sum(len(judge.rows(chain, by_opset=True)) for chain in seen)
        return against, sum(one.answer.fails for one in plain)

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
