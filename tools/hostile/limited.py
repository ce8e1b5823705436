"""One command line in a process of its own, measured, and ended where it goes beyond its limits.

The process is forked from one that has imported everything, which spares each the 0.3 seconds of
importing. Everything else is as for a process of its own: standard streams, signals, exit.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import os
import pkgutil
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.hostile.case import Command, Place

POLL = 0.02
IDLE, SHARE = 60.0, 20
"""Seconds that a process may wait without using even a SHAREth of a processor: a busy machine gives
each its turn, a process that waits for nothing takes none."""
ORPHANS = 2.0
"""Seconds that processes may outlive the one that started them."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_DIES_WITH_PARENT, _SUBREAPER = 1, 36


@dataclass(frozen=True)
class Limits:
    """Seconds of processor and bytes of resident memory for everything that a command starts."""

    seconds: float
    memory: int


@dataclass(frozen=True)
class Outcome:
    """How a process ended: `code` is what a shell would say, `ended` why it was ended by us.

    `seconds` are of processor and `memory` is the most that was resident beyond the start, of it
    and of all that it started. `late` is what passed between a signal and its end, in seconds of
    processor, or a twentieth of the clock's where that is more.
    """

    code: int
    ended: str
    seconds: float
    wall: float
    memory: int
    orphans: int
    stdout: bytes
    stderr: bytes
    late: float | None = None


@cache
def prepare() -> None:
    """Import all of onnxpad, and become the parent of whatever its children leave behind."""
    import onnxpad

    for found in pkgutil.walk_packages(onnxpad.__path__, "onnxpad."):
        if not found.name.endswith("__main__") and ".integrations." not in found.name:
            importlib.import_module(found.name)
    importlib.import_module("onnxruntime")
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    gc.freeze()


def run(place: Place, command: Command, limits: Limits) -> list[Outcome]:
    """Run a command, or its copies at once, in the folder of a case."""
    prepare()
    started = [_Started(place, command, number, limits) for number in range(command.copies)]
    pause = POLL / 10
    while any(one.running for one in started):
        time.sleep(pause)
        pause = min(POLL, 1.3 * pause)
        for one in started:
            one.look()
    orphans = _orphans()
    return [one.outcome(orphans) for one in started]


class _Started:
    def __init__(self, place: Place, command: Command, number: int, limits: Limits) -> None:
        self._streams = [place.root / f"{name}{number}" for name in ("stdout", "stderr")]
        self._limits, self._command = limits, command
        self._start = time.monotonic()
        self._seconds, self._memory, self._ended, self._status = 0.0, 0, "", 0
        self._signalled: float | None = None
        self._used_before = 0.0
        self._late: float | None = None
        self.running = True
        for path in self._streams:
            path.unlink(missing_ok=True)
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        self._process = os.fork()
        if self._process == 0:
            _become(place, command, self._streams, limits)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        self._base = _resident(os.getpid())

    def look(self) -> None:
        """Note what the process uses; end it where that is too much, signal it where it is time."""
        if not self.running:
            return
        ended, status, used = os.wait4(self._process, os.WNOHANG)
        now = time.monotonic() - self._start
        if ended:
            self.running, self._status = False, status
            self._seconds = max(self._seconds, used.ru_utime + used.ru_stime)
            own = used.ru_maxrss * 1024 - self._base
            self._memory = max(self._memory, own)
            if self._signalled is not None:
                used_since = self._seconds - self._used_before
                self._late = max(used_since, (now - self._signalled) / SHARE)
            self._wall = now
            return
        tree = [self._process, *_descendants(self._process)]
        self._seconds = max(self._seconds, sum(map(_processor, tree)))
        self._memory = max(self._memory, sum(map(_resident, tree)) - self._base)
        if self._command.signal and self._signalled is None and now >= self._command.signal[1]:
            self._signalled, self._used_before = now, self._seconds
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process, self._command.signal[0])
        for what, beyond in (
            ("processor", self._seconds > self._limits.seconds),
            ("memory", self._memory > self._limits.memory),
            ("waiting", now - SHARE * self._seconds > IDLE),
        ):
            if beyond and not self._ended:
                self._ended = what
                for one in tree:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(one, signal.SIGKILL)

    def outcome(self, orphans: int) -> Outcome:
        code = os.waitstatus_to_exitcode(self._status)
        streams = [path.read_bytes() if path.exists() else b"" for path in self._streams]
        return Outcome(
            128 - code if code < 0 else code,
            self._ended,
            self._seconds,
            self._wall,
            self._memory,
            orphans,
            streams[0],
            streams[1],
            self._late,
        )


