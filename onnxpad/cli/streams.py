"""Where text goes: standard output, standard error, and whether a person reads it there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from onnxpad.show.tables import Terminal


def terminal(stream: TextIO) -> Terminal | None:
    """The terminal behind a stream; None for files, pipes, NO_COLOR and terminals without any."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return None
    import shutil  # slow to import, and only for terminals

    from onnxpad.show.tables import Terminal

    return Terminal(shutil.get_terminal_size().columns)


def report_stream(*, model_on_stdout: bool) -> TextIO:
    """Standard output, or standard error where the model itself takes standard output."""
    return sys.stderr if model_on_stdout else sys.stdout


def progress_bar(budget: float | None) -> AbstractContextManager[Callable[[str], None] | None]:
    """What is being done, on standard error where that is a terminal; `budget` is in seconds."""
    if terminal(sys.stderr) is None:
        return nullcontext()
    from onnxpad.show.progress import trying

    return trying(sys.stderr, budget)
