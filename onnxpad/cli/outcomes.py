"""Exit codes, and how a command ends badly."""

from __future__ import annotations

import os
import sys

FINE, FINDINGS, WRONG, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


def fail(message: str, hint: str = "") -> int:
    """Write one error message to stderr; gives the exit code for it."""
    text = f"error: {message}\n" + (f"  try     {hint}\n" if hint else "")
    sys.stderr.write(text)
    return WRONG


def drop_output() -> None:
    """Send what is left of standard output nowhere, since its reader has gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
