"""A worker process as the tests see it: asked one job at a time, with a time limit."""

import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from typing import Any

from tests.runtimes.live import Runtime
from tests.runtimes.live.environments import command

SECONDS_TO_START = 180


class Died(Exception):
    """The process ended without an answer; the message says how, and what it printed last."""


class Process:
    """One worker, in a process group of its own because converters start further processes.

    Raises Unavailable where its environment cannot be made, RuntimeError where it does not start.
    """

    def __init__(self, runtime: Runtime) -> None:
        served = command(runtime)
        self._log = tempfile.TemporaryFile("a+b")  # noqa: SIM115 # closed in close()
        self._printed = 0
        self._buffer = b""
        self._process = subprocess.Popen(
            served,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=_variables() | dict(runtime.variables),
            start_new_session=True,
        )
        try:
            self._receive(SECONDS_TO_START)
        except (Died, TimeoutError) as error:
            self.close()
            raise RuntimeError(f"the worker of {runtime.name} does not start: {error}") from error

    def ask(self, job: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a job and wait for its answer.

        Raises:
            TimeoutError: no answer within `seconds`.
            Died: the process ended, or no answer can come any more.
        """
        assert self._process.stdin is not None
        self._printed = self._log.seek(0, os.SEEK_END)
        try:
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self._die()
        return self._receive(seconds)

    def _receive(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError(f"no answer within {seconds:g} s")
                received = os.read(self._process.stdout.fileno(), 1 << 20)
                if not received:
                    self._die()
                self._buffer += received
        line, _, self._buffer = self._buffer.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _die(self) -> None:
        code = self._process.wait(SECONDS_TO_START)
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        raise Died(f"{how}: {self.printed()}")

    def printed(self) -> str:
        """The end of what the last job printed."""
        self._log.seek(self._printed)
        return self._log.read()[-300:].decode(errors="replace").strip()

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()


def _variables() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
