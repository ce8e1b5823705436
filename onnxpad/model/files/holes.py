"""Files with holes: few bytes on the disk, however long they are, and as few in a copy."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_PIECE = 1 << 20


def copy_all(source: BinaryIO, copy: BinaryIO) -> None:
    """Copy a file that nothing was read of yet into an empty one; holes stay holes.

    Raises:
        OSError: a file cannot be read or written, or the source becomes shorter meanwhile.
    """
    size = os.fstat(source.fileno()).st_size
    for start, length in _pieces(source, size):
        source.seek(start)
        copy.seek(start)
        piece = source.read(length)
        if len(piece) < length:
            raise OSError(errno.EIO, "the file became shorter while it was copied")
        copy.write(piece)
    copy.truncate(size)


def same_bytes(one: Path, other: Path) -> bool:
    """Whether two files hold the same bytes; what is a hole in both is not read.

    Raises:
        OSError: one of them cannot be read.
    """
    with one.open("rb") as first, other.open("rb") as second:
        size = os.fstat(first.fileno()).st_size
        if size != os.fstat(second.fileno()).st_size:
            return False
        for start, length in [*_pieces(first, size), *_pieces(second, size)]:
            first.seek(start)
            second.seek(start)
            if first.read(length) != second.read(length):
                return False
    return True


def _pieces(file: BinaryIO, size: int) -> Iterator[tuple[int, int]]:
    """Where to read, and how much there, so that every byte is read that may not be zero."""
    for start, end in list(_stored(file.fileno(), size)):
        for position in range(start, end, _PIECE):
            yield position, min(_PIECE, end - position)


def _stored(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """Where bytes of a file begin and end; all of it where the system does not tell."""
    if not hasattr(os, "SEEK_DATA"):
        yield 0, size
        return
    end = 0
    try:
        while end < size:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
            end = os.lseek(descriptor, start, os.SEEK_HOLE)
            yield start, min(end, size)
    except OSError as error:
        if error.errno == errno.EINVAL:  # a file system without holes
            yield end, size
        elif error.errno != errno.ENXIO:  # that nothing is stored behind
            raise
    finally:
        os.lseek(descriptor, 0, os.SEEK_SET)
