"""A runtime as this process sees it: started once, asked one job at a time, ended at a limit."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import BufferedReader, RawIOBase
from pathlib import Path
from queue import Empty, SimpleQueue
from subprocess import PIPE, TimeoutExpired
from typing import IO, Any, cast

from onnxpad.processes import Group

SECONDS_TO_START = 180.0
_LOOK = 0.5
_GRACE = 5.0
_LARGEST_LOG = 2**26
"""Bytes that a runtime may print before the first of them are forgotten."""
_TAIL, _LINE = 4096, 300


class EndedError(Exception):
    """The process ended without an answer; the message says how, and what it printed last."""


class StartError(Exception):
    """The runtime does not start; the message says why."""


class Log:
    """What a process and all that it starts print, of which the last line is told."""

    def __init__(self) -> None:
        # Without a buffer, which would hold what the process printed for an earlier job.
        self.file: IO[bytes] = tempfile.TemporaryFile("a+b", buffering=0)  # noqa: SIM115 - close()

    def bound(self, most: int = _LARGEST_LOG) -> None:
        """Forget what was printed where it is more than so many bytes."""
        if os.fstat(self.file.fileno()).st_size > most:
            self.file.truncate(0)

    def last_line(self) -> str:
        """The last line that is not blank, shortened; empty where nothing was printed."""
        self.file.seek(max(0, self.file.seek(0, os.SEEK_END) - _TAIL))
        text = self.file.read().decode(errors="replace").replace("\r", "\n")
        lines = (" ".join(line.split()) for line in reversed(text.split("\n")))
        return next(filter(None, lines), "")[:_LINE]

    def close(self) -> None:
        """Let go of the file."""
        self.file.close()


class Server:
    """A process that runs `serving`, or does as it does; StartError where it does not start."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None
    ) -> None:
        self.log = Log()
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        streams = {"stdin": PIPE, "stdout": PIPE, "stderr": self.log.file}
        try:
            self._group = Group(command, env=environment, cwd=folder, **streams)
        except OSError as error:
            self.log.close()
            raise StartError(str(error)) from None
        threading.Thread(target=self._receive, daemon=True).start()
        try:
            first = self._answer(SECONDS_TO_START)
        except BaseException as error:
            self.close()
            if isinstance(error, (EndedError, TimeoutError)):
                raise StartError(str(error)) from None
            raise
        if "failed" in first:
            self.close()
            raise StartError(str(first["failed"]))

    def ask(self, job: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Send a job and wait for its answer.

        Raises TimeoutError without an answer within `seconds`, EndedError where none can come.
        """
        self.log.bound(0)
        line = json.dumps(job).encode() + b"\n"
        # A process that reads nothing more must not hold this one up.
        threading.Thread(target=self._send, args=(line,), daemon=True).start()
        return self._answer(seconds)

    def close(self) -> None:
        """End it with all that it has started."""
        self._group.end()
        self.log.close()

    def _send(self, line: bytes) -> None:
        stdin = cast("RawIOBase", self._group.program.stdin)
        with suppress(OSError, ValueError):  # it has ended: whoever waits hears of it
            rest = memoryview(line)
            while rest:
                rest = rest[stdin.write(rest) :]

    def _receive(self) -> None:
        stdout = cast("RawIOBase", self._group.program.stdout)
        with suppress(OSError, ValueError), BufferedReader(stdout) as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(None)

    def _answer(self, seconds: float) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                said = self.log.last_line()
                raise TimeoutError(f"no answer within {seconds:g} s{said and f': {said}'}")
            try:
                line = self._lines.get(timeout=min(left, _LOOK))
            except Empty:
                self.log.bound()
                if self._group.program.poll() is None:
                    continue
                line = None  # what it started may hold its end of the pipe open
            if line is None:
                raise EndedError(self._end())
            with suppress(ValueError):  # a runtime may print as well
                answer = json.loads(line)
                if isinstance(answer, dict):
                    return answer

    def _end(self) -> str:
        try:
            code = self._group.program.wait(_GRACE)
        except TimeoutExpired:
            return f"it closed its output: {self.log.last_line()}"
        return how_ended(code, self.log.last_line())


def how_ended(code: int, line: str) -> str:
    """'SIGSEGV: the last line', or 'exit status 3: the last line'."""
    try:
        how = signal.Signals(-code).name
    except ValueError:
        how = f"exit status {code}"
    return f"{how}: {line}" if line else how
