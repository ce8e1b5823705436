"""`validate`: do two models, or a model and a reference, compute the same?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.errors import LimitMet, RequestError, RuntimeUnavailable, few, headline
from onnxpad.model.comparing.networks import Network, open_lean_network
from onnxpad.model.comparing.pieces import chosen
from onnxpad.model.comparing.random_nodes import random_nodes
from onnxpad.model.files.external import refuse_lost_data
from onnxpad.model.graph.types import Type
from onnxpad.model.opened import ModelLike
from onnxpad.padding.chain import Preference
from onnxpad.probing.random_inputs import Sampler, Undrawable
from onnxpad.probing.whole import WholeRun
from onnxpad.proof import Limits
from onnxpad.runtimes.own_targets import Asking, TargetName
from onnxpad.sessions import Device, RunFailure, Settings, check_device, resolved
from onnxpad.validation.bench import Bench, silent
from onnxpad.validation.interface import broken, joint_types, lost_defaults, matched
from onnxpad.validation.judging import Finding, is_told, judged, optimised
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
    with_channels,
    with_recorded,
)
from onnxpad.validation.samples import (
    Pair,
    Ran,
    channel_counts,
    random_samples,
    run_both,
    samples_at,
    scaled_samples,
    small_samples,
)
from onnxpad.validation.tolerance import tolerance_of
from onnxpad.validation.untried import compared_sizes, untried
from onnxpad.validation.verdicts import Drawn, concluded, joined, qualified
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


_NO_RUN = "proof_only runs no model"
_IN_TARGET = "a target runs the model itself on samples of its own"


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
    shown: Sequence[WholeRun] = ()
    tolerance = tolerance_of(atol, rtol)
    if target is not None:
        _check_target(data, outputs, live)
        if after is None:
            _check_unused(_IN_TARGET, None, device, samples, seed, tf32=tf32, tolerance=tolerance)
        asking = Asking(live, seconds=timeout, tell=progress)
        sizes, feeds = _fed(before, inputs, dims, input_shapes)
        shown = on_runtimes(before, after, target, asking, dims=sizes, inputs=feeds)
        if after is None:
            return with_runtimes(None, shown, device)
    _check(after, (data, inputs, outputs), samples, both=proof_only and run_only)
    if proof_only:
        fed = data or inputs
        _check_unused(_NO_RUN, fed, device, samples, seed, tf32=tf32, tolerance=tolerance)
    unrun = None if proof_only else _unavailable(device, needed=run_only or after is None)
    runs = unrun is None and not proof_only
    bench = Bench(Settings(device=resolved(device), tf32=tf32) if runs else Settings())
    bench.progress, bench.tolerance = progress or silent, tolerance
    with processes.limited(timeout, memory):
        first = _read(bench, open_lean_network(before), ambiguous)
        second = _second(after, first, runs=runs)
        inputs, outputs = recorded(data, first, bench.warn) if data else (inputs, outputs)
        types = first.input_types(with_recorded(bench.warn, first, second, dims, input_shapes))
        if second is None:
            return _with_reference(bench, first, types, inputs, outputs or {})
        pair = _paired(bench, first, second, ambiguous)
        types = joint_types(types, pair.after.input_types())
        given = None if inputs is None else turned_inputs(first, types, inputs, bench.warn)
        limits = _limits(timeout, processes.SECONDS)
        proof = None if run_only else _proved(bench, pair, types, given, limits)
        if proof is not None and not runs:
            found = replace(joined(proof, None, unrun or ""), warnings=tuple(bench.warnings))
        else:
            found = _judged(bench, pair, proof, types, given or (samples, seed))
    return with_runtimes(found, shown, device) if shown else found


def _check_target(data: object, outputs: object, live: object) -> None:
    if data is not None or outputs is not None:
        raise RequestError("a target is held against the model itself: leave data and outputs")
    if not live:
        raise RequestError("a target is run here: live is True, or the path of a Python")


def _fed(
    model: ModelLike,
    inputs: GivenArrays | None,
    dims: Mapping[str, int | str] | None,
    shapes: Mapping[str, Sequence[int]] | None,
) -> tuple[Mapping[str, int | str] | None, Sequence[dict[str, Array]] | None]:
    """What is told of dimensions, and inputs as samples, in the layout of the model."""
    network, warnings = open_lean_network(model), list[str]()
    told = with_recorded(warnings.append, network, None, dims, shapes)
    types = network.input_types(told)
    if inputs is None:
        return told, None
    turned = turned_inputs(network, types, inputs, warnings.append)
    return told, [dict(sample) for sample in turned]


def _second(after: ModelLike | None, first: Network, *, runs: bool) -> Network | None:
    """The other model; ModelError where both are to be run, and lack a file of weights."""
    second = None if after is None else open_lean_network(after, first.folder)
    for network in (first, second) if runs else ():
        if network is not None and network.left is None:
            refuse_lost_data(network.model, network.folder)
    return second


def _judged(
    bench: Bench,
    pair: Pair,
    proof: ProofReport | None,
    types: Mapping[str, Type],
    drawn: Sequence[Mapping[str, Array]] | tuple[int | None, int],
) -> Validation:
    """The report of runs, and of a proof; `drawn` are inputs, or how many to draw and the seed."""
    seed = drawn[1] if isinstance(drawn, tuple) else None
    is_proved = proof is not None and proof.verdict == "proved"
    try:
        if isinstance(drawn, tuple):
            sampler = Sampler(with_channels(pair.before, types), drawn[1], channel_counts(pair))
            many = drawn[0] or (1 if is_proved else SAMPLES)
            found = _of_pair(bench, pair, (sampler, many, drawn[1]), proof)
        else:
            found = _of_pair(bench, pair, drawn, proof)
    except LimitMet as limit:
        found = _ended(bench, limit.told, seed)
    except Undrawable as error:
        if proof is None or proof.verdict == "undecided":
            raise
        return replace(joined(proof, None, headline(error)), warnings=tuple(bench.warnings))
    if found.verdict in (Verdict.IDENTICAL, Verdict.ROUNDING) and not is_proved:
        said = None if found.verdict is Verdict.ROUNDING else proof
        more = (one for one in untried(pair, types, said) if one not in found.warnings)
        found = replace(found, warnings=(*found.warnings, *more))
    return found if proof is None else joined(proof, found)


def _unavailable(device: Device, *, needed: bool) -> str | None:
    """Why nothing can be run; raises RuntimeUnavailable where runs were asked for."""
    try:
        check_device(device)
    except RuntimeUnavailable as error:
        if needed or device != "auto":
            raise
        return headline(error)
    return None


def _limits(timeout: float | None, seconds: float) -> Limits:
    """What a proof may take: as long as a user waits, or so much of the processor."""
    if timeout is not None:
        return Limits(seconds=timeout, slowdown=1.0)
    return Limits(seconds=seconds, slowdown=WAITED / seconds)


def _proved(
    bench: Bench,
    pair: Pair,
    types: Mapping[str, Type],
    given: Sequence[Mapping[str, Array]] | None,
    limits: Limits,
) -> ProofReport:
    """The proof, for the sizes of the inputs where they are given."""
    bench.progress("proving")
    work = processes.current()
    with processes.limited(work.seconds, work.memory):  # of its own: nothing of the runs is spent
        proof = proved(pair, _fixed(types, given), limits)
    shapes = {tuple(value.shape for value in feeds.values()) for feeds in given or ()}
    if len(shapes) < 2 or proof.verdict != "refuted":
        return proof
    why = f"at other sizes than those given, {claim(proof)}"
    return replace(proof, verdict="undecided", reason=why, counterexample=None)


def _fixed(
    types: Mapping[str, Type], given: Sequence[Mapping[str, Array]] | None
) -> Mapping[str, Type]:
    """The types with the sizes of the inputs that are given, where all samples have the same."""
    fixed = dict(types)
    for name, type_ in types.items():
        shapes = {feeds[name].shape for feeds in given or () if name in feeds}
        if len(shapes) == 1:
            fixed[name] = Type(type_.dtype, shapes.pop())
    return fixed


def _check_unused(  # noqa: PLR0913 - one option each
    why: str,
    inputs: object,
    device: object,
    samples: object,
    seed: object,
    *,
    tf32: object,
    tolerance: object,
) -> None:
    """RequestError for what is said of runs where it would do nothing."""
    given = {
        "inputs": inputs is not None,
        "device": device != "auto",
        "samples": samples is not None,
    }
    given |= {"seed": seed != 0, "tf32": tf32 is True, "atol or rtol": tolerance is not None}
    if names := [name for name, is_given in given.items() if is_given]:
        raise RequestError(f"{why}: leave {' and '.join(names)} out")


def _ended(bench: Bench, reason: str, seed: int | None) -> Validation:
    """The report where a limit was met: nobody has judged."""
    return _with_run(
        Validation(
            Verdict.UNVERIFIED,
            reason,
            NOBODY,
            dict(bench.providers),
            bench.settings.device,
            seed,
            warnings=tuple(bench.warnings),
        )
    )


def _with_run(report: Validation, shown: Finding | None = None, refused: str = "") -> Validation:
    """The report of runs, with what they alone say; `shown` is of the proof's counterexample."""
    seen = shown.verdict if shown else None
    report = replace(report, outputs=with_few_maps(report.outputs, agree=report.ok))
    run = RunReport(report.verdict, report.reason, report.judge, seen, refused)
    return replace(report, run=run)


