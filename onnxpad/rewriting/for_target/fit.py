"""A whole model fitted to a target: every node's plan, applied together, and judged again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

from onnxpad.geometry.size import show
from onnxpad.model.editing.script import InsertNode
from onnxpad.model.editing.session import EditSession
from onnxpad.model.excerpt import pads_before, readers_of
from onnxpad.model.graph.nodes import Address, NodeId
from onnxpad.model.graph.scopes import address_of
from onnxpad.reports import reported
from onnxpad.rewriting.costs import Cost, work_of
from onnxpad.rewriting.for_target.judge import Judge
from onnxpad.rewriting.for_target.preparing import Preparation
from onnxpad.rewriting.for_target.report import NodeVerdict, NoWay, Opening, PassPlan
from onnxpad.rewriting.for_target.search import Planner
from onnxpad.rewriting.for_target.units import (
    Owners,
    Unit,
    advance,
    chosen,
    plain_obstacles,
    unsettled,
)
from onnxpad.rewriting.for_target.verdicts import Selected, verdicts
from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.pipeline import Change
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.installed import OnInstalled
from onnxpad.runtimes.onnxruntime.runtime_check import RuntimeCheck

MAX_ROUNDS = 4
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

    def ways_of(self, found: Sequence[NodeVerdict]) -> Iterator[NodeVerdict]:
        """Nodes as they were before, each with the way that was gone here."""
        plans = self.ways
        left = {(one.node, one.op): one.way for one in self.no_way}
        for one in found:
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
    preparation: Preparation | None = None,
) -> Fitted:
    """Rewrite what the target does not take, node by node, as cheaply as can be.

    What `earlier` passes wrote is judged as well: for it there is no way but other passes.
    `preparation` is what may be done to the model as a whole.
    """
    before = work_of(session.contexts)
    whole = preparation or Preparation({})
    if preparation:
        whole.freely(session, planner)
    plans, changes, stuck = _in_rounds(session, planner, selected, progress)
    found = list(verdicts(session, planner, selected))
    left = [verdict for verdict in found if verdict.way]
    if preparation and left:
        done = len(whole.done)
        planner = whole.at_last(session, planner, left)
        if len(whole.done) > done:
            more = _in_rounds(session, planner, selected, progress)
            plans, changes, stuck = plans + more[0], changes + more[1], stuck + more[2]
            found = list(verdicts(session, planner, selected))
            left = [verdict for verdict in found if verdict.way]
    if planner.judge.live:  # what cannot pad is judged by the run of the whole model
        padded = {(site.address, site.chain.op.title) for site in session.sites_now()}
        found, left = (
            [one for one in each if (one.node, one.op) in padded] for each in (found, left)
        )
    changes = [*whole.changes, *changes]
    written = list(nodes_written(session, planner.judge, (*earlier, *changes)))
    ours = {one.node for one in written}
    final = (*(one for one in left if one.node not in ours), *written)
    cost = work_of(session.contexts) - before
    failing = {one.node for one in final}
    settled = [one for one in stuck if one.node not in failing]
    return Fitted(
        (*plans, *_with_neighbours(settled, plans, changes)),
        final,
        tuple(changes),
        cost,
        granted=tuple(_granted(session, planner.judge, found, (*earlier, *changes))),
        unmeasured=planner.judge.target.note,
        prepared=(*whole.told, *whole.kept),
        kept=tuple(whole.kept),
        judged=len({one.node for one in found} | failing),
        taken=sum(one.judgement.answer is Answer.TAKES for one in found if one.node not in failing),
        open_sizes=_open_sizes(session),
        whole=tuple(whole.done),
    )


def _open_sizes(session: EditSession) -> tuple[str, ...]:
    main = session.contexts[0]
    sizes = (size for name in main.scope.input_places for size in main.type_of(name).dims or ())
    return tuple(dict.fromkeys(show(size) for size in sizes if not isinstance(size, int)))


def _in_rounds(
    session: EditSession, planner: Planner, selected: Selected, progress: Progress | None
) -> tuple[list[NodeVerdict], list[Change], list[NodeVerdict]]:
    """Plans, what they changed, and nodes without one; what is new the next round sees."""
    plans: list[NodeVerdict] = []
    changes: list[Change] = []
    stuck: list[NodeVerdict] = []
    for number in range(MAX_ROUNDS):
        if progress:
            progress(f"planning for {planner.judge.target.name}", number, MAX_ROUNDS)
        found = [verdict for verdict in verdicts(session, planner, selected) if verdict.way]
        wanted = [verdict for verdict in found if isinstance(verdict.way, PassPlan)]
        stuck += [verdict for verdict in found if verdict not in wanted]
        done = _carry_out(session, planner.judge, wanted)
        if not done:
            # What else reads a Pad shows in the whole model alone, and is onnxruntime's business.
            wanted = [
                one._replace(way=replace(one.way, alone=True))
                for one in wanted
                if isinstance(one.way, PassPlan)
            ]
            done = _carry_out(session, planner.judge, wanted)
        if not done:
            break
        plans += [one for one in wanted if one not in plans]
        changes += done
    return plans, changes, stuck


def _with_neighbours(
    settled: Sequence[NodeVerdict], plans: Sequence[NodeVerdict], changes: Sequence[Change]
) -> Iterator[NodeVerdict]:
    """Plans of nodes that had no way alone, and were rewritten with one beside them."""
    seen = {one.node for one in plans}
    for one in settled:
        rules = tuple(dict.fromkeys(done.rule for done in changes if done.node == one.node))
        if rules and one.node not in seen:
            seen.add(one.node)
            yield one._replace(way=PassPlan(rules, Cost()))


def nodes_written(
    session: EditSession, judge: Judge, changes: Sequence[Change]
) -> Iterator[NodeVerdict]:
    """What of the nodes that `changes` wrote, and that are still there, the target does not take.

    What they wrote with padding is judged as every padded node is.
    """
    rules = {
        edit.address.id: change.rule
        for change in changes
        for edit in change.edits
        if isinstance(edit, InsertNode)
    }
    for found in plain_obstacles(session, rules, judge):
        scope = session.document.scopes[found.id[0]]
        address, rule = address_of(scope, scope.node(found.id[1])), rules[found.id]
        yield NodeVerdict(address, found.op, found.judgement, NoWay((), ()), rule)


def _granted(
    session: EditSession, judge: Judge, found: Sequence[NodeVerdict], changes: Sequence[Change]
) -> Iterator[NodeVerdict]:
    """What is not known of nodes, and what `changes` wrote, that is taken for granted."""
    if judge.allows_unknown:
        written = nodes_written(session, replace(judge, allows_unknown=False), changes)
        everything = (one for one in (*found, *written) if not one.judgement.settled_by)
        yield from (one for one in everything if one.judgement.answer.is_open)


def _carry_out(session: EditSession, judge: Judge, wanted: list[NodeVerdict]) -> list[Change]:
    """Run each step of all plans, pass by pass."""
    units = [_unit(session, judge, verdict) for verdict in wanted]
    owners = Owners(units)
    plans = [verdict.way for verdict in wanted if isinstance(verdict.way, PassPlan)]
    ways = [tuple((name, plan.alone) for name in plan.passes) for plan in plans]
    checks = {False: RuntimeCheck(), True: RuntimeCheck(judge.target)}
    changes: list[Change] = []
    for steps in zip_longest(*ways):
        for step in sorted({one for one in steps if one}):
            rule, ids = all_passes()[step[0]], set[NodeId]()
            for unit in (unit for unit, own in zip(units, steps, strict=True) if own == step):
                ids |= chosen(session, unit, judge, rule)
            changes += advance(session, rule, ids, owners, checks[step[1]])
    return changes


def _unit(session: EditSession, judge: Judge, verdict: NodeVerdict) -> Unit:
    focus = verdict.node.id
    site = next(session.sites_at({focus}))
    context = site.contexts[0]
    read = readers_of(context, site.node) if site.op == "Pad" else []
    readers = frozenset((focus[0], node.key) for node in read)
    fronts = frozenset((focus[0], node.key) for node in pads_before(context, site.node))
    tolerated = unsettled(session, readers if judge.live else readers | fronts, judge)
    return Unit(focus, readers, fronts, tolerated)
