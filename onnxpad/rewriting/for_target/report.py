"""What a target does with nodes, and what can be done about it, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from onnxpad.errors import either
from onnxpad.model.graph.nodes import Address, NodeId
from onnxpad.padding.effective_pads import facts_text
from onnxpad.padding.operators import operator
from onnxpad.reports import ReportItem, reported
from onnxpad.rewriting.costs import Cost
from onnxpad.runtimes.judge import Judgement


@reported("op", "judgement.answer as verdict", "judgement.reason as reason")
@dataclass(frozen=True, slots=True)
class Obstacle:
    """A node that the target does not take."""

    id: NodeId
    label: str
    op: str
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class PassPlan:
    """Passes, one after the other, and what they add to the work of the model.

    `whole` is what is done to the model as a whole before: 'opset 17 instead of 19'. With it there
    may be no pass.
    """

    passes: tuple[str, ...]
    cost: Cost
    whole: tuple[str, ...] = ()

    @property
    def steps(self) -> str:
        """'opset 17 instead of 19, explicit-pads'."""
        return ", ".join((*self.whole, *self.passes))


@reported("nothing as passes", "passes as nearest", "remaining")
@dataclass(frozen=True, slots=True)
class NoWay:
    """No sequence of passes helps: what the target says to the nearest that there is.

    `passes` is that sequence (empty: the node as it is), `remaining` what the target still does
    not take behind it; of a runtime that was run, what it has against several forms.
    """

    passes: tuple[str, ...]
    remaining: tuple[Obstacle, ...]
    nothing = None


def can_pad(op: str) -> bool:
    """Whether verdicts on this operator, as they call it, are about padding."""
    domain, _, name = op.rpartition(".")
    return op == "Concat" or operator(domain, name) is not None


@reported(
    *("node.label as node", "node.scope as scope", "op", "judgement.answer as verdict"),
    *("judgement.reason as reason", "judgement.evidence as evidence", "judgement.cures as try"),
    *("brought_by", "way as rewrite", "with_sizes", "on_device"),
)
@dataclass(frozen=True, slots=True, repr=False)
class NodeVerdict(ReportItem):
    """A padded node, what the target does with it, and what a rewrite would do about that.

    `brought_by` is set where it is a node without padding that this pass of the user wrote,
    `facts` are what to say of dimensions so that there is a way, `then` the passes of that way,
    none where the target takes the node as it is.
    on_device: whether a rewrite that requires the device was tried and mends the node, which falls
        back; None where that was not tried.
    """

    node: Address
    op: str
    judgement: Judgement
    way: PassPlan | NoWay | None = None
    brought_by: str = ""
    facts: tuple[tuple[str, int | str], ...] = ()
    then: tuple[str, ...] = ()
    on_device: bool | None = None

    def __str__(self) -> str:
        """'refuses: Pad 'p': why; try --dim 'N=1''."""
        judged = self.judgement
        reason = f": {judged.reason}" if judged.reason else ""
        tried = facts_text(self.facts) or either(judged.cures)
        if self.on_device:
            tried = "--require-device"
        tries = f"; try {tried}" if tried else ""
        return f"{judged.answer}: {self.op} '{self.node.label}'{reason}{tries}"

    @property
    def verdict(self) -> str:
        """'takes', 'refuses', 'miscomputes' ...: what the target does with the node."""
        return str(self.judgement.answer)

    @property
    def reason(self) -> str:
        """Why, in one sentence; '' where it takes the node.

        What to try is in str() of the whole.
        """
        return self.judgement.reason

    @property
    def with_sizes(self) -> dict[str, Any] | None:
        """What to say of dimensions so that there is a way, and the passes of that way."""
        return {"dims": dict(self.facts), "passes": list(self.then)} if self.facts else None

    @property
    def waits_for_knowledge(self) -> bool:
        """Whether the target fails it, and what is not known of it alone keeps a form from use."""
        if self.brought_by:
            return self.judgement.answer.is_open
        if not self.judgement.answer.fails or not isinstance(self.way, NoWay):
            return False
        left = self.way.remaining
        return bool(left) and all(one.judgement.answer.is_open for one in left)


@reported("stuck", "dims", "settled", "granted as allow_unknown_settles")
class Opening(NamedTuple):
    """What a user can add to the request, for some of the nodes without a way.

    With `facts` about dimensions `settled` of `stuck` nodes are taken or have a way, whose passes
    are in `ways`, and those at `left` are not, each with the reason; taking for granted what is not
    known of the target settles `granted` of them. `writes` says that a rewrite that is told these
    facts writes the model.
    """

    stuck: int = 0
    facts: tuple[tuple[str, int | str], ...] = ()
    settled: int = 0
    granted: int = 0
    left: Mapping[Address, str] = MappingProxyType({})
    ways: tuple[tuple[Address, tuple[str, ...]], ...] = ()
    writes: bool = False

    @property
    def dims(self) -> dict[str, int | str]:
        """The facts by the name of the dimension."""
        return dict(self.facts)

    def told_to(self, verdicts: Iterable[NodeVerdict]) -> tuple[NodeVerdict, ...]:
        """The same, where the facts settle a node with them and the passes that it then takes."""
        ways = dict(self.ways)
        return tuple(
            replace(one, facts=self.facts, then=ways[one.node]) if one.node in ways else one
            for one in verdicts
        )
