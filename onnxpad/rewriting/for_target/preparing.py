"""What is done to the whole model where a target takes no open sizes, or not its opset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from onnxpad.model.editing.opsets import NEWEST, Kept, moved
from onnxpad.model.editing.script import FixSize, Resize, WriteOut
from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.broken import title_of
from onnxpad.model.graph.nodes import Address, NodeId
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.model.stated_sizes import inferred_sizes
from onnxpad.padding.chain import Mark
from onnxpad.padding.operators import Kind, Since
from onnxpad.rewriting.for_target.judge import Judge
from onnxpad.rewriting.for_target.plain_facts import plain_facts, unshaped
from onnxpad.rewriting.for_target.report import NodeVerdict, NoWay
from onnxpad.rewriting.for_target.requests import beyond_batch
from onnxpad.rewriting.for_target.search import Planner
from onnxpad.rewriting.passes import find_pass
from onnxpad.rewriting.pipeline import Change, run
from onnxpad.runtimes.conditions.plain_facts import CALLS, FACTS, UNSHAPED
from onnxpad.runtimes.conditions.rows import Row, every
from onnxpad.runtimes.judge import judge_plain

_OLDEST = 7
_MOST_TRIALS = 8
_COMPANIONS = ("Slice", "Concat", "Identity", "Mul", "Unsqueeze", "Squeeze")
"""What passes write most, which a target may know in some opsets alone."""


@dataclass
class Preparation:
    """What may be done to a model as a whole, and what was.

    `dims` are sizes and facts as the user gave them; `done` names what was done, `told` says it in
    sentences, `kept` why the opset stays; `changes` are those of passes.
    """

    dims: Mapping[str, int | str]
    done: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    _opset_tried: bool = False

    def freely(self, session: EditSession, planner: Planner) -> None:
        """Before any search: what costs nothing, where it is in the way of any node.

        Functions written out, shapes for results, as numbers known pads that the target wants so,
        another opset.
        """
        judge = planner.judge
        facts = list(plain_facts(session, judge.target, judge.live))
        calls = [node for _, node, name, _ in facts if name in CALLS and node.key < 0]
        if calls:
            session.restate([WriteOut(tuple(dict.fromkeys(map(title_of, calls))))])
            self.done.append("local functions written out")
        self._declare_shapes(session, judge)
        if planner.may_use("declared-shapes"):
            self._mend_shapes(session, judge)
        if planner.may_use("static-pads"):
            self._write_pads(session, judge)
        failing = [site for site in session.sites_now() if judge.objects(judge.site(site))]
        self._for_opset(session, judge, _asking(failing, judge))

    def at_last(
        self, session: EditSession, planner: Planner, left: Sequence[NodeVerdict]
    ) -> Planner:
        """Behind a search: for the nodes that have no way, and what is nearest to one."""
        rows = _in_the_way(session, planner.judge, left)
        numbers = {name: size for name, size in self.dims.items() if isinstance(size, int)}
        told = ", ".join(f"{name}={size}" for name, size in numbers.items())
        if told and f"inputs of {told}" not in self.done and any(r.asks_for_sizes for r in rows):
            session.restate([FixSize(name, size) for name, size in numbers.items()])
            self.done.append(f"inputs of {told}")
            self.told.append(f"the sizes of --dim are written into the model: {told}")
            rest = {name: fact for name, fact in self.dims.items() if name not in numbers}
            known = beyond_batch(session.document.model, rest)
            planner = planner.knowing(assumes_sizes=bool(known))
        self._for_opset(session, planner.judge, rows)
        return planner

    def may_help(self, survey: Survey, planner: Planner, found: Sequence[NodeVerdict]) -> bool:
        """Whether there may be anything to do for nodes that the target does not take."""
        rows = _in_the_way(survey, planner.judge, [one for one in found if one.way])
        asked = any(row.asks_for_opset or (row.asks_for_sizes and self.dims) for row in rows)
        sites = survey.sites_at({one.node.id for one in found if one.way})
        misdeclared = any(_is_misdeclared(site, planner.judge) for site in sites)
        return asked or misdeclared or any(one.op in FACTS and one.way for one in found)

    def _declare_shapes(self, session: EditSession, judge: Judge) -> None:
        found = plain_facts(session, judge.target, judge.live, UNSHAPED)
        met = {context.scope.id: context for context, *_ in found}
        known = inferred_sizes(session.document) if met else {}
        edits = [
            Resize(Address(scope, -1, name), name, sizes)
            for scope, context in met.items()
            for name in sorted(unshaped(context) - context.scope.input_places.keys())
            if (sizes := known.get(scope, {}).get(name)) is not None
        ]
        session.restate(edits)
        if edits:
            names = ", ".join(sorted({repr(edit.tensor) for edit in edits}))
            self.done.append(f"the shapes of {names}")
            self.told.append(f"the shapes of {names} are declared: it stops at results without one")

    def _mend_shapes(self, session: EditSession, judge: Judge) -> None:
        sites = [site for site in session.sites_now() if _is_misdeclared(site, judge)]
        log = run(
            session, [find_pass("declared-shapes")], {one.address for one in sites}.__contains__
        )
        if log.changes:
            names = ", ".join(repr(one.node.outputs[0]) for one in sites)
            self.done.append(f"the shapes of {names}")
            self.told.append(f"the shapes of {names} are declared as they are")
        self.changes += log.changes

    def _write_pads(self, session: EditSession, judge: Judge) -> None:
        found = plain_facts(session, judge.target, judge.live)
        met = {(context.scope.id, node.key) for context, node, *_ in found}
        pads = {site.address for site in (_pads(session) if met else ()) if met & _computing(site)}
        log = run(session, [find_pass("static-pads")], pads.__contains__)
        if log.changes:
            nodes = ", ".join(repr(change.node.label) for change in log.changes)
            self.done.append(f"the pads of {nodes} as numbers")
            self.told.append(f"the pads of {nodes} are numbers now: it stops at what computed them")
        self.changes += log.changes

    def _for_opset(self, session: EditSession, judge: Judge, rows: Iterable[Row]) -> None:
        if self._opset_tried or not any(row.asks_for_opset for row in rows):
            return
        self._opset_tried, now, reason = True, session.document.main.opset, ""
        for opset in _better(session, judge, now):
            names_axes = opset < Since.PAD_AXES <= now
            trial = session.fork() if names_axes else session
            if names_axes:
                _name_all_axes(trial)
            try:
                edits = moved(trial.contexts, trial.names, opset)
            except Kept as kept:
                reason = reason or str(kept)
                continue
            if names_axes:
                self.changes += _name_all_axes(session)
                edits = moved(session.contexts, session.names, opset)
            session.restate(edits)
            self.done.append(f"opset {opset} instead of {now}")
            self.told.append(f"the model is of opset {opset} now, and was of {now}")
            return
        if reason:
            self.kept.append(f"the model stays of opset {now}: {reason}")


def _is_misdeclared(site: Site, judge: Judge) -> bool:
    """Whether the target stops at a wrong shape that the file declares."""
    marks = site.chain.around.marks
    return Mark.DECLARED_OTHERWISE in marks and judge.objects(judge.site(site))


def _pads(survey: Survey) -> list[Site]:
    return [site for site in survey.sites_now() if site.chain.op.kind is Kind.PAD]


def _name_all_axes(session: EditSession) -> Sequence[Change]:
    pads = {site.address for site in _pads(session)}
    return run(session, [find_pass("all-axes")], pads.__contains__).changes


def _asking(sites: Iterable[Site], judge: Judge) -> Iterator[Row]:
    """Rows against padded nodes for the model's opset, or for sizes that its file leaves open."""
    for chain in dict.fromkeys(site.chain for site in sites):
        for row in judge.rows(chain):
            if (row.asks_for_opset or row.asks_for_sizes) and judge.counts(row.answer):
                yield row


