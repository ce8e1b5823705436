"""Children that run native code: answers, limits, ends, and what is left of them."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from onnxpad import LimitMet, RequestError, processes
from onnxpad.processes import (
    Child,
    ChildEnded,
    Group,
    Reply,
    bytes_of,
    limited,
)

WORKER = """
import sys, time
import numpy as np
from onnxpad.processes import Reply, serve

def echo(head, buffers):
    return Reply({"got": head["text"]}, buffers)

def spin(head, buffers):
    while True:
        pass

def sleep(head, buffers):
    time.sleep(head["seconds"])
    return Reply({}, [])

def grow(head, buffers):
    kept = [np.ones(2**20) for _ in range(512)]
    time.sleep(60)

def fail(head, buffers):
    import builtins, onnxpad.errors
    kind = getattr(onnxpad.errors, head["kind"], None) or getattr(builtins, head["kind"], None)
    raise (kind or type(head["kind"], (Exception,), {}))(head["text"])

def crash(head, buffers):
    import os, signal
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(60)

def say(head, buffers):
    print("to standard output", flush=True)
    return Reply({"input": sys.stdin.read()}, [])

DOES = (echo, spin, sleep, grow, fail, crash, say)
serve({one.__name__: one for one in DOES}
      | {"clear": lambda *_: Reply({}, [])})
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module that only these tests have, found where this process finds modules."""
    (tmp_path / "worker_of_tests.py").write_text(WORKER, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "worker_of_tests"
    for child in processes.running():
        child.end()


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_message_and_its_buffers_come_back(module: str) -> None:
    child = Child(module)
    cells = np.arange(1 << 20, dtype=np.int32)
    reply = child.call({"do": "echo", "text": "Größe"}, [cells.data, b"", b"\0\n"])
    assert reply.head == {"got": "Größe"}
    assert np.array_equal(np.frombuffer(reply.buffers[0], np.int32), cells)
    assert [bytes(one) for one in reply.buffers[1:]] == [b"", b"\0\n"]
    child.end()


def test_what_native_code_prints_is_no_answer(module: str) -> None:
    child = Child(module)
    assert child.call({"do": "say"}).head == {"input": ""}
    assert child.call({"do": "echo", "text": "still here"}).head == {"got": "still here"}
    child.end()


@pytest.mark.parametrize("kind", ["RuntimeUnavailable", "ValueError", "MemoryError"])
def test_an_error_in_the_child_is_the_same_error_here(module: str, kind: str) -> None:
    child = Child(module)
    with pytest.raises(Exception, match="what it said") as caught:
        child.call({"do": "fail", "kind": kind, "text": "what it said"})
    assert type(caught.value).__name__ == kind
    assert child.alive
    child.end()


def test_a_loop_is_ended_at_its_time(module: str) -> None:
    with limited(seconds=0.5) as work:
        child = work.child(module, "the loop")
        started = time.monotonic()
        with pytest.raises(LimitMet, match=r"the loop took more than 0\.5 s .*--timeout 600"):
            work.call(child, {"do": "spin"}, what="the loop")
        assert time.monotonic() - started < 5
        assert not is_running(child.pid)
        assert list(work.met) == ["the loop"]
        with pytest.raises(LimitMet, match="the loop took more"):
            work.child(module, "the loop")


def test_memory_is_watched_from_outside(module: str) -> None:
    with limited(memory="256M") as work:
        child = work.child(module)
        with pytest.raises(LimitMet, match=r"more than 256 MiB of memory .*--memory 1G"):
            work.call(child, {"do": "grow"})
        assert not is_running(child.pid)


def test_time_is_counted_over_all_calls(module: str) -> None:
    with limited(seconds=1.0) as work:
        child = work.child(module)
        for _ in range(2):
            work.call(child, {"do": "sleep", "seconds": 0.2})
        with pytest.raises(LimitMet):
            work.call(child, {"do": "sleep", "seconds": 0.9})


def test_a_deadline_ends_what_runs(module: str) -> None:
    with limited() as work:
        work.deadline = time.monotonic() + 0.3
        child = work.child(module)
        work.deadline = time.monotonic() + 0.3
        with pytest.raises(LimitMet, match="the time was up"):
            work.call(child, {"do": "spin"})
        with pytest.raises(LimitMet, match="the time was up"):
            work.child(module)
        work.go_on_until(time.monotonic() + 5)
        work.call(work.child(module), {"do": "sleep", "seconds": 0.01})


def test_a_crash_is_told_from_an_end_from_outside(module: str) -> None:
    with pytest.raises(ChildEnded, match=r"crashed \(SIGSEGV\)") as crashed:
        Child(module).call({"do": "crash"})
    assert crashed.value.crashed
    child = Child(module)
    threading.Timer(0.2, os.kill, (child.pid, signal.SIGKILL)).start()
    with pytest.raises(ChildEnded, match=r"ended from outside \(SIGKILL\)") as ended:
        child.call({"do": "spin"})
    assert not ended.value.crashed


def test_one_child_is_kept_warm(module: str) -> None:
    with limited() as work:
        first = work.child(module).pid
        assert work.child(module).pid == first
    with limited() as work:
        assert work.child(module).pid == first
        with limited(seconds=5) as inner:
            assert inner.child(module).pid != first


def test_a_warm_child_that_died_is_replaced(module: str) -> None:
    with limited() as work:
        first = work.child(module)
    os.kill(first.pid, signal.SIGKILL)
    while first.alive:
        time.sleep(0.01)
    with limited() as work:
        assert work.child(module).pid != first.pid


def test_threads_have_children_of_their_own(module: str) -> None:
    found: list[tuple[int, Reply]] = []

    def one(number: int) -> None:
        with limited() as work:
            child = work.child(module)
            work.call(child, {"do": "sleep", "seconds": 0.3})
            found.append((number, work.call(child, {"do": "echo", "text": str(number)})))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {number: reply.head["got"] for number, reply in found} == {0: "0", 1: "1", 2: "2"}
    time.sleep(0.2)
    assert len(processes.running()) == 1


PARENT = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # some shells ignore it
from onnxpad.processes import Child
child = Child("worker_of_tests")
print(child.pid, flush=True)
child.call({"do": "spin"}, seconds=600)
"""


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_children_end_with_their_parent(number: int) -> None:
    path = os.pathsep.join(one or "." for one in sys.path)
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
        text=True,
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    time.sleep(0.3)
    assert is_running(child)
    parent.send_signal(number)
    parent.wait(5)
    parent.stdout.close()
    deadline = time.monotonic() + 5
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(child)


