"""The bytes of files, pipes and standard input, bounded; what the system reports, explained."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from io import BufferedReader

from onnxpad.errors import ModelError

_PIECE = 1 << 20
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


def contents(path: AnyPath, most: int, *, too_large: str = "") -> bytes:
    """All bytes of a regular file or pipe, at most `most`.

    `too_large` is what to try where there are more. Raises Refused for more bytes and for a
    device, OSError where the system does not let it be read.
    """
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - "" is no folder
        found = os.fstat(file.fileno())
        if found.st_size > most:
            raise _beyond(found.st_size, too_large)
        if stat.S_ISREG(found.st_mode) and found.st_size:
            return file.readall()
        _refuse_device(found.st_mode, lambda: file.read(1))
        return _drained(lambda: file.read(_PIECE), most, too_large)


def standard_input(most: int, *, too_large: str = "") -> bytes:
    """All bytes of standard input; arguments and errors as for `contents`."""
    if sys.stdin is None:
        raise Refused("it is closed; give a file, or send the file into it")
    stream: BufferedReader = sys.stdin.buffer  # type: ignore[assignment]  # what it is
    if not sys.stdin.isatty():
        with contextlib.suppress(OSError):  # a stream in memory
            _refuse_device(os.fstat(stream.fileno()).st_mode, lambda: stream.read(1))
    return _drained(lambda: stream.read1(_PIECE), most, too_large)


def _refuse_device(mode: int, first: Callable[[], bytes]) -> None:
    """A device may have no end; one that has nothing at all is an empty file."""
    if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and first():
        raise Refused("it is a device, which may have no end; give a file or a pipe")


def _drained(read: Callable[[], bytes], most: int, too_large: str) -> bytes:
    pieces: list[bytes] = []
    size = 0
    for piece in iter(read, b""):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise _beyond(size, too_large, "at least ")
    return b"".join(pieces)


def _beyond(size: int, too_large: str, least: str = "") -> Refused:
    return Refused(f"{least}{size} bytes; {too_large or 'give a smaller file'}")
