"""Verdicts and plans as plain data."""

from __future__ import annotations

from typing import Any

from onnxpad.costs import Cost
from onnxpad.judging import cures
from onnxpad.planning.verdicts import NoWay, Obstacle, Plan, Verdict


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
