"""onnxpad validate."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxpad.cli import arguments, destinations, html_files
from onnxpad.cli.exits import FINDINGS, FINE, STANDARD
from onnxpad.cli.streams import show, terminal, working
from onnxpad.errors import OnnxpadError, RequestError, headline

if TYPE_CHECKING:
    from onnxpad.show.document import Document
    from onnxpad.validation import Validation


_HELP = """Compare two models by a proof and by runs, or a model with a reference by runs.

\b
onnxpad validate model.onnx explicit.onnx
onnxpad validate model.onnx explicit.onnx --device cuda --samples 10 --dim height=224
onnxpad validate model.onnx --data reference.npz
onnxpad validate model.onnx --inputs x.npy --outputs y.npy
onnxpad validate model.onnx explicit.onnx --proof-only
onnxpad validate model.onnx explicit.onnx --certificate explicit.json
onnxpad validate models/ rewritten/ -j 2
onnxpad validate model.onnx --target opencv
onnxpad validate model.onnx --target 'python run_npu.py {model} {inputs} {outputs}'

The proof says whether both are the same function for all inputs, and for all sizes that they leave
open; the runs say whether onnxruntime computes them alike. Verdicts: proved, or where nothing is
proved or refuted what the runs say: identical, rounding (exit 0), different, unverified (exit 1).
What a run shows to be different is different, proved or not. What --atol or --rtol allow is
tolerated (exit 0). Where onnxruntime is not installed,
the proof alone decides.

Of two folders, models with the same place in them are compared.

With --target the whole model runs in that runtime, in this Python or in --live PYTHON, and is
compared with the model itself, run by onnxruntime; the first tensor that differs is named.

