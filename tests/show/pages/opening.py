"""How much CPU time a browser takes to open a page, from its address to the first picture of it.

A wall clock says more about what else the machine does; the CPU time of all processes of the
browser is about the same there, and no page opens later than that on an idle machine.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_TICK = os.sysconf("SC_CLK_TCK")
_DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"


class Browser:
    """A Chromium that is told what to do through two pipes."""

    def __init__(self, process: subprocess.Popen[bytes], ask: int, answers: int) -> None:
        self._process, self._ask, self._answers = process, ask, answers
        self._read, self._number = b"", 0
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.call("Page.enable")

    def seconds_to_open(self, page: Path) -> float:
        """CPU seconds of all its processes until the page is loaded and drawn."""
        before = self._cpu()
        self.call("Page.navigate", url=page.as_uri())
        while self._message().get("method") != "Page.loadEventFired":
            pass
        self.call("Runtime.evaluate", expression=_DRAWN, awaitPromise=True)
        return self._cpu() - before

    def value(self, expression: str) -> Any:
        """What a script gives, or its promise."""
        asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        return self.call("Runtime.evaluate", **asked)["result"]["value"]

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Do something and wait for the answer."""
        self._number += 1
        text = {"id": self._number, "method": method, "params": parameters}
        session = {"sessionId": self._session} if self._session else {}
        os.write(self._ask, json.dumps(text | session).encode() + b"\0")
        while True:
            found = self._message()
            if found.get("id") == self._number:
                result: dict[str, Any] = found["result"]
                return result

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._read:
            more = os.read(self._answers, 1 << 16)
            if not more:
                raise EOFError("the browser ended")
            self._read += more
        one, _, self._read = self._read.partition(b"\0")
        found: dict[str, Any] = json.loads(one)
        return found

    def _cpu(self) -> float:
        """CPU seconds of the process, and of all that it or they started."""
        parents: dict[int, int] = {}
        ticks: dict[int, int] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                said = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(stat.parent.name)] = int(said[1])
            ticks[int(stat.parent.name)] = sum(map(int, said[11:15]))
        family = {self._process.pid}
        for _ in parents:
            more = {pid for pid, parent in parents.items() if parent in family} - family
            if not more:
                break
            family |= more
        return sum(ticks.get(pid, 0) for pid in family) / _TICK


@contextmanager
def browser(program: str, options: Sequence[str], profile: Path) -> Iterator[Browser]:
    """A browser that is ended afterwards."""
    its_end, ask = os.pipe()
    answers, other_end = os.pipe()
    pipes = f'exec "$@" 3<&{its_end} 4>&{other_end}'  # the ends that Chromium wants
    line = ["bash", "-c", pipes, "bash", program, *options]
    process = subprocess.Popen(
        [*line, "--remote-debugging-pipe", f"--user-data-dir={profile}"],
        pass_fds=(its_end, other_end),
        stderr=subprocess.DEVNULL,
    )
    os.close(its_end)
    os.close(other_end)
    try:
        yield Browser(process, ask, answers)
    finally:
        os.close(ask)
        os.close(answers)
        process.terminate()
        process.wait()
