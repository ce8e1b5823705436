"""From a proof and from what samples showed to one verdict and one sentence.

`TABLE` says what follows from both: what is refuted, or different in a run, is different; what is
proved needs no more than that no run disagrees; where nothing is decided, the runs decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from onnxpad.errors import counted, few
from onnxpad.sessions import RunFailure
from onnxpad.validation.bench import Bench
from onnxpad.validation.judging import Finding
from onnxpad.validation.kernel_verdict import claim
from onnxpad.validation.report import (
    EVALUATOR,
    KERNEL,
    NOBODY,
    ONNXRUNTIME,
    SEVERITY,
    FirstDifference,
    OutputRow,
    ProofReport,
    Validation,
    Verdict,
)
from onnxpad.validation.samples import Ran

_COARSE = 1e-3
"""A share of a number that rounding of floats never moves it by."""
_FINE, _UNKNOWN = (Verdict.IDENTICAL, Verdict.ROUNDING), (Verdict.UNVERIFIED, None)

TABLE: dict[tuple[str, Verdict | None], Verdict] = {
    **{("proved", one): Verdict.PROVED for one in (*_FINE, *_UNKNOWN, Verdict.TOLERATED)},
    ("proved", Verdict.DIFFERENT): Verdict.DIFFERENT,
    **{("refuted", one): Verdict.DIFFERENT for one in (*_FINE, *_UNKNOWN, Verdict.DIFFERENT)},
    ("refuted", Verdict.TOLERATED): Verdict.TOLERATED,
    **{("undecided", one): one for one in Verdict},
    ("undecided", None): Verdict.UNVERIFIED,
}
"""By the verdict of the proof and that of the runs; None where nothing was run."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was run: all samples, the seed of random ones, and the sizes that were drawn."""

    runs: Sequence[Ran]
    seed: int | None = None
    open_sizes: tuple[str, ...] = ()


def concluded(
    bench: Bench,
    findings: Sequence[Finding],
    optimised: tuple[Sequence[OutputRow], tuple[Verdict, str]],
    drawn: Drawn,
) -> Validation:
    """The report of runs: the worst sample decides; what optimisations damage is different."""
    rows, (level, problem) = optimised
    worst = max(findings, key=lambda finding: SEVERITY.index(finding.verdict))
    verdict, reason, first = worst.verdict, worst.reason, worst.first
    if verdict in _FINE and _says_nothing(drawn.runs):
        verdict = Verdict.UNVERIFIED
        reason = "every output is NaN throughout: nothing can be compared"
    elif verdict in _FINE and level is Verdict.DIFFERENT:
        verdict, reason = level, problem
    reason = reason or _sentence(verdict, findings, first)
    if verdict is Verdict.IDENTICAL:
        reason += apart_when_optimised(rows)
    outputs = (*(row for finding in findings for row in finding.rows), *rows)
    return Validation(
        verdict,
        reason,
        EVALUATOR if any(one.judge == EVALUATOR for one in findings) else ONNXRUNTIME,
        dict(bench.providers),
        bench.settings.device,
        drawn.seed,
        outputs,
        first,
        tuple(bench.warnings),
        tuple({name: tuple(v.shape) for name, v in ran.feeds.items()} for ran in drawn.runs),
        hints=_facts_to_give(outputs, drawn) if verdict is Verdict.DIFFERENT else (),
    )


def joined(proof: ProofReport, run: Validation | None, why: str = "") -> Validation:
    """The report on two models from a proof and runs; None where nothing was run, and `why`."""
    proof, run = _weighed(proof, run)
    ran = None if run is None else run.run
    verdict = TABLE[proof.verdict, None if ran is None else ran.verdict]
    if run is None or ran is None:
        reason = claim(proof) + (f"; nothing was run: {why}" if why else "")
        judge = NOBODY if verdict is Verdict.UNVERIFIED else KERNEL
        return Validation(verdict, reason, judge, {}, "none", None, proof=proof)
    reason = _reason(proof, run, verdict)
    judge = ran.judge if verdict is ran.verdict else KERNEL
    return replace(run, verdict=verdict, reason=reason, judge=judge, proof=proof)