def _in_the_way(survey: Survey, judge: Judge, left: Sequence[NodeVerdict]) -> list[Row]:
    """Rows in the way of nodes that have no way, and of what is nearest to one."""
    rows = list(_asking(survey.sites_at({one.node.id for one in left}), judge))
    for one in left:
        nearest = one.way.remaining if isinstance(one.way, NoWay) else ()
        rows += [row for obstacle in nearest for row in obstacle.judgement.rows]
    return rows


def _computing(site: Site) -> set[NodeId]:
    """The nodes of its own graph that compute the pads of a Pad, or its value."""
    producers, found = site.context.scope.producers, set[NodeId]()
    waiting = list(site.node.inputs[1:])
    while waiting:
        maker = producers.get(waiting.pop())
        if maker is not None and (node_id := (site.address.id[0], maker.key)) not in found:
            found.add(node_id)
            waiting += maker.inputs
    return found


def _better(session: EditSession, judge: Judge, now: int) -> list[int]:
    """Opsets in which fewer operators are in the way than now, or of those passes write."""
    chains = list(dict.fromkeys(site.chain for site in session.sites_now()))

    def objections(opset: int) -> tuple[int, int]:
        found = sum(
            judge.counts(row.answer) and bool(every(row.when, replace(chain, opset=opset)))
            for chain in chains
            for row in judge.target.about(chain.op.title)
            if row.asks_for_opset
        )
        plain = (judge_plain(judge.target, one, opset) for one in _COMPANIONS)
        return found, sum(one.answer.fails for one in plain)

    costs = {one: objections(one) for one in range(_OLDEST, NEWEST + 1)}
    best = sorted(costs, key=lambda one: (*costs[one], abs(one - now)))[:_MOST_TRIALS]
    return [one for one in best if costs[one] < objections(now)]
