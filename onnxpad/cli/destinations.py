"""Where each rewritten model goes; nothing is ever overwritten by accident."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import click

from onnxpad.cli.outcomes import STANDARD


class Job(NamedTuple):
    """A model and the file to write, None where nothing is to be written.

    `makes_folder` says that the file's folder was asked for and may not exist yet.
    """

    model: str
    target: str | None = None
    makes_folder: bool = False

    def check(self) -> None:
        """ModelError where the file could not be written, before there is work to lose."""
        if self.target is None or (self.makes_folder and not Path(self.target).parent.exists()):
            return
        from onnxpad.model.files.delivery import check_target  # loads onnx

        check_target(self.target)

    @contextmanager
    def folder_made(self) -> Iterator[None]:
        """Make the folder, for as long as nothing fails; ModelError where that cannot be."""
        from onnxpad.model.files.atomic import Together  # loads more than a usage error needs

        with Together() as together:
            if self.target is not None and self.makes_folder:
                together.make_folders(Path(self.target).parent)
            yield


def jobs(models: Sequence[str], output: str | None, *, in_place: bool, writes: bool) -> list[Job]:
    """What to do with each model.

    Raises click.UsageError where that is not said, would overwrite an input or another output,
    or cannot be.
    """
    if models.count(STANDARD) > 1:
        raise click.UsageError("standard input can be read only once: give '-' once")
    if output == "":
        raise click.UsageError("-o is empty: name a file or a folder")
    if output is not None and in_place:
        raise click.UsageError("-o and --in-place contradict each other: give one of them")
    if not writes:
        return [Job(model) for model in models]
    if in_place:
        if STANDARD in models:
            raise click.UsageError("standard input has no place to write to: add -o OUT")
        return [Job(model, model) for model in models]
    if output is None:
        raise click.UsageError(_where_to_write(models))
    if len(models) == 1 and not _is_folder(output):
        found = [Job(models[0], output)]
    else:
        found = _in_folder(models, output)
    _refuse_inputs(models, found)
    return found


def _where_to_write(models: Sequence[str]) -> str:
    """What to type where no option says it; other tools take the second name for it."""
    last = models[-1]
    if len(models) == 2 or (len(models) > 2 and last != STANDARD and not Path(last).exists()):
        return f"every name is a model to read; did you mean -o {shlex.quote(last)}?"
    return "where to write is missing: add -o OUT, --in-place, --check or --dry-run"


def refuse_overwriting(target: str | None, inputs: Sequence[str | None], cure: str) -> None:
    """UsageError where `target` is one of the files that the command reads, or in a folder of them.

    Links, hard links and other spellings of a path count as the file itself. `cure` says what to
    give instead.
    """
    if target is None or target == STANDARD:
        return
    for given in inputs:
        if given is not None and given != STANDARD and _same_file_or_within(given, target):
            raise click.UsageError(f"'{target}' is an input, which is never overwritten: {cure}")


def _is_folder(output: str) -> bool:
    return output.endswith(("/", os.sep)) or Path(output).is_dir()


def _in_folder(models: Sequence[str], output: str) -> list[Job]:
    if output == STANDARD:
        raise click.UsageError("several models do not fit into standard output: add -o DIR/")
    if STANDARD in models:
        raise click.UsageError("standard input has no file name: add -o OUT, and one model only")
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise click.UsageError(f"-o {output} is a file, and there are several models: add -o DIR/")
    taken: dict[str, str] = {}
    for model in models:
        name = Path(model).name
        if name in taken:
            raise click.UsageError(
                f"'{taken[name]}' and '{model}' would both become '{folder / name}': "
                "write them into different folders"
            )
        taken[name] = model
    return [Job(model, str(folder / name), makes_folder=True) for name, model in taken.items()]


def _refuse_inputs(models: Sequence[str], found: Sequence[Job]) -> None:
    for job in found:
        refuse_overwriting(job.target, models, "give another -o, or --in-place")


def _same_file_or_within(given: str, target: str) -> bool:
    """A folder test_data_set_* is read as its .pb files, in it or one folder further down."""
    folder = Path(given)
    if not folder.is_dir():
        return _same_file(given, target)
    return any(
        _same_file(str(one), target) for one in (*folder.glob("*.pb"), *folder.glob("*/*.pb"))
    )


def _same_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)
