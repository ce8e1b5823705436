import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper

from onnxpad.errors import ModelError
from onnxpad.model.files import delivery
from onnxpad.model.files.delivery import check_target
from onnxpad.model.files.saving import write
from tests.models.external_data import model_of

MODEL = model_of(numpy_helper.from_array(np.array([-1, -2], np.float32), "w"))
BYTES = MODEL.SerializeToString()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(BYTES)
    return path


def only(folder: Path) -> set[str]:
    return {found.name for found in folder.iterdir()}


@pytest.mark.parametrize("protected", ["model.onnx", "."])
def test_a_protected_target_is_refused(
    path: Path, protected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = (path.parent / protected).resolve()
    monkeypatch.setattr(os, "access", lambda asked, _: Path(asked) != locked)
    with pytest.raises(ModelError, match=r"write-protected; .*writ"):
        write(ModelProto(), path)
    assert path.read_bytes() == BYTES


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("", "it is a folder"),
        ("model.onnx/out.onnx", "Not a directory"),
        ("n" * 300, "File name too long; choose a shorter name"),
        ("nul\0.onnx", "embedded null "),
        ("loop", "Too many levels of symbolic links"),
    ],
)
def test_a_target_that_cannot_be_is_refused(path: Path, name: str, found: str) -> None:
    (path.parent / "loop").symlink_to("loop")
    target = path.parent / name
    for attempt in (check_target, lambda target: write(MODEL, target)):
        with pytest.raises(ModelError) as caught:
            attempt(target)
        assert str(caught.value).startswith(f"cannot write '{target}'")
        assert found in str(caught.value)
    assert only(path.parent) == {"model.onnx", "loop"}


def test_missing_folders_are_made_and_go_again_where_nothing_is_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = path.parent / "absent" / "deep" / "out.onnx"
    check_target(target)
    assert only(path.parent) == {"model.onnx"}

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(ModelError, match="No space left"):
            write(MODEL, target)
    assert only(path.parent) == {"model.onnx"}
    write(MODEL, target)
    assert target.read_bytes() == BYTES


def test_permission_bits_are_kept_or_the_umask_decides(path: Path) -> None:
    path.chmod(0o640)
    write(MODEL, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    before = os.umask(0o027)
    try:
        write(MODEL, path.with_name("new.onnx"))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.with_name("new.onnx").stat().st_mode) == 0o640
    path.chmod(0o755)
    write(MODEL, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_a_symbolic_link_stays_and_what_it_points_to_is_replaced(path: Path) -> None:
    store = path.parent / "store"
    store.mkdir()
    link = path.parent / "link.onnx"
    for exists in (False, True):
        link.unlink(missing_ok=True)
        link.symlink_to("store/real.onnx")
        assert (store / "real.onnx").exists() == exists
        write(MODEL, link)
        assert link.is_symlink()
        assert (store / "real.onnx").read_bytes() == BYTES
    assert only(store) == {"real.onnx"}


def test_a_device_is_written_to_and_not_replaced() -> None:
    tty = pytest.importorskip("tty", reason="the system has no terminals to open")
    # A terminal of our own, whose folder takes no files: a shared device such as the null device
    # would be replaced for the whole system if this failed and the user may do it.
    try:
        ours, theirs = os.openpty()
    except OSError as error:
        pytest.skip(f"the system opens no terminal: {error}")
    try:
        tty.setraw(theirs)
        device = os.ttyname(theirs)
        write(MODEL, device)
        assert os.read(ours, 2 * len(BYTES)) == BYTES
        assert stat.S_ISCHR(Path(device).stat().st_mode)
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_read_and_written(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(
        [sys.executable, "-c", f"print(len(open({str(pipe)!r},'rb').read()))"],
        stdout=subprocess.PIPE,
    ) as reader:
        write(MODEL, pipe)
        assert reader.communicate()[0].strip() == str(len(BYTES)).encode()
    assert only(tmp_path) == {"pipe"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_that_nobody_reads_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(delivery, "PATIENCE", 0.1)
    with pytest.raises(ModelError, match="start what reads from it first"):
        write(MODEL, tmp_path / "pipe")
