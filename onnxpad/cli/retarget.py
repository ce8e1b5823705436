"""onnxpad retarget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from onnxpad.cli import arguments, html_files, plan_files, writing
from onnxpad.cli.exits import STANDARD

if TYPE_CHECKING:
    from onnxpad.batch.course import Done, Request
    from onnxpad.batch.inputs import Job
    from onnxpad.show.document import Document

_HELP = """Move a model to another framework's padding. The numbers that it computes change.

\b
onnxpad retarget model.onnx --to tensorflow -o moved.onnx
onnxpad retarget model.onnx --to pytorch --source keras --node 'stem/*' --validate -o moved.onnx
onnxpad retarget model.onnx --plan plan.json -o fixed.onnx

A convention is the name of a framework, or SAME_UPPER, SAME_LOWER, symmetric. What padding means
stays (nothing, ceil(size/stride) windows, causal, full); where its odd cell stands, whether pools
round up and what averages divide by becomes what the framework does. Padding that fits no
convention is left alone, with the reason: --source or --plan settles it. Where nodes downstream no
longer fit together, nothing is written.
"""


@click.command(help=_HELP, short_help="Move a model to another framework's padding.")
@arguments.models
@click.option(
    "--to",
    metavar="NAME",
    shell_complete=arguments.completed("convention"),
    help="The convention to move to.",
)
@click.option(
    "--source",
    metavar="NAME",
    shell_complete=arguments.completed("convention"),
    help="Whose padding it is: settles numbers that can mean several things. What that convention "
    "would not write is skipped, with the reason.",
)
@click.option(
    "--plan",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="The padding of single nodes, as JSON; diagnose writes it. '-': from standard input.",
)
@arguments.edits("Run both models and show how far outputs move.")
@arguments.excluded()
@html_files.html
@arguments.spoken
def retarget(models: tuple[str, ...], output: str | None, **given: Any) -> int:  # noqa: ANN401
    """Move each model, report it, and write it if nothing speaks against it."""
    if (given["to"] is None) == (given["plan"] is None):
        raise click.UsageError("give --to NAME or --plan FILE, and not both")
    if given["plan"] is not None and given["source"] is not None:
        raise click.UsageError(
            "--source and --plan exclude each other: a plan already gives the padding of each node"
        )
    if given["plan"] == STANDARD and STANDARD in models:
        raise click.UsageError(
            "standard input holds the model or the plan, not both: give a file for one of them"
        )
    from onnxpad.cli.destinations import refuse_overwriting

    jobs = writing.jobs_of(models, output, given)
    for job in jobs.jobs:
        refuse_overwriting(job.target, [given["plan"]], "give another -o")
    request = _request(given)
    from onnxpad.batch.course import retargeted

    return writing.run(jobs, request, given, retargeted, _document)


def _request(given: dict[str, Any]) -> Request:
    """What to do with each model; RequestError for unknown conventions and plans that are none."""
    from onnxpad.batch.course import Request
    from onnxpad.retargeting.habits import named_convention

    for name in filter(None, (given["to"], given["source"])):
        named_convention(name)
    limits = ("timeout", "memory")
    options = {name: given[name] for name in ("to", "source", "ambiguous", *limits)}
    options["plan"] = None if given["plan"] is None else plan_files.read(given["plan"])
    names = ("device", "samples", "seed", *limits)
    judging = {name: given[name] for name in names} if given["validate"] else None
    flags = {name: given[name] for name in ("check", "dry_run", "strict")}
    return Request("retarget", options, judging, **flags)


def _document(job: Job, request: Request, done: Done, *, each: bool) -> Document:
    from onnxpad.show.retargetings import retargeting_document

    return retargeting_document(
        *(job.model, done.written, done.found, done.compared),
        script=request.dry_run,
        compared=request.judging is None or done.found.changed,
        objection=done.objection,
        each=each,
    )
