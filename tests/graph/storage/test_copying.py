import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onnxpad.model.files import atomic as copying
from onnxpad.model.files.atomic import copy_bytes, same_bytes, write_all

BLOCK = 1 << 16
HOLE = 8 << 20


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Callable[[Path], Path]]:
    """Copies a file to a new one and returns that."""
    opened: list[int] = []

    def copied(source: Path) -> Path:
        target = tmp_path / "copy"
        opened.append(os.open(source, os.O_RDONLY))
        opened.append(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
        copy_bytes(opened[-2], opened[-1])
        return target

    yield copied
    for descriptor in opened:
        os.close(descriptor)


@pytest.fixture(params=["whole", "holes", "only a hole", "empty", "hole at the end"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "source"
    block = os.urandom(BLOCK)
    with path.open("wb") as file:
        if request.param in {"whole", "hole at the end"}:
            file.write(block * 40 + b"odd end")
        if request.param == "holes":
            file.seek(HOLE)
            file.write(block)
            file.seek(3 * HOLE)
            file.write(block)
        if request.param in {"only a hole", "hole at the end"}:
            file.truncate(4 * HOLE)
    return path


def refusing(name: str, code: int) -> Callable[..., int]:
    def refuse(*_: object) -> int:
        raise OSError(code, name)

    return refuse


WAYS: dict[str, dict[str, Callable[..., int] | None]] = {
    "as the system likes": {},
    "no copy_file_range": {"copy_file_range": None},
    "copy_file_range across file systems": {
        "copy_file_range": refusing("copy_file_range", errno.EXDEV)
    },
    "copy_file_range finds nothing": {"copy_file_range": lambda *_: 0},
    "no kernel copy": {"copy_file_range": None, "sendfile": refusing("sendfile", errno.ENOSYS)},
    "no kernel copy, no holes": {
        "copy_file_range": None,
        "sendfile": None,
        "SEEK_DATA": None,
    },
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_copies_every_byte(
    way: str, source: Path, copy: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, replacement in WAYS[way].items():
        if replacement is None:
            monkeypatch.delattr(os, name, raising=False)
        else:
            monkeypatch.setattr(os, name, replacement)
    assert copy(source).read_bytes() == source.read_bytes()


def test_blocks_are_shared_where_the_file_system_can(
    source: Path, copy: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl", reason="the system has no ioctl")
    requests: list[int] = []

    def clone(target: int, request: int, source: int) -> int:
        requests.append(request)
        return os.write(target, os.pread(source, os.fstat(source).st_size, 0))

    monkeypatch.setattr(fcntl, "ioctl", clone)
    monkeypatch.setattr(copying, "_copy_range", None)
    assert copy(source).read_bytes() == source.read_bytes()
    assert requests == [0x40049409], "FICLONE, _IOW(0x94, 9, int) in linux/fs.h"


def test_holes_stay_holes(tmp_path: Path, copy: Callable[[Path], Path]) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.seek(64 << 20)
        file.write(b"end")
    if path.stat().st_blocks * 512 > 1 << 20:
        pytest.skip("the file system keeps no holes")
    copied = copy(path).stat()
    assert copied.st_size == (64 << 20) + 3
    assert copied.st_blocks * 512 <= 1 << 20


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_full_or_broken_disk_is_not_taken_for_a_missing_call(
    code: int, tmp_path: Path, copy: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "source").write_bytes(b"weights")
    monkeypatch.setattr(os, "copy_file_range", refusing("disk", code), raising=False)
    with pytest.raises(OSError, match="disk") as caught:
        copy(tmp_path / "source")
    assert caught.value.errno == code


def test_a_source_that_shrinks_is_an_error(
    tmp_path: Path, copy: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    source.write_bytes(bytes(range(100)))

    def shrunk(*_: object) -> Iterator[tuple[int, int]]:
        source.write_bytes(b"short")
        yield 0, 100

    monkeypatch.setattr(copying, "_extents", shrunk)
    with pytest.raises(OSError, match="became shorter"):
        copy(source)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (b"\xff" * 5000, True),
        (b"\xff" * 4999 + b"\0", False),
        (b"\xff" * 4999, False),
        (b"", False),
    ],
)
def test_same_bytes(other: bytes, same: bool, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"\xff" * 5000)
    (tmp_path / "other").write_bytes(other)
    with (tmp_path / "one").open("rb") as one, (tmp_path / "other").open("rb") as two:
        assert same_bytes(one.fileno(), two.fileno()) is same


def test_write_all_goes_on_where_the_system_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:7]))
    with (tmp_path / "target").open("wb", buffering=0) as target:
        write_all(target.fileno(), bytes(range(100)))
    assert (tmp_path / "target").read_bytes() == bytes(range(100))
