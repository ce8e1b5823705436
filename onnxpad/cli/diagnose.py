"""Find the padding, node by node, with which a model gives a reference output.

    onnxpad diagnose model.onnx --data reference.npz
    onnxpad diagnose model.onnx --data test_data_set_0 --data test_data_set_1 --plan plan.json
    onnxpad diagnose model.onnx --inputs x.npy --outputs y.npy --budget 300
    onnxpad retarget model.onnx --plan plan.json -o fixed.onnx

An .npz file holds inputs and outputs under the names of tensors (intermediate ones are welcome),
or under s0_in0 and s0_ref0 (sample 0, place 0). The first sample is fitted, the others are
checked. Exit 0: explained, by padding or because nothing but rounding, or what --atol and --rtol
allow, differs. Exit 1: no padding gives the reference.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxpad.batch.inputs import SUFFIX
from onnxpad.cli import outputs, streams
from onnxpad.cli.options import options_of
from onnxpad.cli.streams import FINDINGS, FINE, STANDARD
from onnxpad.cli.validate import recorded, reference_words
from onnxpad.errors import RequestError, counted

if TYPE_CHECKING:
    from onnxpad.diagnosis import Diagnosis
    from onnxpad.model.comparing.networks import Network
    from onnxpad.show.document import Document

_OPTIONS = ("device", "budget", "atol", "rtol", "ambiguous", "timeout", "memory")


def diagnose(given: dict[str, Any]) -> int:
    """Diagnose, print the report and write the plan."""
    _check(given)
    diagnosis = _diagnosed(given)
    _report(diagnosis, given)
    return FINE if diagnosis.explained else FINDINGS


def _check(given: dict[str, Any]) -> None:
    """UsageError where the reference is not given."""
    if given["more"]:
        named = (given["model"], *given["more"])
        model, *rest = sorted(named, key=lambda name: not name.endswith(SUFFIX))
        data = " ".join(f"--data {shlex.quote(name)}" for name in rest)
        meant = f"onnxpad diagnose {shlex.quote(model)} {data}"
        raise click.UsageError(
            f"it takes one model, and a reference by --data; did you mean {meant}?"
        )
    if not given["data"] and not (given["inputs"] and given["outputs"]):
        raise click.UsageError(
            "the reference is missing: give --data PATH, or --inputs FILE and --outputs FILE"
        )
    files = [given["model"], *given["data"], given["inputs"], given["outputs"]]
    outputs.check_place("--plan", given["plan"], files, may_print=True)
    outputs.check_page(given["html"], [*files, given["plan"]])


def _diagnosed(given: Mapping[str, Any]) -> Diagnosis:
    from onnxpad.diagnosis import diagnose as search  # loads numpy and onnx
    from onnxpad.model.comparing.networks import open_network
    from onnxpad.model.files.onnx_file import load

    name = given["model"]
    model: Any = load(name) if name == STANDARD else name
    _check_weights(given["plan"], open_network(model))
    left_out: list[str] = []
    reference: dict[str, Any] = {"data": given["data"]}
    if not given["data"]:
        reference = recorded(model, given, left_out)
    options = {option: given[option] for option in _OPTIONS}
    with streams.working(f"diagnosing {name}") as tell:
        diagnosis = search(model, **reference, **options, progress=tell)
    return replace(diagnosis, warnings=(*dict.fromkeys(left_out), *diagnosis.warnings))


def _check_weights(plan: str | None, network: Network) -> None:
    """UsageError where the plan would overwrite external data of the model."""
    if plan is None or network.folder is None:
        return
    from onnxpad.model.files.external import data_files

    files = data_files(network.model, b"location", name="the model")
    weights = [str(network.folder / file.location) for file in files]
    outputs.refuse_overwriting("--plan", plan, weights)


def _report(diagnosis: Diagnosis, given: Mapping[str, Any]) -> None:
    """The plan first, where there is one, then the report; also where the plan cannot be written.

    With the plan on standard output the report goes to standard error.
    """
    plan = given["plan"]
    failed, wrote = None, ""
    if plan:
        try:
            wrote = _write_plan(diagnosis, plan, nearest=given["nearest"])
        except RequestError as error:
            failed, plan = error, None

    @cache
    def document() -> Document:
        from onnxpad.show.diagnoses import Around, diagnosis_document

        follow = [_follow(given, diagnosis, nearest=nearest) for nearest in (False, True)]
        around = Around(wrote, _again(given), *follow)
        return diagnosis_document(diagnosis, given["model"], around)

    outputs.write_page(given["html"], document)
    stream = sys.stderr if given["plan"] == STANDARD else sys.stdout
    record = {"model": given["model"], **diagnosis.to_json()}
    streams.report(given, lambda: record, document, stream)
    if given["as_json"] and wrote and not diagnosis.explained:
        streams.say_with_try(wrote)
    if failed:
        raise failed


def _write_plan(diagnosis: Diagnosis, path: str, *, nearest: bool) -> str:
    """Write the plan, or the nearest where that is asked for; what is said of it, or why not."""
    plan, more = diagnosis.plan, ""
    if not diagnosis.explained:
        near = diagnosis.nearest
        if near is None or not near.entries or not nearest:
            older = f", {path} is an older one" if Path(path).exists() and path != STANDARD else ""
            why = "what comes nearest is not the whole cause; --nearest writes it all the same"
            return f"no plan was written{older}{f': {why}' if near and near.entries else ''}"
        plan, more = near, ", which comes nearest and is not the whole cause"
    outputs.write_file("--plan", path, json.dumps(plan.to_json(), indent=2).encode() + b"\n")
    name = "the plan to standard output" if path == STANDARD else path
    return f"wrote {name}: {counted(len(plan.entries), 'node')} to change{more}"


def _again(given: Mapping[str, Any]) -> str:
    """The same command, for a reference that holds more."""
    words = ["onnxpad", "diagnose", given["model"], *reference_words(given)]
    words += ["--plan", given["plan"]] if given["plan"] else []
    rows = options_of("diagnose")
    for name in ("device", "ambiguous", "budget"):
        value = given[name]
        text = f"{value:g}" if isinstance(value, float) else value
        words += [f"--{name}", text] if text != rows[name].more.get("default") else []
    return shlex.join(words)


def _follow(given: Mapping[str, Any], diagnosis: Diagnosis, *, nearest: bool) -> str:
    """How to write the model with the plan, or the `nearest`, and to see what that gives.

    Nothing where the model or the plan came through a stream, which is not there any more. What
    needs its inputs prepared otherwise is not validated: its reference holds them as they were.
    """
    model, plan = given["model"], given["plan"]
    if STANDARD in (model, plan):
        return ""
    fixed = str(Path(model).with_name(f"{Path(model).stem}-fixed.onnx"))
    lines = [["onnxpad", "retarget", model, "--plan", plan or "plan.json", "-o", fixed]]
    if not diagnosis.preparation:
        lines.append(["onnxpad", "validate", fixed, *reference_words(given)])
    commands = [shlex.join(words) for words in lines]
    asks = ["--plan plan.json"] * (not plan) + ["--nearest"] * (nearest > given["nearest"])
    if asks:
        commands.insert(0, f"{_again(given)} {' '.join(asks)}")
    return ("; " if nearest else " && ").join(commands)  # what explains no more exits with 1
