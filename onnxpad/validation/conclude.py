"""From findings per sample, and from a proof and runs, to one verdict and one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from onnxpad.errors import counted, few
from onnxpad.sessions import RunFailure
from onnxpad.validation.bench import Bench
from onnxpad.validation.kernel_verdict import claim
from onnxpad.validation.report import (
    EVALUATOR,
    KERNEL,
    NOBODY,
    ONNXRUNTIME,
    SEVERITY,
    STRUCTURE,
    FirstDifference,
    OutputRow,
    ProofReport,
    RegionRow,
    RunReport,
    Validation,
    Verdict,
)
from onnxpad.validation.samples import Ran, lacking
from onnxpad.validation.verifier import SampleFinding

_COARSE = 1e-3
"""A share of a number that rounding of floats never moves it by."""


def concluded(
    bench: Bench,
    findings: Sequence[SampleFinding],
    optimised: Sequence[OutputRow],
    problem: str,
    drawn: tuple[Sequence[Ran], int, int | None, tuple[str, ...]],
) -> Validation:
    """The report on two models.

    `drawn` are the samples, at how many further sizes both were run, the seed that they came from,
    and the dimensions whose sizes were open.

    The worst sample decides. A model that only default optimisations change counts as different.
    """
    runs, more, seed, open_sizes = drawn
    regions = tuple(row for finding in findings for row in finding.regions)
    worst = max(findings, key=lambda finding: SEVERITY.index(finding.verdict))
    verdict, reason = worst.verdict, worst.reason
    first = worst.first or _first(worst) if verdict is Verdict.DIFFERENT else None
    if verdict in (Verdict.IDENTICAL, Verdict.ROUNDING):
        if _says_nothing(runs):
            verdict, reason = (
                Verdict.UNVERIFIED,
                "every output is NaN throughout: nothing can be compared",
            )
        elif problem:
            verdict, reason = Verdict.DIFFERENT, problem
    reason = reason or _sentence(verdict, regions, (runs, more), first)
    if verdict is Verdict.IDENTICAL:
        reason += apart_when_optimised(optimised)
    return Validation(
        verdict,
        reason,
        _judge(regions, runs),
        dict(bench.providers),
        bench.settings.device,
        seed,
        (*(row for finding in findings for row in finding.outputs), *optimised),
        tuple(_told_once(row, reason) for row in regions if row.before or row.after),
        first,
        tuple(bench.warnings),
        tuple({name: tuple(v.shape) for name, v in ran.feeds.items()} for ran in runs),
        hints=_facts_to_give(findings, open_sizes) if verdict is Verdict.DIFFERENT else (),
    )


def joined(proof: ProofReport, run: Validation | None, why: str = "") -> Validation:
    """The report on two models from a proof and runs; None where nothing was run, and `why`.

    What runs show to be different stays different. What is refuted is different, unless runs of
    the counterexample show that rounding explains its number. What is proved needs no run.
    """
    if run is None or run.run is None:
        return _unrun(proof, why)
    ran, shown = run.run, proof.counterexample
    cell = shown.cell if shown is not None else None
    if proof.verdict == "refuted" and cell is not None and ran.counterexample is Verdict.ROUNDING:
        if abs(cell.before - cell.after) > _COARSE * max(abs(cell.before), abs(cell.after)):
            said = (
                f"by the ONNX text, {claim(proof)}: a step that rounding to whole numbers may "
                "explain, and another constant as well"
            )
            run = replace(run, warnings=(*run.warnings, said))
        said = f"{claim(proof)}, which is no more than rounding"
        proof = replace(proof, verdict="undecided", reason=said)
    verdict, reason = _both(proof, run, ran)
    judge = ran.judge if verdict is ran.verdict else KERNEL
    return replace(run, verdict=verdict, reason=reason, judge=judge, proof=proof)


def _both(proof: ProofReport, run: Validation, ran: RunReport) -> tuple[Verdict, str]:
    """What follows from a proof and from runs."""
    said = f"{claim(proof)}; {ran.reason}"
    if proof.verdict == "proved":
        if ran.verdict is not Verdict.DIFFERENT:
            return Verdict.PROVED, said
        if any(row.shape_after is None and row.shape_before is not None for row in run.outputs):
            return Verdict.DIFFERENT, f"equal by the ONNX text, but {ran.reason}"
        places = sorted({names[0] for names in run.providers.values() if names})
        them = f"{' and '.join(places) or 'onnxruntime'} compute{'s' * (len(places) < 2)} them"
        return Verdict.DIFFERENT, f"equal by the ONNX text; {them} differently: {ran.reason}"
    if proof.verdict == "refuted":
        alike = ran.verdict in (Verdict.IDENTICAL, Verdict.ROUNDING)
        text = f"by the ONNX text, {claim(proof)}, although {ran.reason}"
        if ran.verdict is Verdict.TOLERATED:
            return Verdict.TOLERATED, f"{ran.reason}; {claim(proof)}"
        return Verdict.DIFFERENT, text if alike else said
    if ran.verdict is Verdict.UNVERIFIED:
        return Verdict.UNVERIFIED, f"{ran.reason}; {claim(proof)}"
    return ran.verdict, ran.reason


def _unrun(proof: ProofReport, why: str) -> Validation:
    """What a proof alone says."""
    verdicts = {"proved": Verdict.PROVED, "refuted": Verdict.DIFFERENT}
    verdict = verdicts.get(proof.verdict, Verdict.UNVERIFIED)
    reason = claim(proof) + (f"; nothing was run: {why}" if why else "")
    judge = NOBODY if verdict is Verdict.UNVERIFIED else KERNEL
    return Validation(verdict, reason, judge, {}, "none", None, proof=proof)


def qualified(report: Validation, broken: str, random: Sequence[str]) -> Validation:
    """The report where callers see two models (`broken` says how), or nodes draw random numbers.

    `random` are the labels of those nodes. Their results say nothing; a changed part without them
    that differs does, and other shapes.
    """
    if broken:
        return replace(report, verdict=Verdict.DIFFERENT, reason=broken)
    if not random or (report.verdict is Verdict.DIFFERENT and _told_apart(report, random)):
        return report
    draw = "draws" if len(random) == 1 else "draw"
    why = (
        f"{few(random, 3)} {draw} random numbers: two runs of one model differ, so "
        "two models cannot be told apart by running"
    )
    return replace(report, verdict=Verdict.UNVERIFIED, reason=why, first_difference=None)


def _told_apart(report: Validation, random: Sequence[str]) -> bool:
    """Whether something differs that random numbers cannot explain."""
    parts = [row for row in report.regions if row.verdict is Verdict.DIFFERENT]
    if any(not set(random) & {*row.before, *row.after} for row in parts):
        return True
    return any(
        row.other_shape or (row.shape_after is None and row.shape_before is not None)
        for row in report.outputs
    )


def _facts_to_give(findings: Sequence[SampleFinding], open_sizes: Sequence[str]) -> tuple[str, ...]:
    """What to try where outputs have other shapes at sizes that were drawn."""
    rows = [row for finding in findings for row in finding.outputs]
    if not open_sizes or not any(row.other_shape for row in rows):
        return ()
    facts = " ".join(f"--dim '{name}%32=0'" for name in open_sizes)
    said = f"the facts that the second model was written for, such as {facts}"
    return (said,)


def _first(finding: SampleFinding) -> FirstDifference | None:
    for row in finding.regions:
        if row.verdict is Verdict.DIFFERENT:
            node = next(iter(reversed(row.before)), "")
            return FirstDifference(node, row.tensor, row.max_abs, row.where)
    for output in finding.outputs:
        if not output.equal and output.max_abs is not None:
            label = f"output '{output.output}'"
            return FirstDifference(label, output.output, output.max_abs, output.where)
    return None


def _told_once(row: RegionRow, reason: str) -> RegionRow:
    """The row without the reason that the whole report gives."""
    return replace(row, reason="") if row.reason and row.reason in reason else row


def _judge(regions: Sequence[RegionRow], runs: Sequence[Ran]) -> str:
    judges = {row.judge for row in regions}
    if EVALUATOR in judges:
        return EVALUATOR
    if not lacking(runs):
        return ONNXRUNTIME
    return next(iter(judges), STRUCTURE)


def _says_nothing(runs: Sequence[Ran]) -> bool:
    """Whether every float output of every sample is NaN throughout."""
    seen = False
    for ran in runs:
        for result in (ran.before, ran.after):
            for value in () if isinstance(result, RunFailure) else result.values():
                if value.dtype.kind != "f" or value.size == 0 or not np.isnan(value).all():
                    return False
                seen = True
    return seen


def _sentence(
    verdict: Verdict,
    regions: Sequence[RegionRow],
    tried: tuple[Sequence[Ran], int],
    first: FirstDifference | None,
) -> str:
    runs, more = tried
    many = counted(len(runs), "sample")
    many += f" and at {counted(more, 'further size')}" if more else ""
    alone = f"; {missing}" if (missing := lacking(runs)) else ""
    if verdict is Verdict.IDENTICAL:
        if any(row.judge == EVALUATOR for row in regions):
            return f"the changed nodes give exactly the values of the ONNX text in {many}{alone}"
        if alone:
            return f"the changed nodes are bit-equal when they run by themselves in {many}{alone}"
        return f"all outputs are bit-equal in {many}"
    if verdict is Verdict.ROUNDING:
        said = f"apart by rounding in {many}: every changed part agrees within its bound"
        said += _closest(regions)
        return f"{missing}, so its changed parts were computed alone: {said}" if missing else said
    if first is not None:
        return f"{first.node} -> '{first.tensor}' differs{first.amount()}"
    return ""


def apart_when_optimised(rows: Sequence[OutputRow]) -> str:
    """What default optimisations make of outputs that are equal without them, where anything."""
    apart = [row for row in rows if not row.equal and row.max_abs is not None]
    if not apart:
        return ""
    row = max(apart, key=lambda row: row.max_abs or 0.0)
    seen = f" without optimisations; apart by up to {row.max_abs:.2g} with them"
    if row.bound is None or row.max_abs is None or row.max_abs > row.bound:
        return seen
    return f"{seen}, which is rounding (allowed {row.bound:.2g})"


def _closest(regions: Sequence[RegionRow]) -> str:
    """What is left of the element that comes nearest to its bound, and the bound."""
    row = max(regions, key=lambda row: row.ratio or 0.0, default=None)
    if row is None or not row.ratio or row.bound is None:
        return ""
    seen = row.ratio * row.bound
    return f" (the closest call, in '{row.tensor}': {seen:.1e} of {row.bound:.1e} allowed)"
