"""onnxpad diagnose."""

from __future__ import annotations

import shlex
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxpad.batch.inputs import SUFFIX
from onnxpad.cli import arguments, html_files, plan_files
from onnxpad.cli.exits import FINDINGS, FINE, STANDARD, say
from onnxpad.cli.streams import report_stream, show, terminal, working
from onnxpad.errors import RequestError, counted

if TYPE_CHECKING:
    from onnxpad.diagnosis import Diagnosis

_AGAIN = 3
"""How much longer than the last time a search may take that is to find the same, in seconds."""
_BUDGET = 120.0
_HELP = """Find the padding, node by node, with which a model gives a reference output.

\b
onnxpad diagnose model.onnx --data reference.npz
onnxpad diagnose model.onnx --data test_data_set_0 --data test_data_set_1 --plan plan.json
onnxpad diagnose model.onnx --inputs x.npy --outputs y.npy --budget 300
onnxpad retarget model.onnx --plan plan.json -o fixed.onnx

An .npz file holds inputs and outputs under the names of tensors (intermediate ones are welcome),
or under s0_in0 and s0_ref0 (sample 0, place 0). The first sample is fitted, the others are
checked. Exit 0: explained, by padding or because nothing but rounding, or what --atol and --rtol
allow, differs. Exit 1: no padding gives the reference.
"""


@click.command(help=_HELP, short_help="Find the padding that reproduces a reference.")
@click.argument("model", type=arguments.MODEL)
@click.argument("more", nargs=-1, metavar="", type=arguments.MODEL)
@arguments.data
@click.option("--inputs", type=arguments.ARRAYS, metavar="FILE", help="Inputs alone: .npz, .npy.")
@click.option("--outputs", type=arguments.ARRAYS, metavar="FILE", help="The reference alone.")
@click.option(
    "--plan",
    type=click.Path(dir_okay=False, writable=True, allow_dash=True),
    metavar="FILE",
    help="Write what to change, for retarget --plan. '-': to standard output, the report to "
    "standard error.",
)
@click.option(
    "--nearest",
    is_flag=True,
    help="With --plan: where nothing explains the reference, write what comes nearest.",
)
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    default=_BUDGET,
    show_default=True,
    metavar="SECONDS",
    help="End the search after so many seconds; what came nearest is told all the same.",
)
@arguments.device
@arguments.tolerance
@arguments.ambiguous
@html_files.html
@arguments.timeout
@arguments.memory
@arguments.spoken
def diagnose(**options: Any) -> int:  # noqa: ANN401 - click gives every option by name
    """Diagnose, print the report and write the plan."""
    _check(options)
    found = _diagnosed(options)
    _report(found, options)
    return FINE if found.explained else FINDINGS


def _check(options: dict[str, Any]) -> None:
    """UsageError where the reference is not given, or twice."""
    if more := options.pop("more"):
        model, *rest = sorted((options["model"], *more), key=lambda name: not name.endswith(SUFFIX))
        data = " ".join(f"--data {shlex.quote(name)}" for name in rest)
        meant = f"onnxpad diagnose {shlex.quote(model)} {data}"
        raise click.UsageError(
            f"it takes one model, and a reference by --data; did you mean {meant}?"
        )
    arguments.refuse_data_twice(options)
    if not options["data"] and not (options["inputs"] and options["outputs"]):
        raise click.UsageError(
            "the reference is missing: give --data PATH, or --inputs FILE and --outputs FILE"
        )
    if options["nearest"] and not options["plan"]:
        raise click.UsageError("--nearest needs --plan FILE: it says what is written there")
    plan_files.check(options["plan"], options)
    names = ("model", "inputs", "outputs", "plan")
    html_files.check(options["html"], [*options["data"], *(options[name] for name in names)])


def _report(found: Diagnosis, options: dict[str, Any]) -> None:
    """The plan first, where there is one, then the report; also where the plan cannot be written.

    With the plan on standard output the report goes to standard error.
    """
    plan = options["plan"]
    stream = report_stream(model_on_stdout=plan == STANDARD)
    failed, wrote = None, ""
    if plan:
        try:
            wrote = _written(found, plan, nearest=options["nearest"])
        except RequestError as error:
            failed, plan = error, None
    from onnxpad.show.diagnoses import Around, diagnosis_document

    nearest = _follow(options, found, nearest=True)
    around = Around(wrote, _again(options), _follow(options, found), nearest)
    document = diagnosis_document(found, options["model"], around)
    html_files.write(options["html"], lambda: document)
    if options["as_json"]:
        from onnxpad.reports import json_line
        from onnxpad.show.wording import visible

        stream.write(json_line({"model": options["model"], **found.to_json()}))
        say(f"{visible(wrote)}\n" if wrote and not found.explained else "")
    else:
        from onnxpad.show.document import document_text

        show(document_text(document, terminal(stream)), stream)
    if failed:
        raise failed


