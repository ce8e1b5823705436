"""Move a model to another framework's padding. The numbers that it computes change.

    onnxpad retarget model.onnx --to tensorflow -o moved.onnx
    onnxpad retarget model.onnx --to pytorch --source keras --node 'stem/*' --validate -o moved.onnx
    onnxpad retarget model.onnx --plan plan.json -o fixed.onnx

A convention is the name of a framework, or SAME_UPPER, SAME_LOWER, symmetric. What padding means
stays (nothing, ceil(size/stride) windows, causal, full); where its odd cell stands, whether pools
round up and what averages divide by becomes what the framework does. Padding that fits no
convention is left alone, with the reason: --source or --plan settles it. Where nodes downstream no
longer fit together, nothing is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from onnxpad.cli import batches
from onnxpad.cli.destinations import jobs_of
from onnxpad.cli.outputs import refuse_overwriting
from onnxpad.cli.streams import STANDARD
from onnxpad.errors import RequestError

if TYPE_CHECKING:
    from onnxpad.batch.course import Request
    from onnxpad.retargeting.plan import Plan


def retarget(given: dict[str, Any]) -> int:
    """Move each model, report it, and write it if nothing speaks against it."""
    if given["to"] is given["plan"] is None:
        raise click.UsageError("give --to NAME or --plan FILE")
    if given["plan"] == STANDARD and STANDARD in given["models"]:
        raise click.UsageError(
            "standard input holds the model or the plan, not both: give a file for one of them"
        )
    jobs = jobs_of(given)
    for job in jobs.jobs:
        refuse_overwriting("-o", job.target, [given["plan"]])
    return batches.edit(jobs.jobs, _request(given), given, many=jobs.many)


def _request(given: dict[str, Any]) -> Request:
    """What to do with each model; RequestError for unknown conventions and plans that are none."""
    from onnxpad.batch.course import Request
    from onnxpad.retargeting.habits import named_convention

    for name in filter(None, (given["to"], given["source"])):
        named_convention(name)
    limits = ("timeout", "memory")
    options = {name: given[name] for name in ("to", "source", "ambiguous", *limits)}
    options["plan"] = None if given["plan"] is None else _plan(given["plan"])
    names = ("device", "samples", "seed", *limits)
    judging = {name: given[name] for name in names} if given["validate"] else None
    flags = {name: given[name] for name in ("check", "dry_run", "strict")}
    return Request("retarget", options, judging, **flags)


def _plan(path: str) -> Plan:
    """The plan in a file or on standard input; RequestError says what is wrong with it."""
    from onnxpad.model.files.contents import standard_input
    from onnxpad.retargeting import LARGEST_PLAN, parse_plan, read_plan

    if path != STANDARD:
        return read_plan(path)
    try:
        return parse_plan(standard_input(LARGEST_PLAN), "standard input")
    except (OSError, ValueError) as error:
        raise RequestError(f"cannot read the plan on standard input: {error!s}") from error
