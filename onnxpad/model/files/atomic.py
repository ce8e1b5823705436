"""Files that appear under their names together, or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from onnxpad.errors import ModelError

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_REMEDIES = {
    errno.ENOSPC: "free some space, or write to another disk",
    errno.EDQUOT: "free some space, or write to another disk",
    errno.EFBIG: "the file system or a limit does not take files this large: write elsewhere",
    errno.EACCES: "change the permissions, or write to another folder",
    errno.EPERM: "change the permissions, or write to another folder",
    errno.EROFS: "write to another folder",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EPIPE: "whatever read from it has stopped",
}


@contextlib.contextmanager
def explained(doing: str) -> Iterator[None]:
    """Turn what the system reports into a ModelError.

    Args:
        doing: what failed, with the file's name: "cannot write 'out.onnx'".

    Raises:
        ModelError: `doing`, the system's reason and what to try.
    """
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL character
        code, reason = getattr(error, "errno", None), getattr(error, "strerror", None)
        remedy = _REMEDIES.get(code or 0, "check the path and the disk")
        raise ModelError(f"{doing}: {reason or error}; {remedy}") from error


@dataclass(frozen=True)
class _Staged:
    temporary: Path
    target: Path
    replace: bool


class Together:
    """Stages files under temporary names beside their targets and renames them at the end.

    Use in a `with` block and call `commit` last. Leaving the block by any exception, an
    interrupt included, removes every temporary file, every new file already renamed and every
    folder made. The rename of the last file staged is what decides: before it nothing remains,
    after it everything stays.
    """

    def __init__(self) -> None:
        self._staged: list[_Staged] = []
        self._folders: list[Path] = []
        self._committing = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._undo()

    def make_folders(self, folder: Path) -> None:
        """Make `folder` and those above it that do not exist yet.

        Raises:
            ModelError: a folder cannot be made.
        """
        if folder.is_dir():
            return
        self.make_folders(folder.parent)
        with explained(f"cannot make the folder '{folder}'"):
            self._folders.append(folder)
            folder.mkdir()

    @contextlib.contextmanager
    def create(self, target: Path, *, replace: bool, mode: int = 0o666) -> Iterator[int]:
        """Open the temporary file that becomes `target`, for writing; yields its descriptor.

        The bytes are on the disk when the block ends. Only the last file may be one to `replace`
        (a replaced file cannot be brought back); it passes on its permission bits. Those of a
        new file are `mode` less the umask.

        Raises:
            ModelError: the file cannot be made or written.
        """
        temporary = target.with_name(f".{os.urandom(8).hex()}.onnxpad.tmp")
        with explained(f"cannot write '{target}'"):
            self._staged.append(_Staged(temporary, target, replace))
            descriptor = os.open(temporary, _CREATE, mode)
            try:
                if replace:
                    _keep_permissions(target, descriptor)
                yield descriptor
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def commit(self) -> None:
        """Rename every staged file to its target, in the order they were created.

        Raises:
            ModelError: a rename failed, or a file that is not to be replaced has appeared.
        """
        self._committing = True
        for item in self._staged:
            with explained(f"cannot write '{item.target}'"):
                if not item.replace and os.path.lexists(item.target):
                    raise ModelError(
                        f"cannot write '{item.target}': another file took this name meanwhile; "
                        "write to another folder, or try again"
                    )
                item.temporary.replace(item.target)
        for folder in {item.target.parent for item in self._staged}:
            _flush_folder(folder)

    def _undo(self) -> None:
        if self._committing and not self._staged[-1].temporary.exists():
            return
        for item in self._staged:
            with contextlib.suppress(OSError):
                if self._committing and not item.temporary.exists():
                    item.target.unlink(missing_ok=True)
                item.temporary.unlink(missing_ok=True)
        for folder in reversed(self._folders):
            with contextlib.suppress(OSError):
                folder.rmdir()


def _keep_permissions(target: Path, descriptor: int) -> None:
    """Give the open file the permission bits of `target`, if that exists."""
    if not target.exists() or not hasattr(os, "fchmod"):
        return
    wanted = stat.S_IMODE(target.stat().st_mode)
    # Not every file system can change them: do not ask for what is already so.
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != wanted:
        os.fchmod(descriptor, wanted)


def _flush_folder(folder: Path) -> None:
    """Ask for the renames to reach the disk too; Windows and some file systems do not offer it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_FICLONE = 0x40049409  # linux/fs.h: share the extents, copy when written to (btrfs, XFS, bcachefs)
