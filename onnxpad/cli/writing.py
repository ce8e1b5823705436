"""Commands that edit models: the report on one, or a line for each of many.

What is done with a model is `batch.course`; the whole way is told in `onnxpad.cli`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from onnxpad.batch.inputs import facts_about
from onnxpad.cli import arguments, html_files
from onnxpad.cli.exits import STANDARD, fail_for, say
from onnxpad.cli.streams import report_stream, show, terminal, working
from onnxpad.errors import OnnxpadError, brief

if TYPE_CHECKING:
    from onnxpad.batch.course import Done, Request
    from onnxpad.batch.inputs import Job
    from onnxpad.cli.destinations import Jobs
    from onnxpad.show.document import Document


def jobs_of(
    models: Sequence[str], output: str | None, given: dict[str, Any], passes: Iterable[str] = ()
) -> Jobs:
    """Where each model goes; UsageError where that is not said or cannot be.

    `passes` are what the verb understands by --exclude besides globs over models.
    """
    from onnxpad.cli import destinations

    writes = not (given["check"] or given["dry_run"])
    if not given["validate"]:
        arguments.refuse_given("only --validate runs models", "device", "samples", "seed")
    exclude = destinations.Exclusions(given["exclude"], passes)
    place = {"in_place": given["in_place"], "writes": writes, "exclude": exclude}
    jobs = destinations.jobs(models, output, **place)
    if any(job.target == STANDARD for job in jobs.jobs) and sys.stdout.isatty():
        raise click.UsageError(
            "standard output is a terminal, which cannot show a model: add -o FILE, or send it "
            "into a file or a pipe"
        )
    return jobs


def _followed(job: Job, request: Request, edit: Callable[[Job, Request], Done]) -> Done:
    """The edit, with what it and its validation do."""
    doing = "rewriting" if request.verb == "rewrite" else "moving"
    with working(f"{doing} {job.model}") as tell:

        def step(what: str, number: int, of: int) -> None:
            tell(f"{what} ({number} of {of})" if of > 1 else what)

        request = request._replace(options={**request.options, "progress": step})
        if request.verb == "rewrite" and request.judging is not None:
            request = request._replace(judging={**request.judging, "progress": tell})
        return edit(job, request)


def run(
    jobs: Jobs,
    request: Request,
    given: Mapping[str, Any],
    edit: Callable[[Job, Request], Done],
    document: Callable[..., Document],
) -> int:
    """Edit one model and show the whole report, or many and a line for each; the exit code."""
    read = [name for job in jobs.jobs for name in (job.model, job.target)]
    others = [given.get("plan"), given.get("certificate")]
    html_files.check(given["html"], [*read, *others], many=jobs.many or bool(given["dask"]))
    if jobs.many or given["dask"]:
        from onnxpad.cli import batches

        return batches.run([(job, None) for job in jobs.jobs], request, given)
    (job,) = jobs.jobs
    try:
        dims = facts_about(job.model, given["dims"], given["input_shapes"])
        about = {"dims": dims, "nodes": list(given["nodes"]) or None}
        judging = request.judging
        if judging is not None:
            judging = {**judging, "dims": dims}
        request = request._replace(options={**request.options, **about}, judging=judging)
        job.check()
        done = _followed(job, request, edit)
    except OnnxpadError as error:
        return fail_for(job.model, error, as_json=given["as_json"] and job.target != STANDARD)
    html_files.write(given["html"], partial(document, job, request, done, each=True))
    stream = report_stream(model_on_stdout=done.written == STANDARD)
    if given["as_json"]:
        stream.write(_record_line(job, request, done))
        stream.flush()
    else:
        from onnxpad.show.document import document_text

        report = document(job, request, done, each=given["each"])
        show(document_text(report, terminal(stream)), stream)
    if done.objection:
        from onnxpad.show.wording import visible

        say(brief(visible(f"nothing written for {job.model}: {done.objection}")) + "\n")
    return done.code


def _record_line(job: Job, request: Request, done: Done) -> str:
    from onnxpad.reports import json_line
    from onnxpad.show.edited import edited_record

    parts = (job.model, done.written, done.found, done.compared)
    script, refused = request.dry_run, done.objection
    return json_line(edited_record(request.verb, *parts, script=script, refused=refused))
