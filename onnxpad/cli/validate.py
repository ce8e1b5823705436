"""Compare two models by a proof and by runs, or a model with a reference by runs.

    onnxpad validate model.onnx explicit.onnx --device cuda --samples 10 --dim height=224
    onnxpad validate model.onnx --data reference.npz
    onnxpad validate model.onnx --inputs x.npy --outputs y.npy
    onnxpad validate model.onnx explicit.onnx --certificate explicit.json
    onnxpad validate models/ rewritten/ -j 2
    onnxpad validate model.onnx --target opencv
    onnxpad validate model.onnx --target 'python run_npu.py {model} {inputs} {outputs}'

The proof says whether both are the same function for all inputs and all sizes that they leave
open; the runs say whether onnxruntime computes them alike. Exit 0: proved, identical, rounding, or
tolerated by --atol and --rtol. Exit 1: different (a run shows it, or the proof), or unverified.

Of two folders, models with the same place in them are compared.

With --target the whole model runs in that runtime, in this Python or in --live PYTHON, and is
compared with the model itself, run by onnxruntime; the first tensor that differs is named.

An .npz file holds arrays under the names of tensors, or under s0_in0 (sample 0, input 0) and
s0_ref0.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxpad.cli import outputs
from onnxpad.cli.destinations import inputs_of, say_left_out
from onnxpad.cli.parser import are_pairs
from onnxpad.cli.streams import FINDINGS, FINE, STANDARD, report, working
from onnxpad.errors import RequestError

if TYPE_CHECKING:
    from onnxpad.show.document import Document
    from onnxpad.validation import Validation

_LIMITS = ("timeout", "memory")
_OPTIONS = (
    *("target", "live", "device", "samples", "seed", "ambiguous", "atol", "rtol", "tf32"),
    *("proof_only", "run_only", *_LIMITS),
)


def validate(given: dict[str, Any]) -> int:
    """Validate and print the verdict."""
    before, after = given["before"], given["after"]
    _check(given)
    others = ("before", "after", "inputs", "outputs", "certificate", "counterexample")
    files = [*given["data"], *(given[name] for name in others)]
    outputs.check_page(given["html"], files, many=are_pairs(given))
    outputs.check_place("--counterexample", given["counterexample"], [before, after])
    given["live"] = given["live"] or True
    if are_pairs(given):
        return _pairs(given)
    validation = _validated(given)
    if given["counterexample"] is not None:
        validation = _with_counterexample(validation, given["counterexample"])
    if after is None and validation.verdict == "different" and validation.hints:
        validation = replace(validation, hints=(_diagnosing(given),))

    def document() -> Document:
        from onnxpad.show.validations import validation_document

        return validation_document(validation)

    outputs.write_page(given["html"], lambda: _page(validation, given))
    head = {"before": before, "after": after, "status": validation.verdict}
    report(given, lambda: head | validation.to_json(), document)
    return FINE if validation.ok else FINDINGS


def _check(given: Mapping[str, Any]) -> None:
    """UsageError where nothing is left to compare."""
    before, after = given["before"], given["after"]
    reference = given["outputs"] or given["data"]
    if not given["target"] and (after is None) == (not reference):
        wrong = "both are given" if after else "neither is given"
        raise click.UsageError(
            f"give AFTER, a reference with --data or --outputs, or --target; {wrong}: for example "
            "onnxpad validate before.onnx after.onnx, or onnxpad validate before.onnx --inputs "
            "in.npz --outputs out.npz"
        )
    if given["certificate"] is not None and STANDARD in (before, after):
        raise click.UsageError("--certificate is about files: name both models")


def reference_words(given: Mapping[str, Any]) -> list[str]:
    """The reference and the tolerance as options, which validate and diagnose take alike."""
    words = [word for path in given["data"] for word in ("--data", path)]
    for name in ("inputs", "outputs"):
        words += [f"--{name}", given[name]] if given[name] else []
    for name in ("atol", "rtol"):
        words += [f"--{name}", f"{given[name]:g}"] if given[name] is not None else []
    return words


def _diagnosing(given: Mapping[str, Any]) -> str:
    """The command that looks for the padding with which the model gives the reference."""
    plan = "plan.json"
    if Path(plan).exists():  # the one that led here, maybe
        plan = f"{Path(given['before']).stem}-plan.json"
    words = ["onnxpad", "diagnose", given["before"], *reference_words(given)]
    return shlex.join([*words, "--plan", plan])


def _page(validation: Validation, given: Mapping[str, Any]) -> Document:
    """The report with pictures of the padding that changed."""
    from onnxpad.show.validations import drawn_changes, validation_document

    before, after = given["before"], given["after"]
    names = [name for name in (before, after, *given["data"], given["outputs"]) if name]
    drawn: Any = (), "a model came through standard input" if after and STANDARD in names else ""
    if after is not None and not drawn[1]:
        options = {name: given[name] for name in ("dims", "ambiguous", *_LIMITS)}
        drawn = drawn_changes(before, after, **options)
    return validation_document(validation, names, drawn, each=True)


def _with_counterexample(validation: Validation, path: str) -> Validation:
    """The report after its counterexample was written, or with a warning that there is none."""
    from onnxpad.validation.kernel_verdict import counterexample_file

    data = counterexample_file(validation)
    if data is None:
        warning = f"there is no counterexample: '{path}' was not written"
        return replace(validation, warnings=(*validation.warnings, warning))
    outputs.write_file("--counterexample", path, data)
    return validation


def _validated(given: Mapping[str, Any]) -> Validation:
    from onnxpad.model.files.onnx_file import load
    from onnxpad.validation import validate as compare  # loads numpy and onnx

    before, after = given["before"], given["after"]
    if before == after == STANDARD:
        raise RequestError("standard input can be read only once: give '-' once")
    if given["certificate"] is not None:
        from onnxpad.validation.certificates import proved_again

        limits = {name: given[name] for name in _LIMITS}
        with working("proving again") as tell:
            return proved_again(given["certificate"], before, after, **limits, progress=tell)
    model: object = load(before) if before == STANDARD else before
    left_out: list[str] = []
    options = {name: given[name] for name in (*_OPTIONS, "dims", "input_shapes")}
    if given["inputs"]:
        options |= recorded(model, given, left_out)
    else:
        options["data"] = given["data"] or None
    with working("reading the models") as tell:
        validation = compare(model, after, **options, progress=tell)
    return replace(validation, warnings=(*dict.fromkeys(left_out), *validation.warnings))


def recorded(model: object, given: Mapping[str, Any], left_out: list[str]) -> dict[str, Any]:
    """The arrays of --inputs and --outputs; notes about tensors that are none go to `left_out`."""
    from onnxpad.model.comparing.networks import open_network
    from onnxpad.validation.recorded import recorded_apart

    paths = given["inputs"], given["outputs"]
    inputs, outputs = recorded_apart(*paths, open_network(model), left_out.append)
    return {"inputs": inputs, "outputs": outputs or None}


def _pairs(given: Mapping[str, Any]) -> int:
    """Models of two folders, by their place in them; with --dask also two models."""
    from onnxpad.batch.course import Request
    from onnxpad.batch.inputs import Job, pairs
    from onnxpad.cli import batches

    before, after = given["before"], given["after"]
    alone = after is None and bool(given["target"])
    jobs: Sequence[Job] = [Job(before, second=after)]
    if alone:
        jobs = inputs_of((before,), given["exclude"]).jobs
    elif after is None or Path(before).is_dir() != Path(after).is_dir():
        raise click.UsageError("a folder is compared with a folder: give BEFORE/ and AFTER/")
    elif Path(before).is_dir():
        paired = pairs(before, after, given["exclude"])
        if not paired.jobs:
            raise paired.refusal(given["exclude"])
        say_left_out(paired, "pair")
        jobs = paired.jobs
    request = Request("validate", {name: given[name] for name in _OPTIONS})
    return batches.run(jobs, request, given, noun="model" if alone else "pair")