def _weighed(proof: ProofReport, run: Validation | None) -> tuple[ProofReport, Validation | None]:
    """What runs of its counterexample leave of a proof: rounding alone refutes nothing."""
    shown = proof.counterexample
    cell = shown.cell if shown is not None else None
    ran = None if run is None else run.run
    if run is None or ran is None or cell is None or ran.counterexample is not Verdict.ROUNDING:
        return proof, run
    if abs(cell.before - cell.after) > _COARSE * max(abs(cell.before), abs(cell.after)):
        said = (
            f"by the ONNX text, {claim(proof)}: a step that rounding to whole numbers may "
            "explain, and another constant as well"
        )
        run = replace(run, warnings=(*run.warnings, said))
    said = f"{claim(proof)}, which is no more than rounding"
    return replace(proof, verdict="undecided", reason=said), run


def _reason(proof: ProofReport, run: Validation, verdict: Verdict) -> str:
    """The sentence of a verdict that rests on a proof and on runs."""
    assert run.run is not None  # noqa: S101 - both are there
    seen = run.run
    if proof.verdict == "undecided":
        return f"{seen.reason}; {claim(proof)}" if not verdict.judged else seen.reason
    if proof.verdict == "refuted":
        if verdict is Verdict.TOLERATED:
            return f"{seen.reason}; {claim(proof)}"
        if seen.verdict in _FINE:
            return f"by the ONNX text, {claim(proof)}, although {seen.reason}"
        return f"{claim(proof)}; {seen.reason}"
    if verdict is Verdict.PROVED:
        return f"{claim(proof)}; {seen.reason}"
    if any(row.shape_after is None and row.shape_before is not None for row in run.outputs):
        return f"equal by the ONNX text, but {seen.reason}"
    places = sorted({names[0] for names in run.providers.values() if names})
    them = f"{' and '.join(places) or 'onnxruntime'} compute{'s' * (len(places) < 2)} them"
    return f"equal by the ONNX text; {them} differently: {seen.reason}"


def qualified(report: Validation, broken: str, random: Sequence[str]) -> Validation:
    """The report where callers see two models (`broken` says how), or nodes draw random numbers.

    `random` are the labels of those nodes. Their results say nothing; other shapes do.
    """
    if broken:
        return replace(report, verdict=Verdict.DIFFERENT, reason=broken)
    rows = report.outputs
    shapes = any(
        row.other_shape or (row.shape_after is None and row.shape_before is not None)
        for row in rows
    )
    if not random or (report.verdict is Verdict.DIFFERENT and shapes):
        return report
    draw = "draws" if len(random) == 1 else "draw"
    why = (
        f"{few(random, 3)} {draw} random numbers: two runs of one model differ, so "
        "two models cannot be told apart by running"
    )
    return replace(report, verdict=Verdict.UNVERIFIED, reason=why, first_difference=None)


def _facts_to_give(rows: Sequence[OutputRow], drawn: Drawn) -> tuple[str, ...]:
    """What to try where outputs have other shapes at sizes that were drawn."""
    if not drawn.open_sizes or not any(row.other_shape for row in rows):
        return ()
    facts = " ".join(f"--dim '{name}%32=0'" for name in drawn.open_sizes)
    return (f"the facts that the second model was written for, such as {facts}",)


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


def _sentence(verdict: Verdict, findings: Sequence[Finding], first: FirstDifference | None) -> str:
    many = counted(len(findings), "sample")
    if any(one.judge == EVALUATOR for one in findings):
        many += " of what the ONNX text makes of them"
    if verdict is Verdict.IDENTICAL:
        return f"all outputs are bit-equal in {many}"
    if verdict is Verdict.ROUNDING:
        return f"apart by rounding in {many}{_closest(findings)}"
    return "" if first is None else f"{first.node} -> '{first.tensor}' differs{first.amount()}"


def apart_when_optimised(rows: Sequence[OutputRow]) -> str:
    """What default optimisations make of outputs that are equal without them, where anything."""
    apart = [row for row in rows if not row.equal and row.max_abs is not None]
    if not apart:
        return ""
    row = max(apart, key=lambda row: row.max_abs or 0.0)
    return f" without optimisations; apart by up to {row.max_abs:.2g} with them"


def _closest(findings: Sequence[Finding]) -> str:
    """The output that comes nearest to its bound, and the bound."""
    rows = [row for one in findings for row in one.rows if row.bound and row.max_abs is not None]
    if not rows:
        return ""
    row = max(rows, key=lambda row: (row.max_abs or 0.0) / (row.bound or 1.0))
    return f": '{row.output}' by up to {row.max_abs:.1e}, {row.bound:.1e} allowed"
