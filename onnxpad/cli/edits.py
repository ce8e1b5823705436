"""`rewrite` and `retarget`: options become what to do with each model, and where it goes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from onnxpad.cli import batches, outputs
from onnxpad.cli.streams import FINE, STANDARD, keywords

if TYPE_CHECKING:
    from onnxpad.batch.inputs import Inputs

_FLAGS = ("check", "dry_run", "strict")
_LIMITS = ("timeout", "memory")


def rewrite(given: dict[str, Any]) -> int:
    """Rewrite each model, report it, and write it if nothing speaks against it."""
    from onnxpad.rewriting.passes import find_pass, pass_names

    globs = [name for name in given["exclude"] if name not in pass_names()]
    inputs = batches.jobs_of({**given, "exclude": globs})
    given["exclude"] = [name for name in given["exclude"] if name not in globs]
    files = [name for job in inputs.jobs for name in (job.model, job.target)]
    if given["certificate"] and (inputs.many or STANDARD in files or None in files):
        raise click.UsageError(
            "--certificate is about the files of one model: name the model, -o OUT and the "
            "certificate, without --check and --dry-run"
        )
    from onnxpad.rewriting.for_target.requests import planner

    for name in given["passes"] or ():
        find_pass(name)
    wishes = ("prefer", "exclude", "allow_unknown", "require_device")
    planner(given["target"], **{name: given[name] for name in wishes})
    judging = None
    if given["validate"]:
        judging = {
            name: given[name] for name in ("device", "samples", "seed", "ambiguous", *_LIMITS)
        }
    elif given["certificate"]:
        judging = {name: given[name] for name in ("ambiguous", *_LIMITS)} | {"proof_only": True}
    return _edited("rewrite", inputs, given, judging)


def retarget(given: dict[str, Any]) -> int:
    """Move each model, report it, and write it if nothing speaks against it."""
    plan = given["plan"]
    if given["to"] is plan is None:
        raise click.UsageError("give --to NAME or --plan FILE")
    if plan == STANDARD and STANDARD in given["models"]:
        raise click.UsageError(
            "standard input holds the model or the plan, not both: give a file for one of them"
        )
    inputs = batches.jobs_of(given)
    for job in inputs.jobs:
        outputs.refuse_reading("-o", job.target, [plan])
    from onnxpad.retargeting import read_plan
    from onnxpad.retargeting.habits import named_convention

    for name in filter(None, (given["to"], given["source"])):
        named_convention(name)
    given["plan"] = None if plan is None else read_plan(plan)
    names = ("device", "samples", "seed", *_LIMITS)
    judging = {name: given[name] for name in names} if given["validate"] else None
    return _edited("retarget", inputs, given, judging)


def _edited(
    verb: str,
    inputs: Inputs,
    given: dict[str, Any],
    judging: dict[str, Any] | None,
) -> int:
    """Write models in another form; the exit code."""
    from onnxpad.batch.course import Task

    jobs = inputs.jobs
    if not jobs:
        return FINE
    if any(job.target == STANDARD for job in jobs) and sys.stdout.isatty():
        raise click.UsageError(
            "standard output is a terminal, which cannot show a model: add -o FILE, or send it "
            "into a file or a pipe"
        )
    many = inputs.many or bool(given["dask"])
    more = {name: given[name] for name in ("certificate", "although_unfit") if name in given}
    flags = {name: given[name] for name in _FLAGS}
    options = {name: one for name, one in keywords(verb, given).items() if name not in _FLAGS}
    task: Task = Task(verb, options, judging, **flags, **more)
    return batches.run(jobs, task, given, many=many)