def _paired(bench: Bench, first: Network, after: Network, ambiguous: Preference) -> Pair:
    second = matched(bench.warn, first, _read(bench, after, ambiguous))
    if warning := lost_defaults(first, second):
        bench.warn(warning)
    return Pair(first, second)


def _check(after: object, given: tuple[object, ...], samples: int | None, *, both: bool) -> None:
    data, inputs, outputs = given
    refuse_data_twice(data, inputs, outputs)
    if both:
        raise RequestError("proof_only and run_only contradict each other: leave one out")
    if (after is None) == (data is None and outputs is None):
        raise RequestError("validate needs a second model or reference outputs, and not both")
    if samples is not None and samples < 1:
        raise RequestError(f"samples is {samples}: at least one is needed")


def _read(bench: Bench, network: Network, ambiguous: Preference) -> Network:
    """The model with one reading of nodes that have auto_pad and pads."""
    if ambiguous not in (None, "auto_pad", "pads"):
        raise RequestError(f"ambiguous is {ambiguous!r}: auto_pad and pads are the choices")
    read, labels = chosen(network, ambiguous)
    if labels:
        bench.warn(
            f"judged by {ambiguous} alone, as asked, where a node has both: {few(labels, 8)}"
        )
    return read


def _of_pair(
    bench: Bench,
    pair: Pair,
    drawn: Sequence[Mapping[str, Array]] | tuple[Sampler, int, int],
    proof: ProofReport | None,
) -> Validation:
    """The report of runs of inputs, or of so many random samples of a seed.

    Both models run without onnxruntime's optimisations on the samples and on the counterexample of
    the proof, then with them. Where the proof found other formulas and the samples show no
    difference, many small ones follow.
    """
    random = dict.fromkeys(label for one in pair.both() for label in random_nodes(one))
    sampler, seed = (drawn[0], drawn[2]) if isinstance(drawn, tuple) else (None, None)
    if isinstance(drawn, tuple):
        source = random_samples(bench, pair, drawn[0], drawn[1])
    else:
        source = (run_both(bench, pair, index, feeds) for index, feeds in enumerate(drawn))
    runs: list[Ran] = []
    findings: list[Finding] = []
    for ran in source:
        bench.progress(f"sample {ran.index}")
        findings.append(judged(bench, pair, ran))
        runs.append(ran)
    shown = None
    counterexample = proof.counterexample if proof else None
    if counterexample is not None and not _differs(findings):
        bench.progress("the proof's counterexample")
        runs.append(run_both(bench, pair, len(runs), counterexample.inputs))
        shown = judged(bench, pair, runs[-1])
        findings.append(shown)
    on = optimised(bench, pair, runs)
    for role, network in zip(("before", "after"), pair.both(), strict=True):
        bench.note_providers(role, network)
    if sampler is not None and not random and _may_differ(proof, findings):
        findings += _further(bench, pair, sampler, runs, formal=bool(proof and proof.is_formal))
    open_sizes = () if sampler is None else sampler.open_sizes
    report = concluded(bench, findings, on, Drawn(runs, seed, open_sizes))
    for ran in runs:
        bench.look(ran.before, ran.after)
    if bench.tolerance:
        report = bench.tolerance.judged(report)
    report = qualified(report, broken(*pair.both()), tuple(random))
    neither = all(isinstance(one, RunFailure) for ran in runs for one in (ran.before, ran.after))
    return _with_run(report, shown, "; ".join(runs[0].failures) if runs and neither else "")