_CHUNK = 1 << 20
_KERNEL_CHUNK = 1 << 30
_NOT_OFFERED = {
    errno.EBADF,
    errno.EINVAL,
    errno.ENOSYS,
    errno.ENOTTY,
    errno.EOPNOTSUPP,
    errno.EPERM,
    errno.EXDEV,
}


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Write every byte, however often the system takes only a part of them.

    Raises:
        OSError: as the system reports it; ENOSPC on a full disk.
    """
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest[:_KERNEL_CHUNK]) :]


def copy_bytes(source: int, target: int) -> None:
    """Copy the file open as `source` into the empty file open as `target`; holes stay holes.

    Tries to share the blocks (a reflink, on file systems that have it), then the kernel's own
    copy, then reads and writes.

    Raises:
        OSError: as the system reports it, or when the source becomes shorter meanwhile.
    """
    size = os.fstat(source).st_size
    if _cloned(source, target):
        return
    for begin, end in _extents(source, size):
        _copy_range(source, target, begin, end)
    os.ftruncate(target, size)


def same_bytes(one: int, other: int) -> bool:
    """Whether two open files hold the same bytes; read in pieces, only if the sizes agree."""
    if os.fstat(one).st_size != os.fstat(other).st_size:
        return False
    while True:
        piece = os.read(one, _CHUNK)
        if piece != _read_exactly(other, len(piece)):
            return False
        if not piece:
            return True


def _read_exactly(descriptor: int, count: int) -> bytes:
    pieces = b""
    while len(pieces) < count and (piece := os.read(descriptor, count - len(pieces))):
        pieces += piece
    return pieces


def _cloned(source: int, target: int) -> bool:
    if fcntl is None:
        return False
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError as error:
        if error.errno in _NOT_OFFERED:
            return False
        raise
    return True


def _extents(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """The ranges that hold data; the whole file where the file system does not say."""
    end = 0
    while end < size:
        try:
            begin = os.lseek(descriptor, end, os.SEEK_DATA)
            stop = os.lseek(descriptor, begin, os.SEEK_HOLE)
        except (AttributeError, OSError) as error:
            if isinstance(error, OSError) and error.errno == errno.ENXIO:
                return  # a hole up to the end
            if isinstance(error, OSError) and error.errno not in _NOT_OFFERED:
                raise
            begin, stop = end, size
        end = min(stop, size)
        yield begin, end


def _copy_range(source: int, target: int, begin: int, end: int) -> None:
    """Copy bytes [begin, end) by the cheapest way that works here."""
    for step in (_in_kernel, _by_sendfile, _by_hand):
        with contextlib.suppress(AttributeError):
            begin = _stepwise(step, source, target, begin, end)
        if begin == end:
            return
    raise OSError(errno.EIO, "the file became shorter while it was copied")


def _stepwise(
    step: Callable[[int, int, int, int], int], source: int, target: int, begin: int, end: int
) -> int:
    """Repeat one way of copying; where it stops, because it is not offered or finds no more."""
    try:
        while begin < end and (count := step(source, target, begin, end - begin)):
            begin += count
    except OSError as error:
        if error.errno not in _NOT_OFFERED or step is _by_hand:
            raise
    return begin


def _in_kernel(source: int, target: int, begin: int, count: int) -> int:
    return os.copy_file_range(source, target, min(count, _KERNEL_CHUNK), begin, begin)


def _by_sendfile(source: int, target: int, begin: int, count: int) -> int:
    os.lseek(target, begin, os.SEEK_SET)
    return os.sendfile(target, source, begin, min(count, _KERNEL_CHUNK))


def _by_hand(source: int, target: int, begin: int, count: int) -> int:
    os.lseek(source, begin, os.SEEK_SET)
    os.lseek(target, begin, os.SEEK_SET)
    piece = os.read(source, min(count, _CHUNK))
    write_all(target, piece)
    return len(piece)
