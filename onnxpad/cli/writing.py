"""Commands that edit models: the report on one, or a line for each of many.

What is done with a model is `batch.course`; the whole way is told in `onnxpad.cli`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from onnxpad.batch.facts import facts_about
from onnxpad.cli import outputs, streams
from onnxpad.cli.streams import STANDARD, working
from onnxpad.errors import OnnxpadError

if TYPE_CHECKING:
    from onnxpad.batch.course import Done, Request
    from onnxpad.batch.inputs import Job
    from onnxpad.cli.destinations import Jobs
    from onnxpad.show.document import Document


def run(
    jobs: Jobs,
    request: Request,
    given: Mapping[str, Any],
    edit: Callable[[Job, Request], Done],
    document: Callable[..., Document],
) -> int:
    """Edit one model and show the whole report, or many and a line for each; the exit code."""
    if any(job.target == STANDARD for job in jobs.jobs) and sys.stdout.isatty():
        raise click.UsageError(
            "standard output is a terminal, which cannot show a model: add -o FILE, or send it "
            "into a file or a pipe"
        )
    others = [given.get("plan"), given.get("certificate")]
    files = [name for job in jobs.jobs for name in (job.model, job.target)]
    many = jobs.many or bool(given["dask"])
    outputs.check_page(given["html"], [*files, *others], many=many)
    if many:
        from onnxpad.cli import batches

        return batches.run(jobs.jobs, request, given)
    (job,) = jobs.jobs
    try:
        dims = facts_about(job.model, given["dims"], given["input_shapes"])
        job.check()
        done = _edited(job, request.about(dims, given["nodes"]), edit)
    except OnnxpadError as error:
        return streams.fail_for(
            job.model, error, as_json=given["as_json"] and job.target != STANDARD
        )

    def made(*, each: bool = given["each"]) -> Document:
        return document(
            *(job.model, done.written, done.found, done.compared),
            script=request.dry_run,
            compared=request.judging is None or done.found.changed or done.unfit,
            objection=done.objection,
            each=each,
        )

    def record() -> Mapping[str, Any]:
        from onnxpad.show.edited import edited_record

        parts = (job.model, done.written, done.found, done.compared)
        script, refused = request.dry_run, done.objection
        return edited_record(request.verb, *parts, script=script, refused=refused)

    outputs.write_page(given["html"], lambda: made(each=True))
    stream = streams.report_stream(model_on_stdout=done.written == STANDARD)
    streams.report(given, record, made, stream)
    if done.objection:
        streams.say_with_try(f"nothing written for {job.model}: {done.objection}")
    return done.code


def _edited(job: Job, request: Request, edit: Callable[[Job, Request], Done]) -> Done:
    """The edit, with the steps of it and of its validation on standard error."""
    doing = "rewriting" if request.verb == "rewrite" else "moving"
    with working(f"{doing} {job.model}") as tell:

        def step(what: str, number: int, of: int) -> None:
            tell(f"{what} ({number} of {of})" if of > 1 else what)

        request = request._replace(options={**request.options, "progress": step})
        if request.verb == "rewrite" and request.judging is not None:
            request = request._replace(judging={**request.judging, "progress": tell})
        return edit(job, request)
