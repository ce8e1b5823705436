"""Signs of life: a line on a terminal that is written over and over, and goes in the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from time import monotonic
from typing import TextIO

from onnxpad.show.wording import visible

_PATIENCE, _BEAT = 1.0, 0.25
"""Seconds before anything is shown, and between two looks at the clock."""
_lines: list[Line] = []


class Line:
    """'12 s  proving' on `stream`; it needs no more of a terminal than a carriage return."""

    def __init__(self, stream: TextIO, text: str) -> None:
        self._stream, self._text = stream, text
        self._started, self._shown, self._over = monotonic(), "", Event()

    def say(self, text: str) -> None:
        """Set the text of the step in progress."""
        self._text = text

    def clear(self) -> None:
        """Make room for a line of the report on the same terminal, past all buffers and locks."""
        shown, self._shown = self._shown, ""
        if shown:
            with suppress(OSError, ValueError):
                os.write(self._stream.fileno(), f"\r{' ' * len(shown)}\r".encode())

    def close(self) -> None:
        """Take the line away for good."""
        self._over.set()
        self.clear()

    def keep_alive(self) -> None:
        """Show the line until it is closed, but not in the first second."""
        wait = _PATIENCE
        while not self._over.wait(wait):
            wait = _BEAT
            with suppress(OSError):
                width = os.get_terminal_size(self._stream.fileno()).columns or 80
                text = f"{int(monotonic() - self._started)} s  {visible(self._text)}"[: width - 1]
                if text != self._shown and not self._over.is_set():
                    self.clear()
                    self._shown = text
                    os.write(self._stream.fileno(), text.encode(errors="replace"))


@contextmanager
def alive(stream: TextIO, text: str) -> Iterator[Line]:
    """A line that lives as long as the work."""
    line = Line(stream, text)
    _lines.append(line)
    thread = Thread(target=line.keep_alive, daemon=True)
    thread.start()
    try:
        yield line
    finally:
        _lines.remove(line)
        line.close()
        thread.join(_BEAT)
        line.clear()


def erase_all() -> None:
    """Take away what stands on a terminal: a signal ends the process, whatever its threads hold."""
    for line in _lines.copy():
        line.close()
