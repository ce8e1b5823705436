"""Where each rewritten model goes; nothing is ever overwritten by accident."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxpad.cli.parser import given_by_hand
from onnxpad.cli.streams import FINE, STANDARD, say, say_with_try
from onnxpad.errors import RequestError, counted, nearest

if TYPE_CHECKING:
    from onnxpad.batch.inputs import Inputs


def jobs_of(given: Mapping[str, Any], passes: Iterable[str] = ()) -> Inputs:
    """The models and their files; `passes` are what --exclude may mean besides models.

    Raises click.UsageError where that is not said, would overwrite an input or another output,
    or cannot be.
    """
    from onnxpad.batch.inputs import overwritten, placed, refuse_inputs

    output = given["output"]
    if output == "":
        raise click.UsageError("-o is empty: name a file or a folder")
    inputs = inputs_of(given["models"], given["exclude"], output, passes)
    if not inputs.jobs:
        raise click.exceptions.Exit(FINE)
    names = [one.model for one in inputs.jobs]
    if given["check"] or given["dry_run"]:
        return inputs
    try:
        if given["in_place"]:
            if STANDARD in names:
                raise click.UsageError("standard input has no place to write to: add -o OUT")
            return inputs._replace(jobs=overwritten(inputs.jobs))
        if output is None:
            raise click.UsageError(_where_to_write(given["models"]))
        folder = Path(output).parent
        with suppress(OSError, ValueError):  # whatever writes there says why
            if output != STANDARD and not os.path.lexists(folder):  # it may be a typing error
                say_with_try(f"note: the folder '{folder}' does not exist: it will be made")
        if inputs.many or output.endswith(("/", os.sep)) or Path(output).is_dir():
            _check_folder(names, output)
            return inputs._replace(jobs=placed(inputs.jobs, output))
        refuse_inputs(names, [output])
        return inputs._replace(jobs=(inputs.jobs[0]._replace(target=output),))
    except RequestError as error:
        raise click.UsageError(str(error)) from None


def _where_to_write(models: Sequence[str]) -> str:
    """What to type where no option says it; other tools take the second name for it."""
    last = models[-1]
    if len(models) == 2 or (len(models) > 2 and last != STANDARD and not Path(last).exists()):
        return f"every name is a model to read; did you mean -o {shlex.quote(last)}?"
    return "where to write is missing: add -o OUT, --in-place, --check or --dry-run"


def _check_folder(models: Sequence[str], output: str) -> None:
    """UsageError where `output` cannot be the folder of several models."""
    if output == STANDARD:
        raise click.UsageError("several models do not fit into standard output: add -o DIR/")
    if STANDARD in models:
        raise click.UsageError("standard input has no file name: add -o OUT, and one model only")
    from onnxpad.model.files.contents import explained

    with explained(f"cannot make the folder '{output}'"), suppress(FileNotFoundError):
        if not stat.S_ISDIR(Path(output).stat().st_mode):
            raise click.UsageError(
                f"-o {output} is a file, and there are several models: add -o DIR/"
            )


def inputs_of(
    names: Sequence[str],
    exclude: Sequence[str],
    output: str | None = None,
    passes: Iterable[str] = (),
) -> Inputs:
    """The models that files, folders and globs name; UsageError where one names none.

    None are left where a project leaves out every file that is named, as a tool names those that
    have changed. Who leaves all out on the command line, or all of a folder, has made a mistake.
    """
    from onnxpad.batch.inputs import inputs

    if names.count(STANDARD) > 1:
        raise click.UsageError("standard input can be read only once: give '-' once")
    try:
        found = inputs(names, output, exclude)
        if not found.jobs and (given_by_hand("exclude") or any(map(os.path.isdir, names))):
            raise found.refusal(exclude)
    except RequestError as error:
        raise click.UsageError(str(error)) from None
    say_left_out(found, passes=passes)
    return found


def say_left_out(found: Inputs, noun: str = "model", passes: Iterable[str] = ()) -> None:
    """Say how many models were left out; UsageError for a glob on the command line without one.

    What a project sets may be about models of another folder.
    """
    if found.idle and given_by_hand("exclude"):
        near = nearest(found.idle[0], passes)
        meant = f"; did you mean the pass '{near[0]}'?" if near else ""
        raise click.UsageError(
            f"--exclude '{found.idle[0]}' is about no model that is named{meant}"
        )
    if found.left_out:
        whole = "" if found.jobs else ", and none is left: see [tool.onnxpad], or --isolated"
        say(f"note: --exclude leaves {counted(len(found.left_out), noun)} out{whole}\n")
