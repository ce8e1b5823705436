"""Verdicts and plans as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from onnxpad.model.reading.nodes import Address
from onnxpad.rewriting.costs import Cost
from onnxpad.runtimes.judge import Judgement, cures

Place: TypeAlias = tuple[str, int]
"""A node by the id of its scope and its key there."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A node that the target does not take."""

    place: Place
    label: str
    op: str
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Plan:
    """Passes, one after the other, and what they add to the work of the model."""

    passes: tuple[str, ...]
    cost: Cost


@dataclass(frozen=True, slots=True)
class NoWay:
    """No sequence of passes helps: what the target says to the nearest that there is.

    `passes` is that sequence (empty: the node as it is), `remaining` what the target still does
    not take behind it.
    """

    passes: tuple[str, ...]
    remaining: tuple[Obstacle, ...]


class Verdict(NamedTuple):
    """A padded node, what the target does with it, and what a rewrite would do about that.

    `brought_by` is set where it is a node without padding that this pass of the user wrote.
    """

    node: Address
    op: str
    judgement: Judgement
    way: Plan | NoWay | None = None
    brought_by: str = ""

    @property
    def waits_for_knowledge(self) -> bool:
        """Whether the target fails it, and what is not known of it alone keeps a form from use."""
        if self.brought_by:
            return self.judgement.answer.is_open
        if not self.judgement.answer.fails or not isinstance(self.way, NoWay):
            return False
        left = self.way.remaining
        return bool(left) and all(one.judgement.answer.is_open for one in left)


class Opening(NamedTuple):
    """What a user can add to the request, for some of the nodes without a way.

    With `facts` about dimensions `settled` of `stuck` nodes are taken or have a way; taking for
    granted what is not known of the target settles `granted` of them.
    """

    stuck: int = 0
    facts: tuple[tuple[str, int | str], ...] = ()
    settled: int = 0
    granted: int = 0

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "stuck": self.stuck,
            "dims": dict(self.facts),
            "settled": self.settled,
            "allow_unknown_settles": self.granted,
        }


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """One node: what the target does, how that is known, and what a rewrite would do."""
    return {
        "node": verdict.node.label,
        "scope": verdict.node.scope,
        "op": verdict.op,
        "verdict": str(verdict.judgement.answer),
        "reason": verdict.judgement.reason,
        "evidence": list(verdict.judgement.evidence),
        "try": list(cures(verdict.judgement.rows)),
        "brought_by": verdict.brought_by,
        "rewrite": _way_record(verdict.way),
    }


def cost_record(cost: Cost) -> dict[str, int]:
    """A cost by its parts."""
    return {
        "multiply_adds": cost.multiply_adds,
        "bytes_moved": cost.bytes_moved,
        "operators": cost.operators,
    }


def _way_record(way: Plan | NoWay | None) -> dict[str, Any] | None:
    if way is None:
        return None
    if isinstance(way, Plan):
        return {"passes": list(way.passes), "cost": cost_record(way.cost)}
    remaining = [_obstacle_record(obstacle) for obstacle in way.remaining]
    return {"passes": None, "nearest": list(way.passes), "remaining": remaining}


def _obstacle_record(obstacle: Obstacle) -> dict[str, str]:
    found = obstacle.judgement
    return {"op": obstacle.op, "verdict": str(found.answer), "reason": found.reason}
