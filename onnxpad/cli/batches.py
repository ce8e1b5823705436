"""Models on the command line: which ones, where they go, and what is printed of one or of many."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxpad.batch.inputs import Inputs, destined, inputs
from onnxpad.cli import outputs
from onnxpad.cli.parser import given_by_hand
from onnxpad.cli.streams import (
    FINE,
    STANDARD,
    fail,
    report,
    say,
    say_with_try,
    show,
    status_line,
    working,
)
from onnxpad.errors import RequestError, counted
from onnxpad.show.wording import visible

if TYPE_CHECKING:
    from onnxpad.batch.course import Task
    from onnxpad.batch.each import Outcome
    from onnxpad.batch.inputs import Job

_DOING = {"inspect": "inspecting", "rewrite": "rewriting", "retarget": "moving"}


def jobs_of(given: Mapping[str, Any]) -> Inputs:
    """The models and their files.

    Raises click.UsageError where that is not said, would overwrite an input or another output,
    or cannot be.
    """
    output = given["output"]
    if output == "":
        raise click.UsageError("-o is empty: name a file or a folder")
    try:
        models = models_of(given, output)
        if given["check"] or given["dry_run"] or not models.jobs:
            return models
        if output is None and not given["in_place"]:
            raise click.UsageError(
                "every name is a model to read, and there is no output: add -o OUT, --in-place, "
                "--check or --dry-run"
            )
        return models._replace(jobs=destined(models, output, in_place=given["in_place"]))
    except RequestError as error:
        raise click.UsageError(str(error)) from None


def models_of(given: Mapping[str, Any], output: str | None = None) -> Inputs:
    """The models that are named, but for those that --exclude leaves out; see `remaining`."""
    names = given["models"]
    if names.count(STANDARD) > 1:
        raise RequestError("standard input can be read only once: give '-' once")
    return remaining(partial(inputs, names, output), given)


def remaining(find: Callable[..., Inputs], given: Mapping[str, Any], noun: str = "model") -> Inputs:
    """What `find` gives, after it was said how many --exclude leaves out.

    What a project sets may be about models of another folder. None are left where it leaves out
    every file that is named, as a tool names those that have changed.
    """
    models = find(exclude=given["exclude"], lenient=not given_by_hand("exclude"))
    if models.left_out:
        whole = "" if models.jobs else ", and none is left: see [tool.onnxpad], or --isolated"
        say(f"note: --exclude leaves {counted(models.left_out, noun)} out{whole}\n")
    return models


def run(  # noqa: PLR0913 - what is done, and what is shown of it
    jobs: Sequence[Job],
    task: Task,
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
    if many and given["html"]:
        raise click.UsageError("--html is about one model: give one, without --dask and --failing")
    shown: list[Outcome] = []
    with working_in(None, min(given["jobs"], len(jobs)), given["dask"]) as executor:
        asked, notes = asked_of_each(jobs, task, given.get("input_shapes"))
        for note in notes:
            say_with_try(f"note: {note}")
        if not many:
            outcome = judge(_alone(asked[0], task.verb))
            _show_whole(outcome, jobs[0], given)
            say_why(outcome)
            return outcome.code
        with status_line(f"{noun}s 0/{len(jobs)}") as line:

            def tell(model: str, done: int, of: int) -> None:
                if line:
                    line.say(f"{noun}s {done}/{of}, {model}")

            for outcome in outcomes(asked, executor, tell):
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
        folder = Path(asked["target"] or "").parent
        is_new = not folder.exists()
        (outcome,) = outcomes([asked])
    if is_new and folder.exists():
        show(f"note: the folder '{visible(str(folder))}' is new\n", sys.stderr)
    return outcome


def _show_whole(outcome: Outcome, job: Job, given: Mapping[str, Any]) -> None:
    """The report, its page, and what went wrong."""
    document = outcome.document
    if document is None:
        _show(outcome, given, lines=job.target != STANDARD)
        return
    outputs.write_page(given["html"], partial(document, each=given["each"], page=True))
    wished = {name: given[name] for name in ("each", "everything") if name in given}
    stream = sys.stderr if outcome.written == STANDARD else sys.stdout
    report(given, lambda: outcome.record, partial(document, **wished), stream)
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
