"""Exit codes, and how a command ends badly."""

from __future__ import annotations

import os
import sys

from onnxpad.errors import OnnxpadError, RuntimeUnavailable

FINE, FINDINGS, WRONG, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141
_TRY = "\n  try     "
STANDARD = "-"


def fail(message: str, hint: str = "") -> int:
    """Write one error message to stderr; gives the exit code for it."""
    from onnxpad.show.wording import visible

    said, _, own_hint = message.partition(_TRY)
    text = f"error: {visible(said)}\n"
    text += "".join(f"{_TRY[1:]}{visible(line)}\n" for line in (own_hint, hint) if line)
    sys.stderr.write(text)
    return WRONG


def fail_for(model: str, error: OnnxpadError) -> int:
    """The same for an error about one of the models; the message begins with its name."""
    name = "standard input" if model == STANDARD else model
    said = str(error)
    named = said.startswith((name, f"'{name}'")) or isinstance(error, RuntimeUnavailable)
    return fail(said if named else f"{name}: {said}")


def drop_output() -> None:
    """Send what is left of standard output nowhere, since its reader has gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
