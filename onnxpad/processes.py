"""Child processes for native code: started once, watched, and ended at a limit of time or memory.

A model can drive onnx and onnxruntime into a loop that no signal ends. Every model is run in a
child, and onnx is asked in one where a file may drive it so far: a plain `python -m` of one module
of onnxpad, without a fork, so that it works beside threads and CUDA, on Windows, and without a
`__main__` guard.

Parent and child exchange messages: the length of a head in JSON, the head, then the buffers whose
lengths it gives. Nothing is unpickled. The child ends with its parent.
"""

from __future__ import annotations

import atexit
import builtins
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, NoReturn

from onnxpad import errors
from onnxpad.errors import LimitMet, OnnxpadError, RequestError

if TYPE_CHECKING:
    from queue import SimpleQueue
    from subprocess import Popen

Buffer = bytes | bytearray | memoryview
MIB = 2**20
SECONDS, MEMORY = 60.0, 2 * 2**30
"""What calls may take together, where nobody says otherwise."""
SHORT = 1.0
"""Seconds of each call that do not count then, and that it has at a deadline: many short calls are
no call without end."""
SECONDS_PER_MB, MEMORY_PER_BYTE, OPEN = 1.0, 32, 4
"""What they may take more for what they were given, models and their inputs; so many models as
large as the largest are open at once."""
LONGEST = 10_000_000
"""Seconds beyond which no limit is taken: the system's own clocks hold no more than some years."""
_START = 120.0
_WATCH = 0.01
_GRACE = 1.0
_MOST_KEPT = 1024 * MIB
_LENGTH = 8
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class ChildEnded(OnnxpadError):
    """A child process ended without an answer; `crashed` by its own fault, not from outside."""

    def __init__(self, message: str, *, crashed: bool) -> None:
        super().__init__(message)
        self.crashed = crashed


class Reply(NamedTuple):
    """What a child answered: a head of plain data, and buffers."""

    head: dict[str, Any]
    buffers: list[Buffer]


Handler = Callable[[dict[str, Any], list[Buffer]], Reply]


