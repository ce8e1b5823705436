"""Passes run on one node that a target does not take, on what they made of it, and beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from onnxpad.model.editing.script import InsertNode
from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.nodes import NodeId
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.for_target.judge import Judge
from onnxpad.rewriting.for_target.plain_facts import judged_plain
from onnxpad.rewriting.for_target.report import Obstacle
from onnxpad.rewriting.passes import Pass
from onnxpad.rewriting.pipeline import Change, run
from onnxpad.runtimes.onnxruntime.runtime_check import RuntimeCheck


@dataclass
class Unit:
    """One node that is to be rewritten, what became of it, and what reads it.

    `readers` are padded nodes behind a Pad, into which it may be folded, `fronts` Pads in front of
    an operator, which may be what is wrong with it; what was wrong with either before
    (`tolerated`) is not this unit's business. `made` are the nodes that passes wrote.
    """

    focus: NodeId
    readers: frozenset[NodeId] = frozenset()
    fronts: frozenset[NodeId] = frozenset()
    tolerated: frozenset[NodeId] = frozenset()
    made: set[NodeId] = field(default_factory=set)

    @property
    def members(self) -> set[NodeId]:
        """Every node that the unit answers for."""
        return {self.focus, *self.made, *self.readers, *self.fronts}


class Owners:
    """Which unit a node belongs to: its own before one that it is only a reader or a front of."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._own: dict[NodeId, Unit] = {}
        self._near: dict[NodeId, Unit] = {}
        for unit in units:
            for node_id in (unit.focus, *unit.made):
                self._own.setdefault(node_id, unit)
            for node_id in unit.readers | unit.fronts:
                self._near.setdefault(node_id, unit)

    def wrote(self, change: Change) -> None:
        """New nodes belong to the unit of the node that was changed."""
        changed = change.node.id
        unit = self._own.get(changed, self._near.get(changed))
        for edit in change.edits:
            if unit is not None and isinstance(edit, InsertNode):
                unit.made.add(edit.address.id)
                self._own.setdefault(edit.address.id, unit)


def obstacles(session: EditSession, unit: Unit, judge: Judge) -> Iterator[Obstacle]:
    """Nodes of the unit that the table of the target does not take, in graph order.

    Plain ones come last.
    """
    for site in session.sites_at(unit.members - unit.tolerated):
        if judge.objects(found := judge.table(site)):
            yield Obstacle(site.address.id, site.address.label, site.chain.op.title, found)
    yield from plain_obstacles(session, unit.made, judge)


def plain_obstacles(
    session: EditSession, made: Iterable[NodeId], judge: Judge
) -> Iterator[Obstacle]:
    """Those of the nodes that are still there, have no padding and are not taken.

    None for a live judge, which runs them together with what is padded.
    """
    if judge.live:
        return
    for node_id, name, op, found in judged_plain(session, made, judge.target):
        if judge.objects(found):
            yield Obstacle(node_id, name, op, found)


def unsettled(session: EditSession, ids: Iterable[NodeId], judge: Judge) -> frozenset[NodeId]:
    """Those of padded nodes that the target does not take as they are."""
    sites = session.sites_at(frozenset(ids))
    return frozenset(site.address.id for site in sites if judge.objects(judge.site(site)))


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


def advance(
    session: EditSession, rule: Pass, ids: set[NodeId], owners: Owners, check: RuntimeCheck
) -> tuple[Change, ...]:
    """Run one pass over these nodes; what is new belongs to the unit of the node changed."""
    log = run(session, [rule], lambda address: address.id in ids, check=check)
    for change in log.changes:
        owners.wrote(change)
    return tuple(log.changes)