def _written(found: Diagnosis, path: str, *, nearest: bool) -> str:
    """Write the plan, or the nearest where that is asked for; what is said of it, or why not."""
    plan, more = found.plan, ""
    if not found.explained:
        near = found.nearest if found.nearest is not None and found.nearest.entries else None
        if near is None or not nearest:
            why = "what comes nearest is not the whole cause; --nearest writes it all the same"
            return plan_files.not_written(path, why if near is not None else "")
        plan, more = near, ", which comes nearest and is not the whole cause"
    plan_files.write(path, plan)
    name = "the plan to standard output" if path == STANDARD else path
    return f"wrote {name}: {counted(len(plan.entries), 'node')} to change{more}"


def _again(options: dict[str, Any]) -> str:
    """The same command, for a reference that holds more."""
    words = ["onnxpad", "diagnose", options["model"], *_reference(options)]
    words += ["--plan", options["plan"]] if options["plan"] else []
    for name, usual in (("device", "auto"), ("ambiguous", None)):
        words += [f"--{name}", options[name]] if options[name] != usual else []
    words += ["--budget", f"{options['budget']:g}"] if options["budget"] != _BUDGET else []
    return shlex.join(words)


def _reference(options: dict[str, Any]) -> list[str]:
    """The reference and the tolerance as options, which validate takes alike."""
    words = [word for path in options["data"] for word in ("--data", path)]
    for name in ("inputs", "outputs"):
        words += [f"--{name}", options[name]] if options[name] else []
    for name in ("atol", "rtol"):
        words += [f"--{name}", f"{options[name]:g}"] if options[name] is not None else []
    return words


def _follow(options: dict[str, Any], found: Diagnosis, *, nearest: bool = False) -> str:
    """How to write the model with the plan, or the `nearest`, and to see what that gives.

    Nothing where the model or the plan came through a stream, which is not there any more. What
    needs its inputs prepared otherwise is not validated: its reference holds them as they were.
    """
    model, plan = options["model"], options["plan"]
    if STANDARD in (model, plan):
        return ""
    fixed = str(Path(model).with_name(f"{Path(model).stem}-fixed.onnx"))
    lines = [
        ["onnxpad", "retarget", model, "--plan", plan or "plan.json", "-o", fixed],
        ["onnxpad", "validate", fixed, *_reference(options)],
    ]
    if found.preparation:
        del lines[1]
    commands = [shlex.join(words) for words in lines]
    asks = ["--plan plan.json"] * (not plan) + ["--nearest"] * (nearest > options["nearest"])
    if asks:
        seconds = found.nearest_seconds if nearest else None
        if seconds is not None:  # the search need not go on behind what it found
            options = {**options, "budget": min(options["budget"], ceil(_AGAIN * seconds + _AGAIN))}
        commands.insert(0, f"{_again(options)} {' '.join(asks)}")
    return ("; " if nearest else " && ").join(commands)  # what explains no more exits with 1


def _diagnosed(options: dict[str, Any]) -> Diagnosis:
    from onnxpad import diagnosis  # loads numpy and onnx
    from onnxpad.model.comparing.networks import open_network
    from onnxpad.model.files.onnx_file import load
    from onnxpad.validation.recorded import recorded_apart

    given = options["model"]
    model: Any = load(given) if given == STANDARD else given
    network = open_network(model)
    plan_files.check_weights(options["plan"], network)
    left_out: list[str] = []
    reference: dict[str, Any] = {"data": options["data"] or None}
    if not options["data"]:
        paths = options["inputs"], options["outputs"]
        found_in = recorded_apart(*paths, network, left_out.append)
        reference = dict(zip(("inputs", "outputs"), found_in, strict=True))
    with working(f"diagnosing {given}") as tell:
        found = diagnosis.diagnose(
            model,
            **reference,
            device=options["device"],
            budget=options["budget"],
            atol=options["atol"],
            rtol=options["rtol"],
            ambiguous=options["ambiguous"],
            timeout=options["timeout"],
            memory=options["memory"],
            progress=tell,
        )
    return replace(found, warnings=(*dict.fromkeys(left_out), *found.warnings))
