"""onnxpad rewrite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from onnxpad.cli import arguments, destinations, html_files, writing
from onnxpad.cli.exits import STANDARD

if TYPE_CHECKING:
    from onnxpad.batch.course import Done, Request
    from onnxpad.batch.inputs import Job
    from onnxpad.cli.destinations import Jobs
    from onnxpad.show.document import Document

_HELP = """Write the padding of a model in another form, without changing what it computes.

\b
onnxpad rewrite model.onnx -o explicit.onnx
onnxpad rewrite model.onnx --pass explicit-pads --pass split-pads -o padded.onnx
onnxpad rewrite model.onnx --dim 'height%32=0' --validate --in-place
onnxpad rewrite models/ -o rewritten/ -j 4
onnxpad rewrite model.onnx --target opencv -o for_opencv.onnx
onnxpad rewrite model.onnx --target opencv --target ncnn -o for_both.onnx
onnxpad rewrite model.onnx --target opencv --live -o for_opencv.onnx
onnxpad rewrite model.onnx -o explicit.onnx --certificate explicit.json

Without --pass and --target it writes auto_pad as explicit pads. With --target it writes only what
that runtime refuses or computes wrongly, and nothing at all where there is no way for a node; of
several runtimes, one model that all of them take, or which of them stands in the way of what. With
both, the passes run first, and what they write is judged for the target as well. A node that a
pass cannot rewrite exactly is left as it is, with the reason. A model that needs no change is
written byte for byte as it was. onnxpad explain lists the passes and the targets.
"""


@click.command(help=_HELP, short_help="Write padding in another form, exactly.")
@arguments.models
@click.option(
    "--pass",
    "passes",
    metavar="NAME",
    multiple=True,
    shell_complete=arguments.completed("pass"),
    help="A pass, in order. Repeatable.",
)
@click.option(
    "--target",
    metavar="T",
    multiple=True,
    shell_complete=arguments.completed("target"),
    callback=lambda _, __, names: names or None,
    help="A runtime, with a release where you like (openvino@2024.6), or one of your own as a file "
    "of rules (npu.toml; onnxpad explain own-runtime): write what it refuses or computes wrongly "
    "in a cheap form that it takes. Repeatable: one model that all of them take.",
)
@arguments.live
@click.option(
    "--prefer",
    metavar="PASS",
    multiple=True,
    shell_complete=arguments.completed("pass"),
    help="With --target: a pass that counts as free of cost. Repeatable.",
)
@arguments.excluded("With --target, the name of a pass: it is not used. ", "GLOB|PASS")
@click.option(
    "--allow-unknown",
    is_flag=True,
    help="With --target: take for granted what is not known of it.",
)
@click.option(
    "--require-device",
    is_flag=True,
    help="With --target: rewrite as well what it would leave to the CPU, and write nothing where "
    "there is no way.",
)
@click.option(
    "--although-unfit",
    is_flag=True,
    help="With --target: write what it takes where there is a way, though for other nodes there "
    "is none, and exit 1.",
)
@arguments.edits("Prove and run both models first; write only if they agree.")
@click.option(
    "--certificate",
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="Prove both models the same first, write only if that holds, and record what was proved "
    "of which bytes; onnxpad validate --certificate proves it again.",
)
@arguments.legacy_split
@html_files.html
@arguments.spoken
def rewrite(models: tuple[str, ...], output: str | None, **given: Any) -> int:  # noqa: ANN401
    """Rewrite each model, report it, and write it if nothing speaks against it."""
    if given["legacy_split"] and (given["validate"] or given["certificate"]):
        raise click.UsageError(
            "--validate and --certificate read the original as the newer text says, as onnxruntime "
            "does: they cannot judge --legacy-split"
        )
    from onnxpad.rewriting.passes import pass_names

    globs = [name for name in given["exclude"] if name not in pass_names()]
    jobs = writing.jobs_of(models, output, {**given, "exclude": globs}, pass_names())
    given["exclude"] = [name for name in given["exclude"] if name not in globs]
    _check_certificate(given["certificate"], jobs)
    request = _request(given)
    from onnxpad.batch.course import rewritten

    return writing.run(jobs, request, given, rewritten, _document)


def _check_certificate(path: str | None, jobs: Jobs) -> None:
    """UsageError, or ModelError, where a certificate cannot be written."""
    if path is None:
        return
    if jobs.many:
        raise click.UsageError("--certificate is about one model: give one at a time")
    (job,) = jobs.jobs
    if STANDARD in (job.model, job.target, path) or job.target is None:
        raise click.UsageError(
            "--certificate is about files: name the model, -o OUT and the certificate, without "
            "--check and --dry-run"
        )
    cure = "give another --certificate"
    destinations.refuse_overwriting(path, [job.model, job.target], cure)
    from onnxpad.model.files.delivery import check_target

    check_target(path)


def _request(given: dict[str, Any]) -> Request:
    """What to do with each model; RequestError for unknown passes and targets."""
    from onnxpad.batch.course import Request
    from onnxpad.rewriting.for_target.requests import planner
    from onnxpad.rewriting.passes import find_pass

    for name in given["passes"]:
        find_pass(name)
    wished = ("prefer", "exclude", "allow_unknown", "require_device")
    wishes = {name: given[name] for name in wished}
    planner(given["target"], **wishes)
    limits = ("timeout", "memory")
    rules = ("passes", "target", *wishes, "ambiguous", "legacy_split", *limits)
    options = {name: given[name] for name in rules} | {"passes": given["passes"] or None}
    options |= arguments.live_options(given)
    if given["live"] and not given["target"]:
        raise click.UsageError("--live asks a runtime: add --target NAME")
    names = ("device", "samples", "seed", "ambiguous", *limits)
    judging = {name: given[name] for name in names} if given["validate"] else None
    if given["certificate"] and not given["validate"]:
        judging = {name: given[name] for name in ("ambiguous", *limits)} | {"proof_only": True}
    flags = {name: given[name] for name in ("check", "dry_run", "strict", "although_unfit")}
    if flags["although_unfit"] and not given["target"]:
        raise click.UsageError("--although-unfit is about a target: add --target NAME")
    return Request("rewrite", options, judging, **flags, certificate=given["certificate"])


def _document(job: Job, request: Request, done: Done, *, each: bool) -> Document:
    from onnxpad.show.rewritings import rewriting_document

    return rewriting_document(
        *(job.model, done.written, done.found, done.compared),
        script=request.dry_run,
        compared=request.judging is None or done.found.changed or bool(done.found.unfit),
        objection=done.objection,
        each=each,
    )
