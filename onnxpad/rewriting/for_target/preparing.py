"""What is done to the whole model where a target takes no open sizes, or not its opset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from onnxpad.model.editing.opsets import NEWEST, Kept, moved
from onnxpad.model.editing.script import FixSize, Resize, WriteOut
from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.broken import title_of
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Address, Node, NodeId
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.model.stated_sizes import inferred_sizes
from onnxpad.padding.chain import Chain
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

        Another opset, shapes for results, and as numbers known pads that the target wants so.
        """
        self._write_out(session, planner)
        self._declare_shapes(session, planner)
        self._write_pads(session, planner)
        judge = planner.judge
        failing = [site for site in session.sites_now() if judge.objects(judge.site(site))]
        self._for_opset(session, judge, _asking(failing, judge))

    def at_last(
        self, session: EditSession, planner: Planner, left: Sequence[NodeVerdict]
    ) -> Planner:
        """Behind a search: for the nodes that have no way, and what is nearest to one."""
        rows = _in_the_way(session, planner.judge, left)
        if self._numbers and any(row.asks_for_sizes for row in rows):
            planner = self._fix_sizes(session, planner)
        self._for_opset(session, planner.judge, rows)
        return planner

    def may_help(self, survey: Survey, planner: Planner, found: Sequence[NodeVerdict]) -> bool:
        """Whether there may be anything to do for nodes that the target does not take."""
        left = [one for one in found if isinstance(one.way, NoWay)]
        rows = _in_the_way(survey, planner.judge, [one for one in found if one.way])
        if any(row.asks_for_opset or (left and row.asks_for_sizes and self.dims) for row in rows):
            return True
        met = {one.node.id for one in left if one.op in FACTS}
        if any(one.op in UNSHAPED or (one.op in CALLS and one.node.key < 0) for one in left):
            return True
        return bool(_computed_by(met, survey))

    @property
    def _numbers(self) -> dict[str, int]:
        return {name: size for name, size in self.dims.items() if isinstance(size, int)}

    def _write_out(self, session: EditSession, planner: Planner) -> None:
        if calls := [node for _, node in _met(session, planner.judge, CALLS) if node.key < 0]:
            functions = tuple(dict.fromkeys(title_of(node) for node in calls))
            session.restate([WriteOut(functions)])
            self.done.append("local functions written out")

    def _declare_shapes(self, session: EditSession, planner: Planner) -> None:
        met = {context.scope.id: context for context, _ in _met(session, planner.judge, UNSHAPED)}
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

    def _write_pads(self, session: EditSession, planner: Planner) -> None:
        met = {
            (context.scope.id, node.key) for context, node in _met(session, planner.judge, FACTS)
        }
        pads = _computed_by(met, session) if planner.may_use("static-pads") else set[Address]()
        log = run(session, [find_pass("static-pads")], pads.__contains__)
        if log.changes:
            nodes = ", ".join(repr(change.node.label) for change in log.changes)
            self.done.append(f"the pads of {nodes} as numbers")
            self.told.append(f"the pads of {nodes} are numbers now: it stops at what computed them")
        self.changes += log.changes

    def _fix_sizes(self, session: EditSession, planner: Planner) -> Planner:
        numbers = self._numbers
        session.restate([FixSize(name, size) for name, size in numbers.items()])
        told = ", ".join(f"{name}={size}" for name, size in numbers.items())
        self.done.append(f"inputs of {told}")
        self.told.append(f"the sizes of --dim are written into the model: {told}")
        rest = {name: fact for name, fact in self.dims.items() if name not in numbers}
        return planner.knowing(assumes_sizes=bool(beyond_batch(session.document.model, rest)))

    def _for_opset(self, session: EditSession, judge: Judge, rows: Iterable[Row]) -> None:
        if not self._opset_tried and any(row.asks_for_opset for row in rows):
            self._opset_tried = True
            self._move_opset(session, judge)

    def _move_opset(self, session: EditSession, judge: Judge) -> None:
        now = session.document.main.opset
        reason = ""
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


def _met(
    session: EditSession, judge: Judge, names: tuple[str, ...]
) -> Iterator[tuple[Context, Node]]:
    """Nodes that the target fails for what they are, of those that have one of the names."""
    for context, node, _, found in plain_facts(session, judge, names):
        if judge.objects(found):
            yield context, node


def _name_all_axes(session: EditSession) -> Sequence[Change]:
    pads = {s.address for s in session.sites_now() if s.chain.op.kind is Kind.PAD}
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


def _computed_by(met: set[NodeId], survey: Survey) -> set[Address]:
    """Pads whose pads some of these nodes compute."""
    pads = (s for s in (survey.sites_now() if met else ()) if s.chain.op.kind is Kind.PAD)
    return {site.address for site in pads if met & _computing(site)}


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


def _better(session: EditSession, judge: Judge, now: int) -> Iterator[int]:
    """Opsets in which fewer operators are in the way than now, or of those passes write."""
    seen = list(dict.fromkeys(site.chain for site in session.sites_now()))
    costs = {one: _objections(judge, seen, one) for one in range(_OLDEST, NEWEST + 1)}
    best = sorted(costs, key=lambda one: (*costs[one], abs(one - now)))
    of_now = _objections(judge, seen, now)
    yield from (one for one in best[:_MOST_TRIALS] if costs[one] < of_now)


def _objections(judge: Judge, chains: list[Chain], opset: int) -> tuple[int, int]:
    """How many operators a row about opsets is in the way of, and of those that passes write."""
    found = sum(
        judge.counts(row.answer) and bool(every(row.when, replace(chain, opset=opset)))
        for chain in chains
        for row in judge.target.about(chain.op.title)
        if row.asks_for_opset
    )
    plain = sum(judge_plain(judge.target, one, opset).answer.fails for one in _COMPANIONS)
    return found, plain