def test_end_all_ends_every_child_at_once(module: str) -> None:
    children = [Child(module) for _ in range(2)]
    started = time.monotonic()
    processes.end_all()
    assert time.monotonic() - started < 0.1
    time.sleep(0.2)
    assert not any(child.alive for child in children)
    for child in children:
        child.end()


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512M", 2**29),
        ("4G", 2**32),
        ("1.5GiB", 3 * 2**29),
        ("100", 100),
        (4096, 4096),
        ("2kb", 2**11),
    ],
)
def test_sizes_are_read(text: int | str, size: int) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "4X", "-1G", "G", "nan", "inf", "1e400", 0, "9" * 5000])
def test_what_is_no_size_is_refused(text: int | str) -> None:
    with pytest.raises(RequestError, match="give a size such as 512M or 4G"):
        bytes_of(text)


BEATING = """
import subprocess, sys, time
if len(sys.argv) < 3:
    subprocess.Popen([sys.executable, __file__, sys.argv[1], "child"])
while True:
    open(sys.argv[1] + sys.argv[-1][-5:], "a").write(".")
    time.sleep(0.1)
"""
OF_A_GROUP = """
import sys, time
from onnxpad.processes import Group
Group([sys.executable, *sys.argv[1:]])
time.sleep(60)
"""


class Beats:
    """A program that starts another one; both write into files as long as they live."""

    def __init__(self, folder: Path) -> None:
        (folder / "beating.py").write_text(BEATING, encoding="utf-8")
        self.words = [str(folder / "beating.py"), str(folder / "beat-")]
        self._files = [folder / "beat-beat-", folder / "beat-child"]

    def wait(self) -> None:
        deadline = time.monotonic() + 30
        while not all(file.exists() for file in self._files):
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def have_ended(self) -> bool:
        time.sleep(0.3)
        sizes = [file.stat().st_size for file in self._files]
        time.sleep(0.5)
        return sizes == [file.stat().st_size for file in self._files]


@pytest.fixture
def beats(tmp_path: Path) -> Beats:
    return Beats(tmp_path)


def test_what_a_program_started_ends_with_its_group(beats: Beats) -> None:
    group = Group([sys.executable, *beats.words])
    beats.wait()
    assert not beats.have_ended()
    group.end()
    assert beats.have_ended()


def test_a_group_ends_with_this_process_even_if_that_is_killed(beats: Beats) -> None:
    with subprocess.Popen([sys.executable, "-c", OF_A_GROUP, *beats.words]) as parent:
        beats.wait()
        parent.kill()
    assert beats.have_ended()


def test_a_group_that_cannot_start_leaves_nothing() -> None:
    known = set(processes._GROUPS)  # noqa: SLF001 - other tests leave some open
    with pytest.raises(FileNotFoundError):
        Group(["a-program-that-is-not-there"])
    assert known == processes._GROUPS  # noqa: SLF001
