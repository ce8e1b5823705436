"""The bytes of files, pipes and standard input: bounded, and never waited for without an end."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from io import BufferedReader
from itertools import chain
from time import monotonic, sleep
from typing import BinaryIO

from onnxpad.errors import ModelError

PATIENCE = 10.0
"""Seconds that somebody has to open a named pipe for writing."""
_PIECE = 1 << 20
_SEEN = 4096  # bytes that tell what a stream is
_PLAIN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_REMEDIES = {
    errno.ENOSPC: "free some space, or write to another disk",
    errno.EDQUOT: "free some space, or write to another disk",
    errno.EFBIG: "the file system or a limit does not take files this large: write elsewhere",
    errno.EACCES: "change the permissions, or write to another folder",
    errno.EPERM: "change the permissions, or write to another folder",
    errno.EROFS: "write to another folder",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENXIO: "start what reads from it first",
    errno.EPIPE: "whatever read from it has stopped",
}

AnyPath = str | os.PathLike[str]


def is_standard(path: AnyPath) -> bool:
    """Whether the path is '-', which stands for standard input or output."""
    return os.fspath(path) == "-"


class Refused(ValueError):
    """Something that is not read, and what to give instead."""


@contextlib.contextmanager
def explained(doing: str) -> Iterator[None]:
    """Turn what the system reports into a ModelError: what failed, its reason, what to try.

    `doing` says what failed, with the file's name: "cannot write 'out.onnx'".
    """
    try:
        yield
    except Refused:
        raise
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL character
        code, reason = getattr(error, "errno", None), getattr(error, "strerror", None)
        remedy = _REMEDIES.get(code or 0, "check the path and the disk")
        raise ModelError(f"{doing}: {reason or error}; {remedy}") from error


def _anything(_start: bytes) -> str | None:
    return None


def contents(
    path: str | os.PathLike[str],
    most: int,
    *,
    too_large: str = "",
    wrong: Callable[[bytes], str | None] = _anything,
) -> bytes:
    """All bytes of a regular file or pipe, at most `most`.

    `too_large` is what to try where there are more. `wrong` says why nothing useful starts with
    the bytes given; it is asked before the rest is read. Raises Refused for more bytes, a device,
    or a pipe that nobody writes to, OSError where the system does not let it be read.
    """
    with open(path, "rb", buffering=0, opener=_opened) as file:
        found = os.fstat(file.fileno())
        if found.st_size > most:
            raise _beyond(found.st_size, too_large)
        if stat.S_ISREG(found.st_mode) and found.st_size:
            if (why := wrong(file.read(_SEEN))) is not None:
                raise Refused(why)
            file.seek(0)
            return file.readall()
        first = b""
        if stat.S_ISFIFO(found.st_mode):
            first = _first_piece(file.fileno())
        else:
            _refuse_device(found.st_mode, file)
        return _drained(first, lambda: file.read(_PIECE), most, too_large, wrong)


def standard_input(
    most: int, *, too_large: str = "", wrong: Callable[[bytes], str | None] = _anything
) -> bytes:
    """All bytes of standard input; arguments and errors as for `contents`."""
    if sys.stdin is None:
        raise Refused("it is closed; give a file, or send the file into it")
    stream: BufferedReader = sys.stdin.buffer  # type: ignore[assignment]  # what it is
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except OSError:  # a stream in memory
        mode = stat.S_IFIFO
    if not sys.stdin.isatty():
        _refuse_device(mode, stream)
    return _drained(b"", lambda: stream.read1(_PIECE), most, too_large, wrong)


def _opened(path: str, _flags: int) -> int:
    """Opening a named pipe does not wait for whoever writes to it."""
    return os.open(path, _PLAIN)


def _refuse_device(mode: int, stream: BinaryIO) -> None:
    """A device may have no end; one that has nothing at all is an empty file."""
    if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and stream.read(1):
        raise Refused("it is a device, which may have no end; give a file or a pipe")


def _first_piece(descriptor: int) -> bytes:
    """What a pipe begins with: patient with whoever has opened it, not with nobody."""
    deadline = monotonic() + PATIENCE
    while True:
        try:
            piece = os.read(descriptor, _PIECE)
        except BlockingIOError:  # somebody has opened it
            os.set_blocking(descriptor, True)
            continue
        if piece or os.get_blocking(descriptor):
            os.set_blocking(descriptor, True)
            return piece
        if monotonic() > deadline:
            raise Refused(
                f"it is a pipe, and nobody wrote to it within {PATIENCE:g} seconds; start what "
                "writes to it first, or give a file"
            )
        sleep(0.02)


def _drained(
    first: bytes,
    read: Callable[[], bytes],
    most: int,
    too_large: str,
    wrong: Callable[[bytes], str | None],
) -> bytes:
    pieces: list[bytes] = []
    size, seen = 0, False
    for piece in chain([first], iter(read, b"")):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise _beyond(size, too_large, "at least ")
        if not seen and size >= _SEEN:
            seen = True
            if (why := wrong(b"".join(pieces))) is not None:
                raise Refused(why)
    return b"".join(pieces)


def _beyond(size: int, too_large: str, least: str = "") -> Refused:
    return Refused(f"{least}{size} bytes; {too_large or 'give a smaller file'}")
