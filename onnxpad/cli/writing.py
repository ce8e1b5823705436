"""The course of a command that edits models: where each goes, what speaks against it, the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click

from onnxpad.cli import arguments
from onnxpad.cli.outcomes import FINDINGS, FINE, STANDARD, fail_for, say
from onnxpad.cli.streams import report_stream, terminal
from onnxpad.errors import OnnxpadError, brief

if TYPE_CHECKING:
    from onnxpad.cli.destinations import Job
    from onnxpad.model.editing.session import Edited


class Request(NamedTuple):
    """What to do with a model; `options` go to the edit, `judging` to the runs of both models."""

    options: dict[str, Any]
    judging: dict[str, Any] | None
    check: bool
    dry_run: bool
    strict: bool
    as_json: bool
    certificate: str | None = None


def jobs_of(models: Sequence[str], output: str | None, given: dict[str, Any]) -> list[Job]:
    """Where each model goes; UsageError where that is not said or cannot be."""
    from onnxpad.cli import destinations

    writes = not (given["check"] or given["dry_run"])
    if not given["validate"]:
        arguments.refuse_given("only --validate runs models", "device", "samples", "seed")
    jobs = destinations.jobs(models, output, in_place=given["in_place"], writes=writes)
    if any(job.target == STANDARD for job in jobs) and sys.stdout.isatty():
        raise click.UsageError(
            "standard output is a terminal, which cannot show a model: add -o FILE, or send it "
            "into a file or a pipe"
        )
    return jobs


def request_for(options: dict[str, Any], judging: dict[str, Any], given: dict[str, Any]) -> Request:
    """A request with the flags that every edit has."""
    flags = {name: given[name] for name in ("check", "dry_run", "strict", "as_json")}
    return Request(options, judging if given["validate"] else None, **flags)


def each(
    jobs: Sequence[Job], requests: Sequence[Request], edit: Callable[[Job, Request], int]
) -> int:
    """The worst exit code; an error about one model does not hold up the next."""
    from onnxpad.show.progress import following

    shown, shares = terminal(sys.stderr) is not None, sys.stdout.isatty()
    followed = following(jobs, sys.stderr, shown=shown, shares_screen=shares)
    return max(_one(job, request, edit) for job, request in zip(followed, requests, strict=True))


def _one(job: Job, request: Request, edit: Callable[[Job, Request], int]) -> int:
    try:
        job.check()
        return edit(job, request)
    except OnnxpadError as error:
        return fail_for(job.model, error)


def before(model: str, found: Edited) -> object:
    """The model as it was read; standard input cannot be read again."""
    data = found.source.data if found.source else None
    if model != STANDARD or not isinstance(data, bytes):
        return model
    from onnxpad.model.files.onnx_file import parse

    return parse(data, name="standard input", folder=None)


def conclude(
    job: Job,
    request: Request,
    found: Edited,
    objection: str,
    report: Callable[[str | None, TextIO], None],
    saved: Callable[[], None] | None = None,
) -> int:
    """Write the model where nothing speaks against it, and report; the exit code.

    `saved` is called where the model stands in its place.
    """
    if job.target is not None and not objection:
        with job.folder_made():
            found.save(job.target)
            if saved is not None:
                saved()
    written = None if objection else job.target
    stream = report_stream(model_on_stdout=written == STANDARD)
    report(written, stream)
    stream.flush()  # what is finished is there, whatever happens to the next
    if objection:
        from onnxpad.show.wording import visible

        say(brief(visible(f"nothing written for {job.model}: {objection}")) + "\n")
    return FINDINGS if objection or (request.check and found.changed) else FINE
