"""A whole model fitted to a target: every node's plan, applied together, and judged again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from onnxpad.geometry.size import show
from onnxpad.model.editing.script import InsertNode
from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.nodes import Address, NodeId
from onnxpad.model.graph.scopes import address_of
from onnxpad.reports import reported
from onnxpad.rewriting.costs import Cost, work_of
from onnxpad.rewriting.for_target.judge import Judge
from onnxpad.rewriting.for_target.plain_facts import judged_plain
from onnxpad.rewriting.for_target.preparing import Preparation
from onnxpad.rewriting.for_target.report import NodeVerdict, NoWay, Opening, PassPlan
from onnxpad.rewriting.for_target.search import Planner, carry_out, unit_of
from onnxpad.rewriting.for_target.verdicts import Selected, verdicts
from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.pipeline import Change
from onnxpad.runtimes.installed import OnInstalled
from onnxpad.runtimes.onnxruntime.runtime_check import RuntimeCheck

MAX_ROUNDS = 4
Progress = Callable[[str, int, int], None]
Plans = dict[tuple[Address, str], NodeVerdict]


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
    """Rewrite what the target does not take, node by node, until nothing changes any more.

    What `earlier` passes wrote is judged as well: for it there is no way but other passes.
    `preparation` is what may be done to the model as a whole.
    """
    before = work_of(session.contexts)
    whole, judge = preparation or Preparation({}), planner.judge
    if preparation:
        whole.freely(session, planner)
    plans: Plans = {}
    changes: list[Change] = []
    for number in range(2 * MAX_ROUNDS):
        if progress and number < MAX_ROUNDS:
            progress(f"planning for {judge.target.name}", number, MAX_ROUNDS)
        found = list(verdicts(session, planner, selected))
        left = [one for one in found if one.way]
        if new := _written(session, judge, left, plans):
            changes += new
            continue
        done = len(whole.done)
        if preparation and left:
            planner = whole.at_last(session, planner, left)
        if len(whole.done) == done:
            break
    if judge.live:  # what cannot pad is judged by the run of the whole model
        padded = {(site.address, site.chain.op.title) for site in session.sites_now()}
        found = [one for one in found if (one.node, one.op) in padded]
        left = [one for one in left if one in found]
    changes = [*whole.changes, *changes]
    brought = list(brought_by(session, judge, (*earlier, *changes)))
    ours = [one for one in brought if judge.objects(one.judgement)]
    final = (*(one for one in left if one.node not in {it.node for it in ours}), *ours)
    failing = {one.node for one in final}
    open_now = (one for one in (*found, *brought) if one.judgement.answer.is_open)
    main = session.contexts[0]
    sizes = (size for name in main.scope.input_places for size in main.type_of(name).dims or ())
    return Fitted(
        tuple(_carried_out(plans, failing, changes)),
        final,
        tuple(changes),
        work_of(session.contexts) - before,
        granted=tuple(
            one for one in open_now if judge.allows_unknown and not one.judgement.settled_by
        ),
        unmeasured=judge.target.note,
        prepared=(*whole.told, *whole.kept),
        kept=tuple(whole.kept),
        judged=len({one.node for one in found} | failing),
        taken=sum(one.verdict == "takes" for one in found if one.node not in failing),
        open_sizes=tuple(dict.fromkeys(show(one) for one in sizes if not isinstance(one, int))),
        whole=tuple(whole.done),
    )


def _written(
    session: EditSession, judge: Judge, left: Iterable[NodeVerdict], plans: Plans
) -> list[Change]:
    """What carrying out the plans of nodes changes; into `plans` goes the first way of each."""
    left = list(left)
    plans |= {key: one for one in left if (key := (one.node, one.op)) not in plans}
    # What else reads a Pad shows in the whole model alone, and is onnxruntime's business.
    for alone in (False, True):
        changes: list[Change] = []
        groups: dict[tuple[tuple[str, ...], bool], list[Address]] = {}
        for one in left:
            if isinstance(one.way, PassPlan):
                groups.setdefault((one.way.passes, alone or one.way.alone), []).append(one.node)
        for (names, is_alone), nodes in sorted(groups.items()):
            sites = list(session.sites_at([node.id for node in nodes]))
            units = [unit_of(site.context, site.node) for site in sites]
            check = RuntimeCheck(judge.target if is_alone else None)
            changes += carry_out(session, units, [all_passes()[name] for name in names], check)
        if changes:
            for one in left:
                if isinstance(one.way, PassPlan):
                    way = replace(one.way, alone=alone or one.way.alone)
                    plans[one.node, one.op] = one._replace(way=way)
            return changes
    return []


def _carried_out(
    plans: Plans, failing: set[Address], changes: Sequence[Change]
) -> Iterator[NodeVerdict]:
    """Nodes with the way that was gone: their own, or that of a node beside them."""
    rules: dict[Address, dict[str, None]] = {}
    for change in changes:
        rules.setdefault(change.node, {})[change.rule] = None
    for one in plans.values():
        if isinstance(one.way, PassPlan):
            yield one
        elif one.node in rules and one.node not in failing:
            yield one._replace(way=PassPlan(tuple(rules[one.node]), Cost()))


def brought_by(
    session: EditSession, judge: Judge, changes: Sequence[Change]
) -> Iterator[NodeVerdict]:
    """The nodes without padding that `changes` wrote, as they are judged; of a live judge none."""
    rules: dict[NodeId, str] = {
        edit.address.id: change.rule
        for change in changes
        for edit in change.edits
        if isinstance(edit, InsertNode)
    }
    for node_id, _, op, judgement in judged_plain(
        session, () if judge.live else rules, judge.target
    ):
        scope = session.document.scopes[node_id[0]]
        address = address_of(scope, scope.node(node_id[1]))
        way = NoWay((), ()) if judge.objects(judgement) else None
        yield NodeVerdict(address, op, judgement, way, rules[node_id])
