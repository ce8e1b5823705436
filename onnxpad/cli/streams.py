"""Where text goes: standard output, standard error, and whether a person reads it there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from time import monotonic
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from onnxpad.show.progress import Line
    from onnxpad.show.tables import Terminal


class Loudness(IntEnum):
    """What a command says beside what it was asked for."""

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


_KEY = "onnxpad.loudness"
WINDOWS = os.name == "nt"
_SELDOM = 30.0
"""Seconds between two lines that say in a log what is being done."""


def set_loudness(level: Loudness) -> None:
    """How much this command says; raises click.UsageError where two answers are given."""
    meta = click.get_current_context().meta
    if meta.get(_KEY, level) is not level:
        raise click.UsageError("-q and -v contradict each other: give one of them")
    meta[_KEY] = level


def loudness() -> Loudness:
    """How much the command that runs says."""
    context = click.get_current_context(silent=True)
    return Loudness.NORMAL if context is None else context.meta.get(_KEY, Loudness.NORMAL)


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


def show(text: str, stream: TextIO | None = None) -> None:
    """Write a report for people, on standard output where nothing else is said; -q leaves it."""
    stream = stream or sys.stdout
    if loudness() is Loudness.QUIET:
        return
    stream.write(dressed(text, stream))
    stream.flush()


def dressed(text: str, stream: TextIO) -> str:
    """The text as `stream` gets it: with quotes that the shell at hand takes, and in colours."""
    if WINDOWS and "'" in text:
        from onnxpad.show.wording import quotes_for_windows

        text = quotes_for_windows(text)
    if not has_colours(stream):
        return text
    from onnxpad.show.colours import painted

    return painted(text)


def report_stream(*, model_on_stdout: bool) -> TextIO:
    """Standard output, or standard error where the model itself takes standard output."""
    return sys.stderr if model_on_stdout else sys.stdout


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """What is being done: on a terminal after a second, with -v line by line wherever it goes.

    Into a file or a log goes a line every 30 s; with -q nothing. Gives the function that says what
    is being done now.
    """
    with status_line(text) as line:
        if loudness() is Loudness.QUIET:
            yield _silent
        elif line:
            yield line.say
        else:
            yield _teller(text, every=0 if loudness() is Loudness.VERBOSE else _SELDOM)


@contextmanager
def status_line(text: str) -> Iterator[Line | None]:
    """The line on standard error, where that is a terminal and neither -q nor -v is given."""
    if loudness() is not Loudness.NORMAL or not sys.stderr.isatty():
        yield None
        return
    from onnxpad.show.progress import alive

    with alive(sys.stderr, text) as line:
        yield line


def _silent(_text: str) -> None:
    """Say nothing."""


def _teller(text: str, every: float) -> Callable[[str], None]:
    """Steps with the seconds since the first, one in `every` seconds; each step once.

    Where standard error is gone, nothing is written.
    """
    from onnxpad.errors import brief
    from onnxpad.show.wording import visible

    started = told = monotonic()
    last = ""

    def tell(step: str) -> None:
        nonlocal told, last
        if step != last and monotonic() - told >= every:
            told, last = monotonic(), step
            with suppress(OSError, ValueError):
                sys.stderr.write(f"{monotonic() - started:7.1f} s  {visible(brief(step))}\n")
                sys.stderr.flush()

    tell(text)
    return tell
