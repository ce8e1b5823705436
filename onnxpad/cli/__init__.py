"""The command line: parse, call a verb, render, exit code.

The course of `onnxpad rewrite a.onnx -o b.onnx`, file by file; the other verbs leave steps out:

1. `cli/__init__`: `run` finds the verb's file, adds what pyproject.toml sets (`cli/settings`), and
   makes of every exception one message and an exit code (`cli/exits`).
2. `cli/rewrite`: options become a `Request` (what to do); `cli/destinations` makes the `Job`s of
   paths and globs (which model goes where).
3. `cli/writing`: one model is done here, with its whole report; many go to `cli/batches`, a line
   each, which `batch/each` hands to this process, to workers or to an executor.
4. `batch/course`: either way the same for each model. The verb of the Python API runs, --validate
   compares, something may speak against writing, the file is written: what it comes to is `Done`.
5. `show/`: what is printed. Nothing else prints, and nothing below `cli` exits.
"""

from __future__ import annotations

import gc
import os
import shlex
import sys
import warnings
from collections import UserDict
from collections.abc import Sequence
from errno import ENOSPC
from importlib import import_module
from io import TextIOWrapper
from itertools import pairwise, takewhile
from pathlib import Path
from typing import NamedTuple

import click

from onnxpad import __version__
from onnxpad.cli.arguments import renamed, settled_live
from onnxpad.cli.exits import FINE, INTERRUPTED, PIPE_CLOSED, WRONG, drop_output, fail, say
from onnxpad.cli.streams import WINDOWS
from onnxpad.errors import OnnxpadError, fault_in, headline, nearest, told

_HELP = """Inspect, rewrite and validate padding in ONNX models, exactly.

\b
onnxpad inspect model.onnx --target opencv
onnxpad rewrite model.onnx -o explicit.onnx
onnxpad rewrite model.onnx --target ./npu.py -o for_npu.onnx
onnxpad retarget model.onnx --to tensorflow -o moved.onnx
onnxpad diagnose model.onnx --data reference.npz --plan plan.json
onnxpad validate model.onnx explicit.onnx
onnxpad validate model.onnx --target opencv --live PYTHON
onnxpad guard -- onnxsim model.onnx simple.onnx
onnxpad resolve tensorflow conv --input 1,3,224,224 --kernel 7 --stride 2 --padding SAME
onnxpad port model.onnx --as pytorch
onnxpad measure ./npu.py -o npu.toml
onnxpad explain own-runtime

onnxpad explain lists guides to the verbs, and all that a message may name. Every verb takes -v
(each step, with seconds), -q (only what goes wrong) and --json.

'-' stands for standard input or output. Exit codes: 0 fine; 1 findings (models differ, --check
would change something, --strict and a skip, what --fail-on names); 2 wrong usage, a file that
cannot be read, or an output that cannot be written.
"""


_COMPLETES = "_ONNXPAD_COMPLETE"
_GLANCE = 2**20
"""Bytes of a pyproject.toml that are looked through for the name onnxpad."""


HELP = frozenset(("-h", "--help"))
_VERBS = (
    *("inspect", "rewrite", "retarget", "diagnose", "validate"),
    *("measure", "guard", "resolve", "port", "explain"),
)


class _Verbs(UserDict[str, click.Command]):
    """The verbs by name; each is loaded from the file of its name when it is asked for."""

    def __getitem__(self, name: str) -> click.Command:
        if self.data[name] is _NOT_LOADED:
            self.data[name] = getattr(import_module(f"onnxpad.cli.{name}"), name)
        return self.data[name]


_NOT_LOADED = click.Command(None)


