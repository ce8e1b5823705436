"""From what the search came to, to one report: the cause, the nearest padding, the words."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.fit import Fit, Fitting, Solution
from onnxpad.diagnosis.guesses import Choice
from onnxpad.diagnosis.indistinguishable import other_ways
from onnxpad.diagnosis.noise import MOST_NOISE, atol_for_noise
from onnxpad.diagnosis.plan import Settled, findings, plans, same_either_way, settled
from onnxpad.diagnosis.report import Cause, Diagnosis, NodeFinding, RemainingDifference
from onnxpad.diagnosis.rivals import Rival
from onnxpad.diagnosis.rounded import computed_in, decimals_of, rounded_to
from onnxpad.diagnosis.runner import Broken, needed_nodes
from onnxpad.diagnosis.score import Score
from onnxpad.diagnosis.search import Search
from onnxpad.diagnosis.settling import before_limits, what_settles
from onnxpad.diagnosis.suspects import sizes_of
from onnxpad.errors import RequestError, counted, either, few
from onnxpad.retargeting.moved_pads import not_cropped, not_wrapped
from onnxpad.retargeting.plan import Plan
from onnxpad.validation.agreement import gap
from onnxpad.validation.bench import Bench
from onnxpad.validation.report import OutputRow, Verdict, with_few_maps

_PART, _MORE, _CLEARLY = 10, 0.2, 3
_NAMED = 8
_OTHER_CAUSES = ("a weight", "an attribute such as strides", "how the inputs were prepared")
_UNTRIED = "padding that was not tried"
_BESIDES = (
    "besides padding, images in another range, channel order or normalisation, and in models up to "
    "64 MiB other epsilons of normalisations, were tried with the padding as it is: none gives it"
)
_PLACES = "every other split of the padded cells of a node between begin and end"
_APART = "every number of padded cells that differs between axes"
Array = NDArray[Any]


def concluded(fitting: Fitting, fit: Fit, started: float) -> Diagnosis:
    """The report on a fit."""
    bench, search = fitting.bench, fit.search
    bench.note_providers("model", fitting.network)
    solution = None if fit.doubtful else fit.solution
    judgement = fit.judgement if not fit.doubtful else fit.present
    explained = judgement.agrees and not fit.doubtful
    difference = None if judgement.agrees or fit.doubtful else _difference(fitting, fit)
    cause = cause_of(fitting, fit, difference)
    nearest = None if explained else nearest_in(fitting, fit)
    nodes, same = _nodes(fitting, solution, fit.rivals)
    if explained and solution is None:
        nodes = other_ways(fitting.runner, fitting.samples, fit.rivals)
    _warn_of_other_sizes(bench, nodes)
    if explained and fit.unseen and (advice := before_limits(fitting)):
        bench.warn(f"other padding gives this reference as well: {advice}")
    settles, atol = _settling(fitting, fit, cause, difference, nearest)
    told = reasons_of(fitting, fit, cause, difference, nearest, coarse=atol is not None)
    return Diagnosis(
        explained=explained,
        cause=cause,
        reason="; ".join(told),
        reasons=told,
        plan=Plan() if solution is None else solution.plan,
        residual=judgement.residual,
        before=fit.present.residual,
        allowed=judgement.allowed,
        hypothesis="as it is" if solution is None else solution.title,
        nodes=nodes,
        same_either_way=same,
        unchanged=_unchanged(fitting, solution),
        nearest=None if nearest is None else nearest.plan,
        nearest_nodes=() if nearest is None else nearest.nodes,
        nearest_residual=None if nearest is None else nearest.residual,
        nearest_by="" if nearest is None else nearest.by,
        nearest_seconds=None if nearest is None or not search else search.nearest_at - started,
        settles=settles,
        settling_atol=atol,
        outputs=with_few_maps(judgement.rows, agree=judgement.agrees),
        as_it_is=() if solution is None else with_few_maps(fit.present.rows, agree=False),
        difference=difference,
        warnings=tuple(bench.warnings),
        device=bench.settings.device,
        providers=dict(bench.providers),
        samples=len(fitting.samples),
        tried=fit.tried,
        seconds=time.monotonic() - started,
        complete=search is None or solution is not None or search.exhausted,
        tolerance=judgement.tolerance,
        unseen=fitting.unseen,
        without_reference=fitting.without_reference,
    )


def _settling(
    fitting: Fitting,
    fit: Fit,
    cause: Cause,
    difference: RemainingDifference | None,
    nearest: Nearest | None,
) -> tuple[str, float | None]:
    """What would settle the cause, and the atol where rounding of the reference is all there is."""
    if cause not in (Cause.UNKNOWN, Cause.NOT_PADDING) or fit.elsewhere:
        return "", None
    left = fit.present.residual if nearest is None else nearest.residual
    asked = fitting.bench.tolerance is not None
    found = None
    if not asked:
        found = _rounding_of(fitting, left) or _computed_in(fitting, fit, nearest)
    if found is not None:
        said, atol = found
        return f"{said}; save the reference in float32, or allow for that with atol {atol:g}", atol
    more = what_settles(fitting, fit, difference, padding=cause is Cause.UNKNOWN)
    if not asked and _noise_of(fitting, fit, nearest) is not None:
        more = f"{_SMALL.format(left)}{f'; {more}' if more else ''}"
    return more, None


_SMALL = (
    "compute the reference in float32 on the CPU, because what is left is small ({:.2g} of the "
    "largest value) and spread evenly, as TF32 leaves it on a GPU, but another epsilon of a "
    "normalisation and slightly other weights as well"
)


def _rounding_of(fitting: Fitting, left: float | None) -> tuple[str, float] | None:
    """The precision that the reference was rounded to, where that does what is left."""
    values = [value for values in fitting.expected.values() for value in values]
    if (found := rounded_to(values, left)) is not None:
        kind, atol = found
        said = (
            f"every number of the reference is one that {kind} holds, and what is left is no more "
            f"than rounding to {kind} does"
        )
        return said, atol
    if (cut := decimals_of(values, left)) is not None:
        count, atol = cut
        said = (
            f"no number of the reference has more than {counted(count, 'decimal')}, and what is "
            "left is no more than rounding to them does"
        )
        return said, atol
    return None


def _computed_in(fitting: Fitting, fit: Fit, nearest: Nearest | None) -> tuple[str, float] | None:
    """The precision that the reference was computed in: its numbers show it, and what is left."""
    values = [value for values in fitting.expected.values() for value in values]
    found = computed_in(values)
    if found is None:
        return None
    kind, most = found
    atol = _noise_of(fitting, fit, nearest, most)
    if atol is None:
        return None
    left = fit.present.residual if nearest is None else nearest.residual
    said = (
        f"every number of the reference is one that {kind} holds, and what is left is small "
        f"({left:.2g} of the largest value) and spread evenly, as computing in {kind} leaves it"
    )
    return said, atol


def _noise_of(
    fitting: Fitting, fit: Fit, nearest: Nearest | None, most: float = MOST_NOISE
) -> float | None:
    """An atol for what looks like noise, at the nearest padding or as it is; None for the rest."""
    if fit.doubtful or fit.partial is not None or fitting.unchecked:
        return None
    chosen: Choice = (0,) * len(fitting.suspects)
    left, rows = fit.present.residual, fit.present.rows
    if nearest is not None and fit.search is not None:
        chosen, left, rows = nearest_of(fit.search), nearest.residual, nearest.rows
    solved = any(n >= s.given for n, s in zip(chosen, fitting.suspects, strict=True))
    return None if solved else atol_for_noise(fitting, chosen, left, rows, most)


def _warn_of_other_sizes(bench: Bench, nodes: Sequence[NodeFinding]) -> None:
    """Say where a plan for open sizes is settled at the sizes of the samples alone."""
    for node in nodes:
        telling = [one.sizes for one in node.alternatives if one.sizes]
        if node.changed and telling and node.chains and sizes_of(node.chains[0]) is None:
            bench.warn(
                f"{node.node} reads open sizes, and at those of the samples several ways fit: at "
                f"others the plan may be wrong. Add a sample in which it reads {list(telling[0])}"
            )
            return


def ended(bench: Bench, reason: str, started: float) -> Diagnosis:
    """The report where a limit was met before anything was found."""
    return Diagnosis(
        explained=False,
        cause=Cause.UNKNOWN,
        reason=reason,
        reasons=(reason,),
        plan=Plan(),
        residual=None,
        before=None,
        allowed=None,
        hypothesis="",
        nodes=(),
        same_either_way=(),
        nearest=None,
        outputs=(),
        difference=None,
        warnings=tuple(bench.warnings),
        device=bench.settings.device,
        providers=dict(bench.providers),
        samples=0,
        tried=0,
        seconds=time.monotonic() - started,
        complete=False,
    )


def _nodes(
    fitting: Fitting, solution: Solution | None, rivals: Sequence[Rival]
) -> tuple[tuple[NodeFinding, ...], tuple[str, ...]]:
    """Nodes of the plan with what else would do, and those that read the same either way."""
    if solution is None:
        return (), ()
    runner, found, plan = fitting.runner, solution.found, solution.plan
    rows = findings(runner, found, plan, rivals)
    return rows, same_either_way(runner, found, plan, fitting.plain)


def _unchanged(fitting: Fitting, solution: Solution | None) -> tuple[str, ...]:
    """Padded nodes that the reference hangs on and a plan leaves as they are."""
    if solution is None or not solution.plan.entries:
        return ()
    planned = {entry.node for entry in solution.plan.entries}
    labels = (*(suspect.label for suspect in fitting.suspects), *fitting.plain)
    return tuple(label for label in labels if label not in planned)


def _difference(fitting: Fitting, fit: Fit) -> RemainingDifference | None:
    """Where the difference begins, with the nearest choices where padding is a part of it."""
    search = fit.search
    nearest: Choice = (0,) * len(fitting.suspects)
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
) -> RemainingDifference:
    network = fitting.network
    node = network.operation(network.producers[name]).label
    found = None if got is None else gap(right, got, 1e-5 * float(np.abs(right).max(initial=0.0)))
    size = float(np.abs(right.astype(np.float64)).max(initial=0.0)) or 1.0
    return RemainingDifference(
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


def cause_of(fitting: Fitting, fit: Fit, difference: RemainingDifference | None) -> Cause:
    """The cause, as far as it is known.

    `not padding` only where every known way to pad every padded node was tried, every way that a
    Pad in front can have, and every place of the padded cells, the sizes are right, and cells
    inside differ: what differs at borders only is what padding does, and a reference without
    borders does not show whether padding is wrong beside something else.
    """
    if fit.doubtful:
        return Cause.UNKNOWN
    if fit.solution is not None or fit.elsewhere:
        return Cause.NOT_PADDING if fit.elsewhere else Cause.PADDING
    match fit.present.verdict:
        case Verdict.IDENTICAL:
            return Cause.NOTHING
        case Verdict.ROUNDING:
            return Cause.ROUNDING
        case Verdict.TOLERATED:
            return Cause.TOLERATED
    if (
        fitting.unchecked
        or _rounding_of(fitting, fit.present.residual)
        or fitting.unsearched
        or fitting.in_doubt
        or _left_out(fitting)
        or fit.partial is not None
        or _is_at_borders(fit, difference)
    ):
        return Cause.UNKNOWN
    if fit.search is None:
        return Cause.UNKNOWN if fit.present.residual is None else Cause.NOT_PADDING
    sized = not fit.search.tried[nearest_of(fit.search)].misfit
    tried_all = fit.search.exhausted and not fit.search.out_of_time
    all_known = tried_all and sized and not is_part(fit) and not _more_together(fitting, fit.search)
    sure = all_known and _has_borders(fitting, difference)
    return Cause.NOT_PADDING if sure else Cause.UNKNOWN


def _more_together(fitting: Fitting, search: Search) -> bool:
    """Whether several nodes in front of the difference may have ways that were not tried together.

    What one node does alone was tried, or changes borders alone.
    """
    places = [fitting.suspects[n] for n in search.places(search.tried[nearest_of(search)])]
    more = (one.placed < one.given or not_wrapped(one.chain) for one in places)
    return len(places) > 1 and any(more)


def _has_borders(fitting: Fitting, difference: RemainingDifference | None) -> bool:
    """Whether what differs first would show that only borders, or borders more, differ."""
    if difference is None:
        return False
    return any(size > 2 for size in fitting.expected[difference.tensor][0].shape[2:])


def _is_at_borders(fit: Fit, difference: RemainingDifference | None) -> bool:
    apart = [row.where for row in fit.present.rows if not (row.max_abs or 0) <= (row.bound or 0)]
    if difference is not None:
        apart.append(difference.where)
    return any(where.startswith("borders") for where in apart)


def reasons_of(
    fitting: Fitting,
    fit: Fit,
    cause: Cause,
    difference: RemainingDifference | None,
    nearest: Nearest | None,
    *,
    coarse: bool = False,
) -> tuple[str, ...]:
    """The verdict, then what it rests on: what came nearest, where the difference begins, limits.

    `coarse` says that what is left looks like a reference of lower precision.
    """
    if fit.doubtful:
        return (_cannot_tell(fit),)
    if fit.solution is not None:
        many = counted(len(fit.solution.plan.entries), "node")
        return (f"padding: with {many} padded otherwise, {fit.solution.judgement.reason}",)
    if cause in (Cause.NOTHING, Cause.ROUNDING, Cause.TOLERATED):
        return (fit.present.reason,)
    if fit.elsewhere:
        said = "padding does not explain it: padded as it is, the model gives the reference"
        return (f"{said} {fit.elsewhere}",)
    parts = (
        *_tried(fitting, fit, cause, nearest, coarse=coarse),
        _where(difference, nearest),
        _BESIDES if fitting.tried_elsewhere else "",
        _beside(fitting, fit, cause, difference),
        _unsearched(fitting),
        _not_tried(fitting, fit.search),
    )
    return tuple(part for part in parts if part)


def _cannot_tell(fit: Fit) -> str:
    judgement = fit.judgement
    mine = "as it is" if fit.solution is None else fit.solution.title
    if not fit.undecided:
        return _hardly_seen(fit, mine)
    rival = fit.undecided[0]
    return (
        f"cannot tell rounding from padding at this precision: rounding may do "
        f"{judgement.allowed or 0.0:.2g} of the largest value, '{mine}' leaves "
        f"{judgement.residual or 0.0:.2g} and '{rival.title}' {rival.residual:.2g}; "
        "a reference in float32, or of tensors inside the model, would tell"
    )


def _hardly_seen(fit: Fit, mine: str) -> str:
    """Why what gives the reference is no answer: other padding does so too, or may by chance."""
    opening = (
        "cannot tell which padding is right: what it changes can hardly be seen in this reference; "
        f"'{mine}' gives it within what rounding may do, "
        f"{fit.judgement.allowed or 0.0:.2g} of the largest value"
    )
    if fit.unseen:
        titles = few([f"'{rival.title}'" for rival in fit.unseen], _NAMED)
        most = max(rival.apart for rival in fit.unseen)
        verb = "does" if len(fit.unseen) == 1 else "do"
        return f"{opening}, and so {verb} {titles}: at most {most:.2g} from it"
    steps = 0.0 if fit.by_chance is None else fit.by_chance.steps
    return (
        f"{opening}, but its numbers tell only about {steps:.0f} ways to pad apart, and "
        f"{fit.tried} were tried: one may fit by chance"
    )


def _tried(
    fitting: Fitting, fit: Fit, cause: Cause, nearest: Nearest | None, *, coarse: bool
) -> tuple[str, ...]:
    """The verdict, what ended the search, and what came nearest."""
    search = fit.search
    opening = "padding does not explain it: " if cause is Cause.NOT_PADDING else ""
    if search is None:
        what = "that the reference depends on" if fitting.unseen else "of the model"
        what = "that can be searched" if fitting.unsearched else what
        none = f"no other way to pad a node {what} is known"
        return f"{opening}{none}", fit.present.reason
    if fit.partial is not None:
        told = f"what fits the first sample does not fit the others ({fit.partial.reason})"
        return told, _ended_by(fitting, search)
    if fitting.unchecked:
        return (fitting.unchecked,)
    nodes = counted(len(fitting.suspects), "node")
    none = f"of the {fit.tried} ways tried to pad {nodes} none gives the reference"
    ended, near = _ended_by(fitting, search), _nearness(fit, nearest)
    if nearest is None:
        return f"{opening}{none}", ended, near
    if coarse:
        verdict = (
            "padding explains it up to the precision of the reference: what is left looks like a "
            "reference of lower precision, not like padding"
        )
        return verdict, f"{none} to the precision of float32", ended, near
    whole = search.exhausted and not _has_untried(fitting)
    found = "padding is a part of it at most" if search.exhausted else "padding seems a part of it"
    causes = _OTHER_CAUSES if whole else (*_OTHER_CAUSES, _UNTRIED)
    return f"{found}; {near}", f"what is left comes from {either(causes)}", none, ended


def _has_untried(fitting: Fitting) -> bool:
    """Whether padding is left out of the search, which other parts of the sentence name."""
    return bool(fitting.unsearched or _left_out(fitting))


def _ended_by(fitting: Fitting, search: Search) -> str:
    """What ended the search: the budget, or so many tries, which no option raises; '' for all."""
    if search.out_of_time:
        given = "" if fitting.budget is None else f" of {fitting.budget:g} seconds"
        return f"the search ended with its budget{given}: a larger --budget tries more"
    if search.unreachable:
        return f"the search ended early: {search.unreachable}"
    if not search.spent:
        return ""
    hopeless = "" if search.is_promising() else " that come little nearer than the model as it is"
    return (
        f"the search ended after {search.spent:,} tries{hopeless}, the most that it makes however "
        "large the budget"
    )


def _nearness(fit: Fit, nearest: Nearest | None) -> str:
    """What came nearest, by the largest difference over the largest value, as `before` is."""
    if nearest is None or fit.search is None:
        return "none comes much nearer than the model as it is"
    title, was = fit.search.titles[nearest_of(fit.search)], fit.present.residual
    as_it_is = "" if was is None else f"; as it is {was:.2g}"
    if nearest.by:
        most = f"its largest difference is {nearest.residual:.2g}"
        return f"nearest by {nearest.by}: {title}; {most}{as_it_is}"
    leaves = (
        "" if nearest.residual is None else f", which leaves an error of {nearest.residual:.2g}"
    )
    return f"nearest: {title}{leaves}{as_it_is}"


def _unsearched(fitting: Fitting) -> str:
    labels = fitting.unsearched
    if not labels:
        return ""
    return f"other ways to pad these were not tried: {few(labels, _NAMED)}"


def _left_out(fitting: Fitting) -> dict[str, list[str]]:
    """What other Pads and pads there are that were not tried, with their nodes."""
    found: dict[str, list[str]] = {}
    for suspect in fitting.suspects:
        for what in suspect.left_out:
            found.setdefault(what, []).append(suspect.label)
    return found


def _not_tried(fitting: Fitting, search: Search | None) -> str:
    left = _left_out(fitting)
    for suspect in fitting.suspects:
        for what in (not_wrapped(suspect.chain), not_cropped(suspect.chain)):
            if what:
                left.setdefault(f"{what}, in front of", []).append(suspect.label)
    parts = [f"{what} {few(labels, _NAMED)}" for what, labels in left.items()]
    if search is not None and search.not_together:
        pads = any(suspect.ordinary < suspect.moved for suspect in fitting.suspects)
        cells = any(suspect.moved < suspect.placed for suspect in fitting.suspects)
        what = " and ".join(["every Pad in every other way"] * pads + [_PLACES] * cells)
        parts.append(f"{what} together with other changes")
    if len(fitting.suspects) > 1 and any(one.placed < one.given for one in fitting.suspects):
        parts.append(f"{_APART} together with other changes")
    return f"not tried: {'; '.join(parts)}" if parts else ""


def _beside(
    fitting: Fitting, fit: Fit, cause: Cause, difference: RemainingDifference | None
) -> str:
    """That padding may be wrong together with something else, where nothing shows that."""
    if cause is not Cause.UNKNOWN or fit.search is None or not fit.search.exhausted:
        return ""
    if difference is None or _has_borders(fitting, difference):
        return ""
    return (
        f"padding may be wrong together with {either(_OTHER_CAUSES)}: '{difference.tensor}' has "
        "no borders that would show it"
    )


def _where(difference: RemainingDifference | None, nearest: Nearest | None) -> str:
    """Where what is left begins: with the nearest padding where that is told, else as it is."""
    if difference is None:
        return ""
    where = f" ({difference.where})" if difference.where else ""
    mode, still = ("with the nearest padding ", "") if nearest is not None else ("", "still ")
    if difference.after:
        known = f"'{difference.after}' {still}agrees"
    else:
        known = "no tensor in front of it is known"
    if len(difference.nodes) == 1:
        return f"{mode}the first node that differs is {difference.nodes[0]}{where}, {known}"
    return (
        f"{mode}the first reference that differs is '{difference.tensor}', which {difference.node} "
        f"computes{where}; {known}, {len(difference.nodes)} nodes stand in between"
    )


@dataclass(frozen=True, slots=True)
class Nearest:
    """A plan that is not the whole cause, its nodes, and what it leaves.

    `residual` is measured as `Diagnosis.residual` is, None where the model does not run with it
    or gives other sizes. `by` says by what it is the nearest, where it is not by that.
    """

    plan: Plan
    nodes: tuple[NodeFinding, ...]
    residual: float | None
    by: str = ""
    rows: tuple[OutputRow, ...] = ()


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
    if fit.doubtful:
        return _undecided(fitting, fit)
    if fit.search is None or not is_part(fit):
        return None
    nearest = nearest_of(fit.search)
    found = _measured(fitting, settled(fitting.runner, nearest))
    was = fit.present.residual
    if found.residual is None or was is None or found.residual < was:
        return found
    return replace(found, by=_by_other_distances(fit.search, nearest, len(fitting.samples)))


def _by_other_distances(search: Search, nearest: Choice, samples: int) -> str:
    """By what choices are nearer than the model as it is, whose largest difference is no larger."""
    before, after = search.tried[next(iter(search.tried))], search.tried[nearest]
    where = " in the first sample" if samples > 1 else ""
    if after.unlike < before.unlike:
        now, was = 1 - after.unlike, 1 - before.unlike
        return f"the cells that agree{where} ({now:.0%}, as it is {was:.0%})"
    return f"the mean square{where} ({after.residual:.2g}, as it is {before.residual:.2g})"


def _undecided(fitting: Fitting, fit: Fit) -> Nearest | None:
    """The rival that leaves least, or what was found where that leaves less.

    Nothing where neither is clearly nearer than the model as it is: rounding decides which is.
    """
    judgement, was = fit.judgement, fit.present.residual
    rival = next(iter(fit.undecided), None)
    if rival is not None and rival.residual < (judgement.residual or 0.0):
        if was is not None and rival.residual * _CLEARLY > was:
            return None
        return _measured(fitting, settled(fitting.runner, rival.chosen))
    if fit.solution is None:
        return None
    if was is not None and (judgement.residual or 0.0) * _CLEARLY > was:
        return None
    found, plan = fit.solution.found, fit.solution.plan
    return Nearest(plan, findings(fitting.runner, found, plan), judgement.residual)


def _measured(fitting: Fitting, found: Settled) -> Nearest:
    plan = next(plans(fitting.runner, found))
    try:
        judgement = fitting.judged_with(plan, quietly=True)
        residual, rows = judgement.residual, judgement.rows
    except RequestError:
        residual, rows = None, ()  # it cannot be written, and so not be measured
    return Nearest(plan, findings(fitting.runner, found, plan), residual, rows=rows)
