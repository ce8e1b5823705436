"""`validate`: two models, a model and a reference, a model in a runtime, or folders of pairs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxpad.cli import batches, outputs
from onnxpad.cli.parser import are_pairs
from onnxpad.cli.streams import FINDINGS, FINE, STANDARD, keywords, report, working
from onnxpad.errors import RequestError

if TYPE_CHECKING:
    from onnxpad.validation import Validation

_FILES = ("inputs", "outputs", "data", "progress")
"""Arguments of the verb that are no options, but what the options name."""


def validate(given: dict[str, Any]) -> int:
    """Validate and print the verdict."""
    before, after = given["before"], given["after"]
    reference = given["outputs"] or given["data"]
    if not given["target"] and (after is None) == (not reference):
        wrong = "AFTER and a reference are given" if after else "there is nothing to compare with"
        raise click.UsageError(
            f"{wrong}: give AFTER, a reference (--data or --outputs), or --target; for example "
            "onnxpad validate before.onnx after.onnx, or onnxpad validate before.onnx --inputs "
            "in.npz --outputs out.npz"
        )
    if given["certificate"] is not None and STANDARD in (before, after):
        raise click.UsageError("--certificate is about files: name both models")
    given["live"] = given["live"] or True
    if are_pairs(given):
        return _pairs(given)
    validation = _validated(given)
    if given["counterexample"] is not None:
        validation = _with_counterexample(validation, given["counterexample"])
    if after is None and validation.verdict == "different" and validation.hints:
        validation = replace(validation, hints=(_diagnosing(given),))

    from onnxpad.show.validations import validation_document

    names = [name for name in (before, after, *given["data"], given["outputs"]) if name]
    outputs.write_page(given["html"], partial(validation_document, validation, names, each=True))
    head = {"before": before, "after": after, "status": validation.verdict}
    report(given, lambda: head | validation.to_json(), partial(validation_document, validation))
    return FINE if validation.ok else FINDINGS


def reference_words(given: Mapping[str, Any]) -> list[str]:
    """The reference and the tolerance as options, which validate and diagnose take alike."""
    words = [word for path in given["data"] for word in ("--data", path)]
    for name in ("inputs", "outputs", "atol", "rtol"):
        value = given[name]
        text = f"{value:g}" if isinstance(value, float) else value
        words += [f"--{name}", text] if value is not None else []
    return words


def _diagnosing(given: Mapping[str, Any]) -> str:
    """The command that looks for the padding with which the model gives the reference."""
    plan = "plan.json"
    if Path(plan).exists():  # the one that led here, maybe
        plan = f"{Path(given['before']).stem}-plan.json"
    words = ["onnxpad", "diagnose", given["before"], *reference_words(given)]
    return shlex.join([*words, "--plan", plan])


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

        limits = {name: given[name] for name in ("timeout", "memory")}
        with working("proving again") as tell:
            return proved_again(given["certificate"], before, after, **limits, progress=tell)
    model: object = load(before) if before == STANDARD else before
    left_out: list[str] = []
    options = _options(given) | {"input_shapes": given["input_shapes"]}
    if given["inputs"]:
        options |= recorded(model, given, left_out)
    else:
        options["data"] = given["data"] or None
    with working("reading the models") as tell:
        validation = compare(model, after, **options, progress=tell)
    return replace(validation, warnings=(*dict.fromkeys(left_out), *validation.warnings))


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in keywords("validate", given).items() if n not in _FILES}


def recorded(model: object, given: Mapping[str, Any], left_out: list[str]) -> dict[str, Any]:
    """The arrays of --inputs and --outputs; notes about tensors that are none go to `left_out`."""
    from onnxpad.model.comparing.networks import open_network
    from onnxpad.validation.recorded import recorded_apart

    paths = given["inputs"], given["outputs"]
    arrays, reference = recorded_apart(*paths, open_network(model), left_out.append)
    return {"inputs": arrays, "outputs": reference or None}


def _pairs(given: Mapping[str, Any]) -> int:
    """Models of two folders, by their place in them; with --dask also two models."""
    from onnxpad.batch.course import Task
    from onnxpad.batch.inputs import Job, inputs, pairs

    before, after = given["before"], given["after"]
    alone = after is None and bool(given["target"])
    noun = "model" if alone else "pair"
    jobs: Sequence[Job] = [Job(before, second=after)]
    if alone:
        jobs = batches.remaining(partial(inputs, [before]), given).jobs
    elif after is None or Path(before).is_dir() != Path(after).is_dir():
        raise click.UsageError("a folder is compared with a folder: give BEFORE/ and AFTER/")
    elif Path(before).is_dir():
        jobs = batches.remaining(partial(pairs, before, after), given, noun).jobs
    options = _options(given)
    options.pop("input_shapes", None)
    return batches.run(jobs, Task("validate", options), given, noun=noun)
