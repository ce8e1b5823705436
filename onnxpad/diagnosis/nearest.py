"""What came nearest where nothing gives the reference, in the words and numbers of the report."""

from __future__ import annotations

from dataclasses import dataclass

from onnxpad.diagnosis.fitting import Fit, Fitting
from onnxpad.diagnosis.hypotheses import Choice
from onnxpad.diagnosis.planning import Settled, findings, plans, settled
from onnxpad.diagnosis.report import NodeFinding
from onnxpad.diagnosis.scoring import Score
from onnxpad.diagnosis.searching import Search
from onnxpad.errors import RequestError
from onnxpad.retargeting.plan import Plan

_PART, _MORE = 10, 0.2


@dataclass(frozen=True, slots=True)
class Nearest:
    """A plan that is not the whole cause, its nodes, and what it leaves.

    `residual` is measured as `Diagnosis.residual` is, None where the model does not run with it
    or gives other sizes.
    """

    plan: Plan
    nodes: tuple[NodeFinding, ...]
    residual: float | None


def nearest_of(search: Search) -> Choice:
    """The choices that came nearest, never farther from the reference than the model as it is.

    Few cells may agree by chance, so what reaches as many references is compared by what is left.
    """
    present = search.tried[next(iter(search.tried))]
    best = search.tried[search.best]
    if not _comparable(best, present) or best.residual <= present.residual:
        return search.best
    alike = [c for c, score in search.tried.items() if _comparable(score, best)]
    return min(alike, key=lambda chosen: search.tried[chosen].residual)


def _comparable(one: Score, other: Score) -> bool:
    return (one.missing, one.misfit) == (other.missing, other.misfit)


def is_part(fit: Fit) -> bool:
    """Whether the nearest choices leave less than a tenth of what differs as it is.

    Or give a fifth more of the cells right.
    """
    search = fit.search
    if search is None:
        return False
    nearest = nearest_of(search)
    best = search.tried[nearest]
    present = search.tried[next(iter(search.tried))]
    if not _comparable(best, present):
        return any(nearest) and best < present
    less = best.residual < present.residual / _PART or best.unlike < present.unlike - _MORE
    return any(nearest) and less


def nearest_in(fitting: Fitting, fit: Fit) -> Nearest | None:
    """The nearest choices, where padding is a part of the cause, or may be."""
    if fit.undecided:
        return _undecided(fitting, fit)
    if fit.search is None or not is_part(fit):
        return None
    return _measured(fitting, settled(fitting.runner, nearest_of(fit.search)))


def _undecided(fitting: Fitting, fit: Fit) -> Nearest | None:
    """The rival that leaves least, or what was found where that leaves less."""
    rival = fit.undecided[0]
    judgement = fit.present if fit.solution is None else fit.solution.judgement
    if rival.residual < (judgement.residual or 0.0):
        return _measured(fitting, settled(fitting.runner, rival.chosen))
    if fit.solution is None:
        return None
    found, plan = fit.solution.found, fit.solution.plan
    return Nearest(plan, findings(fitting.runner, found, plan), judgement.residual)


def _measured(fitting: Fitting, found: Settled) -> Nearest:
    plan = next(plans(fitting.runner, found))
    try:
        residual = fitting.judged_with(plan, quietly=True).residual
    except RequestError:
        residual = None  # it cannot be written, and so not be measured
    return Nearest(plan, findings(fitting.runner, found, plan), residual)
