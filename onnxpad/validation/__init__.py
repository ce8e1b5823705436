"""`validate`: do two models, or a model and a reference, compute the same?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.errors import LimitMet, RequestError, verb
from onnxpad.model.comparing.networks import Network, open_network
from onnxpad.model.comparing.pieces import chosen
from onnxpad.model.comparing.random_nodes import random_nodes
from onnxpad.model.opened import ModelLike
from onnxpad.model.shapes.types import Type
from onnxpad.padding.chain import Preference
from onnxpad.sessions import Device, Settings, resolved
from onnxpad.validation.bench import Bench, silent
from onnxpad.validation.conclude import concluded, qualified
from onnxpad.validation.interface import broken, joint_types, lost_defaults, matched
from onnxpad.validation.kernel_verdict import proved
from onnxpad.validation.optimised import optimised
from onnxpad.validation.recorded import samples_from_npz
from onnxpad.validation.reference import against_reference
from onnxpad.validation.report import (
    NOBODY,
    ONNXRUNTIME,
    FirstDifference,
    OutputRow,
    ProofReport,
    RegionRow,
    Validation,
    Verdict,
)
from onnxpad.validation.request import (
    GivenArrays,
    checked_inputs,
    checked_outputs,
    in_layout,
    turned_inputs,
    with_channels,
)
from onnxpad.validation.samples import (
    Pair,
    Ran,
    Sampler,
    other_sizes,
    random_samples,
    run_both,
)
from onnxpad.validation.sizes import channel_counts
from onnxpad.validation.verifier import SampleFinding, Verifier

Array = NDArray[Any]

__all__ = [
    "FirstDifference",
    "OutputRow",
    "ProofReport",
    "RegionRow",
    "Validation",
    "Verdict",
    "samples_from_npz",
    "validate",
]


@verb()
def validate(  # noqa: PLR0913 - each option is one word of the command line
    before: ModelLike,
    after: ModelLike | None = None,
    *,
    inputs: GivenArrays | None = None,
    outputs: GivenArrays | None = None,
    device: Device = "auto",
    samples: int = 3,
    seed: int = 0,
    dims: Mapping[str, int | str] | None = None,
    tf32: bool = False,
    ambiguous: Preference = None,
    timeout: float | None = None,
    memory: int | str | None = None,
    progress: Callable[[str], None] | None = None,
    proof_only: bool = False,
) -> Validation:
    """Run two models on the same inputs, or one against reference `outputs`, and judge the gap.

    A model is a path, ModelProto or gs.Graph. `inputs` and `outputs` map names to an array, or a
    list of one per sample, in either layout (NHWC, NCHW) where shapes tell; without `inputs`,
    `samples` random ones are drawn from `seed`, signed, of several sizes where the model leaves
    sizes open (`dims` fixes them).

    Both run with onnxruntime's optimisations off. Where outputs are not bit-equal, every part that
    differs is run alone and compared within a bound from its arithmetic or from the measured effect
    of rounding; where onnxruntime cannot run a part, or leaves the ONNX text, the float64 evaluator
    judges. Then both run with default optimisations. `ambiguous` decides between auto_pad and pads.

    What nothing bounds beforehand runs in a child process, which may take `timeout` seconds in all
    and grow by `memory` (bytes, or a text such as '4G'): 60 s and 2 GiB where nothing is said, and
    more for large models and inputs. Beyond that the verdict is `unverified`, with the reason.

    With `proof_only` nothing is run: the verdict is `proved` where both are the same function over
    the reals for all inputs, and all sizes that they and `dims` leave open, `different` where that
    is refuted, else `unverified`; `.proof` says more. `timeout` is then what the proof may take.

    Raises RequestError for names, shapes or options that do not fit, ModelError for models that
    cannot be read, and RuntimeUnavailable where `device` is cuda and its provider does not load.
    """
    _check(after, outputs, samples)
    if proof_only:
        _check_unused(inputs, device, samples, seed, memory, tf32=tf32)
    with processes.limited(timeout, memory):
        if proof_only and after is not None:
            return _proof(before, after, dims, ambiguous, timeout)
        bench = Bench(Settings(device=resolved(device), tf32=tf32), progress=progress or silent)
        try:
            first = _read(bench, open_network(before), ambiguous)
            types = first.input_types(dims)
            if outputs is not None:
                return _with_reference(bench, first, types, inputs, outputs)
            pair = _paired(bench, first, after, ambiguous)
            types = joint_types(types, pair.after.input_types())
            if inputs is not None:
                return _of_pair(bench, pair, turned_inputs(first, types, inputs, bench.warn), 0, 0)
            sampler = Sampler(with_channels(first, types), seed, channel_counts(pair.both()))
            return _of_pair(bench, pair, sampler, samples, seed)
        except LimitMet as limit:
            return _ended(bench, str(limit), None if inputs else seed)


def _proof(
    before: ModelLike,
    after: ModelLike,
    dims: Mapping[str, int | str] | None,
    ambiguous: Preference,
    timeout: float | None,
) -> Validation:
    bench = Bench(Settings())
    first = _read(bench, open_network(before), ambiguous)
    pair = _paired(bench, first, after, ambiguous)
    return replace(proved(pair, dims, timeout), warnings=tuple(bench.warnings))


def _check_unused(
    inputs: object, device: object, samples: object, seed: object, memory: object, *, tf32: object
) -> None:
    """RequestError for what is said of runs where there are none."""
    given = {"inputs": inputs is not None, "device": device != "auto", "samples": samples != 3}
    given |= {"seed": seed != 0, "memory": memory is not None, "tf32": tf32 is True}
    if names := [name for name, is_given in given.items() if is_given]:
        raise RequestError(f"proof_only runs no model: leave {' and '.join(names)} out")


def _ended(bench: Bench, reason: str, seed: int | None) -> Validation:
    """The report where a limit was met: nobody has judged."""
    return Validation(
        Verdict.UNVERIFIED,
        reason,
        NOBODY,
        dict(bench.providers),
        bench.settings.device,
        seed,
        warnings=tuple(bench.warnings),
    )


def _paired(bench: Bench, first: Network, after: ModelLike, ambiguous: Preference) -> Pair:
    second = matched(bench.warn, first, _read(bench, open_network(after, first.folder), ambiguous))
    if warning := lost_defaults(first, second):
        bench.warn(warning)
    return Pair(first, second)


def _check(after: object, outputs: object, samples: int) -> None:
    if (after is None) == (outputs is None):
        raise RequestError("validate needs a second model or reference outputs, and not both")
    if samples < 1:
        raise RequestError(f"samples is {samples}: at least one is needed")


def _read(bench: Bench, network: Network, ambiguous: Preference) -> Network:
    """The model with one reading of nodes that have auto_pad and pads."""
    if ambiguous not in (None, "auto_pad", "pads"):
        raise RequestError(f"ambiguous is {ambiguous!r}: auto_pad and pads are the choices")
    read, labels = chosen(network, ambiguous)
    if labels:
        shown = ", ".join(labels[:8]) + (f" and {len(labels) - 8} more" if labels[8:] else "")
        bench.warn(f"judged by {ambiguous} alone, as asked, where a node has both: {shown}")
    return read


def _of_pair(
    bench: Bench,
    pair: Pair,
    drawn: Sequence[Mapping[str, Array]] | Sampler,
    samples: int,
    seed: int,
) -> Validation:
    verifier = Verifier(bench, pair)
    runs: list[Ran] = []
    findings = []
    if isinstance(drawn, Sampler):
        source = random_samples(bench, pair, drawn, samples, lambda: verifier.probes)
    else:
        source = (run_both(bench, pair, i, f, verifier.probes) for i, f in enumerate(drawn))
    for ran in source:
        bench.progress(f"sample {ran.index}")
        findings.append(verifier.judged(ran))
        runs.append(ran.outputs(pair))
    rows, problem = optimised(bench, pair, runs, verifier.found)
    bench.note_providers("before", pair.before)
    bench.note_providers("after", pair.after)
    random = dict.fromkeys(label for one in pair.both() for label in random_nodes(one))
    more = 0
    if isinstance(drawn, Sampler) and not random and not problem:
        more, worse = _at_other_sizes(bench, verifier, drawn, runs)
        findings += worse
    known = (seed, drawn.open_sizes) if isinstance(drawn, Sampler) else (None, ())
    report = concluded(bench, findings, rows, problem, (runs, more, *known))
    return qualified(report, broken(*pair.both()), tuple(random))


def _at_other_sizes(
    bench: Bench, verifier: Verifier, sampler: Sampler, runs: list[Ran]
) -> tuple[int, list[SampleFinding]]:
    """How many further sizes were tried, and what differed there; its run is added to `runs`."""
    count = 0
    if sampler.settled is None or verifier.settled:
        return count, []
    try:
        for ran in other_sizes(bench, verifier.pair, sampler, sampler.settled, runs):
            found = verifier.judged_briefly(ran)
            count += 1
            if found is not None:
                runs.append(ran)
                return count, [found]
    except LimitMet as limit:
        bench.warn(f"further sizes were not tried: {limit}")
    return count, []


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
    expected = in_layout(bench, network, samples, checked)
    rows, verdict, reason, first = against_reference(bench, network, samples, expected)
    bench.note_providers("model", network)
    shapes = tuple({name: tuple(v.shape) for name, v in feeds.items()} for feeds in samples)
    return Validation(
        verdict,
        reason,
        ONNXRUNTIME,
        dict(bench.providers),
        bench.settings.device,
        None,
        tuple(rows),
        (),
        first,
        tuple(bench.warnings),
        shapes,
        ("reference", "model"),
    )
