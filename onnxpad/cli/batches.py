"""Models on the command line: which ones, where they go, and what is printed of one or of many."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxpad.batch.inputs import Inputs, inputs, overwritten, placed, refuse_inputs
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
        found = models_of(given, output)
        if given["check"] or given["dry_run"] or not found.jobs:
            return found
        if given["in_place"]:
            return found._replace(jobs=overwritten(found.jobs))
        if output is None:
            raise click.UsageError(
                "every name is a model to read, and where to write is missing: add -o OUT, "
                "--in-place, --check or --dry-run"
            )
        if found.many or output.endswith(("/", os.sep)) or Path(output).is_dir():
            return found._replace(jobs=placed(found.jobs, output))
        refuse_inputs([job.model for job in found.jobs], [output])
        return found._replace(jobs=(found.jobs[0]._replace(target=output),))
    except RequestError as error:
        raise click.UsageError(str(error)) from None


def models_of(given: Mapping[str, Any], output: str | None = None) -> Inputs:
    """The models that are named, but for those that --exclude leaves out; see `remaining`."""
    names, exclude = given["models"], given["exclude"]
    if names.count(STANDARD) > 1:
        raise RequestError("standard input can be read only once: give '-' once")
    found = inputs(names, output, exclude)
    return remaining(found, exclude, folder=any(map(os.path.isdir, names)))


def remaining(
    found: Inputs, exclude: Sequence[str], noun: str = "model", *, folder: bool = True
) -> Inputs:
    """The same, after it was said how many --exclude leaves out.

    None are left where a project leaves out every file that is named, as a tool names those that
    have changed. Raises RequestError where the command line leaves out all, or all of a folder, and
    for a glob of it that is about none; what a project sets may be about models of another folder.
    """
    by_hand = given_by_hand("exclude")
    if by_hand and found.idle:
        from onnxpad.batch.each import idle_error
        from onnxpad.rewriting.passes import pass_names

        raise idle_error(found.idle[0], pass_names())
    if by_hand or folder:
        found.refuse_none(exclude)
    if found.left_out:
        whole = "" if found.jobs else ", and none is left: see [tool.onnxpad], or --isolated"
        say(f"note: --exclude leaves {counted(len(found.left_out), noun)} out{whole}\n")
    return found


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
