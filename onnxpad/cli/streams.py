"""Where text goes, whether a person reads it there, and the exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

import click

from onnxpad.errors import TRY, brief
from onnxpad.verbs import keyword_defaults

if TYPE_CHECKING:
    from onnxpad.show.document import Document
    from onnxpad.show.progress import Line
    from onnxpad.show.tables import Terminal

FINE, FINDINGS, WRONG = 0, 1, 2
STANDARD = "-"


def is_given(flag: str) -> bool:
    """Whether the verb that runs was given 'quiet' or 'verbose'."""
    context = click.get_current_context(silent=True)
    return bool(context and context.params.get(flag))


def keywords(verb: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What the command line gives a verb of the Python API, whose arguments have the same names."""
    own = keyword_defaults(getattr(import_module("onnxpad"), verb))
    return {name: given[name] for name in own if given.get(name) is not None}


def terminal(stream: TextIO) -> Terminal | None:
    """The terminal behind a stream; None for files and pipes."""
    if not stream.isatty():
        return None
    import shutil  # slow to import, and only for terminals

    from onnxpad.show.tables import Terminal

    return Terminal(shutil.get_terminal_size().columns)


def has_colours(stream: TextIO) -> bool:
    """Whether text there gets colours: as Python itself reads NO_COLOR, FORCE_COLOR and TERM."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and stream.isatty()


def report(
    given: Mapping[str, Any],
    record: Callable[[], Mapping[str, Any]],
    document: Callable[[], Document],
    stream: TextIO | None = None,
) -> None:
    """Print a report: its record with --json, and otherwise its document, for people."""
    stream = stream or sys.stdout
    if given["as_json"]:
        from onnxpad.reports import json_line

        stream.write(json_line(record()))
        stream.flush()
    else:
        from onnxpad.show.document import document_text

        show(document_text(document(), terminal(stream)), stream)


def show(text: str, stream: TextIO | None = None) -> None:
    """Write a report for people, on standard output where nothing else is said; -q leaves it."""
    stream = stream or sys.stdout
    if not is_given("quiet"):
        stream.write(dressed(text, stream))
        stream.flush()


def dressed(text: str, stream: TextIO) -> str:
    """The text as `stream` gets it: in colours, or as it is."""
    if not has_colours(stream):
        return text
    from onnxpad.show.colours import painted

    return painted(text)


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """What is being done: on a terminal after a second, with -v line by line wherever it goes.

    Gives the function that says what is being done now.
    """
    with status_line(text) as line:
        if line:
            yield line.say
        else:
            yield _log(text) if is_given("verbose") else lambda _text: None


@contextmanager
def status_line(text: str) -> Iterator[Line | None]:
    """The line on standard error, where that is a terminal and neither -q nor -v is given."""
    if is_given("quiet") or is_given("verbose") or not sys.stderr.isatty():
        yield None
        return
    from onnxpad.show.progress import alive

    with alive(sys.stderr, text) as line:
        yield line


def _log(text: str) -> Callable[[str], None]:
    """Steps with the seconds since the first, each once; nowhere where standard error is gone."""
    from onnxpad.show.wording import visible

    begin, last = monotonic(), ""

    def write(step: str) -> None:
        nonlocal last
        if step != last:
            last = step
            with suppress(OSError, ValueError):
                sys.stderr.write(f"{monotonic() - begin:7.1f} s  {visible(brief(step))}\n")
                sys.stderr.flush()

    write(text)
    return write


def fail(message: str, hint: str = "") -> int:
    """Write one error message to stderr; gives the exit code for it."""
    say_with_try(f"error: {message}", hint)
    return WRONG


def say_with_try(message: str, hint: str = "") -> None:
    """Write a message to stderr, with what to try on lines of their own."""
    from onnxpad.show.wording import visible

    line, *own_hints = message.split(TRY)
    text = f"{brief(visible(line))}\n"
    text += "".join(f"{TRY[1:]}{brief(visible(line))}\n" for line in (*own_hints, hint) if line)
    say(text)


def say(text: str) -> None:
    """Write to stderr, or nowhere where that is closed or full: there is no other place."""
    try:
        sys.stderr.write(dressed(text, sys.stderr))
        sys.stderr.flush()
    except (OSError, ValueError):
        _drop(sys.stderr)


def drop_output() -> None:
    """Send what is left of standard output nowhere, since it takes no more."""
    _drop(sys.stdout)


def _drop(stream: TextIO) -> None:
    """Python would try once more at its end, and exit with a code of its own."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
