"""Exit codes, and how a command ends badly."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

from onnxpad.errors import OnnxpadError, brief

FINE, FINDINGS, WRONG, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141
_TRY = "\n  try     "
STANDARD = "-"


def fail(message: str, hint: str = "") -> int:
    """Write one error message to stderr; gives the exit code for it."""
    say_with_try(f"error: {message}", hint)
    return WRONG


def say_with_try(message: str, hint: str = "") -> None:
    """Write a message to stderr, with what to try on lines of their own."""
    from onnxpad.show.wording import visible

    said, *own_hints = message.split(_TRY)
    text = f"{brief(visible(said))}\n"
    text += "".join(f"{_TRY[1:]}{brief(visible(line))}\n" for line in (*own_hints, hint) if line)
    say(text)


def fail_for(model: str, error: OnnxpadError, *, as_json: bool) -> int:
    """The same for an error about a model; `as_json` also prints it as a record.

    Raises BrokenPipeError where it is about a pipe whose reader has gone.
    """
    if isinstance(error.__cause__, BrokenPipeError):
        raise error.__cause__
    from onnxpad.batch.course import named, without_report

    said = named(model, error)
    if as_json:
        from onnxpad.reports import json_line

        sys.stdout.write(json_line(without_report(model, type(error).__name__, said)))
        sys.stdout.flush()
    return fail(said)


def say(text: str) -> None:
    """Write to stderr, or nowhere where that is closed or full: there is no other place."""
    from onnxpad.cli.streams import dressed

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
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