class Child:
    """A process that runs `python -m module`, which calls `serve`; one call at a time."""

    def __init__(self, module: str) -> None:
        import subprocess  # few commands start a child
        from queue import SimpleQueue

        _wait_if_ending()
        self.module = module
        self._before = 0
        self.held: dict[str, Any] = {}
        """What callers remember of what it holds."""
        self._replies: SimpleQueue[Reply | None] = SimpleQueue()
        self._process = subprocess.Popen(  # noqa: S603 - this very Python and a module of onnxpad
            (sys.executable, "-P", "-m", module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={**os.environ, "PYTHONPATH": _search_path()},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        _CHILDREN.add(self)
        threading.Thread(target=self._receive, daemon=True).start()
        self._next("start", time.monotonic() + _START, None)
        self.settle()

    def settle(self) -> None:
        """Count memory from here on."""
        self._before = _resident(self._process.pid)

    @property
    def alive(self) -> bool:
        """Whether it can be called."""
        return self in _CHILDREN and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def grown(self) -> int:
        """Bytes of resident memory beyond what it had when it was settled."""
        return _resident(self._process.pid) - self._before

    def call(
        self,
        head: Mapping[str, Any],
        buffers: Sequence[Buffer] = (),
        *,
        seconds: float = _START,
        memory: int | None = None,
    ) -> Reply:
        """The answer to one message.

        Raises LimitMet, with the child ended, where it takes longer or grows by more memory;
        ChildEnded where it ends; else what was raised in the child, where that is an error of
        onnxpad or of Python.
        """
        if not self.alive:
            raise self._lost()
        try:
            stdin = self._process.stdin
            assert stdin is not None  # noqa: S101 - it is a pipe
            _send(stdin, Reply({**head, "ends_after": seconds + _GRACE}, list(buffers)))
            reply = self._next(str(head.get("do", "")), time.monotonic() + seconds, memory)
        except OSError:
            raise self._lost() from None
        except BaseException:
            self.end()
            raise
        if memory is not None and reply.head.get("error") == "MemoryError":
            self.end()
            raise LimitMet("memory")
        if "error" in reply.head:
            raise _error(reply.head)
        return reply

    def end(self) -> None:
        """End it now, whatever it does; it has a moment to tidy up."""
        _CHILDREN.discard(self)
        self.hang_up()
        if self._ended(_GRACE) is None:
            self.kill()
            self._ended(_GRACE)

    def kill(self) -> None:
        """End it without waiting."""
        if self._process.returncode is None:
            self._process.kill()

    def hang_up(self) -> None:
        """Its input ends, which tells it that nobody needs it any more."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def disown(self) -> None:
        """In a fork: let go of a child of the parent, which is neither called nor ended here."""
        self._process.returncode = 0  # nothing is sent to its number any more
        _close(self._process)

    def _next(self, doing: str, deadline: float, memory: int | None) -> Reply:
        from queue import Empty

        while True:
            with suppress(Empty):
                reply = self._replies.get(timeout=_WATCH)
                if reply is None:
                    raise self._lost()
                return reply
            late = time.monotonic() > deadline
            if late or (memory is not None and self.grown() > memory):
                self.end()
                reason = "time" if doing != "start" else "it did not start"
                raise LimitMet(reason if late else "memory")

    def _receive(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 - it is a pipe
        try:
            while (reply := _read(stdout)) is not None:
                self._replies.put(reply)
        except (OSError, ValueError):  # it broke off in the middle, or was closed
            pass
        finally:
            self._replies.put(None)
            stdout.close()

    def _lost(self) -> ChildEnded:
        _wait_if_ending()
        _CHILDREN.discard(self)
        self._ended(_GRACE)
        self.end()
        return _ended(self.module, self._process.returncode)

    def _ended(self, seconds: float) -> int | None:
        """How it ended, waited for so long; None where it goes on."""
        from subprocess import TimeoutExpired

        try:
            return self._process.wait(seconds)
        except TimeoutExpired:
            return None


class Group:
    """A foreign program and all that it starts: they end together, at the latest with this process.

    On POSIX they are a process group. Its first member is a shell that reads from a pipe which this
    process holds open: when this process ends, however that comes, the shell ends the group.
    Raises OSError where the program cannot be started.
    """

    def __init__(self, command: Sequence[str], **streams: Any) -> None:  # noqa: ANN401 - Popen's
        import subprocess

        _wait_if_ending()
        self._warden: Popen[bytes] | None = None
        self._program: Popen[bytes] | None = None
        if os.name == "posix":
            self._warden = subprocess.Popen(
                ("/bin/sh", "-c", "read _; kill -9 0"),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                process_group=0,
            )
            streams["process_group"] = self._warden.pid
        _GROUPS.add(self)
        try:
            self._program = subprocess.Popen(list(command), bufsize=0, **streams)  # noqa: S603 - the user names it
        except BaseException:
            self.end()
            raise

    @property
    def program(self) -> Popen[bytes]:
        """The program itself; its pipes are unbuffered."""
        assert self._program is not None  # noqa: S101 - else there is no group
        return self._program

    def kill(self) -> None:
        """End it now, without waiting."""
        if self._warden is None and self._program is not None:
            self._program.kill()
        elif self._warden is not None and self._warden.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._warden.pid, signal.SIGKILL)

    def end(self) -> None:
        """End it now, and close its pipes."""
        _GROUPS.discard(self)
        self.kill()
        for process in filter(None, (self._program, self._warden)):
            process.wait()
            _close(process)

    def disown(self) -> None:
        """In a fork: let go of a group of the parent, which is not ended here."""
        for process in filter(None, (self._program, self._warden)):
            process.returncode = 0
            _close(process)


def _close(process: Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


_CHILDREN: set[Child] = set()
_GROUPS: set[Group] = set()
_PROGRAMS: set[Popen[bytes]] = set()
_ENDING = threading.Event()
_IDLE: dict[str, Child] = {}
_LOCK = threading.Lock()


def _wait_if_ending() -> None:
    """Whoever ends the children ends this process next: nobody is to hear of it any more."""
    if _ENDING.is_set():
        threading.Event().wait()


def running() -> tuple[Child, ...]:
    """The children that run now, idle ones included."""
    return tuple(child for child in tuple(_CHILDREN) if child.alive)


def end_all(*, for_good: bool = False) -> None:
    """End every child at once; `for_good` says that none is to be started after that.

    Takes no lock. Children have a moment to tidy up.
    """
    if for_good:
        _ENDING.set()
    children = tuple(_CHILDREN)
    for program in tuple(_PROGRAMS):
        program.terminate()
    for group in tuple(_GROUPS):
        group.kill()
    for child in children:
        child.hang_up()
    deadline = time.monotonic() + _GRACE
    while any(child.alive for child in children) and time.monotonic() < deadline:
        time.sleep(_WATCH)
    for child in children:
        child.kill()


def run_program(command: Sequence[str], *, quiet_stdout: bool) -> int:
    """Run a program that a user named, without a shell and without limits; gives its exit status.

    Its streams are those of this process; with `quiet_stdout` what it prints goes to standard
    error. It ends with this process. Raises OSError where it cannot be started.
    """
    import subprocess

    said = sys.stderr.fileno() if quiet_stdout else None
    program = subprocess.Popen(list(command), stdout=said)  # noqa: S603 - it is what the user asks for
    _PROGRAMS.add(program)
    try:
        return program.wait()
    except BaseException:
        program.terminate()
        raise
    finally:
        _PROGRAMS.discard(program)


class Work:
    """What one call of a verb may take of native code.

    `seconds` is time in children, without their start; `memory` how far the resident memory of one
    may grow, in bytes, with what a call sends and brings back. None stands for a default that grows
    with what the children were given.
    `met` says which limits were met, by what ran there: it is not run again.
    """

    def __init__(self, seconds: float | None = None, memory: int | None = None) -> None:
        self.seconds = seconds
        self.memory = memory
        self.met: dict[str, str] = {}
        self.deadline = float("inf")
        self._late: set[str] = set()
        self._spent = 0.0
        self._given = self._largest = 0
        self._children: dict[str, Child] = {}

    def child(self, module: str, what: str = "onnxruntime") -> Child:
        """The child of this work that runs `module`: a warm one, or a new one.

        Raises LimitMet where `what` runs there met one before.
        """
        if what in self.met:
            raise LimitMet(self.met[what])
        known = self._children.get(module)
        if known is None or not known.alive:
            self._children[module] = known = _lent(module)
        return known

    def call(
        self,
        child: Child,
        head: Mapping[str, Any],
        buffers: Sequence[Buffer] = (),
        *,
        what: str = "onnxruntime",
        more: int = 0,
    ) -> Reply:
        """One call of a child of this work, within its limits.

        `what` stands in messages for what runs there, `more` are bytes that it reads by itself.
        Raises LimitMet and ChildEnded.
        """
        now = more + sum(map(len, buffers))
        self._given += now
        self._largest = max(self._largest, now)
        started = time.monotonic()
        total, memory = self.seconds, self.memory_allowed(now)
        if total is None:
            total = SECONDS + SECONDS_PER_MB * self._given / 1e6
        allowed = min(total - self._spent, max(self.deadline - started, SHORT))
        try:
            if allowed <= 0:
                raise LimitMet("time")  # noqa: TRY301 - the same as in the child
            return child.call(head, buffers, seconds=allowed, memory=memory)
        except LimitMet as limit:
            raise self._said(str(limit), what, total, memory) from None
        finally:
            short = SHORT if self.seconds is None else 0.0
            self._spent += max(0.0, time.monotonic() - started - short)

    def memory_allowed(self, given: int = 0) -> int:
        """Bytes that a call may take which is given so many."""
        if self.memory is not None:
            return self.memory
        return MEMORY + MEMORY_PER_BYTE * max(given, OPEN * self._largest)

    def __del__(self) -> None:
        for child in self._children.values():
            child.end()

    def go_on_until(self, deadline: float) -> None:
        """Another deadline, of time.monotonic: what was ended at the last one may run again."""
        self.deadline = deadline
        for what in self._late:
            self.met.pop(what, None)
        self._late.clear()

    def close(self) -> None:
        """Give the children back: one of each kind is kept warm."""
        children, self._children = self._children, {}
        for child in children.values():
            _returned(child)

    def _said(self, limit: str, what: str, seconds: float, memory: int) -> LimitMet:
        larger: dict[str, int | str] = {}
        if limit == "memory":
            size = readable(memory)
            said = f"{what} took more than {size} of memory and was ended"
            larger = {"memory": readable(4 * memory, "")}
        elif limit != "time":
            return LimitMet(f"{what}: {limit} within {_START:g} s")
        elif time.monotonic() >= self.deadline:
            said = f"the time was up while {what} was running, which was ended"
            self._late.add(what)
        else:
            said = f"{what} took more than {seconds:.3g} s and was ended"
            larger = {"timeout": max(600, round(10 * seconds))}
        found = LimitMet(said, larger)
        self.met[what] = str(found)
        return found


_CURRENT: ContextVar[Work | None] = ContextVar("onnxpad_work", default=None)


@contextmanager
def limited(seconds: float | None = None, memory: int | str | None = None) -> Iterator[Work]:
    """Everything inside works within these limits; inside of other limits, theirs hold too.

    `memory` is a number of bytes or a text such as '4G'. Raises RequestError for anything else.
    """
    outer = _CURRENT.get()
    if outer is not None and seconds is None and memory is None:
        yield outer
        return
    if seconds is not None and not 0 < seconds <= LONGEST:
        most = f"give seconds, more than 0 and at most {LONGEST}"
        raise RequestError(f"timeout is {seconds}: {most}")
    work = Work(seconds, None if memory is None else bytes_of(memory))
    if outer is not None:
        work.deadline = outer.deadline
    token = _CURRENT.set(work)
    try:
        yield work
    finally:
        _CURRENT.reset(token)
        work.close()


def current() -> Work:
    """The work that this runs in; where nobody began one, one with the default limits."""
    return _CURRENT.get() or Work()


def bytes_of(size: int | str) -> int:
    """Bytes of '512M', '4G' or '4GiB', or of a number; RequestError for anything else."""
    text = str(size).strip().upper()
    number, unit = text.rstrip("BIKMGT"), text.lstrip("0123456789. ").removesuffix("B")
    try:
        found = float(number) * _UNITS[unit.removesuffix("I")]
        if 1 <= found < 2**62:
            return int(found)
    except (ValueError, KeyError):
        pass
    raise RequestError(f"memory is {str(size)[:40]!r}: give a size such as 512M or 4G")


def readable(size: float, unit: str = "iB") -> str:
    """'1.5 GiB'; with another `unit` as bytes_of reads it."""
    for name in ("", "K", "M", "G"):
        if size < 1024 or name == "G":
            break
        size /= 1024
    number = f"{size:.0f}" if size >= 10 or size == int(size) else f"{size:.1f}"
    if unit == "iB" and not name:
        return f"{number} bytes"
    return f"{number} {name}{unit}" if unit else f"{number}{name}"


def serve(handlers: Mapping[str, Handler]) -> NoReturn:
    """Answer the messages of the parent until it closes the pipe: what a child's module runs.

    Native code may print: standard output and input are sent elsewhere first.
    """
    import faulthandler
    from queue import SimpleQueue

    incoming, outgoing = os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb", 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nowhere, number)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when it ends
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    messages: SimpleQueue[Reply] = SimpleQueue()
    threading.Thread(target=_listen, args=(incoming, messages), daemon=True).start()
    _send(outgoing, Reply({"ready": True}, []))
    while True:
        head, buffers = messages.get()
        # Its own thread ends the process where native code holds the interpreter's lock.
        faulthandler.dump_traceback_later(head["ends_after"], exit=True, file=nowhere)
        try:
            reply = handlers[head["do"]](head, buffers)
        except Exception as error:  # noqa: BLE001 - the parent raises it
            reply = Reply({"error": type(error).__name__, "message": str(error)}, [])
        faulthandler.cancel_dump_traceback_later()
        _send(outgoing, reply)


def _listen(incoming: IO[bytes], messages: SimpleQueue[Reply]) -> None:
    while (message := _read(incoming)) is not None:
        messages.put(message)
    tidy_up()  # the parent has gone, whatever runs here
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def tidy_up() -> None:
    """Before this process ends: remove what it has half-written, and end its children."""
    abandon = getattr(sys.modules.get("onnxpad.model.files.atomic"), "abandon", None)
    if abandon is not None:
        abandon()
    end_all(for_good=True)


def _send(stream: IO[bytes], message: Reply) -> None:
    views = [memoryview(one).cast("B") if len(one) else memoryview(b"") for one in message.buffers]
    head = json.dumps({**message.head, "sizes": [len(one) for one in views]}).encode()
    for part in (memoryview(len(head).to_bytes(_LENGTH, "little") + head), *views):
        done = 0
        while done < len(part):
            done += stream.write(part[done:])


def _read(stream: IO[bytes]) -> Reply | None:
    """The next message, None at the end; ValueError where it breaks off."""
    start = stream.read(1)
    if not start:
        return None
    length = int.from_bytes(start + _exactly(stream, _LENGTH - 1), "little")
    head: dict[str, Any] = json.loads(_exactly(stream, length))
    return Reply(head, [_exactly(stream, size) for size in head.pop("sizes")])


def _exactly(stream: IO[bytes], count: int) -> bytearray:
    content = bytearray(count)
    view, done = memoryview(content), 0
    while done < count:
        got = stream.readinto(view[done:])  # type: ignore[attr-defined] # both ends are unbuffered
        if not got:
            raise ValueError("the message breaks off")
        done += got
    return content


def _lent(module: str) -> Child:
    with _LOCK:
        child = _IDLE.pop(module, None)
    if child is None or not child.alive:
        return Child(module)
    child.settle()
    return child


def _returned(child: Child) -> None:
    """Keep one child of each module warm, empty and small."""
    try:
        if child.alive:
            child.call({"do": "clear"}, seconds=_GRACE)
            with _LOCK:
                other = _IDLE.get(child.module)
                if not (other and other.alive) and _resident(child.pid) < _MOST_KEPT:
                    _IDLE[child.module] = child
                    return
    except OnnxpadError:
        return
    child.end()


def _ended(module: str, status: int | None) -> ChildEnded:
    what = f"the process that runs {module}"
    crashes = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL")
    fatal = {-getattr(signal, name) for name in crashes if hasattr(signal, name)}
    if status in fatal or (sys.platform == "win32" and (status or 0) & 0xC0000000):
        return ChildEnded(f"native code crashed ({_named(status)})", crashed=True)
    return ChildEnded(
        f"{what} was ended from outside ({_named(status)})\n"
        "  try     the same again; where memory is short, a smaller --memory ends it with a reason",
        crashed=False,
    )


def _named(status: int | None) -> str:
    try:
        return signal.Signals(-(status or 0)).name
    except ValueError:
        return f"exit {status}"


def _error(head: Mapping[str, Any]) -> Exception:
    """What the child raised."""
    name, message = str(head["error"]), str(head["message"])
    for place in (errors, builtins):
        kind = getattr(place, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            return kind(message)
    return RuntimeError(f"{name}: {message}")


def _search_path() -> str:
    """Where this process finds modules, for a child that must not look elsewhere."""
    return os.pathsep.join(one or str(Path.cwd()) for one in sys.path)


def _resident(pid: int) -> int:
    """Bytes of resident memory of a process, 0 where it has gone."""
    if sys.platform == "linux":
        try:
            pages = Path(f"/proc/{pid}/statm").read_bytes().split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGESIZE")
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def _forget() -> None:
    """A fork has the pipes of its parent's children, and locks that nobody there will release."""
    global _ENDING, _LOCK
    _ENDING, _LOCK = threading.Event(), threading.Lock()
    inherited: tuple[Child | Group, ...] = (*_CHILDREN, *_GROUPS)
    for one in inherited:
        one.disown()
    for known in (_CHILDREN, _GROUPS, _PROGRAMS, _IDLE):
        known.clear()


def _at_exit() -> None:
    left: tuple[Child | Group, ...] = (*_CHILDREN, *_GROUPS)
    for one in left:
        one.end()


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
