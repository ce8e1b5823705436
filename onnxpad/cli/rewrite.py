"""onnxpad rewrite."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from onnxpad.cli import arguments
from onnxpad.cli.outcomes import FINDINGS, FINE, STANDARD, fail_for
from onnxpad.cli.requests import each_request
from onnxpad.cli.streams import report_stream, terminal
from onnxpad.errors import OnnxpadError

if TYPE_CHECKING:
    from onnxpad.cli.destinations import Job
    from onnxpad.rewriting import Rewriting
    from onnxpad.validation import Validation

_HELP = """Write the padding of a model in another form, without changing what it computes.

\b
onnxpad rewrite model.onnx -o explicit.onnx
onnxpad rewrite model.onnx --pass explicit-pads --pass split-pads -o padded.onnx
onnxpad rewrite model.onnx --dim 'height%32=0' --validate --in-place
onnxpad rewrite *.onnx -o rewritten/ --strict
onnxpad rewrite model.onnx --target opencv -o for_opencv.onnx

Without --pass and --target it writes auto_pad as explicit pads. With --target it writes only what
that runtime refuses or computes wrongly, and nothing at all where there is no way for a node. A
node that a pass cannot rewrite exactly is left as it is, with the reason. A model that needs no
change is written byte for byte as it was. onnxpad explain lists the passes and the targets.
"""


class Request(NamedTuple):
    """What to do with each model; `options` go to the rewrite, `judging` to the validation."""

    options: dict[str, Any]
    judging: dict[str, Any] | None
    check: bool
    dry_run: bool
    strict: bool
    as_json: bool


@click.command(help=_HELP, short_help="Write padding in another form, exactly.")
@arguments.models
@click.option(
    "--pass", "passes", metavar="NAME", multiple=True, help="A pass, in order. Repeatable."
)
@click.option(
    "--target",
    metavar="T",
    help="A runtime: write what it refuses or computes wrongly in the cheapest form that it takes.",
)
@click.option(
    "--prefer",
    metavar="PASS",
    multiple=True,
    help="With --target: a pass that counts as free of cost. Repeatable.",
)
@click.option(
    "--exclude",
    metavar="PASS",
    multiple=True,
    help="With --target: a pass that is not used. Repeatable.",
)
@click.option(
    "--allow-unknown",
    is_flag=True,
    help="With --target: take for granted what is not known of it.",
)
@click.option(
    "-o", "--output", metavar="OUT|DIR/", type=arguments.MODEL, help="File or folder to write."
)
@click.option("--in-place", is_flag=True, help="Overwrite the models.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if anything would change.")
@click.option("--dry-run", is_flag=True, help="Write nothing; print the edits.")
@click.option("--strict", is_flag=True, help="Write nothing and exit 1 if a node is skipped.")
@click.option("--validate", is_flag=True, help="Run both models first; write only if they agree.")
@arguments.device
@arguments.samples
@arguments.seed
@arguments.dims
@arguments.nodes
@arguments.ambiguous
@arguments.legacy_split
@arguments.as_json
def rewrite(models: tuple[str, ...], output: str | None, **given: Any) -> int:  # noqa: ANN401
    """Rewrite each model, report it, and write it if nothing speaks against it."""
    from onnxpad.cli import destinations  # --help needs none of these
    from onnxpad.render.progress import following

    writes = not (given["check"] or given["dry_run"])
    if not given["validate"]:
        arguments.refuse_given("only --validate runs models", "device", "samples", "seed")
    if given["validate"] and given["legacy_split"]:
        raise click.UsageError(
            "--validate runs the original with onnxruntime, which splits as the newer text says: "
            "it cannot judge --convtranspose-legacy-split"
        )
    jobs = destinations.jobs(models, output, in_place=given["in_place"], writes=writes)
    if any(job.target == STANDARD for job in jobs) and sys.stdout.isatty():
        raise click.UsageError(
            "standard output is a terminal, which cannot show a model: add -o FILE, or send it "
            "into a file or a pipe"
        )
    requests = _requests(models, given)
    shown, shares = terminal(sys.stderr) is not None, sys.stdout.isatty()
    followed = following(jobs, sys.stderr, shown=shown, shares_screen=shares)
    return max(_handled(job, request) for job, request in zip(followed, requests, strict=True))


def _requests(models: tuple[str, ...], given: dict[str, Any]) -> list[Request]:
    """One request for each model; RequestError for what no model has, and unknown passes."""
    from onnxpad.passes import find_pass
    from onnxpad.planning.requests import planner

    for name in given["passes"]:
        find_pass(name)
    wishes = {name: given[name] for name in ("prefer", "exclude", "allow_unknown")}
    planner(given["target"], **wishes)
    rules = ("passes", "target", *wishes, "ambiguous", "legacy_split")
    flags = {name: given[name] for name in ("check", "dry_run", "strict", "as_json")}
    found = []
    for _, about in each_request(models, given["dims"], given["nodes"]):
        options = {name: given[name] for name in rules} | about
        judging = {name: given[name] for name in ("device", "samples", "seed", "ambiguous")}
        judging["dims"] = about["dims"]
        found.append(Request(options, judging if given["validate"] else None, **flags))
    return found


def _handled(job: Job, request: Request) -> int:
    try:
        return _rewritten(job, request)
    except OnnxpadError as error:
        return fail_for(job.model, error)


def _rewritten(job: Job, request: Request) -> int:
    from onnxpad import rewriting  # loads onnx

    model, target = job.model, job.target
    found = rewriting.rewrite(model, **request.options)
    validation = None
    if request.judging is not None and found.changed:
        validation = _validated(model, found, request.judging)
    objection = _objection(found, validation, request)
    if target is not None and not objection:
        job.prepare()
        found.save(target)
    written = None if objection else target
    _report(model, written, found, validation, request)
    if objection:
        from onnxpad.render.wording import visible

        sys.stderr.write(visible(f"nothing written for {model}: {objection}") + "\n")
    return FINDINGS if objection or (request.check and found.changed) else FINE


def _validated(model: str, found: Rewriting, judging: dict[str, Any]) -> Validation:
    from onnxpad import validation  # loads numpy, and onnxruntime when it runs

    before: object = model
    if model == STANDARD and found.source is not None and found.source.data is not None:
        from onnxpad.graph.storage.files import parse

        before = parse(found.source.data, name="standard input", folder=None)
    return validation.validate(before, found.model, **judging)


def _objection(found: Rewriting, validation: Validation | None, request: Request) -> str:
    if validation is not None and not validation.ok:
        return f"the rewritten model is not validated ({validation.verdict}: {validation.reason})"
    if found.unfit:
        count = len(found.unfit)
        return f"{found.target} would not run {count} node{'s' * (count > 1)} of it rightly"
    if request.strict and found.skips:
        return f"--strict, and {len(found.skips)} skipped"
    return ""


def _report(
    model: str,
    written: str | None,
    found: Rewriting,
    validation: Validation | None,
    request: Request,
) -> None:
    stream = report_stream(model_on_stdout=written == STANDARD)
    if request.as_json:
        from onnxpad.render.jsons import json_line
        from onnxpad.render.rewritings import rewriting_record

        record = rewriting_record(model, written, found, validation, script=request.dry_run)
        stream.write(json_line(record))
        return
    from onnxpad.render.rewritings import rewriting_text

    stream.write(rewriting_text(model, written, found, validation, script=request.dry_run))
