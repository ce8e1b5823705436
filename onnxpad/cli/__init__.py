"""The command line: parse, call a verb, render, exit code.

The course of `onnxpad rewrite a.onnx -o b.onnx`, file by file; the other verbs leave steps out:

1. `cli/__init__`: `run` parses with the table of options (`cli/options`, read by `cli/parser`),
   adds what pyproject.toml sets (`cli/settings`), and makes of every exception one message and an
   exit code.
2. `cli/edits`: options become a `Task` (what to do); `cli/batches` makes the `Job`s of paths and
   globs (which model goes where), and `batch/each` hands each to this process, to workers or to an
   executor. One model gets its whole report, many a line each.
3. `batch/course`: either way the same for each model. The verb of the Python API runs, --validate
   compares, something may speak against writing, the file is written: the answer is an `Outcome`.
4. `show/`: what is printed, through `cli/streams`. Nothing below `cli` exits.
"""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections import UserDict
from collections.abc import Sequence
from errno import ENOSPC
from io import TextIOWrapper
from pathlib import Path

import click

from onnxpad import __version__
from onnxpad.cli.options import VERBS
from onnxpad.cli.parser import Verb, help_of, refuse_swallowed
from onnxpad.cli.streams import FINE, WRONG, drop_output, fail, say
from onnxpad.cli.values import settled_live
from onnxpad.errors import OnnxpadError, fault_in, headline

_INTERRUPTED, _PIPE_CLOSED = 130, 141
_COMPLETES = "_ONNXPAD_COMPLETE"
_HELP = frozenset(("-h", "--help"))
_GLANCE = 2**20
"""Bytes of a pyproject.toml that are looked through for the name onnxpad."""


class _Verbs(UserDict[str, click.Command]):
    """The verbs by name; each is made when it is asked for."""

    def __getitem__(self, name: str) -> click.Command:
        if not isinstance(self.data[name], Verb):
            self.data[name] = Verb(name)
        return self.data[name]


@click.group(
    help=help_of("onnxpad"),
    commands=_Verbs(dict.fromkeys(VERBS, click.Command(None))),
    context_settings={"help_option_names": sorted(_HELP)},
)
@click.version_option(__version__, prog_name="onnxpad")
@click.option("--isolated", is_flag=True, help="Ignore [tool.onnxpad] in pyproject.toml.")
def commands(*, isolated: bool) -> None:
    """Hold the verbs."""
    del isolated  # read where the context is made


# Allocations between two garbage collections: a short process has little garbage, and collecting
# costs it a tenth of its time.
RARELY = 100_000
# What computes with large matrices in numpy, or starts programs of others. All else has no use for
# the threads that numpy starts, one for each core: before they sleep they take a third of the CPU
# time of inspect, and the many small products of diagnose take ten times as long by them.
_COMPUTING = frozenset(("validate", "guard", "--validate"))


def main() -> None:
    """Run the command line of this process, or say what could complete it, and exit."""
    gc.set_threshold(RARELY)
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # of other packages: they name lines of their code
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end
    if sys.stdout is None:
        sys.exit(fail("standard output is closed: send it to a file or to /dev/null"))
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names may be in any script
    words = sys.argv[1:]
    if os.name == "nt":  # cmd leaves the quotes of 'H%32=0' where they are
        words = [word[1:-1] if word[:1] == word[-1:] == "'" else word for word in words]
    if _COMPUTING.isdisjoint(words):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    status = run(words)
    sys.exit(status)


def run(words: Sequence[str]) -> int:
    """Run one command line; gives its exit code. Errors become one message on stderr."""
    try:
        status = _status(words)
        sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        return _INTERRUPTED
    except BrokenPipeError:
        drop_output()
        return _PIPE_CLOSED
    except OSError as error:
        drop_output()
        if error.errno == ENOSPC:
            return fail(f"cannot write: {error.strerror}; free some space, or write elsewhere")
        where = "check the streams, paths and permissions"
        return fail(f"the system refuses: {fault_in(error)}; {where}")
    say("")
    return status


def _status(words: Sequence[str]) -> int:
    try:
        return _answer(words)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.exceptions.NoArgsIsHelpError as help_page:
        say(f"{help_page.format_message()}\n")
        return WRONG
    except click.ClickException as error:
        verb = [word for word in words if word in VERBS][:1]
        return _fail_noted(
            error, error.format_message().rstrip("."), " ".join(["onnxpad", *verb, "--help"])
        )
    except OnnxpadError as error:
        if isinstance(error.__cause__, BrokenPipeError):
            raise error.__cause__ from None
        return _fail_noted(error, str(error))
    except (OSError, click.Abort):
        raise
    except Exception as error:
        if os.environ.get("ONNXPAD_TRACEBACK"):
            raise
        command = " ".join(words)
        if fault := fault_in(error):
            return fail(f"{command}: {fault}")
        return fail(
            f"{command}: internal error; nothing more was written ({type(error).__name__}: "
            f"{headline(error)})",
            "ONNXPAD_TRACEBACK=1 shows where; please report it with the model",
        )


def _answer(words: Sequence[str]) -> int:
    if instruction := os.environ.get(_COMPLETES):
        from click.shell_completion import shell_complete

        return shell_complete(commands, {}, "onnxpad", _COMPLETES, instruction)
    refuse_swallowed(words)
    with commands.make_context("onnxpad", settled_live(words)) as context:
        context.obj = words
        alone = context.params["isolated"] or not _HELP.isdisjoint(words)
        files = [] if alone else _project_files()
        if files:
            from onnxpad.cli.settings import invoke_with_settings

            status = invoke_with_settings(context, files, words)
        else:
            status = commands.invoke(context)
    return status if isinstance(status, int) else FINE


def _project_files() -> list[Path]:
    """Each pyproject.toml from the working folder upwards that may set something, nearest first.

    Files that are too large or cannot be read are refused later.
    """
    try:
        here = Path.cwd()
    except OSError:  # it is gone
        return []
    files = []
    for file in (folder / "pyproject.toml" for folder in (here, *here.parents)):
        if file.is_file():
            try:
                named = file.stat().st_size > _GLANCE or b"onnxpad" in file.read_bytes()
            except OSError:
                named = True
            files += [file] if named else []
    return files


def _fail_noted(error: Exception, *message: str) -> int:
    status = fail(*message)
    for note in getattr(error, "__notes__", ()):
        say(f"  {note}\n")
    return status