def _become(place: Place, command: Command, streams: Sequence[Path], limits: Limits) -> None:
    """In the child: be the process that a shell would have started. Does not come back."""
    status = 99
    atexit._clear()  # noqa: SLF001 - it is the parent that has something to do at its end
    try:
        os.setsid()
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        most = round(2 * limits.seconds)  # nobody watches it where that was ended
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        os.chdir(place.inside)
        os.environ["TMPDIR"] = str(place.temporary)
        os.environ["ONNXPAD_TRACEBACK"] = "1"  # an internal error says where, and fails as such
        tempfile.tempdir = None
        _open_streams(command, streams)
        if command.room is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (command.room, command.room))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup has it ignored, and so would onnxpad
        sys.argv = ["onnxpad", *command.arguments]
        from onnxpad.__main__ import main

        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        main()
        status = 0
    except SystemExit as leaving:
        status = _exit_status(leaving)
    except BaseException as error:  # noqa: BLE001 - what Python would print at the end of a process
        status = 1
        if isinstance(error, KeyboardInterrupt) and _python_answers():
            status = 130  # as a shell says of what Python itself ends: SECURITY.md says so
        else:
            with contextlib.suppress(Exception):
                traceback.print_exc()
    finally:
        status = _flushed(status)
        os._exit(status)


def _python_answers() -> bool:
    """Whether onnxpad has not yet told the system that it answers signals itself."""
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _exit_status(leaving: SystemExit) -> int:
    if leaving.code is None:
        return 0
    return leaving.code if isinstance(leaving.code, int) else 1


def _flushed(status: int) -> int:
    """Flush as Python does when it ends: 120 where that fails."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (OSError, ValueError):
            status = 120
    return status


def _open_streams(command: Command, streams: Sequence[Path]) -> None:
    given = os.open(command.stdin or os.devnull, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(given, True)
    os.dup2(given, 0)
    for number, path in zip((1, 2), streams, strict=True):
        name = "/dev/full" if number in command.full else str(path)
        opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, number)
    os.closerange(3, 256)
    for number in command.closed:
        os.close(number)
    modes = {"stdin": "r", "stdout": "w", "stderr": "w"}
    for number, (name, mode) in enumerate(modes.items()):
        errors = "backslashreplace" if name == "stderr" else "strict"
        stream = None
        if number not in command.closed:
            stream = open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _parents() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - many times a second
        if entry.isdigit() and (fields := _fields(int(entry))):
            found.setdefault(int(fields[1]), []).append(int(entry))
    return found


def _fields(process: int) -> list[str]:
    """What /proc/N/stat says after the name of the program; empty for a process that has gone."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    fields = text[text.rindex(")") + 2 :].split()
    return [] if fields[0] == "Z" else fields


def _descendants(process: int) -> list[int]:
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
        direct = [int(word) for word in text.split()]
    except FileNotFoundError:
        direct = _parents().get(process, [])
    except OSError:
        return []
    return [one for child in direct for one in (child, *_descendants(child))]


def _processor(process: int) -> float:
    fields = _fields(process)
    return sum(map(int, fields[11:15])) / _TICK if fields else 0.0


def _resident(process: int) -> int:
    """Bytes that a process holds by itself: what it shares with its parent counts once."""
    try:
        words = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return int(words[1]) * _PAGE if words else 0


def _orphans() -> int:
    """How many processes were left behind and did not end by themselves; they are ended."""
    deadline = time.monotonic() + ORPHANS
    while (left := _reaped()) and time.monotonic() < deadline:
        time.sleep(POLL)
    for process in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process, 0)
    return len(left)


def _reaped() -> list[int]:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return _descendants(os.getpid())
