"""Where each rewritten model goes; nothing is ever overwritten by accident."""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from onnxpad.cli.arguments import given_by_hand
from onnxpad.cli.exits import FINE, STANDARD, say
from onnxpad.errors import RequestError, brief, counted, nearest, told

if TYPE_CHECKING:
    from onnxpad.batch.inputs import Inputs, Job


class Jobs(NamedTuple):
    """What to do with each model; `many` says that each gets a line instead of a report."""

    jobs: Sequence[Job]
    many: bool


def jobs(
    models: Sequence[str],
    output: str | None,
    *,
    in_place: bool,
    writes: bool,
    exclude: Exclusions,
) -> Jobs:
    """What to do with each model.

    Raises click.UsageError where that is not said, would overwrite an input or another output,
    or cannot be.
    """
    from onnxpad.batch.inputs import Job, placed, refuse_inputs, refuse_one_file_twice

    if output == "":
        raise click.UsageError("-o is empty: name a file or a folder")
    if output is not None and in_place:
        raise click.UsageError("-o and --in-place contradict each other: give one of them")
    found = found_in(models, exclude, output)
    if not found.models:
        raise click.exceptions.Exit(FINE)
    names = [one.model for one in found.models]
    if not writes:
        return Jobs([Job(name) for name in names], found.many)
    try:
        if in_place:
            if STANDARD in names:
                raise click.UsageError("standard input has no place to write to: add -o OUT")
            refuse_one_file_twice(names)
            return Jobs([Job(name, name) for name in names], found.many)
        if output is None:
            raise click.UsageError(_where_to_write(models))
        _say_new_folder(output)
        if found.many or _is_folder(output):
            return Jobs(placed(found.models, _folder(names, output)), found.many)
        refuse_inputs(names, [output])
        return Jobs([Job(names[0], output)], many=False)
    except RequestError as error:
        raise click.UsageError(told(error)) from None


def _say_new_folder(output: str) -> None:
    """Name the folder above `output` that will be made: it may be a typing error."""
    folder = Path(output).parent
    with contextlib.suppress(OSError, ValueError):  # whatever writes there says why
        if output != STANDARD and not os.path.lexists(folder):
            from onnxpad.show.wording import visible

            named = brief(visible(str(folder)))
            say(f"note: the folder '{named}' does not exist: it will be made\n")


class Exclusions(NamedTuple):
    """Globs of --exclude; `passes` are names that the verb would have taken for something else."""

    globs: Sequence[str]
    passes: Iterable[str] = ()

    def told(self, left_out: Sequence[str], idle: Sequence[str], of: str = "model") -> None:
        """Say how many models were left out; UsageError for a glob on the command line without one.

        What a project sets may be about models of another folder.
        """
        if idle and given_by_hand("exclude"):
            near = nearest(idle[0], self.passes)
            meant = f"; did you mean the pass '{near[0]}'?" if near else ""
            raise click.UsageError(
                f"--exclude '{idle[0]}' is about no model of a folder or of several{meant}"
            )
        self._say_replaced()
        if left_out:
            say(f"note: --exclude leaves {counted(len(left_out), of)} out\n")

    def _say_replaced(self) -> None:
        """Say which globs of the project do not count, since some stand on the command line."""
        context = click.get_current_context()
        typed = context.params["exclude"] if given_by_hand("exclude") else ()
        unused = [one for one in context.lookup_default("exclude") or () if one not in typed]
        if typed and unused:
            words = " ".join(f"--exclude {shlex.quote(one)}" for one in unused)
            say(f"note: exclude in [tool.onnxpad] is not used beside --exclude: add {words}\n")


def found_in(names: Sequence[str], exclude: Exclusions, output: str | None = None) -> Inputs:
    """The models that files, folders and globs name; UsageError where one names none.

    None are left where a project leaves out every file that is named, as a tool names those that
    have changed. Who leaves all out on the command line, or all of a folder, has made a mistake.
    """
    from onnxpad.batch.inputs import Inputs, are_left_out, inputs

    if names.count(STANDARD) > 1:
        raise click.UsageError("standard input can be read only once: give '-' once")
    whole = " ".join(names)
    if len(names) > 1 and not any(map(os.path.exists, names)) and os.path.exists(whole):  # noqa: PTH110
        raise click.UsageError(f"a name with spaces needs quotes: {shlex.quote(whole)}")
    if not given_by_hand("exclude") and are_left_out(names, exclude.globs):
        say(
            f"note: exclude in [tool.onnxpad] leaves {counted(len(names), 'model')} out, and none "
            "is left; onnxpad --isolated takes no notice of it\n"
        )
        return Inputs((), many=True, left_out=tuple(names))
    try:
        found = inputs(names, output, exclude.globs)
    except RequestError as error:
        raise click.UsageError(told(error)) from None
    exclude.told(found.left_out, found.idle)
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


def _folder(models: Sequence[str], output: str) -> str:
    if output == STANDARD:
        raise click.UsageError("several models do not fit into standard output: add -o DIR/")
    if STANDARD in models:
        raise click.UsageError("standard input has no file name: add -o OUT, and one model only")
    from onnxpad.model.files.contents import explained

    with explained(f"cannot make the folder '{output}'"):
        try:
            kind = Path(output).stat().st_mode
        except FileNotFoundError:
            return output
    if not stat.S_ISDIR(kind):
        raise click.UsageError(f"-o {output} is a file, and there are several models: add -o DIR/")
    return output


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
