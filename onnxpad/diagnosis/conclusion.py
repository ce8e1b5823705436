"""From a fit to one report: the cause, the nearest padding, the words."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from onnxpad.diagnosis.fitting import Fit, Fitting, Solution
from onnxpad.diagnosis.plan import findings, plans, settled
from onnxpad.diagnosis.report import Cause, Diagnosis, NodeFinding, RemainingDifference, Unseen
from onnxpad.diagnosis.runner import needed_nodes
from onnxpad.diagnosis.score import size_of
from onnxpad.errors import RequestError, counted, few
from onnxpad.geometry.size import Symbol
from onnxpad.model.comparing.networks import label_of
from onnxpad.probing.agreement import gap
from onnxpad.retargeting.plan import Plan
from onnxpad.validation.bench import UNITS, Bench
from onnxpad.validation.report import Verdict, with_few_maps

# What comes nearest leaves at most a tenth of what differs.
_PART = 10
_NAMED = 8
_SLACK = 1.5
_CAUSES = {
    Verdict.IDENTICAL: Cause.NOTHING,
    Verdict.ROUNDING: Cause.ROUNDING,
    Verdict.TOLERATED: Cause.TOLERATED,
}


def ended(bench: Bench, reason: str, started: float) -> Diagnosis:
    """The report where a limit was met before anything was found."""
    return Diagnosis(
        explained=False,
        cause=Cause.UNKNOWN,
        reason=reason,
        reasons=(reason,),
        warnings=tuple(bench.warnings),
        device=bench.settings.device,
        providers=dict(bench.providers),
        seconds=time.monotonic() - started,
    )


def concluded(fitting: Fitting, fit: Fit, started: float) -> Diagnosis:
    """The report on a fit."""
    fitting.bench.note_providers("model", fitting.network)
    return _Conclusion(fitting, fit).report(started)


class _Conclusion:
    """What follows from a fit.

    solution: what explains the reference, without doubt.
    nearest: the nearest padding, where it is a part of the cause, or may as well be right.
    difference: where what is left begins.
    """

    def __init__(self, fitting: Fitting, fit: Fit) -> None:
        self.fitting, self.fit, self.network = fitting, fit, fitting.network
        self.solution = None if fit.doubts else fit.solution
        self.explained = fit.judgement.agrees and not fit.doubts
        self.nearest = None if self.explained or fit.other_cause else self._nearest()
        self.difference = None if self.explained or fit.doubts else self._difference()
        self.cause = self._cause()
        self.atol = None if self.explained else self._atol_for_rounding()

    def report(self, started: float) -> Diagnosis:
        """The whole of it."""
        fitting, fit, bench = self.fitting, self.fit, self.fitting.bench
        search, solution, nearest = fit.search, self.solution, self.nearest
        judgement = fit.judgement if self.explained else fit.present
        nodes = self._nodes(solution) if self.explained else ()
        _warn_of_other_sizes(bench, nodes)
        reasons = tuple(one for one in self._reasons() if one)
        planned = {entry.node for entry in solution.plan.entries} if solution else set()
        labels = (*(suspect.label for suspect in fitting.nodes.searched), *fitting.nodes.plain)
        missing = tuple(name for name in self.network.outputs if name not in fitting.expected)
        return Diagnosis(
            explained=self.explained,
            cause=self.cause,
            reason="; ".join(reasons),
            reasons=reasons,
            plan=Plan() if solution is None else solution.plan,
            residual=judgement.residual,
            before=fit.present.residual,
            allowed=judgement.allowed,
            hypothesis="as it is" if solution is None else solution.title,
            preparation="" if solution is None else solution.preparation,
            nodes=nodes,
            same_either_way=self._same_either_way(),
            unchanged=tuple(label for label in labels if label not in planned) if planned else (),
            nearest=None if nearest is None else nearest.plan,
            nearest_nodes=() if nearest is None else self._nodes(nearest),
            nearest_residual=None if nearest is None else nearest.judgement.residual,
            nearest_seconds=None if nearest is None or not search else search.nearest_at - started,
            settles=self._what_settles(),
            settling_atol=self.atol,
            outputs=with_few_maps(judgement.rows, agree=judgement.agrees),
            as_it_is=() if solution is None else with_few_maps(fit.present.rows, agree=False),
            difference=self.difference,
            warnings=tuple(bench.warnings),
            device=bench.settings.device,
            providers=dict(bench.providers),
            samples=len(fitting.samples),
            tried=1 if search is None else len(search.tried),
            seconds=time.monotonic() - started,
            complete=search is None or solution is not None or search.complete,
            tolerance=judgement.tolerance,
            unseen=self._unseen(missing),
            without_reference=missing,
        )

    def _same_either_way(self) -> tuple[str, ...]:
        """Nodes outside the plan that the conventions of the whole plan pad as they are."""
        if self.solution is None or not self.solution.plan.entries:
            return ()
        planned = {entry.node: set(entry.conventions) for entry in self.solution.plan.entries}
        shared = set.intersection(*planned.values())
        pairs = zip(self.fitting.nodes.searched, self.solution.found.chosen, strict=True)
        same = (one.label for one, way in pairs if shared & set(one.conventions(way)))
        return (*(label for label in same if label not in planned), *self.fitting.nodes.plain)

    def _unseen(self, missing: Sequence[str]) -> tuple[Unseen, ...]:
        """Nodes that the reference does not depend on, with the outputs that do."""
        nodes = self.fitting.nodes.unseen
        needed = {name: self._between("", name) for name in missing if nodes}
        return tuple(
            Unseen(label, tuple(name for name, indices in needed.items() if index in indices))
            for index, label in nodes
        )

    def _nodes(self, solution: Solution | None) -> tuple[NodeFinding, ...]:
        """Nodes of a plan, and others that could be padded otherwise."""
        runner, others = self.fitting.runner, self.fit.rivals
        if solution is None:
            return findings(runner, settled(runner, self.fitting.present), Plan(), others)
        return findings(runner, solution.found, solution.plan, others)

    def _nearest(self) -> Solution | None:
        """The nearest padding, where it takes away most of what differs or may be right."""
        search, runner, bench = self.fit.search, self.fitting.runner, self.fitting.bench
        nearest = self.fit.solution
        if search is not None and not self.fit.doubts:
            present, best = search.present(), search.tried[search.best]
            was = 1.0 if present.misfit else present.residual
            less = not best.misfit and best.residual < was / _PART
            if not any(search.best) or not (best.missing < present.missing or less):
                return None
            found, known = settled(runner, search.best), len(bench.warnings)
            plan, title = next(plans(runner, found)), search.titles[search.best]
            try:
                nearest = Solution(found, plan, self.fitting.judged_with(plan), title)
            except RequestError:
                return None
            del bench.warnings[known:]
            if self.fitting.unchecked(found.chosen, nearest.judgement, title):
                return None
        if nearest is None or not nearest.plan.entries:
            return None
        before, left = self.fit.present.residual, nearest.judgement.residual
        return nearest if left is not None and (before is None or left < before) else None

    def _difference(self) -> RemainingDifference | None:
        """Where the difference begins, with the nearest choices where padding is a part of it."""
        network, before = self.network, ""
        nearest, runner = self.nearest, self.fitting.runner
        chosen = self.fitting.present if nearest is None else nearest.found.chosen
        for name, values in self.fitting.expected.items():
            got, size = runner.tensor(name, chosen), size_of(values[0])
            off = None if got is None else gap(values[0], got, 1e-5 * size)
            if off is None or off.max_abs > 1e-4 * size:
                largest = None if off is None or not np.isfinite(off.max_abs) else off.max_abs
                return RemainingDifference(
                    network.label(name),
                    name,
                    largest,
                    None if largest is None else largest / size,
                    "the model does not run" if off is None else off.where,
                    before,
                    tuple(label_of(network.nodes[n]) for n in self._between(before, name)),
                )
            before = name
        return None

    def _between(self, before: str, name: str) -> list[int]:
        """Nodes that a tensor depends on and `before` does not."""
        known = set(needed_nodes(self.network, [before])) if before else set()
        return [index for index in needed_nodes(self.network, [name]) if index not in known]

    def _cause(self) -> Cause:
        """The cause, as far as it is known."""
        fit = self.fit
        if fit.doubts:
            return Cause.UNKNOWN
        if fit.other_cause:
            return Cause.NOT_PADDING
        if fit.solution is not None:
            return Cause.PADDING
        return _CAUSES.get(fit.present.verdict, Cause.UNKNOWN)

    def _atol_for_rounding(self) -> float | None:
        """The atol that allows for a rounded reference, where rounding does what is left."""
        fit, nearest, expected = self.fit, self.nearest, self.fitting.expected
        left = (fit.present if nearest is None else nearest.judgement).residual
        if not fit.rounded or left is None or left > _SLACK * UNITS[fit.rounded]:
            return None
        size = max(size_of(value) for values in expected.values() for value in values)
        atol = float(f"{2 * _SLACK * UNITS[fit.rounded] * size:.1e}")
        self.fitting.bench.warn(
            f"every number of the reference is one that {fit.rounded} holds, and what is left is "
            f"rounding to it: save it in float32, or allow for that with atol {atol:g}"
        )
        return atol

    def _reasons(self) -> list[str]:
        """The verdict, then what it rests on: what came nearest, where the difference begins."""
        fit = self.fit
        if fit.doubts:
            return [_doubt(fit)]
        if fit.other_cause:
            return [f"no node pads wrong: the model gives the reference {fit.other_cause}"]
        if fit.solution is not None:
            said, many = fit.solution.preparation, counted(len(fit.solution.plan.entries), "node")
            cause = "padding, and how the input was prepared" if said else "padding"
            also = f" and where {said}" if said else ""
            return [f"{cause}: with {many} padded otherwise{also}, {fit.judgement.reason}"]
        return [fit.present.reason] if fit.present.agrees else self._why_unexplained()

    def _why_unexplained(self) -> list[str]:
        fitting, fit, search, nearest = self.fitting, self.fit, self.fit.search, self.nearest
        nodes = counted(len(fitting.nodes.searched), "node")
        ways = 0 if search is None else len(search.tried)
        tried = f"of the {ways} ways tried to pad {nodes} none gives the reference"
        no_other = "no other way to pad a node is known"
        parts = [tried if fitting.nodes.searched else no_other]
        if nearest is not None:
            was = "" if fit.present.residual is None else f"; as it is {fit.present.residual:.2g}"
            left = f"which leaves an error of {nearest.judgement.residual:.2g}{was}"
            parts.insert(0, f"padding seems a part of it; nearest: {nearest.title}, {left}")
        if fit.partial:
            parts.insert(0, fit.partial)
        elif nearest is None:
            parts.append("none comes much nearer than the model as it is")
        if search is not None and search.out_of_time:
            parts.append("the search ended with its budget: a larger --budget tries more")
        parts.append(self._where())
        if unsearched := (*fitting.nodes.untried, *sorted(fitting.runner.refused)):
            parts.append(f"other ways to pad these were not tried: {few(unsearched, _NAMED)}")
        return parts

    def _where(self) -> str:
        """Where what is left begins: with the nearest padding where that is told, else as it is."""
        left = self.difference
        if left is None:
            return ""
        where = f" ({left.where})" if left.where else ""
        after = f"'{left.after}' agrees" if left.after else "nothing in front of it is known"
        mode = "with the nearest padding " if self.nearest is not None else ""
        if len(left.nodes) == 1:
            return f"{mode}the first node that differs is {left.nodes[0]}{where}, {after}"
        return (
            f"{mode}the first reference that differs is '{left.tensor}', which {left.node} "
            f"computes{where}; {after}, {len(left.nodes)} nodes stand in between"
        )

    def _what_settles(self) -> str:
        """What to add to the reference, in words; '' where nothing is known that would tell more.

        A tensor in the middle of what is in question halves the question. Samples of one size hide
        what hangs on open sizes, and inputs without negative values what pads of 0 do.
        """
        network = self.network
        if self.cause is not Cause.UNKNOWN:
            return ""
        if self.atol is not None:
            return (
                f"save the reference in float32, or allow for its rounding with atol {self.atol:g}"
            )
        said = [_telling_sample(self.fitting)]
        if between := self._in_question():
            index = between[(len(between) - 1) // 2]
            what = f"'{network.nodes[index].output[0]}' ({label_of(network.nodes[index])})"
            said.insert(0, f"save what the framework computes for {what} in the reference too")
        return ", and ".join(one for one in said if one)

    def _in_question(self) -> list[int]:
        """Nodes where the difference may begin whose results are not known."""
        left, first = self.difference, next(iter(self.fitting.expected))
        between = self._between(left.after if left else "", left.tensor if left else first)
        outputs = {index: self.network.nodes[index].output[0] for index in between}
        return [index for index in between if outputs[index] not in self.fitting.expected]


def _telling_sample(fitting: Fitting) -> str:
    """What sample would tell more, in words; '' for none."""
    samples, types = fitting.samples, fitting.network.input_types().values()
    values = [value for feeds in samples for value in feeds.values()]
    signed = any(value.dtype.kind == "f" and bool((value < 0).any()) for value in values)
    sizes = {tuple(value.shape for value in feeds.values()) for feeds in samples}
    is_open = any(isinstance(size, Symbol) for kind in types for size in (kind.dims or ())[2:])
    wanted = ["of another size"] * (is_open and len(sizes) == 1)
    wanted += ["with values of both signs"] * (not signed)
    return f"add a sample {' '.join(wanted)}" if wanted else ""


def _warn_of_other_sizes(bench: Bench, nodes: Sequence[NodeFinding]) -> None:
    """Say where a plan for open sizes is settled at the sizes of the samples alone."""
    for node in nodes:
        telling = [one.sizes for one in node.alternatives if one.sizes]
        if node.changed and telling and node.chains and not node.chains[0].has_fixed_sizes:
            bench.warn(
                f"{node.node} reads open sizes, and at those of the samples several ways fit: at "
                f"others the plan may be wrong. Add a sample in which it reads {list(telling[0])}"
            )
            return


def _doubt(fit: Fit) -> str:
    """Why what gives the reference is no answer: other padding gives it too."""
    mine = "as it is" if fit.solution is None else fit.solution.title
    titles = few([f"'{rival.title}'" for rival in fit.doubts], 3)
    return (
        f"cannot tell which padding is right: '{mine}' gives the reference within what rounding "
        f"may do ({fit.judgement.allowed or 0.0:.2g} of the largest value), and so does {titles}, "
        f"at most {max(rival.apart for rival in fit.doubts):.2g} from it"
    )
