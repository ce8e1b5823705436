"""Large files that stay open instead of being read: their bytes are copied where they belong.

Holding the weights of a model in memory costs more than to copy them from file to file.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

from onnxpad.errors import ModelError

SMALLEST = 1 << 22
"""Bytes from which on a file is left unread."""
_MOST_OPEN = 64
_PIECE = 1 << 18  # bytes that are copied at once: they stay in the processor's cache
_SETTLED = 2.1
"""Seconds since a file was written: some file systems keep times in steps of two."""


class UnreadFile:
    """The bytes of a regular file, read where they are asked for.

    The file stays open as long as this is there: renaming or removing it changes nothing. Reading
    raises ModelError where somebody has written to it since it was opened. Copied or pickled, its
    bytes go along.
    """

    def __init__(self, descriptor: int, name: str) -> None:
        weakref.finalize(self, os.close, descriptor)
        self.descriptor, self.name = descriptor, name
        self._opened = _state(descriptor)
        self._size = os.fstat(descriptor).st_size
        _open.add(self)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> bytes:
        start, end, _ = part.indices(self._size)
        pieces: list[bytes] = []
        try:
            while start < end and (piece := _read(self.descriptor, end - start, start)):
                pieces.append(piece)
                start += len(piece)
        except OSError as error:
            raise ModelError(
                f"{self.name}: cannot be read: {error.strerror}; check the disk, or copy the file"
            ) from error
        self.refuse_changed(complete=start >= end)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def __reduce__(self) -> tuple[Callable[[bytes, str], UnreadFile], tuple[bytes, str]]:
        return _of_bytes, (self[:], self.name)

    def refuse_changed(self, *, complete: bool = True) -> None:
        """Raise ModelError where the file is not what it was when it was opened."""
        if not complete or _state(self.descriptor) != self._opened:
            raise ModelError(
                f"{self.name}: the file was changed while onnxpad worked on it, so nothing was "
                "taken from it; try again when whatever writes to it has finished"
            )


def _of_bytes(data: bytes, name: str) -> UnreadFile:
    """A file without a name that holds these bytes."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        return UnreadFile(os.dup(file.fileno()), name)


class Stretch(NamedTuple):
    """The bytes of an unread file from `start` up to `end`."""

    file: UnreadFile
    start: int
    end: int


Original = bytes | UnreadFile
Piece = bytes | memoryview | Stretch
_open: weakref.WeakSet[UnreadFile] = weakref.WeakSet()


def unread(path: str | os.PathLike[str], most: int) -> UnreadFile | None:
    """A large regular file of up to `most` bytes, opened; None for what is better read at once.

    That is whatever else stands there or cannot be opened, a file in use on Windows (where it
    could not be replaced), one that was written to just now, so that its time would not tell
    whether that goes on, and one too many: open files are few.
    """
    if not hasattr(os, "pread") or len(_open) >= _MOST_OPEN:
        return None
    try:
        found = Path(path).stat()
        is_large = stat.S_ISREG(found.st_mode) and SMALLEST <= found.st_size <= most
        if is_large and time.time() - found.st_mtime > _SETTLED:
            return UnreadFile(os.open(path, os.O_RDONLY | os.O_NONBLOCK), os.fspath(path))
    except (OSError, ValueError):
        pass
    return None


def size_of(pieces: Iterable[Piece]) -> int:
    """The bytes of pieces together."""
    return sum(one.end - one.start if isinstance(one, Stretch) else len(one) for one in pieces)


def write_all(pieces: Iterable[Piece], target: BinaryIO) -> None:
    """Write pieces behind each other at the end of a file."""
    for piece in pieces:
        if isinstance(piece, Stretch):
            starts = range(piece.start, piece.end, _PIECE)
            target.writelines(piece.file[at : min(at + _PIECE, piece.end)] for at in starts)
        else:
            target.write(piece)


def joined(pieces: Iterable[Piece]) -> bytes:
    """The bytes of pieces behind each other."""
    return b"".join(
        one.file[one.start : one.end] if isinstance(one, Stretch) else one for one in pieces
    )


def _state(descriptor: int) -> tuple[int, int, int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _read(descriptor: int, size: int, position: int) -> bytes:
    if sys.platform == "win32":
        raise NotImplementedError
    return os.pread(descriptor, size, position)
