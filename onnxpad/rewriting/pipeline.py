"""Runs passes over the chains of a document until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from onnxpad.errors import InternalError
from onnxpad.geometry.size import plain_sizes
from onnxpad.model.editing.script import (
    Edit,
    InsertNode,
    as_nodes,
    edit_record,
)
from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.nodes import Address, NodeId
from onnxpad.model.graph.types import Type
from onnxpad.model.reading.survey import Site
from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.expansion import Expansion
from onnxpad.padding.forms import Form, forms_of
from onnxpad.padding.operators import Since
from onnxpad.reports import ReportItem, reported
from onnxpad.rewriting.passes import Pass, find_pass
from onnxpad.rewriting.steps.dequantised_pads import outside_group
from onnxpad.rewriting.steps.refusals import attempted
from onnxpad.runtimes.onnxruntime.runtime_check import first_that_runs

_IN_A_ROW = 64
"""So many Pads of a row go at most."""


@reported("rule as pass", "node.label as node", "node.scope as scope", "op", "script as edits")
@dataclass(frozen=True, slots=True, repr=False)
class Change(ReportItem):
    """One node that a pass rewrote: its chain before, what took its place, and the edits."""

    rule: str
    node: Address
    op: str
    before: Chain
    after: Chain | Expansion
    edits: tuple[Edit, ...]

    @property
    def script(self) -> list[dict[str, Any]]:
        """The edits as plain data."""
        return [edit_record(edit) for edit in self.edits]

    def __repr__(self) -> str:
        return f"<{self}, {len(self.edits)} edits>"

    def __str__(self) -> str:
        """'explicit-pads: Conv 'c''."""
        return f"{self.rule}: {self.op} '{self.node.label}'"


@reported(
    "rule as pass",
    "node.label as node",
    "node.scope as scope",
    "op",
    "tensor as input",
    "input_shape",
    "skip.reason as reason",
    "skip.hints as try",
)
@dataclass(frozen=True, slots=True, repr=False)
class Refusal(ReportItem):
    """A node that a pass left alone, or a note on it; `source` is the type of input `tensor`."""

    rule: str
    node: Address
    op: str
    chain: Chain
    skip: Skip
    tensor: str
    source: Type

    @property
    def input_shape(self) -> tuple[int | str | None, ...] | None:
        """The sizes of the input: numbers, names and formulas, None where nothing is known."""
        return plain_sizes(self.source.dims)

    def __str__(self) -> str:
        """'skip: explicit-pads, Conv 'c': why; try --dim ...'."""
        return f"skip: {self.rule}, {self.op} '{self.node.label}': {self.skip}"


@dataclass
class PassLog:
    """Everything that the passes did and did not do, in order."""

    changes: list[Change] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


def run(
    session: EditSession,
    passes: Sequence[Pass],
    selected: Callable[[Address], bool],
    progress: Callable[[str, int, int], None] | None = None,
) -> PassLog:
    """Apply `passes` in order to the `selected` nodes and to nodes that earlier passes inserted."""
    log = PassLog()
    for number, rule in enumerate(passes):
        if progress:
            progress(rule.name, number, len(passes))
        _run_pass(session, rule, selected, log)
    return log


def inserted_by(changes: Sequence[Change]) -> frozenset[NodeId]:
    """The nodes that were inserted."""
    edits = (edit for change in changes for edit in change.edits)
    return frozenset(edit.address.id for edit in edits if isinstance(edit, InsertNode))


def _run_pass(
    session: EditSession, rule: Pass, selected: Callable[[Address], bool], log: PassLog
) -> None:
    inserted = inserted_by(log.changes)
    for number in range(1, _IN_A_ROW + 1):
        refusals: list[Refusal] = []
        again = expanded = False
        is_compound = rule.removes & {Form.JOINED, Form.BATCHES}
        for site in session.compounds() if is_compound else session.sites_now():
            if not selected(site.address) and site.address.id not in inserted:
                continue
            verdict = _decide(session, rule, site)
            if isinstance(verdict, Change):
                log.changes.append(verdict)
                again |= _uncovers(verdict.before, verdict.after)
                expanded |= isinstance(verdict.after, Expansion)
            elif verdict is not None:
                refusals.append(verdict)
        # New nodes may be read where those that they replace could not.
        if number == _IN_A_ROW or not (again or (expanded and refusals)):
            log.refusals += refusals
            return


def _uncovers(before: Chain, after: Chain | Expansion) -> bool:
    """Whether a change may have given its pass something new to do, at this node or another."""
    if not isinstance(after, Chain):
        return False
    near = before.pad is not None and after.pad is None
    return near or (before.around.far_pad is not None and after.around.far_pad is None)


def _decide(session: EditSession, rule: Pass, site: Site) -> Change | Refusal | None:
    result = _rewrite(session, rule, site)
    about = (rule.name, site.address, site.op, site.chain)
    if not isinstance(result, Skip):
        return Change(*about, result, tuple(session.change(site, result)))
    if result.moot and not result.noted:
        return None
    return Refusal(*about, result, site.tensor, site.input_type)


def would_change(session: EditSession, rule: Pass, site: Site) -> bool:
    """Whether the pass has a way to rewrite the node."""
    return not isinstance(_rewrite(session, rule, site), Skip)


def _rewrite(session: EditSession, rule: Pass, site: Site) -> PassResult:
    chain, label = site.chain, site.address.label
    found = session.remembered(rule.name, chain, lambda: _choice(rule, chain, label))
    if chain.opset >= Since.CONSTANT_INTEGERS or not isinstance(found, Expansion):
        return found
    if found.writes_integers and as_nodes(site.context):
        return Skip("before opset 9 a Constant node holds no whole numbers, which it would need")
    return found


def _choice(rule: Pass, chain: Chain, label: str) -> PassResult:
    """What onnxruntime runs of the pass's ways, or why none can be written."""
    if chain.trouble and chain.trouble.unread:
        return Skip(chain.trouble.reason)
    ways = (_checked(rule, chain, way, label) for way in rule.results(chain))
    return first_that_runs(chain, ways)


def _checked(rule: Pass, chain: Chain, found: PassResult, label: str) -> PassResult:
    """A pass's result; InternalError where it brings forms that it does not declare."""
    after = found
    if not isinstance(found, Skip):
        after = attempted(outside_group, chain, found)
    if isinstance(after, Expansion) and not chain.opset:
        return Skip("no version of the ONNX operators is imported, which it would need")
    if isinstance(after, Chain):
        added = forms_of(after) - forms_of(chain) - rule.adds
        if added:
            forms = ", ".join(sorted(added))
            raise InternalError(
                f"pass {rule.name} added {forms} to {label}, which it does not declare"
            )
    return after


def standing(session: EditSession, log: PassLog) -> list[Refusal]:
    """Refusals that still hold when the last pass is through, each once.

    One goes where later changes took from the node every form that its pass removes, and a note
    where its node is no longer what it was about.
    """
    last = {(one.rule, one.node): one for one in log.refusals}
    now = {site.address.id: site.chain for site in session.sites_now()} if last else {}
    return [
        one
        for one in last.values()
        if (chain := now.get(one.node.id)) is None or not _settled(one, chain)
    ]


def _settled(refusal: Refusal, now: Chain) -> bool:
    if refusal.skip.noted:
        return refusal.chain != now
    wanted = forms_of(refusal.chain) & find_pass(refusal.rule).removes
    return bool(wanted) and not forms_of(now) & wanted
