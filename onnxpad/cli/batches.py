"""Models on the command line: one with its whole report, or a line for each of many and the sum."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from onnxpad.cli import outputs
from onnxpad.cli.streams import (
    FINE,
    STANDARD,
    fail,
    report,
    say_with_try,
    show,
    status_line,
    working,
)

if TYPE_CHECKING:
    from onnxpad.batch.course import Request
    from onnxpad.batch.each import Outcome
    from onnxpad.batch.inputs import Job

_DOING = {"inspect": "inspecting", "rewrite": "rewriting", "retarget": "moving"}


def run(  # noqa: PLR0913 - what is done, and what is shown of it
    jobs: Sequence[Job],
    request: Request,
    given: Mapping[str, Any],
    judge: Callable[[Outcome], Outcome] = lambda outcome: outcome,
    say_why: Callable[[Outcome], None] = lambda _outcome: None,
    *,
    noun: str = "model",
    many: bool = True,
    lines: bool = True,
) -> int:
    """Do all of them; the highest exit code.

    `judge` gives an outcome as it is to be shown, `say_why` says more about it afterwards. Without
    `lines` errors alone are shown.
    """
    from onnxpad.batch.each import asked_of_each, outcomes, working_in

    if (given["jobs"] > 1 or given["dask"]) and any(job.model == STANDARD for job in jobs):
        raise click.UsageError("standard input can be read here alone: leave -j and --dask out")
    options = request.options | {"dims": given["dims"], "nodes": given.get("nodes")}
    request = request._replace(options={k: v for k, v in options.items() if v is not None})
    shown: list[Outcome] = []

    def tell(model: str, done: int, of: int) -> None:
        if line:
            line.say(f"{noun}s {done}/{of}, {model}")

    with working_in(None, min(given["jobs"], len(jobs)), given["dask"]) as executor:
        requests, notes = asked_of_each(jobs, request, given.get("input_shapes"))
        for note in notes:
            say_with_try(f"note: {note}")
        if not many:
            shown.append(judge(_alone(requests[0], request.verb)))
            _show_whole(shown[0], jobs[0], given)
            say_why(shown[0])
            return shown[0].code
        with status_line(f"{noun}s 0/{len(jobs)}") as line:
            for outcome in outcomes(requests, executor, tell):
                shown.append(judge(outcome))
                if line:
                    line.clear()
                _show(shown[-1], given, lines=lines)
                say_why(shown[-1])
    if lines and not given["as_json"]:
        from onnxpad.show.batches import totals_text

        show(totals_text(shown, noun) + "\n")
    return max((one.code for one in shown), default=FINE)


def _alone(asked: dict[str, Any], verb: str) -> Outcome:
    """The outcome of one model with its whole report; the steps are told on standard error."""
    from onnxpad.batch.each import outcomes

    with working(f"{_DOING[verb]} {asked['model']}") as tell:

        def step(what: str, number: int = 1, of: int = 1) -> None:
            tell(f"{what} ({number} of {of})" if of > 1 else what)

        asked = {**asked, "whole": True, "options": {**asked["options"], "progress": step}}
        if verb == "rewrite" and asked["judging"] is not None:
            asked["judging"] = {**asked["judging"], "progress": tell}
        (outcome,) = outcomes([asked])
        return outcome


def _show_whole(outcome: Outcome, job: Job, given: Mapping[str, Any]) -> None:
    """The report, its page, and what went wrong."""
    made = outcome.document
    if made is None:
        if job.target != STANDARD:
            _show(outcome, given, lines=True)
        else:
            fail(outcome.error)
        return
    outputs.write_page(given["html"], partial(made, each=given["each"], page=True))
    wished = {name: given[name] for name in ("each", "everything") if name in given}
    stream = sys.stderr if outcome.written == STANDARD else sys.stdout
    report(given, lambda: outcome.record, partial(made, **wished), stream)
    if refused := outcome.record.get("refused"):
        say_with_try(f"nothing written for {outcome.file}: {refused}")


def _show(outcome: Outcome, given: Mapping[str, Any], *, lines: bool) -> None:
    if outcome.error and outcome.code > 1:
        fail(outcome.error)
    elif outcome.error:
        say_with_try(outcome.error)
    if lines and given["as_json"]:
        from onnxpad.reports import json_line

        sys.stdout.write(json_line(outcome.record))
    elif lines and not outcome.error and (outcome.code or not given.get("failing")):
        show(outcome.line + "\n")
    sys.stdout.flush()  # what is finished is there, whatever happens to the next


def edit(jobs: Sequence[Job], request: Request, given: Mapping[str, Any], *, many: bool) -> int:
    """Write models in another form; the exit code."""
    if any(job.target == STANDARD for job in jobs) and sys.stdout.isatty():
        raise click.UsageError(
            "standard output is a terminal, which cannot show a model: add -o FILE, or send it "
            "into a file or a pipe"
        )
    others = [given.get("plan"), given.get("certificate")]
    files = [name for job in jobs for name in (job.model, job.target)]
    many = many or bool(given["dask"])
    outputs.check_page(given["html"], [*files, *others], many=many)
    return run(jobs, request, given, many=many)
