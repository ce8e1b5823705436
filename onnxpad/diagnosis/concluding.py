"""From what the search came to, to one report."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.fitting import Fit, Fitting, Solution
from onnxpad.diagnosis.hypotheses import Choice
from onnxpad.diagnosis.nearest import is_part, nearest_in, nearest_of
from onnxpad.diagnosis.planning import findings, same_either_way
from onnxpad.diagnosis.report import Diagnosis, Difference, NodeFinding
from onnxpad.diagnosis.running import Broken
from onnxpad.diagnosis.staging import needed_nodes
from onnxpad.diagnosis.untold import untold
from onnxpad.diagnosis.verdicts import cause_of, reason_of
from onnxpad.retargeting.plan import Plan
from onnxpad.validation.agreement import gap

Array = NDArray[Any]


def concluded(fitting: Fitting, fit: Fit, started: float) -> Diagnosis:
    """The report on a fit."""
    bench, search = fitting.bench, fit.search
    bench.note_providers("model", fitting.network)
    solution = None if fit.undecided else fit.solution
    judgement = fit.present if solution is None else solution.judgement
    explained = judgement.agrees and not fit.undecided
    difference = None if judgement.agrees or fit.undecided else _difference(fitting, fit)
    cause = cause_of(fitting, fit, difference)
    nearest = None if explained else nearest_in(fitting, fit)
    nodes, same = _nodes(fitting, solution)
    if explained and solution is None:
        nodes = untold(fitting.runner, fitting.samples, fit.rivals)
    return Diagnosis(
        explained=explained,
        cause=cause,
        reason=reason_of(fitting, fit, cause, difference, nearest),
        plan=Plan() if solution is None else solution.plan,
        residual=judgement.residual,
        before=fit.present.residual,
        allowed=judgement.allowed,
        hypothesis="as it is" if solution is None else solution.title,
        nodes=nodes,
        same_either_way=same,
        nearest=None if nearest is None else nearest.plan,
        nearest_nodes=() if nearest is None else nearest.nodes,
        nearest_residual=None if nearest is None else nearest.residual,
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


def _nodes(
    fitting: Fitting, solution: Solution | None
) -> tuple[tuple[NodeFinding, ...], tuple[str, ...]]:
    """Nodes of the plan with what else would do, and those that read the same either way."""
    if solution is None:
        return (), ()
    runner, found, plan = fitting.runner, solution.found, solution.plan
    return findings(runner, found, plan), same_either_way(runner, found, plan, fitting.plain)


def _difference(fitting: Fitting, fit: Fit) -> Difference | None:
    """Where the difference begins, with the nearest choices where padding is a part of it."""
    search = fit.search
    nearest: Choice = (0,) * len(fitting.places)
    if search is not None and is_part(fit):
        nearest = nearest_of(search)
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