def _differs(findings: Sequence[Finding]) -> bool:
    return any(one.verdict is Verdict.DIFFERENT for one in findings)


def _may_differ(proof: ProofReport | None, findings: Sequence[Finding]) -> bool:
    """Whether nothing is proved or refuted, and samples agree."""
    fine = all(one.verdict in (Verdict.IDENTICAL, Verdict.ROUNDING) for one in findings)
    return fine and (proof is None or proof.verdict == "undecided")


def _further(
    bench: Bench, pair: Pair, sampler: Sampler, runs: list[Ran], *, formal: bool
) -> list[Finding]:
    """What differs at sizes that the models compare with, in other magnitudes, in a few cells.

    Two formulas (`formal`) hide it in few cells, for which many small samples are run. The run that
    shows a difference is added to those that are known.
    """
    more = samples_at(bench, pair, sampler, compared_sizes(pair), len(runs))
    small = small_samples(bench, pair, sampler, len(runs)) if formal else ()
    scaled = scaled_samples(bench, pair, runs[0], len(runs))
    for ran in (one for one in chain(more, scaled, small) if is_told(pair, one)):
        found = judged(bench, pair, ran)
        if found.verdict is Verdict.DIFFERENT:
            runs.append(ran)
            return [found]
    return []


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
        found = against_reference(bench, network, samples, expected, in_pads=True)
    except LimitMet as limit:
        return _ended(bench, limit.told, None)
    bench.note_providers("model", network)
    shapes = tuple({name: tuple(v.shape) for name, v in feeds.items()} for feeds in samples)
    report = Validation(
        found.verdict,
        found.reason,
        ONNXRUNTIME,
        dict(bench.providers),
        bench.settings.device,
        None,
        tuple(found.rows),
        found.first,
        tuple(bench.warnings),
        shapes,
        ("reference", "model"),
        _ASK_DIAGNOSE if found.verdict is Verdict.DIFFERENT else found.hints,
    )
    return _with_run(bench.tolerance.judged(report) if bench.tolerance else report)
