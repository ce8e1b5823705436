"""Copying the bytes of one open file to another without bringing them into memory."""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator

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
