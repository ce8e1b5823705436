"""From findings per sample to one verdict and one sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxpad.runtime import RunFailure
from onnxpad.validation.bench import Bench
from onnxpad.validation.report import (
    EVALUATOR,
    ONNXRUNTIME,
    SEVERITY,
    FirstDifference,
    OutputRow,
    RegionRow,
    Validation,
    Verdict,
)
from onnxpad.validation.running import Ran
from onnxpad.validation.verifying import SampleFinding


def concluded(
    bench: Bench,
    findings: Sequence[SampleFinding],
    optimised: Sequence[OutputRow],
    problem: str,
    drawn: tuple[Sequence[Ran], int | None],
) -> Validation:
    """The report on two models; `drawn` are the samples and the seed that they came from.

    The worst sample decides. A model that only default optimisations change counts as different.
    """
    runs, seed = drawn
    regions = tuple(row for finding in findings for row in finding.regions)
    worst = max(findings, key=lambda finding: SEVERITY.index(finding.verdict))
    verdict, reason = worst.verdict, worst.reason
    first = _first(worst) if verdict is Verdict.DIFFERENT else None
    if verdict in (Verdict.IDENTICAL, Verdict.ROUNDING):
        if _says_nothing(runs):
            verdict, reason = Verdict.UNVERIFIED, "the outputs are NaN throughout: nothing was seen"
        elif problem:
            verdict, reason = Verdict.DIFFERENT, problem
    return Validation(
        verdict,
        reason or _sentence(verdict, findings, regions, first),
        EVALUATOR if any(row.judge == EVALUATOR for row in regions) else ONNXRUNTIME,
        dict(bench.providers),
        bench.settings.device,
        seed,
        (*(row for finding in findings for row in finding.outputs), *optimised),
        regions,
        first,
        tuple(bench.warnings),
        tuple({name: tuple(v.shape) for name, v in ran.feeds.items()} for ran in runs),
    )


def _first(finding: SampleFinding) -> FirstDifference | None:
    for row in finding.regions:
        if row.verdict is Verdict.DIFFERENT:
            node = next(iter(reversed(row.before)), "")
            return FirstDifference(node, row.tensor, row.max_abs, row.where)
    for output in finding.outputs:
        if not output.equal and output.max_abs is not None:
            return FirstDifference("", output.output, output.max_abs, output.where)
    return None


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
    findings: Sequence[SampleFinding],
    regions: Sequence[RegionRow],
    first: FirstDifference | None,
) -> str:
    count = len(findings)
    many = f"{count} samples" if count != 1 else "1 sample"
    by_evaluator = any(row.judge == EVALUATOR for row in regions)
    if verdict is Verdict.IDENTICAL:
        if by_evaluator:
            return f"the changed nodes give exactly the values of the ONNX text in {many}"
        return f"all outputs are bit-equal in {many}"
    if verdict is Verdict.ROUNDING:
        ratios = [row.ratio for row in regions if row.ratio is not None]
        used = f", {100 * max(ratios):.2g} % of its bound at most" if ratios else ""
        return f"apart by rounding in {many}: every changed part agrees within its bound{used}"
    if first is not None:
        return f"{first.node or 'output'} -> '{first.tensor}' differs{first.amount()}"
    return ""
