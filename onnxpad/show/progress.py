"""Signs of life: a line on a terminal that is written over and over, and goes in the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from time import monotonic
from typing import TextIO

from onnxpad.show.wording import visible

_PATIENCE, _BEAT = 1.0, 0.25
"""Seconds before anything is shown, and between two looks at the clock."""


class Line:
    """'12 s  proving' on `stream`; it needs no more of a terminal than a carriage return."""

    def __init__(self, stream: TextIO, text: str) -> None:
        self._stream, self._text = stream, text
        self._started, self._shown, self._length = monotonic(), "", 0
        self._over, self._lock = Event(), Lock()

    def say(self, text: str) -> None:
        """What is being done now."""
        self._text = text

    def clear(self) -> None:
        """Make room for a line of the report on the same terminal."""
        with self._lock:
            self._write("")

    def close(self) -> None:
        """Take the line away for good."""
        self._over.set()
        self.clear()

    def erase(self) -> None:
        """The same without a lock, which a thread may hold that waits for the terminal."""
        self._over.set()
        if not self._length:
            return
        with suppress(OSError, ValueError):
            os.write(self._stream.fileno(), f"\r{' ' * self._length}\r".encode())

    def keep_alive(self) -> None:
        """Show the line until it is closed, but not in the first second."""
        wait = _PATIENCE
        while not self._over.wait(wait):
            wait = _BEAT
            seconds = int(monotonic() - self._started)
            with self._lock:
                if not self._over.is_set():
                    self._write(f"{seconds} s  {visible(self._text)}")

    def _write(self, text: str) -> None:
        text = text[: _columns(self._stream) - 1]
        if text != self._shown:
            self._stream.write(f"\r{text.ljust(self._length)}\r{text}")
            self._stream.flush()
        self._shown, self._length = text, len(text)


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80


_lines: list[Line] = []


@contextmanager
def alive(stream: TextIO, text: str) -> Iterator[Line]:
    """A line that lives as long as the work."""
    line = Line(stream, text)
    _lines.append(line)
    Thread(target=line.keep_alive, daemon=True).start()
    try:
        yield line
    finally:
        _lines.remove(line)
        line.close()


def erase_all() -> None:
    """Take away what stands on a terminal: a signal ends the process, whatever its threads hold."""
    for line in _lines.copy():
        line.erase()
