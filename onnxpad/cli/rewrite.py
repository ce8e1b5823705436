"""onnxpad rewrite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

import click

from onnxpad.cli import arguments, destinations, writing
from onnxpad.cli.outcomes import STANDARD
from onnxpad.cli.requests import each_request

if TYPE_CHECKING:
    from onnxpad.cli.destinations import Job
    from onnxpad.cli.writing import Request
    from onnxpad.rewriting.rewrite import Rewriting
    from onnxpad.validation import Validation

_HELP = """Write the padding of a model in another form, without changing what it computes.

\b
onnxpad rewrite model.onnx -o explicit.onnx
onnxpad rewrite model.onnx --pass explicit-pads --pass split-pads -o padded.onnx
onnxpad rewrite model.onnx --dim 'height%32=0' --validate --in-place
onnxpad rewrite *.onnx -o rewritten/ --strict
onnxpad rewrite model.onnx --target opencv -o for_opencv.onnx
onnxpad rewrite model.onnx --target opencv --target ncnn -o for_both.onnx
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
    "--pass", "passes", metavar="NAME", multiple=True, help="A pass, in order. Repeatable."
)
@click.option(
    "--target",
    metavar="T",
    multiple=True,
    callback=lambda _, __, names: names or None,
    help="A runtime: write what it refuses or computes wrongly in the cheapest form that it takes. "
    "Repeatable: one model that all of them take.",
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
@arguments.edits("Prove and run both models first; write only if they agree.")
@click.option(
    "--certificate",
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="Prove both models the same first, write only if that holds, and record what was proved "
    "of which bytes; onnxpad validate --certificate proves it again.",
)
@arguments.legacy_split
@arguments.as_json
def rewrite(models: tuple[str, ...], output: str | None, **given: Any) -> int:  # noqa: ANN401
    """Rewrite each model, report it, and write it if nothing speaks against it."""
    if given["legacy_split"] and (given["validate"] or given["certificate"]):
        raise click.UsageError(
            "--validate and --certificate read the original as the newer text says, as onnxruntime "
            "does: they cannot judge --convtranspose-legacy-split"
        )
    jobs = writing.jobs_of(models, output, given)
    _check_certificate(given["certificate"], jobs)
    return writing.each(jobs, _requests(models, given), _rewritten)


def _check_certificate(path: str | None, jobs: list[Job]) -> None:
    """UsageError, or ModelError, where a certificate cannot be written."""
    if path is None:
        return
    if len(jobs) > 1:
        raise click.UsageError("--certificate is about one model: give one at a time")
    (job,) = jobs
    if STANDARD in (job.model, job.target, path) or job.target is None:
        raise click.UsageError(
            "--certificate is about files: name the model, -o OUT and the certificate, without "
            "--check and --dry-run"
        )
    cure = "give another --certificate"
    destinations.refuse_overwriting(path, [job.model, job.target], cure)
    from onnxpad.model.files.delivery import check_target

    check_target(path)


def _requests(models: tuple[str, ...], given: dict[str, Any]) -> list[Request]:
    """One request for each model; RequestError for what no model has, and unknown passes."""
    from onnxpad.rewriting.for_target.requests import planner
    from onnxpad.rewriting.passes import find_pass

    for name in given["passes"]:
        find_pass(name)
    wishes = {name: given[name] for name in ("prefer", "exclude", "allow_unknown")}
    planner(given["target"], **wishes)
    limits = ("timeout", "memory")
    rules = ("passes", "target", *wishes, "ambiguous", "legacy_split", *limits)
    found = []
    for _, about in each_request(models, given["dims"], given["nodes"]):
        options = {name: given[name] for name in rules} | about
        judging = {
            name: given[name] for name in ("device", "samples", "seed", "ambiguous", *limits)
        }
        judging["dims"] = about["dims"]
        request = writing.request_for(options, judging, given)
        if given["certificate"] and not given["validate"]:
            proving = {name: judging[name] for name in ("dims", "ambiguous", *limits)}
            request = request._replace(judging=proving | {"proof_only": True})
        found.append(request._replace(certificate=given["certificate"]))
    return found


def _rewritten(job: Job, request: Request) -> int:
    from onnxpad.rewriting.rewrite import rewrite as rewritten  # loads onnx

    found = rewritten(job.model, **request.options)
    validation: Validation | None = None
    if request.judging is not None and (found.changed or request.certificate):
        from onnxpad.validation import validate  # loads numpy, and onnxruntime when it runs

        validation = validate(writing.before(job.model, found), found.model, **request.judging)

    def report(written: str | None, stream: TextIO) -> None:
        _report(job.model, written, found, validation, request, stream)

    saved = None
    if request.certificate is not None:
        saved = _certifier(request.certificate, job, validation, request.judging or {})
    objection = _objection(found, validation, request)
    return writing.conclude(job, request, found, objection, report, saved)


def _certifier(
    path: str, job: Job, validation: Validation | None, judging: dict[str, Any]
) -> Callable[[], None]:
    """What writes the certificate; the original is hashed now, since it may be overwritten."""
    from onnxpad import __version__
    from onnxpad.model.files.fingerprints import fingerprint
    from onnxpad.validation.certificates import certificate

    before = fingerprint(job.model)

    def write() -> None:
        if validation is not None and validation.proof is not None and job.target is not None:
            files = before, fingerprint(job.target)
            told = judging["dims"], judging["ambiguous"]
            record = certificate(validation.proof, files, *told)
            replace(record, onnxpad=__version__).write(path)

    return write


def _objection(found: Rewriting, validation: Validation | None, request: Request) -> str:
    proof = validation.proof if validation else None
    if request.certificate is not None and (proof is None or proof.verdict != "proved"):
        return "the rewritten model is not proved, so there is nothing to certify"
    if validation is not None and not validation.ok:
        alone = _only_for_the_target(found, validation)
        hint = f"; without --validate it is written for {found.target} alone" if alone else ""
        return f"the rewritten model is not validated{hint} ({validation.verdict})"
    if found.unfit:
        return _unfit(found)
    if request.strict and found.skips:
        return f"--strict allows no skips, and there are {len(found.skips)}"
    return ""


def _only_for_the_target(found: Rewriting, validation: Validation) -> bool:
    """Whether only onnxruntime's optimiser harms it, in a form that it is said to harm."""
    if found.fitting is None or not found.fitting.elsewhere:
        return False
    plain = [row.equal for row in validation.outputs if row.level == "off"]
    return bool(plain) and all(plain)


def _unfit(found: Rewriting) -> str:
    wrong = sum(1 for one in found.unfit if one.judgement.answer.fails)
    if wrong:
        return f"{found.target} would refuse or miscompute {wrong} of its nodes"
    count = len(found.unfit)
    return f"it is not known whether {found.target} runs {count} of its nodes"


def _report(
    model: str,
    written: str | None,
    found: Rewriting,
    validation: Validation | None,
    request: Request,
    stream: TextIO,
) -> None:
    if request.as_json:
        from onnxpad.reports import json_line
        from onnxpad.show.rewritings import rewriting_record

        record = rewriting_record(model, written, found, validation, script=request.dry_run)
        stream.write(json_line(record))
        return
    from onnxpad.show.rewritings import rewriting_text

    compared = request.judging is None or found.changed or bool(found.unfit)
    stream.write(
        rewriting_text(model, written, found, validation, script=request.dry_run, compared=compared)
    )
