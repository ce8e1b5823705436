"""What a search allows to say: the cause, the nearest padding, and the reason in words."""

from __future__ import annotations

from onnxpad.diagnosis.fitting import Fit, Fitting
from onnxpad.diagnosis.nearest import Nearest, is_part, nearest_of
from onnxpad.diagnosis.report import Cause, Difference
from onnxpad.validation.report import Verdict

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
    return Cause.NOT_PADDING if tried_all and sized and not is_part(fit) else Cause.UNKNOWN


def _is_at_borders(fit: Fit, difference: Difference | None) -> bool:
    apart = [row.where for row in fit.present.rows if not (row.max_abs or 0) <= (row.bound or 0)]
    if difference is not None:
        apart.append(difference.where)
    return any(where.startswith("borders") for where in apart)


def reason_of(
    fitting: Fitting,
    fit: Fit,
    cause: Cause,
    difference: Difference | None,
    nearest: Nearest | None,
) -> str:
    """The verdict in words: what was tried, what was not, and where the difference begins."""
    if fit.undecided:
        return _cannot_tell(fit)
    if fit.solution is not None:
        count = len(fit.solution.plan.entries)
        many = f"{count} nodes" if count != 1 else "1 node"
        return f"padding: with {many} padded otherwise, {fit.solution.judgement.reason}"
    if cause in (Cause.NOTHING, Cause.ROUNDING):
        return fit.present.reason
    parts = (
        _tried(fitting, fit, cause, nearest),
        _unsearched(fitting),
        _where(difference, nearest),
    )
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


def _tried(fitting: Fitting, fit: Fit, cause: Cause, nearest: Nearest | None) -> str:
    search = fit.search
    opening = "padding does not explain it" if cause is Cause.NOT_PADDING else "not found"
    if search is None:
        what = "that can be searched" if fitting.unsearched else "of the model"
        none = f"no other way to pad a node {what} is known"
        return f"{opening}: {none}; {fit.present.reason}"
    if fit.partial is not None:
        return f"what fits the first sample does not fit the others ({fit.partial.reason})"
    count = len(fitting.places)
    nodes = f"{count} nodes" if count != 1 else "1 node"
    none = f"of the {fit.tried} ways tried to pad {nodes} none gives the reference"
    near = _nearness(fit, nearest)
    if search.out_of_time:
        return f"not found within the budget: {none} ({near})"
    if nearest is not None:
        found = "padding is a part of it at most" if search.exhausted else "no padding was found"
        return f"{found}: {none}, and something else may differ too ({near})"
    more = "" if search.exhausted else ", and there are more"
    return f"{opening}: {none}{more} ({near})"


def _nearness(fit: Fit, nearest: Nearest | None) -> str:
    """What came nearest, by the largest difference over the largest value, as `before` is."""
    if nearest is None or fit.search is None:
        return "none comes much nearer than the model as it is"
    text = f"nearest: {fit.search.titles[nearest_of(fit.search)]}"
    if nearest.residual is not None:
        text += f", which leaves {nearest.residual:.2g}"
    was = fit.present.residual
    return text if was is None else f"{text}; as it is {was:.2g}"


def _unsearched(fitting: Fitting) -> str:
    labels = fitting.unsearched
    if not labels:
        return ""
    more = f" and {len(labels) - _NAMED} more" if labels[_NAMED:] else ""
    return f"other ways to pad these were not tried: {', '.join(labels[:_NAMED])}{more}"


def _where(difference: Difference | None, nearest: Nearest | None) -> str:
    """Where what is left begins: with the nearest padding where that is told, else as it is."""
    if difference is None:
        return ""
    place = f" ({difference.where})" if difference.where else ""
    mode, still = ("with the nearest padding ", "") if nearest is not None else ("", "still ")
    if difference.after:
        known = f"'{difference.after}' {still}agrees"
    else:
        known = "no tensor in front of it is known"
    if len(difference.nodes) == 1:
        return f"{mode}the first node that differs is {difference.nodes[0]}{place}, {known}"
    return (
        f"{mode}the first reference that differs is '{difference.tensor}', which {difference.node} "
        f"computes{place}; {known}, {len(difference.nodes)} nodes stand in between"
    )
