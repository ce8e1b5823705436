"""`diagnose`: the padding that reproduces a reference, and the plan that writes it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxpad.cli import outputs, streams
from onnxpad.cli.streams import FINDINGS, FINE, STANDARD
from onnxpad.cli.validate import recorded, reference_words
from onnxpad.errors import counted

if TYPE_CHECKING:
    from onnxpad.diagnosis import Diagnosis


def diagnose(given: dict[str, Any]) -> int:
    """Diagnose, print the report and write the plan."""
    if not given["data"] and not (given["inputs"] and given["outputs"]):
        raise click.UsageError(
            "the reference is missing: give --data PATH, or --inputs FILE and --outputs FILE"
        )
    diagnosis = _diagnosed(given)
    _report(diagnosis, given)
    return FINE if diagnosis.explained else FINDINGS


def _diagnosed(given: Mapping[str, Any]) -> Diagnosis:
    from onnxpad.diagnosis import diagnose as search  # loads numpy and onnx
    from onnxpad.model.files.onnx_file import load

    name = given["model"]
    model: Any = load(name) if name == STANDARD else name
    left_out: list[str] = []
    arguments = streams.keywords("diagnose", given)
    if not given["data"]:
        arguments |= recorded(model, given, left_out)
        del arguments["data"]
    with streams.working(f"diagnosing {name}") as tell:
        diagnosis = search(model, **arguments, progress=tell)
    return replace(diagnosis, warnings=(*dict.fromkeys(left_out), *diagnosis.warnings))


def _report(diagnosis: Diagnosis, given: Mapping[str, Any]) -> None:
    """The report, then the plan, where there is one.

    With the plan on standard output the report goes to standard error.
    """
    from onnxpad.show.diagnoses import diagnosis_document

    again = shlex.join(["onnxpad", *click.get_current_context().find_root().obj])
    follow = _follow(given, again, diagnosis)
    document = partial(diagnosis_document, diagnosis, given["model"], again=again, follow=follow)
    outputs.write_page(given["html"], document)
    stream = sys.stderr if given["plan"] == STANDARD else sys.stdout
    record = {"model": given["model"], **diagnosis.to_json()}
    streams.report(given, lambda: record, document, stream)
    if written := _write_plan(diagnosis, given):
        streams.show(f"{written}\n", sys.stderr if given["as_json"] else stream)


def _write_plan(diagnosis: Diagnosis, given: Mapping[str, Any]) -> str:
    """Write the plan, or the nearest where that is asked for; what is said of it, or why not."""
    plan, path, more = diagnosis.plan, given["plan"], ""
    if not path:
        return ""
    if not diagnosis.explained:
        near = diagnosis.nearest
        if near is None or not near.entries or not given["nearest"]:
            older = f", {path} is an older one" if Path(path).exists() and path != STANDARD else ""
            why = "what comes nearest is not the whole cause; --nearest writes it all the same"
            return f"no plan was written{older}{f': {why}' if near and near.entries else ''}"
        plan, more = near, ", which comes nearest and is not the whole cause"
    outputs.write_file("--plan", path, json.dumps(plan.to_json(), indent=2).encode() + b"\n")
    name = "the plan to standard output" if path == STANDARD else path
    return f"wrote {name}: {counted(len(plan.entries), 'node')} to change{more}"


def _follow(given: Mapping[str, Any], again: str, diagnosis: Diagnosis) -> str:
    """How to write the model with the plan, or the nearest, and to see what that gives.

    Nothing where the model or the plan came through a stream, which is not there any more. What
    needs its inputs prepared otherwise is not validated: its reference holds them as they were.
    """
    model, plan, nearest = given["model"], given["plan"], not diagnosis.explained
    if STANDARD in (model, plan):
        return ""
    fixed = f"{Path(model).stem}-fixed.onnx"
    lines = [["onnxpad", "retarget", model, "--plan", plan or "plan.json", "-o", fixed]]
    if not diagnosis.preparation:
        lines.append(["onnxpad", "validate", fixed, *reference_words(given)])
    commands = [shlex.join(words) for words in lines]
    asks = ["--plan plan.json"] * (not plan) + ["--nearest"] * (nearest > given["nearest"])
    if asks:
        commands.insert(0, f"{again} {' '.join(asks)}")
    return ("; " if nearest else " && ").join(commands)  # what explains no more exits with 1
