"""Many models on the command line: where they are worked on, a line for each, the sum."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from onnxpad.cli.streams import FINE, STANDARD, fail, say_with_try, show, status_line

if TYPE_CHECKING:
    from onnxpad.batch.course import Request
    from onnxpad.batch.each import Outcome
    from onnxpad.batch.inputs import Job

Judge: TypeAlias = "Callable[[Outcome], tuple[Outcome, Callable[[], None]]]"


def run(
    jobs: Sequence[Job],
    request: Request,
    given: Mapping[str, Any],
    *,
    noun: str = "model",
    judge: Judge | None = None,
    lines: bool = True,
) -> int:
    """Do all of them; the highest exit code.

    `judge` gives an outcome as it is to be shown, and what says more about it afterwards. Without
    `lines` errors alone are shown.
    """
    from onnxpad.batch.each import asked_of_each, outcomes, working_in
    from onnxpad.show.batches import totals_text

    if (given["jobs"] > 1 or given["dask"]) and any(job.model == STANDARD for job in jobs):
        raise click.UsageError("standard input can be read here alone: leave -j and --dask out")
    options = request.options | {"dims": given["dims"], "nodes": given.get("nodes")}
    request = request._replace(options={k: v for k, v in options.items() if v is not None})
    status, shown = FINE, []
    workers = min(given["jobs"], len(jobs))
    with working_in(None, workers, given["dask"]) as executor:
        requests, notes = asked_of_each(jobs, request, given.get("input_shapes"))
        for note in notes:
            say_with_try(f"note: {note}")
        with status_line(f"{noun}s 0/{len(jobs)}") as line:

            def tell(model: str, done: int, of: int) -> None:
                if line:
                    line.say(f"{noun}s {done}/{of}, {model}")

            for outcome in outcomes(requests, executor, tell):
                judged, say_more = judge(outcome) if judge else (outcome, None)
                status = max(status, judged.code)
                shown.append(judged)
                if line:
                    line.clear()
                _show(judged, given, lines=lines)
                if say_more:
                    say_more()
    if lines and not given["as_json"]:
        show(totals_text(shown, noun) + "\n")
    return status


def _show(outcome: Outcome, given: Mapping[str, Any], *, lines: bool) -> None:
    if outcome.error and outcome.code > 1:
        fail(outcome.told)
    elif outcome.error:
        say_with_try(outcome.told)
    if lines and given["as_json"]:
        from onnxpad.reports import json_line

        sys.stdout.write(json_line(outcome.record))
    elif lines and not outcome.error and (outcome.code or not given.get("failing")):
        show(outcome.line + "\n")
    sys.stdout.flush()  # what is finished is there, whatever happens to the next
