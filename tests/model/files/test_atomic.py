import errno
import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock

import pytest
from onnx import ModelProto

from onnxpad.errors import ModelError
from onnxpad.model.files import atomic, delivery
from onnxpad.model.files.atomic import Together
from onnxpad.model.files.onnx_file import Source, load, read
from onnxpad.model.files.saving import write
from tests.models.external_data import below, external_tensor, model_of, saved

NAMES = ["a.bin", "sub/deep/b.bin"]
MODEL = model_of(*(external_tensor(name, location=name) for name in NAMES))
OLD = b"what was there before"
INTERRUPT = KeyboardInterrupt()
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def read_in(tmp_path: Path) -> tuple[ModelProto, Source]:
    return read(saved(tmp_path / "in", MODEL, *NAMES))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "model.onnx").write_bytes(OLD)
    return tmp_path / "out" / "model.onnx"


def nothing_happened(out: Path) -> bool:
    return below(out.parent) == {"model.onnx"} and out.read_bytes() == OLD


def failing(
    monkeypatch: pytest.MonkeyPatch, name: str, call: int, error: BaseException, *, late: bool
) -> list[int]:
    """Let call number `call` (from 1) of a function fail, before it does its work or after it."""
    calls: list[int] = []
    owner = delivery if name == "copy_all" else os
    real: Callable[..., object] = getattr(owner, name)

    def replaced(*args: object, **options: object) -> object:
        calls.append(len(calls) + 1)
        if len(calls) != call:
            return real(*args, **options)
        if late:
            real(*args, **options)
        raise error

    monkeypatch.setattr(owner, name, replaced)
    return calls


