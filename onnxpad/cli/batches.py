"""Many models on the command line: where they are worked on, a line for each, the sum."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click

from onnxpad.cli.exits import FINE, STANDARD, fail, say, say_with_try
from onnxpad.cli.streams import show, status_line
from onnxpad.errors import brief

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from onnxpad.batch.course import Request
    from onnxpad.batch.each import Outcome
    from onnxpad.batch.inputs import Job

Gating: TypeAlias = "Callable[[Outcome], tuple[Outcome, Callable[[], None]]]"


def run(
    jobs: Sequence[tuple[Job, str | None]],
    request: Request,
    given: Mapping[str, Any],
    *,
    noun: str = "model",
    gated: Gating | None = None,
    lines: bool = True,
) -> int:
    """Do all of them, each with the second model of validate; the highest exit code.

    `given` has --dim and --node, --jobs, --dask and --json, and perhaps --failing and
    --input-shape. `gated` gives an outcome as it is to be shown, and what says more about it
    afterwards. Without `lines` errors alone are shown.
    """
    from onnxpad.batch.course import asked_of
    from onnxpad.batch.each import options_for

    refuse_elsewhere([job for job, _ in jobs], given)
    facts = {"dims": given["dims"], "nodes": list(given.get("nodes", ())) or None}
    options = request.options | {name: value for name, value in facts.items() if value}
    with _executor(given, len(jobs)) as executor:
        shapes = given.get("input_shapes")
        about, notes = options_for([job for job, _ in jobs], options, executor, shapes)
        say_notes(notes)
        asked = []
        for (job, after), own in zip(jobs, about, strict=True):
            judging = request.judging
            if judging is not None:
                judging = {**judging, "dims": own.get("dims")}
            asked.append(asked_of(job, request._replace(options=own, judging=judging), after))
        failing = bool(given.get("failing"))
        how = _Shown(noun, given["as_json"], gated or _as_it_is, lines, failing)
        return _told(asked, executor, how)


def say_notes(notes: Sequence[str]) -> None:
    """What was left out for one of the models."""
    for note in notes:
        say(brief(_visible(f"note: {note}")) + "\n")


def refuse_elsewhere(jobs: Sequence[Job], given: Mapping[str, Any]) -> None:
    """UsageError where other processes are to read standard input."""
    elsewhere = given["jobs"] > 1 or given["dask"]
    if elsewhere and any(job.model == STANDARD for job in jobs):
        raise click.UsageError("standard input can be read here alone: leave -j and --dask out")


@contextmanager
def _executor(given: Mapping[str, Any], models: int) -> Iterator[Executor | None]:
    from onnxpad.batch.each import working_in

    if given["dask"]:
        from onnxpad.batch.fleets import dask_executor

        with dask_executor(given["dask"]) as executor:
            yield executor
    else:
        with working_in(None, min(given["jobs"], models)) as executor:
            yield executor


class _Shown(NamedTuple):
    noun: str
    as_json: bool
    gated: Gating
    lines: bool
    failing: bool


def _as_it_is(outcome: Outcome) -> tuple[Outcome, Callable[[], None]]:
    return outcome, lambda: None


def _told(asked: Sequence[dict[str, Any]], executor: Executor | None, how: _Shown) -> int:
    from onnxpad.batch.each import outcomes
    from onnxpad.show.batches import totals_text

    status, found = FINE, []
    with status_line(f"{how.noun}s 0/{len(asked)}") as line:

        def tell(model: str, done: int, of: int) -> None:
            if line:
                line.say(f"{how.noun}s {done}/{of}, {model}")

        for one in outcomes(asked, executor, tell):
            outcome, say_more = how.gated(one)
            status = max(status, outcome.code)
            found.append(outcome)
            if line:
                line.clear()
            _show(outcome, how)
            say_more()
    if how.lines and not how.as_json:
        show(totals_text(found, how.noun) + "\n")
    return status


def _show(outcome: Outcome, how: _Shown) -> None:
    if outcome.error and outcome.code > 1:
        fail(outcome.told)
    elif outcome.error:
        say_with_try(outcome.told)
    if not how.lines:
        return
    if how.as_json:
        from onnxpad.reports import json_line

        sys.stdout.write(json_line(outcome.record))
    elif not outcome.error and (outcome.code or not how.failing):
        show(outcome.line + "\n")
    sys.stdout.flush()  # what is finished is there, whatever happens to the next


def _visible(text: str) -> str:
    from onnxpad.show.wording import visible

    return visible(text)
