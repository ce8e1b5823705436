"""The cheapest sequence of passes after which a target takes a node, or why there is none."""

from __future__ import annotations

from onnxpad.planning.fitting import Fitting, Verdict, fit, verdicts
from onnxpad.planning.requests import names_of, planner
from onnxpad.planning.search import NoWay, Plan, Planner, Wishes
from onnxpad.planning.trials import Judge, Obstacle

__all__ = [
    "Fitting",
    "Judge",
    "NoWay",
    "Obstacle",
    "Plan",
    "Planner",
    "Verdict",
    "Wishes",
    "fit",
    "names_of",
    "planner",
    "verdicts",
]
