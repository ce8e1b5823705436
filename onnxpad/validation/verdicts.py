"""From a proof and from what samples showed to one verdict and one sentence.

`TABLE` says what follows from both: what is refuted, or different in a run, is different; what is
proved needs no more than that no run disagrees; where nothing is decided, the runs decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from onnxpad.errors import counted, few
from onnxpad.validation.bench import Bench
from onnxpad.validation.judging import Finding
from onnxpad.validation.kernel_verdict import claim
from onnxpad.validation.report import (
    EVALUATOR,
    KERNEL,
    NOBODY,
    ONNXRUNTIME,
    SEVERITY,
    OutputRow,
    ProofReport,
    Validation,
    Verdict,
)
from onnxpad.validation.samples import Ran

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
_LACKING = (
    *("NOT_IMPLEMENTED", "No opset import for domain", "No Op registered", "is not registered"),
    *("official support", "IR version", "Exception during initialization"),
)
"""What onnxruntime says of operators, versions and forms that it lacks; others may run them."""


def concluded(
    bench: Bench,
    findings: Sequence[Finding],
    optimised: tuple[Sequence[OutputRow], str],
    runs: Sequence[Ran],
    open_sizes: Sequence[str],
) -> Validation:
    """The report of runs: the worst sample decides; what optimisations damage is different.

    The tolerance that was asked for is heard, and there is a hint of sizes that were open.
    """
    rows, problem = optimised
    worst = max(findings, key=lambda finding: SEVERITY.index(finding.verdict))
    verdict, reason = worst.verdict, worst.reason or _sentence(worst, findings)
    off = tuple(row for finding in findings for row in finding.rows)
    if verdict in _FINE and _says_nothing(runs):
        verdict, reason = Verdict.UNVERIFIED, "every output is NaN: nothing can be compared"
    elif verdict in _FINE and problem:
        verdict, reason = Verdict.DIFFERENT, problem
    for ran in runs:
        bench.look(ran.before, ran.after)
    facts = " ".join(f"--dim '{name}%32=0'" for name in open_sizes)
    hint = f"the facts that the second model was written for, such as {facts}"
    has_other_shapes = any(row.other_shape for row in (*off, *rows))
    is_hinted = verdict is Verdict.DIFFERENT and open_sizes and has_other_shapes
    report = Validation(
        verdict,
        reason,
        EVALUATOR if any(one.judge == EVALUATOR for one in findings) else ONNXRUNTIME,
        dict(bench.providers),
        bench.settings.device,
        None,
        (*off, *rows),
        worst.first,
        tuple(bench.warnings),
        tuple({name: tuple(v.shape) for name, v in ran.feeds.items()} for ran in runs),
        hints=(hint,) if is_hinted else (),
    )
    return bench.tolerance.judged(report) if bench.tolerance else report


def weighed(proof: ProofReport, shown: Verdict) -> ProofReport:
    """What a run of its counterexample leaves of a refutation: rounding alone refutes nothing."""
    if shown is not Verdict.ROUNDING or proof.counterexample is None:
        return proof
    if proof.counterexample.cell is None:
        return proof
    reason = f"{claim(proof)}, which is no more than rounding"
    return replace(proof, verdict="undecided", reason=reason)


def joined(proof: ProofReport, run: Validation | None, why: str = "") -> Validation:
    """The report on two models from a proof and runs; None where nothing was run, and `why`.

    Of models that have no result in any run nothing is proved, whatever onnxruntime has no
    operator for.
    """
    if run is None or run.run is None:
        verdict = TABLE[proof.verdict, None]
        reason = claim(proof) + (f"; nothing was run: {why}" if why else "")
        judge = NOBODY if verdict is Verdict.UNVERIFIED else KERNEL
        return Validation(verdict, reason, judge, {}, "none", None, proof=proof)
    refused, seen = run.run.refused, run.run.verdict
    verdict = TABLE[proof.verdict, seen]
    has_no_result = refused and not seen and not any(said in refused for said in _LACKING)
    if verdict is Verdict.PROVED and has_no_result:
        why = f"equal by the ONNX text, but neither model has a result: {refused}"
        return replace(run, verdict=Verdict.UNVERIFIED, reason=why, judge=NOBODY, proof=proof)
    judge = run.run.judge if verdict is seen else KERNEL
    reason = _reason(proof, run, verdict)
    return replace(run, verdict=verdict, reason=reason, judge=judge, proof=proof)


def _reason(proof: ProofReport, run: Validation, verdict: Verdict) -> str:
    """The sentence of a verdict that rests on a proof and on runs."""
    seen = run.reason
    if proof.verdict == "undecided":
        return seen if verdict.judged else f"{seen}; {claim(proof)}"
    if verdict is Verdict.PROVED:
        return f"{claim(proof)}; {seen}"
    if proof.verdict == "refuted":
        if run.verdict in _FINE:
            return f"by the ONNX text, {claim(proof)}, although {seen}"
        both = (seen, claim(proof))
        return "; ".join(both if verdict is Verdict.TOLERATED else both[::-1])
    if any(row.shape_after is None and row.shape_before is not None for row in run.outputs):
        return f"equal by the ONNX text, but {seen}"
    places = sorted({names[0] for names in run.providers.values() if names})
    them = f"{' and '.join(places) or 'onnxruntime'} compute{'s' * (len(places) < 2)} them"
    return f"equal by the ONNX text; {them} differently: {seen}"


def qualified(report: Validation, broken: str, random: Sequence[str]) -> Validation:
    """The report where callers see two models (`broken` says how), or nodes draw random numbers.

    `random` are the labels of those nodes. Their results say nothing; other shapes do.
    """
    if broken:
        return replace(report, verdict=Verdict.DIFFERENT, reason=broken)
    shapes = any(
        row.other_shape or (row.shape_after is None and row.shape_before is not None)
        for row in report.outputs
    )
    if not random or (report.verdict is Verdict.DIFFERENT and shapes):
        return report
    why = (
        f"{few(random, 3)} {'draws' if len(random) == 1 else 'draw'} random numbers: two runs of "
        "one model differ, so two models cannot be told apart by running"
    )
    return replace(report, verdict=Verdict.UNVERIFIED, reason=why, first_difference=None)


def _says_nothing(runs: Sequence[Ran]) -> bool:
    """Whether every float output of every sample is NaN throughout."""
    values = [value for ran in runs for result in ran.results for value in result.values()]
    return bool(values) and all(
        value.dtype.kind == "f" and value.size and np.isnan(value).all() for value in values
    )


def _sentence(worst: Finding, findings: Sequence[Finding]) -> str:
    many = counted(len(findings), "sample")
    if any(one.judge == EVALUATOR for one in findings):
        many += " of what the ONNX text makes of them"
    if worst.verdict is Verdict.IDENTICAL:
        return f"all outputs are bit-equal in {many}"
    if worst.verdict is Verdict.ROUNDING:
        rows = [
            row for one in findings for row in one.rows if row.bound and row.max_abs is not None
        ]
        row = max(rows, key=lambda row: (row.max_abs or 0.0) / (row.bound or 1.0), default=None)
        near = (
            f": '{row.output}' by up to {row.max_abs:.1e}, {row.bound:.1e} allowed" if row else ""
        )
        return f"apart by rounding in {many}{near}"
    first = worst.first
    return "" if first is None else f"{first.node} -> '{first.tensor}' differs{first.amount()}"
