"""From what the search came to, to one report."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.fitting import Fit, Fitting
from onnxpad.diagnosis.hypotheses import Choice
from onnxpad.diagnosis.planning import findings, plans, same_either_way, settled
from onnxpad.diagnosis.report import Cause, Diagnosis, Difference, NodeFinding
from onnxpad.diagnosis.running import Broken
from onnxpad.diagnosis.staging import needed_nodes
from onnxpad.plans import Plan
from onnxpad.validation.agreement import gap
from onnxpad.validation.report import Verdict

Array = NDArray[Any]
_PART, _MORE = 10, 0.2


def concluded(fitting: Fitting, fit: Fit, started: float) -> Diagnosis:
    """The report on a fit."""
    bench, search = fitting.bench, fit.search
    bench.note_providers("model", fitting.network)
    solution = fit.solution
    judgement = fit.present if solution is None else solution.judgement
    difference = None if judgement.agrees else _difference(fitting, fit)
    cause = _cause(fit)
    nodes: tuple[NodeFinding, ...] = ()
    same: tuple[str, ...] = ()
    if solution is not None:
        nodes = findings(fitting.runner, solution.found, solution.plan)
        same = same_either_way(fitting.runner, solution.found, solution.plan, fitting.plain)
    return Diagnosis(
        explained=judgement.agrees,
        cause=cause,
        reason=_reason(fitting, fit, cause, difference),
        plan=Plan() if solution is None else solution.plan,
        residual=judgement.residual,
        before=fit.present.residual,
        allowed=judgement.allowed,
        hypothesis="as it is" if solution is None else solution.title,
        nodes=nodes,
        same_either_way=same,
        nearest=None if judgement.agrees else _nearest(fitting, fit),
        outputs=judgement.rows,
        difference=difference,
        warnings=tuple(bench.warnings),
        device=bench.settings.device,
        providers=dict(bench.providers),
        samples=len(fitting.samples),
        tried=fit.tried,
        seconds=time.monotonic() - started,
        complete=search is None or solution is not None or search.exhausted,
    )


def _is_part(fit: Fit) -> bool:
    """Whether the nearest choices leave less than a tenth of what differs as it is.

    Or give a fifth more of the cells right.
    """
    search = fit.search
    if search is None:
        return False
    best = search.tried[search.best]
    present = search.tried[next(iter(search.tried))]
    if best.missing != present.missing or best.misfit != present.misfit:
        return any(search.best) and best < present
    less = best.residual < present.residual / _PART or best.unlike < present.unlike - _MORE
    return any(search.best) and less


def _nearest(fitting: Fitting, fit: Fit) -> Plan | None:
    if fit.search is None or not _is_part(fit):
        return None
    return next(plans(fitting.runner, settled(fitting.runner, fit.search.best)))


def _cause(fit: Fit) -> Cause:
    if fit.solution is not None:
        return Cause.PADDING
    match fit.present.verdict:
        case Verdict.IDENTICAL:
            return Cause.NOTHING
        case Verdict.ROUNDING:
            return Cause.ROUNDING
    if fit.search is None:
        return Cause.NOT_PADDING
    unfinished = fit.search.out_of_time or (not fit.search.exhausted and _is_part(fit))
    return Cause.UNKNOWN if unfinished or fit.partial is not None else Cause.NOT_PADDING


def _reason(fitting: Fitting, fit: Fit, cause: Cause, difference: Difference | None) -> str:
    if fit.solution is not None:
        count = len(fit.solution.plan.entries)
        many = f"{count} nodes" if count != 1 else "1 node"
        return f"padding: with {many} padded otherwise, {fit.solution.judgement.reason}"
    if cause in (Cause.NOTHING, Cause.ROUNDING):
        return fit.present.reason
    return "; ".join(part for part in (_tried(fitting, fit), _where(difference)) if part)


def _tried(fitting: Fitting, fit: Fit) -> str:
    search = fit.search
    if search is None:
        return (
            "padding does not explain it: no node of the model can be padded in another way; "
            f"{fit.present.reason}"
        )
    if fit.partial is not None:
        return f"what fits the first sample does not fit the others ({fit.partial.reason})"
    score, present = search.tried[search.best], next(iter(search.tried.values()))
    left = f", {score.residual:.2g} left" if np.isfinite(score.residual) else ""
    nearest = f"nearest: {search.titles[search.best]}{left}"
    which = "all" if search.exhausted else str(fit.tried)
    none = f"of {which} ways to pad {len(fitting.places)} nodes none gives the reference"
    if search.out_of_time:
        return f"not found within the budget: {none} ({nearest})"
    if _is_part(fit):
        was = f", {present.residual:.2g} as it is" if np.isfinite(present.residual) else ""
        found = "padding is a part of it at most" if search.exhausted else "no padding was found"
        return f"{found}: {none}, and something else may differ too ({nearest}{was})"
    return f"padding does not explain it: {none} ({nearest})"


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


def _difference(fitting: Fitting, fit: Fit) -> Difference | None:
    """Where the difference begins, with the nearest choices that the search found."""
    search = fit.search
    nearest: Choice = (0,) * len(fitting.places) if search is None else search.best
    before = ""
    for name in fitting.names:
        state = fitting.runner.until(name, nearest) if fitting.samples else None
        right = fitting.expected[name][0]
        if state is None or isinstance(state, Broken) or name not in state.tensors:
            return _described(fitting, name, before, None, right)
        got = state.tensors[name]
        limit = search.target.tolerance[name] if search is not None else 0.0
        if got.shape != right.shape or gap(right, got).max_abs > limit:
            return _described(fitting, name, before, got, right)
        before = name
    return None


def _described(
    fitting: Fitting, name: str, before: str, got: Array | None, right: Array
) -> Difference:
    network = fitting.network
    node = network.operation(network.producers[name]).label
    found = None if got is None else gap(right, got, 1e-5 * float(np.abs(right).max(initial=0.0)))
    size = float(np.abs(right.astype(np.float64)).max(initial=0.0)) or 1.0
    return Difference(
        node,
        name,
        None if found is None or not np.isfinite(found.max_abs) else found.max_abs,
        None if found is None or not np.isfinite(found.max_abs) else found.max_abs / size,
        "the model does not run" if found is None else found.where,
        before,
        _between(fitting, name, before),
    )


def _between(fitting: Fitting, name: str, before: str) -> tuple[str, ...]:
    """Nodes that `name` hangs on and `before` does not; copies and constants are left out."""
    network = fitting.network
    nodes = needed_nodes(network, [name])
    known = set(needed_nodes(network, [before])) if before else set()
    return tuple(network.operation(index).label for index in nodes if index not in known)
