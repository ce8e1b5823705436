"""What a search allows to say: the cause, the nearest padding, and the reason in words."""

from __future__ import annotations

import numpy as np

from onnxpad.diagnosis.fitting import Fit, Fitting
from onnxpad.diagnosis.hypotheses import Choice
from onnxpad.diagnosis.planning import plans, settled
from onnxpad.diagnosis.report import Cause, Difference
from onnxpad.diagnosis.scoring import Score
from onnxpad.diagnosis.searching import Search
from onnxpad.plans import Plan
from onnxpad.validation.report import Verdict

_PART, _MORE = 10, 0.2
_NAMED = 8


def cause_of(fitting: Fitting, fit: Fit, difference: Difference | None) -> Cause:
    """The cause, as far as it is known.

    `not padding` only where every known way to pad every padded node was tried, the sizes are
    right, and cells inside differ: what differs at borders only is what padding does.
    """
    if fit.undecided:
        return Cause.UNKNOWN
    if fit.solution is not None:
        return Cause.PADDING
    match fit.present.verdict:
        case Verdict.IDENTICAL:
            return Cause.NOTHING
        case Verdict.ROUNDING:
            return Cause.ROUNDING
    if fitting.unsearched or fit.partial is not None or _is_at_borders(fit, difference):
        return Cause.UNKNOWN
    if fit.search is None:
        return Cause.UNKNOWN if fit.present.residual is None else Cause.NOT_PADDING
    sized = not fit.search.tried[nearest_of(fit.search)].misfit
    tried_all = fit.search.exhausted and not fit.search.out_of_time
    return Cause.NOT_PADDING if tried_all and sized and not _is_part(fit) else Cause.UNKNOWN


def _is_at_borders(fit: Fit, difference: Difference | None) -> bool:
    apart = [row.where for row in fit.present.rows if not (row.max_abs or 0) <= (row.bound or 0)]
    if difference is not None:
        apart.append(difference.where)
    return any(where.startswith("borders") for where in apart)


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


def _is_part(fit: Fit) -> bool:
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


def nearest_plan(fitting: Fitting, fit: Fit) -> Plan | None:
    """The nearest choices as a plan, where padding is a part of the cause, or may be."""
    if fit.undecided:
        return _nearest_undecided(fitting, fit)
    if fit.search is None or not _is_part(fit):
        return None
    return next(plans(fitting.runner, settled(fitting.runner, nearest_of(fit.search))))


def _nearest_undecided(fitting: Fitting, fit: Fit) -> Plan | None:
    """The rival that leaves least, or what was found where that leaves less."""
    rival = fit.undecided[0]
    judgement = fit.present if fit.solution is None else fit.solution.judgement
    if rival.residual >= (judgement.residual or 0.0):
        return None if fit.solution is None else fit.solution.plan
    return next(plans(fitting.runner, settled(fitting.runner, rival.chosen)))


def reason_of(fitting: Fitting, fit: Fit, cause: Cause, difference: Difference | None) -> str:
    """The verdict in words: what was tried, what was not, and where the difference begins."""
    if fit.undecided:
        return _cannot_tell(fit)
    if fit.solution is not None:
        count = len(fit.solution.plan.entries)
        many = f"{count} nodes" if count != 1 else "1 node"
        return f"padding: with {many} padded otherwise, {fit.solution.judgement.reason}"
    if cause in (Cause.NOTHING, Cause.ROUNDING):
        return fit.present.reason
    parts = (_tried(fitting, fit, cause), _unsearched(fitting), _where(difference))
    return "; ".join(part for part in parts if part)


def _cannot_tell(fit: Fit) -> str:
    judgement = fit.present if fit.solution is None else fit.solution.judgement
    mine = "as it is" if fit.solution is None else fit.solution.title
    rival = fit.undecided[0]
    return (
        f"cannot tell rounding from padding at this precision: rounding may do "
        f"{judgement.allowed or 0.0:.2g} of the largest value, '{mine}' leaves "
        f"{judgement.residual or 0.0:.2g} and '{rival.title}' {rival.residual:.2g}; "
        "a reference in float32, or of tensors inside the model, would tell"
    )


def _tried(fitting: Fitting, fit: Fit, cause: Cause) -> str:
    search = fit.search
    opening = "padding does not explain it" if cause is Cause.NOT_PADDING else "not found"
    if search is None:
        what = "that can be searched" if fitting.unsearched else "of the model"
        none = f"no other way to pad a node {what} is known"
        return f"{opening}: {none}; {fit.present.reason}"
    if fit.partial is not None:
        return f"what fits the first sample does not fit the others ({fit.partial.reason})"
    best = nearest_of(search)
    score, present = search.tried[best], next(iter(search.tried.values()))
    left = f", {score.residual:.2g} left" if np.isfinite(score.residual) else ""
    nearest = f"nearest: {search.titles[best]}{left}"
    count = len(fitting.places)
    nodes = f"{count} nodes" if count != 1 else "1 node"
    none = f"of the {fit.tried} ways tried to pad {nodes} none gives the reference"
    if search.out_of_time:
        return f"not found within the budget: {none} ({nearest})"
    if _is_part(fit):
        was = f", {present.residual:.2g} as it is" if np.isfinite(present.residual) else ""
        found = "padding is a part of it at most" if search.exhausted else "no padding was found"
        return f"{found}: {none}, and something else may differ too ({nearest}{was})"
    more = "" if search.exhausted else ", and there are more"
    return f"{opening}: {none}{more} ({nearest})"


def _unsearched(fitting: Fitting) -> str:
    labels = fitting.unsearched
    if not labels:
        return ""
    more = f" and {len(labels) - _NAMED} more" if labels[_NAMED:] else ""
    return f"other ways to pad these were not tried: {', '.join(labels[:_NAMED])}{more}"


def _where(difference: Difference | None) -> str:
    if difference is None:
        return ""
    place = f" ({difference.where})" if difference.where else ""
    if difference.after:
        known = f"'{difference.after}' still agrees"
    else:
        known = "no tensor in front of it is known"
    if len(difference.nodes) == 1:
        return f"the first node that differs is {difference.nodes[0]}{place}, {known}"
    return (
        f"the first reference that differs is '{difference.tensor}', which {difference.node} "
        f"computes{place}; {known}, {len(difference.nodes)} nodes stand in between"
    )
