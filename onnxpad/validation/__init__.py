"""`validate`: do two models, or a model and a reference, compute the same?

A proof and runs stand side by side. Of two models, in this order: `request` and `recorded` check
what the caller gives, `interface` what callers of both models see. `kernel_verdict` asks the formal
kernel. `samples` draws inputs and runs both models on a `bench`;
`judging` judges the results by how far rounding moves them there, without and with onnxruntime's
optimisations, and locates the first tensor that differs. `verdicts` has the one table: from a proof
and runs to a verdict. `reference` compares a model with saved outputs, `on_runtime` with a target.
`culprit` and `distances` answer other rooms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.errors import LimitMet, RequestError, RuntimeUnavailable, few, headline
from onnxpad.model.comparing.networks import Network, open_network, random_nodes
from onnxpad.model.comparing.pieces import chosen
from onnxpad.model.files.external import refuse_lost_data
from onnxpad.model.graph.types import Type
from onnxpad.model.opened import ModelLike
from onnxpad.padding.chain import Preference
from onnxpad.probing.random_inputs import Sampler, Undrawable
from onnxpad.probing.whole import WholeRun
from onnxpad.proof import Limits
from onnxpad.runtimes.own_targets import Asking, TargetName
from onnxpad.sessions import Device, Settings, check_device, resolved
from onnxpad.validation.bench import Bench, silent
from onnxpad.validation.interface import (
    broken,
    joint_types,
    matched,
    told_otherwise,
    untried,
)
from onnxpad.validation.judging import Finding, is_telling, judged, optimised
from onnxpad.validation.kernel_verdict import claim, proved
from onnxpad.validation.on_runtime import on_runtimes, with_runtimes
from onnxpad.validation.recorded import Recorded, recorded, refuse_data_twice
from onnxpad.validation.reference import against_reference
from onnxpad.validation.report import (
    NOBODY,
    ONNXRUNTIME,
    FirstDifference,
    OutputRow,
    ProofReport,
    RunReport,
    Validation,
    Verdict,
    with_few_maps,
)
from onnxpad.validation.request import (
    GivenArrays,
    checked_inputs,
    checked_outputs,
    in_layout,
    turned_inputs,
    with_recorded,
)
from onnxpad.validation.samples import Pair, Ran, further_samples, random_samples, run_both
from onnxpad.validation.tolerance import tolerance_of
from onnxpad.validation.verdicts import concluded, joined, qualified, weighed
from onnxpad.verbs import verb

Array = NDArray[Any]

__all__ = [
    "FirstDifference",
    "OutputRow",
    "ProofReport",
    "RunReport",
    "Validation",
    "Verdict",
    "validate",
]


SAMPLES = 3
"""Random samples of two models where nobody says how many; one is enough where they are proved."""
WAITED = 90.0
"""Seconds by the clock in which a proof ends where nobody says otherwise; of the processor it may
take as many as runs may."""
_ASK_DIAGNOSE = (
    "diagnose with the same reference: it finds padding that gives it, or says that none does",
)
_FINE = (Verdict.IDENTICAL, Verdict.ROUNDING)
Given = Sequence[Mapping[str, Array]]


@verb()
def validate(  # noqa: PLR0913 - each option is one word of the command line
    before: ModelLike,
    after: ModelLike | None = None,
    *,
    data: Recorded | None = None,
    inputs: GivenArrays | None = None,
    outputs: GivenArrays | None = None,
    target: TargetName | Sequence[TargetName] | None = None,
    live: bool | str | PathLike[str] = True,
    device: Device = "auto",
    samples: int | None = None,
    seed: int = 0,
    dims: Mapping[str, int | str] | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    atol: float | None = None,
    rtol: float | None = None,
    tf32: bool = False,
    ambiguous: Preference = None,
    timeout: float | None = None,
    memory: int | str | None = None,
    progress: Callable[[str], None] | None = None,
    proof_only: bool = False,
    run_only: bool = False,
) -> Validation:
    """Compare two models by a proof and by runs, or run one, against `outputs` or in a `target`.

    The proof (`.proof`): are both the same function over the reals, for all inputs and all sizes
    that they, `inputs` and `dims` leave open? The runs (`.run`): does onnxruntime compute them
    alike? What is proved, and not different in a run, is `proved`; what is refuted, or different in
    a run, is `different`; else the runs decide. `proof_only` and `run_only` ask for one of them,
    device `auto` for a proof alone where no onnxruntime is installed. With `atol` or `rtol` a run
    agrees where |a - b| <= atol + rtol * |b|, b of the reference or of `before`.

    `inputs` and `outputs` map names to an array, or a list of one per sample, in either layout
    (NHWC, NCHW) where shapes tell; `data` is a file or folder with both, or several. Without them,
    `samples` random inputs (3, or 1 where both are proved) are drawn from `seed`, of several sizes
    where `dims` or `input_shapes` fix none. `ambiguous`: auto_pad or pads. Beyond `timeout` (60 s;
    for proofs of CPU) and `memory` (2 GiB) nothing is decided. Raises RequestError, ModelError,
    RuntimeUnavailable.

    With `target` the whole model (`after`, where there are two) runs in that runtime, in this
    Python or in the one at `live`, and is held against `before`: `.run` says what ran, the largest
    difference, and the first tensor that differs.
    """
    runtimes: Sequence[WholeRun] = ()
    tolerance = tolerance_of(atol, rtol)
    of_runs = {"device": device != "auto", "samples": samples is not None, "seed": seed != 0}
    of_runs |= {"tf32": tf32, "atol or rtol": tolerance is not None}
    _check(target, after, (data, inputs, outputs), live=live, samples=samples)
    if target is not None:
        if after is None:
            _refuse_unused("a target runs the model itself on samples of its own", of_runs)
        asking, facts = Asking(live, seconds=timeout, tell=progress), (dims, input_shapes)
        runtimes = on_runtimes(before, after, target, asking, facts, inputs)
        if after is None:
            return with_runtimes(None, runtimes, device)
    if proof_only:
        of_runs = {"inputs": (data or inputs) is not None, "run_only": run_only, **of_runs}
        _refuse_unused("proof_only runs no model", of_runs)
    unrun = None if proof_only else _unavailable(device, needed=run_only or after is None)
    runs = unrun is None and not proof_only
    bench = Bench(Settings(device=resolved(device), tf32=tf32) if runs else Settings())
    bench.progress, bench.tolerance = progress or silent, tolerance
    with processes.limited(timeout, memory):
        first = _read(bench, open_network(before), ambiguous)
        second = None if after is None else open_network(after, first.folder)
        for network in (first, second) if runs else ():
            if network is not None and network.left is None:
                refuse_lost_data(network.model, network.folder)
        inputs, outputs = recorded(data, first, bench.warn) if data else (inputs, outputs)
        types = first.input_types(with_recorded(bench.warn, first, second, dims, input_shapes))
        if second is None:
            return _with_reference(bench, first, types, inputs, outputs or {})
        pair = Pair(first, matched(bench.warn, first, _read(bench, second, ambiguous)))
        for warning in told_otherwise(*pair):
            bench.warn(warning)
        types = joint_types(types, pair.after.input_types())
        given = None if inputs is None else turned_inputs(first, types, inputs, bench.warn)
        proof = None if run_only else _proved(bench, pair, types, given, timeout)
        if proof is not None and not runs:
            report = replace(joined(proof, None, unrun or ""), warnings=tuple(bench.warnings))
        else:
            report = _judged(bench, pair, proof, types, given or (samples, seed))
    return with_runtimes(report, runtimes, device) if runtimes else report


def _refuse_unused(why: str, given: Mapping[str, bool]) -> None:
    """RequestError for options that would do nothing."""
    if names := [name for name, is_given in given.items() if is_given]:
        raise RequestError(f"{why}: leave {' and '.join(names)} out")


def _check(
    target: object, after: object, given: tuple[object, ...], *, live: object, samples: int | None
) -> None:
    """RequestError where there is nothing to compare, or too much."""
    data, inputs, outputs = given
    refuse_data_twice(data, inputs, outputs)
    has_reference = data is not None or outputs is not None
    if target is None and (after is None) != has_reference:
        raise RequestError("validate needs a second model or reference outputs, and not both")
    if target is not None and has_reference:
        raise RequestError("a target is held against the model itself: leave data and outputs")
    if target is not None and not live:
        raise RequestError("a target is run here: live is True, or the path of a Python")
    if samples is not None and samples < 1:
        raise RequestError(f"samples is {samples}: at least one is needed")


def _unavailable(device: Device, *, needed: bool) -> str | None:
    """Why nothing can be run; raises RuntimeUnavailable where runs were asked for."""
    try:
        check_device(device)
    except RuntimeUnavailable as error:
        if needed or device != "auto":
            raise
        return headline(error)
    return None


def _read(bench: Bench, network: Network, ambiguous: Preference) -> Network:
    """The model with one reading of nodes that have auto_pad and pads."""
    read, labels = chosen(network, ambiguous)
    if labels:
        bench.warn(
            f"judged by {ambiguous} alone, as asked, where a node has both: {few(labels, 8)}"
        )
    return read


def _proved(
    bench: Bench,
    pair: Pair,
    types: Mapping[str, Type],
    given: Given | None,
    timeout: float | None,
) -> ProofReport:
    """The proof; for the sizes of the inputs where all samples have the same.

    It may take as long as a user waits, or so much of the processor.
    """
    bench.progress("proving")
    limits = Limits(seconds=processes.SECONDS, slowdown=WAITED / processes.SECONDS)
    if timeout is not None:
        limits = Limits(seconds=timeout, slowdown=1.0)
    fixed = dict(types)
    for name, type_ in types.items():
        shapes = {feeds[name].shape for feeds in given or () if name in feeds}
        if len(shapes) == 1:
            fixed[name] = Type(type_.dtype, shapes.pop())
    proof = proved(pair, fixed, limits)
    sizes = {tuple(value.shape for value in feeds.values()) for feeds in given or ()}
    if len(sizes) < 2 or proof.verdict != "refuted":
        return proof
    why = f"at other sizes than those given, {claim(proof)}"
    return replace(proof, verdict="undecided", reason=why, counterexample=None)


def _judged(
    bench: Bench,
    pair: Pair,
    proof: ProofReport | None,
    types: Mapping[str, Type],
    drawn: Given | tuple[int | None, int],
) -> Validation:
    """The report of runs, and of a proof; `drawn` are inputs, or how many to draw and the seed."""
    is_proved = proof is not None and proof.verdict == "proved"
    sampler, seed = None, None
    try:
        if isinstance(drawn, tuple):
            count, seed = drawn
            sampler = pair.sampler(types, seed)
            source = random_samples(bench, pair, sampler, count or (1 if is_proved else SAMPLES))
        else:
            source = (run_both(bench, pair, index, feeds) for index, feeds in enumerate(drawn))
        proof, report = _of_pair(bench, pair, proof, source, sampler)
        report = replace(report, seed=seed)
    except LimitMet as limit:
        report = _ended(bench, str(limit), seed)
    except Undrawable as error:
        if proof is None or proof.verdict == "undecided":
            raise
        return replace(joined(proof, None, headline(error)), warnings=tuple(bench.warnings))
    if report.verdict in _FINE and not is_proved:
        formal = None if report.verdict is Verdict.ROUNDING else proof
        if warning := untried(*pair, types, formal):
            report = replace(report, warnings=(*report.warnings, warning))
    return report if proof is None else joined(proof, report)


def _of_pair(
    bench: Bench,
    pair: Pair,
    proof: ProofReport | None,
    source: Iterable[Ran],
    sampler: Sampler | None,
) -> tuple[ProofReport | None, Validation]:
    """What runs of samples, which `sampler` draws, leave of a proof, and their report.

    Both models run without onnxruntime's optimisations on the samples and on the counterexample of
    the proof, then with them. Where nothing is decided and the samples show no difference, further
    ones follow.
    """
    runs, findings, shown = list[Ran](), list[Finding](), None
    for ran in source:
        findings.append(judged(bench, pair, ran))
        runs.append(ran)
    counterexample = proof.counterexample if proof else None
    if counterexample and all(one.verdict is not Verdict.DIFFERENT for one in findings):
        runs.append(run_both(bench, pair, len(runs), counterexample.inputs))
        findings.append(judged(bench, pair, runs[-1]))
        shown = findings[-1].verdict
    if proof is not None and shown is not None:
        proof = weighed(proof, shown)
    on = optimised(bench, pair, runs)
    random = tuple(dict.fromkeys(label for one in pair for label in random_nodes(one)))
    is_open = (proof is None or proof.verdict == "undecided") and not random
    if sampler and is_open and all(one.verdict in _FINE for one in findings):
        formal = bool(proof and proof.is_formal)
        more = further_samples(bench, pair, sampler, runs[0], len(runs), formal=formal)
        judgements = ((ran, judged(bench, pair, ran)) for ran in more if is_telling(pair, ran))
        differing = (both for both in judgements if both[1].verdict is Verdict.DIFFERENT)
        for ran, finding in islice(differing, 1):
            findings.append(finding)
            runs.append(ran)
    for role, network in zip(("before", "after"), pair, strict=True):
        bench.note_providers(role, network)
    report = concluded(bench, findings, on, runs, sampler.open_sizes if sampler else ())
    report = qualified(report, broken(*pair), random)
    refused = "" if any(ran.results for ran in runs) else "; ".join(runs[0].failures)
    return proof, _with_run(report, shown, refused)


def _ended(bench: Bench, reason: str, seed: int | None) -> Validation:
    """The report where a limit was met: nobody has judged."""
    told = dict(bench.providers), bench.settings.device, seed
    warnings = tuple(bench.warnings)
    return _with_run(Validation(Verdict.UNVERIFIED, reason, NOBODY, *told, warnings=warnings))


def _with_run(report: Validation, shown: Verdict | None = None, refused: str = "") -> Validation:
    """The report of runs, with what they alone say; `shown` is of the proof's counterexample."""
    run = RunReport(report.verdict, report.reason, report.judge, shown, refused)
    return replace(report, outputs=with_few_maps(report.outputs, agree=report.ok), run=run)


def _with_reference(
    bench: Bench,
    network: Network,
    types: Mapping[str, Type],
    inputs: GivenArrays | None,
    outputs: GivenArrays,
) -> Validation:
    if inputs is None:
        raise RequestError("reference outputs need the inputs that they were made from")
    samples = checked_inputs(network, types, inputs, bench.warn)
    checked = checked_outputs(network, outputs, len(samples), bench.warn)
    try:
        expected = in_layout(bench, network, samples, checked)
        finding = against_reference(bench, network, samples, expected)
    except LimitMet as limit:
        return _ended(bench, str(limit), None)
    bench.note_providers("model", network)
    report = Validation(
        *(finding.verdict, finding.reason, ONNXRUNTIME),
        *(dict(bench.providers), bench.settings.device, None),
        outputs=finding.rows,
        first_difference=finding.first,
        warnings=tuple(bench.warnings),
        input_shapes=tuple({name: v.shape for name, v in feeds.items()} for feeds in samples),
        compared=("reference", "model"),
        hints=_ASK_DIAGNOSE if finding.verdict is Verdict.DIFFERENT else finding.hints,
    )
    return _with_run(bench.tolerance.judged(report) if bench.tolerance else report)