STEPS = [
    *(("fsync", call) for call in (1, 2, 3)),
    *(("link", call) for call in (1, 2)),
    ("replace", 1),
    *(("mkdir", call) for call in (1, 2)),
    *(("copy_all", call) for call in (1, 2)),
]


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("name", "call"), STEPS)
def test_an_interrupt_leaves_nothing_half_written(
    name: str,
    call: int,
    late: bool,
    read_in: tuple[ModelProto, Source],
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = failing(monkeypatch, name, call, INTERRUPT, late=late)
    with pytest.raises(KeyboardInterrupt):
        write(read_in[0], out, source=read_in[1])
    monkeypatch.undo()
    assert call in calls
    if (name, call, late) == ("replace", 1, True):
        assert load(out) == MODEL, "the last rename is done, so all of it is"
    else:
        assert nothing_happened(out)


@pytest.mark.parametrize(("name", "call"), STEPS)
def test_a_full_disk_leaves_nothing_half_written(
    name: str,
    call: int,
    read_in: tuple[ModelProto, Source],
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = failing(monkeypatch, name, call, FULL, late=False)
    with pytest.raises(ModelError) as caught:
        write(read_in[0], out, source=read_in[1])
    monkeypatch.undo()
    assert call in calls
    assert str(out.parent) in str(caught.value)
    assert "No space left on device; free some space, or write to another disk" in str(caught.value)
    assert nothing_happened(out)


def test_a_data_file_that_appears_meanwhile_is_not_overwritten(
    read_in: tuple[ModelProto, Source], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync
    theirs = out.parent / NAMES[1]
    flushed: list[int] = []

    def flush_slowly(descriptor: int) -> None:
        flushed.append(descriptor)
        if len(flushed) == 2:
            theirs.write_bytes(b"theirs")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", flush_slowly)
    with pytest.raises(ModelError, match="another file took this name meanwhile; "):
        write(read_in[0], out, source=read_in[1])
    assert theirs.read_bytes() == b"theirs"
    assert below(out.parent) == {"model.onnx", "sub", "sub/deep", NAMES[1]}
    assert out.read_bytes() == OLD


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
def test_a_stream_that_takes_no_more_is_told() -> None:
    with pytest.raises(ModelError, match="cannot write to '/dev/full': No space left on device; f"):
        write(model_of(), "/dev/full")


GONE = 2**22 + 1
"""No process: above the largest number that one can have."""


def left_by(process: int, machine: str = "") -> str:
    return f".{machine or atomic._machine()}-{process}-0123456789abcdef.onnxpad.tmp"  # noqa: SLF001


@pytest.mark.skipif(os.name == "nt", reason="Windows does not say which processes there are")
def test_what_a_killed_run_left_is_swept_by_the_next_and_nothing_else(
    read_in: tuple[ModelProto, Source], out: Path
) -> None:
    kept = [left_by(GONE, "0" * 8), left_by(os.getppid()), ".onnxpad.tmp", left_by(GONE)[1:]]
    (out.parent / "sub" / "deep").mkdir(parents=True)
    for name in (left_by(GONE), f"sub/deep/{left_by(GONE)}", *kept):
        (out.parent / name).touch()
    (out.parent / left_by(GONE + 1)).mkdir()
    write(read_in[0], out, source=read_in[1])
    expected = {"model.onnx", "sub", "sub/deep", *NAMES, *kept, left_by(GONE + 1)}
    assert below(out.parent) == expected


def test_two_runs_that_make_the_same_files_both_succeed(
    read_in: tuple[ModelProto, Source], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one writes everything while the first is about to rename its files."""
    real = Together.commit
    others: list[bool] = []

    def commit(self: Together) -> None:
        monkeypatch.setattr(Together, "commit", real)
        write(read_in[0], out, source=read_in[1])
        others.append(load(out) == MODEL)
        real(self)

    monkeypatch.setattr(Together, "commit", commit)
    write(read_in[0], out, source=read_in[1])
    assert others == [True]
    assert load(out) == MODEL
    assert below(out.parent) == {"model.onnx", "sub", "sub/deep", *NAMES}


def test_a_run_that_fails_leaves_what_another_one_made(
    read_in: tuple[ModelProto, Source], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Together.commit

    def commit(self: Together) -> None:
        monkeypatch.setattr(Together, "commit", real)
        write(read_in[0], out, source=read_in[1])
        failing(monkeypatch, "replace", 1, FULL, late=False)
        real(self)

    monkeypatch.setattr(Together, "commit", commit)
    with pytest.raises(ModelError, match="No space left"):
        write(read_in[0], out, source=read_in[1])
    assert load(out) == MODEL
    assert below(out.parent) == {"model.onnx", "sub", "sub/deep", *NAMES}


def test_a_folder_that_another_run_makes_meanwhile_is_fine_and_stays(
    read_in: tuple[ModelProto, Source], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.mkdir
    theirs = out.parent / "sub"

    def made_by_both(path: Path, mode: int = 0o777) -> None:
        if Path(path) == theirs:
            real(path, mode)
        real(path, mode)

    failing(monkeypatch, "fsync", 2, FULL, late=False)
    monkeypatch.setattr(os, "mkdir", made_by_both)
    with pytest.raises(ModelError, match="No space left"):
        write(read_in[0], out, source=read_in[1])
    assert below(out.parent) == {"model.onnx", "sub"}


@pytest.mark.parametrize("name", ["link", "replace"])
def test_a_file_system_without_hard_links_is_no_failure(
    name: str, read_in: tuple[ModelProto, Source], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    if name == "replace":
        failing(monkeypatch, "replace", 3, FULL, late=False)
        with pytest.raises(ModelError, match="No space left"):
            write(read_in[0], out, source=read_in[1])
        assert nothing_happened(out)
    else:
        write(read_in[0], out, source=read_in[1])
        assert load(out) == MODEL


def test_a_process_that_ends_now_undoes_what_is_not_finished(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = Lock()  # it is never released
    monkeypatch.setattr(atomic, "_changing", lock)
    together = Together()
    with together:
        together.make_folders(out.parent / "new")
        with together.create(out.parent / "new" / "w.bin", replace=False) as file:
            file.write(b"w")
        atomic.abandon(1.0)
        assert nothing_happened(out)
        lock.release()