@click.group(
    help=_HELP,
    commands=_Verbs(dict.fromkeys(_VERBS, _NOT_LOADED)),
    context_settings={"help_option_names": sorted(HELP), "token_normalize_func": renamed},
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
    arguments = [without_quotes(one) for one in sys.argv[1:]] if WINDOWS else sys.argv[1:]
    if _COMPUTING.isdisjoint(arguments):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    status = run(arguments)
    gc.freeze()  # Python would look through everything once more before it lets go of it
    sys.exit(status)


def without_quotes(argument: str) -> str:
    """'H%32=0' as other shells give it: cmd leaves single quotes where they are."""
    quoted = len(argument) > 1 and argument[0] == argument[-1] == "'"
    return argument[1:-1] if quoted else argument


def run(arguments: Sequence[str]) -> int:
    """Run one command line; gives its exit code. Errors become one message on stderr."""
    try:
        status = _status(arguments)
        sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        drop_output()
        return PIPE_CLOSED
    except OSError as error:
        drop_output()
        return fail(_refused_by_the_system(error))
    say("")
    return status


def _status(arguments: Sequence[str]) -> int:
    try:
        return _answered(arguments)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.exceptions.NoArgsIsHelpError as asked_for_help:
        say(f"{asked_for_help.format_message()}\n")
        return WRONG
    except click.ClickException as error:
        return _fail_noted(error, *_usage(error, arguments))
    except OnnxpadError as error:
        if isinstance(error.__cause__, BrokenPipeError):
            raise error.__cause__ from None
        return _fail_noted(error, error.told)
    except (OSError, click.Abort):
        raise
    except Exception as error:
        if os.environ.get("ONNXPAD_TRACEBACK"):
            raise
        return _failed(" ".join(arguments), error)


def _answered(arguments: Sequence[str]) -> int:
    if asked := os.environ.get(_COMPLETES):
        from click.shell_completion import shell_complete

        return shell_complete(commands, {}, "onnxpad", _COMPLETES, asked)
    _refuse_swallowed(arguments)
    with commands.make_context("onnxpad", settled_live(arguments)) as context:
        files = [] if context.params["isolated"] else project_files()
        if files and HELP.isdisjoint(arguments):
            result = _with_settings(context, files, arguments)
        else:
            result = commands.invoke(context)
    return result if isinstance(result, int) else FINE


def project_files() -> list[Path]:
    """Each pyproject.toml from the working folder upwards that may set something, nearest first."""
    try:
        here = Path.cwd()
    except OSError:  # it is gone
        return []
    files = (folder / "pyproject.toml" for folder in (here, *here.parents))
    return [file for file in files if file.is_file() and _speaks_of_onnxpad(file)]


def _speaks_of_onnxpad(file: Path) -> bool:
    """Whether the text does; files that are too large or cannot be read are refused later."""
    try:
        return file.stat().st_size > _GLANCE or b"onnxpad" in file.read_bytes()
    except OSError:
        return True


def _with_settings(
    context: click.Context, files: Sequence[Path], arguments: Sequence[str]
) -> object:
    """Invoke with what a project always wants; an error about that says where it stands."""
    from onnxpad.cli.settings import found_settings

    settings = found_settings(commands, files)
    context.default_map = settings.defaults()
    try:
        return commands.invoke(context)
    except (click.UsageError, OnnxpadError) as error:
        verb = context.invoked_subcommand
        if blamed := settings.blamed_for(verb, told(error), arguments):
            error.add_note(blamed)
        raise


def _fail_noted(error: Exception, *said: str) -> int:
    status = fail(*said)
    for place in getattr(error, "__notes__", ()):
        say(f"  set as {place}\n")
    return status


def _failed(command: str, error: Exception) -> int:
    fault = fault_in(error)
    if fault is not None:
        return fail(f"{command}: {fault}")
    return fail(
        f"{command}: internal error; nothing more was written ({type(error).__name__}: "
        f"{headline(error)})",
        "ONNXPAD_TRACEBACK=1 shows where; please report it with the model",
    )


def _refused_by_the_system(error: OSError) -> str:
    if error.errno == ENOSPC:
        return f"cannot write: {error.strerror}; free some space, or write elsewhere"
    return f"the system refuses: {fault_in(error)}; check the streams, paths and permissions"


_SIZES = frozenset(("input-shape", "input-shapes", "shape", "shapes", "input-size", "size", "dims"))


def _no_option(error: click.NoSuchOption) -> str:
    """That an option does not exist, and what is meant; never one that overwrites files."""
    known = error.ctx.command.params if error.ctx else []
    if error.option_name.strip("-") in _SIZES and any("--dim" in one.opts for one in known):
        return f"No such option: {error.option_name}. Sizes are said by --dim NAME=SIZE"
    options = {one.strip("-"): one for one in error.possibilities or ()}
    near = [options[one] for one in nearest(error.option_name.strip("-"), options)]
    if not error.option_name.startswith("--in-"):
        near = [one for one in near if one != "--in-place"]
    said = click.NoSuchOption(error.option_name, possibilities=near, ctx=error.ctx)
    return said.format_message().rstrip(".")


class _Wanted(NamedTuple):
    """What an option needs, with an example, and the topic that says more of it."""

    what: str
    example: str
    topic: str = ""


_WANTED = {
    "--target": _Wanted("a runtime", "opencv", "targets"),
    **dict.fromkeys(("--pass", "--prefer"), _Wanted("a pass", "explicit-pads", "passes")),
    "--exclude": _Wanted("a glob over models", "'broken*'", "batches"),
    "--to": _Wanted("a framework", "pytorch", "retarget"),
    "--source": _Wanted("a framework", "pytorch", "retarget"),
    "--as": _Wanted("a framework", "pytorch"),
    "--dim": _Wanted("a fact", "'height%32=0'", "sizes"),
    "--node": _Wanted("a pattern", "'stem/*'"),
    "--data": _Wanted("a file", "reference.npz"),
    "--plan": _Wanted("a file", "plan.json", "plans"),
    "-o": _Wanted("a file", "out.onnx"),
}


_LACKS = "requires an argument"


def _refuse_swallowed(arguments: Sequence[str]) -> None:
    """UsageError for an option behind which another one stands, in the place of its value."""
    own = list(takewhile(lambda word: word != "--", arguments))
    for word, behind in pairwise(own):
        if word in _WANTED and behind.startswith("--"):
            raise click.BadOptionUsage(word, f"{word} {_LACKS}")


def _without_value(option: str, path: str) -> tuple[str, str]:
    """That an option lacks what stands behind it, and what to type."""
    wanted = _WANTED.get(option)
    if wanted is None:
        return f"Option '{option}' needs a value", f"{path} --help"
    said = f"Option '{option}' needs {wanted.what}, such as {option} {wanted.example}"
    return said, f"onnxpad explain {wanted.topic}" if wanted.topic else f"{path} --help"


def _usage(error: click.ClickException, arguments: Sequence[str]) -> tuple[str, str]:
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "onnxpad"
    if isinstance(error, click.BadOptionUsage) and _LACKS in error.message:
        verb = next((word for word in arguments if word in _VERBS), "")  # click names no command
        return _without_value(error.option_name, f"onnxpad {verb}".rstrip())
    if isinstance(error, click.NoSuchOption):
        return _no_option(error), f"{path} --help"
    said = error.format_message().rstrip(".")
    first = next(iter(arguments), "")
    if context and context.command is commands and first not in _VERBS and Path(first).exists():
        return f"{said}: a verb comes first", f"onnxpad inspect {shlex.quote(first)}"
    return said, f"{path} --help"
