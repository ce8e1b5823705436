"""The cheapest sequence of passes after which a target takes a node, or why there is none."""

from __future__ import annotations

from onnxpad.planning.search import NoWay, Plan, Planner, Wishes
from onnxpad.planning.trials import Judge, Obstacle

__all__ = ["Judge", "NoWay", "Obstacle", "Plan", "Planner", "Wishes"]