An .npz file holds arrays under the names of tensors, or under s0_in0 (sample 0, input 0) and
s0_ref0.
"""


@click.command(
    help=_HELP,
    short_help="Prove and run two models, or run one in a runtime or against a reference.",
)
@click.argument("before", type=arguments.MODEL)
@click.argument("after", type=arguments.MODEL, required=False)
@arguments.runtimes
@arguments.data
@click.option(
    "--inputs",
    type=arguments.ARRAYS,
    metavar="FILE",
    help="Inputs, instead of random ones: .npz, .npy.",
)
@click.option(
    "--outputs",
    type=arguments.ARRAYS,
    metavar="FILE",
    help="What BEFORE should compute for --inputs: .npz, .npy.",
)
@arguments.device
@arguments.samples
@arguments.seed
@arguments.dims
@arguments.ambiguous
@arguments.input_shapes
@arguments.tolerance
@click.option("--tf32", is_flag=True, help="Let CUDA round convolution inputs to 10 bits.")
@click.option(
    "--proof-only",
    is_flag=True,
    help="Run nothing: prove that both are the same function for all inputs, and all sizes that "
    "they and --dim leave open, or refute it.",
)
@click.option("--run-only", is_flag=True, help="Prove nothing: say what runs show.")
@click.option(
    "--counterexample",
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="Where the proof finds a difference: write inputs that show it, .npz.",
)
@click.option(
    "--certificate",
    type=arguments.ARRAYS,
    metavar="FILE",
    help="Prove again what rewrite --certificate wrote of these two files, at other random points.",
)
@arguments.excluded()
@html_files.html
@arguments.timeout
@arguments.memory
@arguments.jobs
@arguments.dask
@arguments.spoken
def validate(**options: Any) -> int:  # noqa: ANN401 - click gives every option by name
    """Validate and print the verdict."""
    _check(options)
    many = Path(options["before"]).is_dir() or bool(options["dask"])
    others = ("before", "after", "inputs", "outputs", "certificate", "counterexample")
    read = [*options["data"], *(options[name] for name in others)]
    html_files.check(options["html"], read, many=many)
    if many:
        return _pairs(options)
    arguments.refuse_given("it leaves out models of folders", "exclude")
    for name in ("jobs", "dask", "exclude"):
        del options[name]
    options["target"] = options.pop("targets") or None
    options["live"] = options["live"] or True
    path, page = options.pop("counterexample"), options.pop("html")
    found = _validated(**options)
    if path is not None:
        found = _shown(found, path)
    if options["after"] is None and found.verdict == "different" and found.hints:
        found = replace(found, hints=(_diagnosing(options),))
    html_files.write(page, partial(_page, found, options))
    if options["as_json"]:
        from onnxpad.reports import json_line

        names = {"before": options["before"], "after": options["after"]}
        sys.stdout.write(json_line(names | {"status": found.verdict} | found.to_json()))
    else:
        from onnxpad.show.document import document_text
        from onnxpad.show.validations import validation_document

        show(document_text(validation_document(found), terminal(sys.stdout)))
    return FINE if found.ok else FINDINGS


def _page(found: Validation, options: dict[str, Any]) -> Document:
    from onnxpad.show.validations import validation_document
    from onnxpad.validation.changed_padding import ChangedPadding, changed_padding

    reference = [*options["data"], options["outputs"]]
    names = [name for name in (options["before"], options["after"], *reference) if name]
    changes: tuple[ChangedPadding, ...] = ()
    undrawn = "a model came through standard input" if STANDARD in names else ""
    if options["after"] is not None and not undrawn:
        given = {name: options[name] for name in ("dims", "ambiguous", "timeout", "memory")}
        try:
            changes = changed_padding(options["before"], options["after"], **given)
        except OnnxpadError as error:  # they were compared all the same
            undrawn = headline(error)
    undrawn = "" if options["after"] is None else undrawn
    return validation_document(found, names, changes, undrawn, each=True)


def _diagnosing(options: dict[str, Any]) -> str:
    """The command that looks for the padding with which the model gives the reference."""
    words = ["onnxpad", "diagnose", options["before"]]
    words += [word for path in options["data"] for word in ("--data", path)]
    for name in ("inputs", "outputs"):
        words += [f"--{name}", options[name]] if options[name] else []
    for name in ("atol", "rtol"):
        words += [f"--{name}", f"{options[name]:g}"] if options[name] is not None else []
    plan = "plan.json"
    if Path(plan).exists():  # the one that led here, maybe
        plan = f"{Path(options['before']).stem}-plan.json"
    return shlex.join([*words, "--plan", plan])


def _check(options: dict[str, Any]) -> None:
    """UsageError where the options leave nothing to compare, or contradict each other."""
    arguments.refuse_data_twice(options)
    reference = options["outputs"] or options["data"]
    if options["targets"]:
        arguments.refuse_given("--target runs the model itself", "data", "outputs", "certificate")
        if options["after"] is None:
            why = "--target runs the model itself on samples of its own"
            unused = ("samples", "seed", "atol", "rtol", "device", "tf32", "ambiguous")
            arguments.refuse_given(why, *unused)
    elif options["live"]:
        raise click.UsageError("--live asks a runtime: add --target NAME")
    elif (options["after"] is None) == (not reference):
        wrong = "both are given" if options["after"] else "neither is given"
        raise click.UsageError(
            f"give either AFTER, or a reference with --data or --outputs; {wrong}: for example "
            "onnxpad validate before.onnx after.onnx, or onnxpad validate before.onnx --inputs "
            "in.npz --outputs out.npz"
        )
    if options["outputs"] and not options["inputs"]:
        raise click.UsageError("--outputs needs the --inputs that it was computed from")
    _check_proof(options)
    for name in ("inputs", "data"):
        if options[name]:
            arguments.refuse_given(f"--{name} says what the models run on", "samples", "seed")


_OF_RUNS = ("data", "inputs", "outputs", "device", "samples", "seed", "tf32", "atol", "rtol")


def _check_proof(options: dict[str, Any]) -> None:
    """UsageError for options of runs beside --proof-only, and of proofs where there is none."""
    path = options["counterexample"]
    if options["certificate"] is not None:
        why = "--certificate says what is proved"
        arguments.refuse_given(why, *_OF_RUNS, "dim", "input-shape", "ambiguous", "run-only")
        if STANDARD in (options["before"], options["after"]):
            raise click.UsageError("--certificate is about files: name both models")
    if options["proof_only"] and options["run_only"]:
        raise click.UsageError(
            "--proof-only and --run-only contradict each other: without both, the models are "
            "proved and run"
        )
    if options["proof_only"]:
        arguments.refuse_given("--proof-only runs no model", *_OF_RUNS)
    if options["run_only"] or options["after"] is None:
        why = "--run-only proves nothing" if options["run_only"] else "a reference proves nothing"
        arguments.refuse_given(why, "counterexample")
    if options["after"] is None:
        arguments.refuse_given("a reference is compared by running", "run-only")
    if path is None:
        return
    destinations.refuse_overwriting(
        path, [options["before"], options["after"]], "give another --counterexample"
    )
    if path == STANDARD:
        raise click.UsageError("--counterexample needs the name of a file: the report is printed")
    from onnxpad.model.files.delivery import check_target

    check_target(path)


def _pairs(options: dict[str, Any]) -> int:
    """Models of two folders, by their place in them; with --dask also two models."""
    from onnxpad.batch.course import Request
    from onnxpad.batch.inputs import Job, pairs
    from onnxpad.cli import batches

    before, after = options["before"], options["after"]
    runs_alone = after is None and bool(options["targets"])
    if not runs_alone and (after is None or Path(before).is_dir() != Path(after).is_dir()):
        raise click.UsageError("a folder is compared with a folder: give BEFORE/ and AFTER/")
    why = "each pair of models is compared on inputs of its own"
    about_one = ("data", "inputs", "outputs", "counterexample", "certificate")
    arguments.refuse_given(why, *about_one, "input-shape")
    names = (
        *("device", "samples", "seed", "ambiguous", "atol", "rtol", "tf32"),
        *("proof_only", "run_only", "timeout", "memory"),
    )
    given = {name: options[name] for name in names}
    if options["targets"]:
        given |= {"target": options["targets"], "live": options["live"] or True}
    found: Iterable[tuple[str, str | None]] = [(before, after)]
    if runs_alone:
        exclude = destinations.Exclusions(options["exclude"])
        found = [(one.model, None) for one in destinations.found_in((before,), exclude).models]
    elif Path(before).is_dir():
        told = pairs(before, after, options["exclude"])
        destinations.Exclusions(options["exclude"]).told(told.left_out, told.idle, "pair")
        found = told.models
    jobs = [(Job(one), other) for one, other in found]
    noun = "model" if runs_alone else "pair"
    return batches.run(jobs, Request("validate", given), options, noun=noun)


def _shown(found: Validation, path: str) -> Validation:
    """The report after its counterexample was written, or with a warning that there is none."""
    from onnxpad.validation.kernel_verdict import counterexample_file

    data = counterexample_file(found)
    if data is None:
        said = f"there is no counterexample: '{path}' was not written"
        return replace(found, warnings=(*found.warnings, said))
    from onnxpad.model.files.delivery import deliver

    deliver([memoryview(data)], (), path, origin=None)
    return found


def _validated(
    *,
    before: str,
    after: str | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401
) -> Validation:
    from onnxpad import validation  # loads numpy and onnx
    from onnxpad.model.files.onnx_file import load

    del as_json
    if before == after == STANDARD:
        raise RequestError("standard input can be read only once: give '-' once")
    certificate = options.pop("certificate")
    if certificate is not None:
        return _proved_again(certificate, before, after or "", options)
    model: object = load(before) if before == STANDARD else before
    left_out: list[str] = []
    data, inputs, outputs = (options.pop(name) for name in ("data", "inputs", "outputs"))
    given: dict[str, Any] = {"data": data or None}
    if inputs:
        given = _recorded(model, inputs, outputs, left_out.append)
    with working("reading the models") as tell:
        found = validation.validate(model, after, **given, **options, progress=tell)
    return replace(found, warnings=(*dict.fromkeys(left_out), *found.warnings))


def _proved_again(certificate: str, before: str, after: str, options: dict[str, Any]) -> Validation:
    from onnxpad.validation.certificates import proved_again

    limits = {name: options[name] for name in ("timeout", "memory")}
    with working("proving again") as tell:
        return proved_again(certificate, before, after, **limits, progress=tell)


def _recorded(
    model: object,
    inputs: str,
    outputs: str | None,
    warn: Callable[[str], None],
) -> dict[str, Any]:
    """Inputs, and outputs where they are given, as `diagnose` reads them."""
    from onnxpad.model.comparing.networks import open_network
    from onnxpad.validation.recorded import recorded_apart

    given, expected = recorded_apart(inputs, outputs, open_network(model), warn)
    return {"inputs": given, "outputs": expected or None}
