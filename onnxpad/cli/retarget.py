"""onnxpad retarget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

import click

from onnxpad.cli import arguments, plan_files, writing
from onnxpad.cli.outcomes import STANDARD
from onnxpad.cli.requests import each_request
from onnxpad.cli.streams import terminal

if TYPE_CHECKING:
    from onnxpad.cli.destinations import Job
    from onnxpad.cli.writing import Request
    from onnxpad.retargeting import Retargeting
    from onnxpad.validation.distances import Distances

_HELP = """Move a model to another framework's padding. The numbers that it computes change.

\b
onnxpad retarget model.onnx --to tensorflow -o moved.onnx
onnxpad retarget model.onnx --to pytorch --from tensorflow --node 'stem/*' --validate -o moved.onnx
onnxpad retarget model.onnx --plan plan.json -o fixed.onnx

A convention is the name of a framework, or SAME_UPPER, SAME_LOWER, symmetric. What padding means
stays (nothing, ceil(size/stride) windows, causal, full); where its odd cell stands, whether pools
round up and what averages divide by becomes what the framework does. Padding that fits no
convention is left alone, with the reason: --from or --plan settles it. Where nodes downstream no
longer fit together, nothing is written.
"""


@click.command(help=_HELP, short_help="Move a model to another framework's padding.")
@arguments.models
@click.option("--to", metavar="NAME", help="The convention to move to.")
@click.option(
    "--from",
    "source",
    metavar="NAME",
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
@arguments.as_json
def retarget(models: tuple[str, ...], output: str | None, **given: Any) -> int:  # noqa: ANN401
    """Move each model, report it, and write it if nothing speaks against it."""
    if (given["to"] is None) == (given["plan"] is None):
        raise click.UsageError("give --to NAME or --plan FILE, and not both")
    if given["plan"] is not None and given["source"] is not None:
        raise click.UsageError(
            "--from and --plan exclude each other: a plan already gives the padding of each node"
        )
    if given["plan"] == STANDARD and STANDARD in models:
        raise click.UsageError(
            "standard input holds the model or the plan, not both: give a file for one of them"
        )
    from onnxpad.cli.destinations import refuse_overwriting

    jobs = writing.jobs_of(models, output, given)
    for job in jobs:
        refuse_overwriting(job.target, [given["plan"]], "give another -o")
    return writing.each(jobs, _requests(models, given), _retargeted)


def _requests(models: tuple[str, ...], given: dict[str, Any]) -> list[Request]:
    """One request for each model; RequestError for unknown conventions and plans that are none."""
    from onnxpad.retargeting.habits import named_convention

    for name in filter(None, (given["to"], given["source"])):
        named_convention(name)
    plan = None if given["plan"] is None else plan_files.read(given["plan"])
    found, limits = [], ("timeout", "memory")
    for _, about in each_request(models, given["dims"], given["nodes"]):
        options = {name: given[name] for name in ("to", "source", "ambiguous", *limits)} | about
        judging = {name: given[name] for name in ("device", "samples", "seed", *limits)}
        judging["dims"] = about["dims"]
        options["plan"] = plan
        found.append(writing.request_for(options, judging, given))
    return found


def _retargeted(job: Job, request: Request) -> int:
    from onnxpad import retargeting  # loads onnx

    found = retargeting.retarget(job.model, **request.options)
    moved: Distances | None = None
    if request.judging is not None and found.changed:
        from onnxpad.validation.distances import distances  # loads numpy, and onnxruntime

        moved = distances(writing.before(job.model, found), found.model, **request.judging)

    def report(written: str | None, stream: TextIO) -> None:
        _report(job.model, written, found, moved, request, stream)

    return writing.conclude(job, request, found, _objection(found, request), report)


def _objection(found: Retargeting, request: Request) -> str:
    if found.breaks:
        return f"it would break {found.breaks[0]}"
    if request.strict and found.skips:
        return f"--strict allows no skips, and there are {len(found.skips)}"
    return ""


def _report(
    model: str,
    written: str | None,
    found: Retargeting,
    moved: Distances | None,
    request: Request,
    stream: TextIO,
) -> None:
    if request.as_json:
        from onnxpad.reports import json_line
        from onnxpad.show.retargetings import retargeting_record

        record = retargeting_record(model, written, found, moved, script=request.dry_run)
        stream.write(json_line(record))
        return
    from onnxpad.show.retargetings import retargeting_text

    stream.write(
        retargeting_text(
            model,
            written,
            found,
            moved,
            script=request.dry_run,
            compared=request.judging is None or found.changed,
            terminal=terminal(stream),
        )
    )
