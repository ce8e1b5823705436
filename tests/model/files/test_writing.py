"""A model and its data files are written together, or nothing is."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from onnx import ModelProto

from onnxpad import ModelError, inspect, load, save
from onnxpad.model.files import atomic, delivery, onnx_file
from onnxpad.model.files.atomic import Together
from onnxpad.model.files.delivery import check_target
from onnxpad.model.files.onnx_file import Source, read
from tests.models.external_data import below, external_tensor, model_of, saved

NAMES = ["a.bin", "sub/deep/b.bin"]
MODEL = model_of(*(external_tensor(name, location=name) for name in NAMES))
PLAIN = model_of()
BYTES = PLAIN.SerializeToString()
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
    owner = shutil if name == "copyfileobj" else os
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
    *((name, call) for name in ("fsync", "mkdir", "copyfileobj", "replace") for call in (1, 2)),
    ("replace", 3),
]


@pytest.mark.parametrize(
    ("error", "late"),
    [(INTERRUPT, False), (INTERRUPT, True), (FULL, False)],
    ids=["interrupt", "interrupt behind", "full"],
)
@pytest.mark.parametrize(("name", "call"), STEPS)
def test_a_failure_leaves_nothing_half_written(
    name: str,
    call: int,
    error: BaseException,
    late: bool,
    read_in: tuple[ModelProto, Source],
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = failing(monkeypatch, name, call, error, late=late)
    kind = KeyboardInterrupt if error is INTERRUPT else ModelError
    with pytest.raises(kind) as caught:
        save(read_in[0], out, source=read_in[1])
    monkeypatch.undo()
    assert call in calls
    if kind is ModelError:
        assert "No space left on device; check" in str(caught.value)
    if (name, call, late) == ("replace", 3, True):
        assert load(out) == MODEL, "the last rename is done, so all of it is"
    else:
        assert nothing_happened(out)


def test_a_data_file_that_appears_meanwhile_is_not_overwritten(
    read_in: tuple[ModelProto, Source], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, theirs = Together.commit, out.parent / NAMES[1]

    def commit(self: Together) -> None:
        theirs.write_bytes(b"theirs")
        real(self)

    monkeypatch.setattr(Together, "commit", commit)
    with pytest.raises(ModelError, match="another file took this name meanwhile; "):
        save(read_in[0], out, source=read_in[1])
    assert theirs.read_bytes() == b"theirs"
    assert below(out.parent) == {"model.onnx", "sub", "sub/deep", NAMES[1]}
    assert out.read_bytes() == OLD


@pytest.mark.parametrize("fails", [False, True])
def test_two_runs_that_make_the_same_files(
    read_in: tuple[ModelProto, Source], out: Path, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    """The second one writes everything while the first is about to rename its files."""
    real = Together.commit

    def commit(self: Together) -> None:
        monkeypatch.setattr(Together, "commit", real)
        save(read_in[0], out, source=read_in[1])
        if fails:
            failing(monkeypatch, "replace", 1, FULL, late=False)
        real(self)

    monkeypatch.setattr(Together, "commit", commit)
    if fails:
        with pytest.raises(ModelError, match="No space left"):
            save(read_in[0], out, source=read_in[1])
    else:
        save(read_in[0], out, source=read_in[1])
    assert load(out) == MODEL
    assert below(out.parent) == {"model.onnx", "sub", "sub/deep", *NAMES}


def test_a_process_that_ends_now_removes_its_temporary_files(tmp_path: Path) -> None:
    with Together().create(tmp_path / "w.bin", replace=False) as file:
        file.write(b"w")
    assert len(below(tmp_path)) == 1
    atomic.abandon()
    assert below(tmp_path) == set()


@pytest.mark.parametrize("protected", ["model.onnx", "."])
def test_a_protected_target_is_refused(
    out: Path, protected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = (out.parent / protected).resolve()
    monkeypatch.setattr(os, "access", lambda asked, _: Path(asked) != locked)
    with pytest.raises(ModelError, match=r"write-protected; .*writ"):
        save(PLAIN, out)
    assert nothing_happened(out)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "it is a folder"),
        ("model.onnx/out.onnx", "Not a directory"),
        ("n" * 300, "File name too long; check"),
        ("nul\0.onnx", "embedded null "),
    ],
)
def test_a_target_that_cannot_be_is_refused(out: Path, name: str, told: str) -> None:
    target = out.parent / name
    for attempt in (check_target, lambda target: save(PLAIN, target)):
        with pytest.raises(ModelError) as caught:
            attempt(target)
        assert str(caught.value).startswith(f"cannot write '{target}'")
        assert told in str(caught.value)
    assert nothing_happened(out)


def test_what_protobuf_cannot_hold_is_neither_read_nor_written(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(PLAIN, out.with_name("plain.onnx"))
    for module in (onnx_file, delivery):
        monkeypatch.setattr(module, "LARGEST", len(BYTES) - 1)
    with pytest.raises(ModelError, match="protobuf holds less than 2 GiB: keep"):
        save(PLAIN, out)
    with pytest.raises(ModelError, match="protobuf holds less than 2 GiB: keep"):
        inspect(BYTES)
    with pytest.raises(ModelError, match="and at most"):
        load(out.with_name("plain.onnx"))
    assert out.read_bytes() == OLD


def test_permission_bits_are_kept_or_the_umask_decides(out: Path) -> None:
    new = out.with_name("new") / "new.onnx"
    before = os.umask(0o027)
    try:
        save(PLAIN, new)
    finally:
        os.umask(before)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    out.chmod(0o755)
    save(PLAIN, out)
    assert stat.S_IMODE(out.stat().st_mode) == 0o755


def test_a_symbolic_link_stays_and_what_it_points_to_is_replaced(out: Path) -> None:
    link = out.with_name("link.onnx")
    link.symlink_to("model.onnx")
    save(PLAIN, link)
    assert link.is_symlink()
    assert out.read_bytes() == BYTES


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_written(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = f"print(len(open({str(pipe)!r},'rb').read()))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as reader:
        save(PLAIN, pipe)
        assert reader.communicate()[0].strip() == str(len(BYTES)).encode()
    assert below(tmp_path) == {"pipe"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
def test_a_stream_that_takes_no_more_is_told() -> None:
    with pytest.raises(ModelError, match="cannot write to '/dev/full': No space left on device; c"):
        save(PLAIN, "/dev/full")
