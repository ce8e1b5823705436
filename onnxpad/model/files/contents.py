"""The bytes of files, pipes and standard input, bounded; what the system reports, explained."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from io import BufferedReader

from onnxpad.errors import ModelError

_PIECE = 1 << 20
AnyPath = str | os.PathLike[str]


def is_standard(path: AnyPath) -> bool:
    """Whether the path is '-', which stands for standard input or output."""
    return os.fspath(path) == "-"


class Refused(ValueError):
    """Something that is not read, and what to give instead."""


@contextlib.contextmanager
def explained(doing: str) -> Iterator[None]:
    """Turn an error of the system into a ModelError with its reason and what to try.

    `doing` names the failure and the file: "cannot write 'out.onnx'".
    """
    try:
        yield
    except Refused:
        raise
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL character
        reason = getattr(error, "strerror", None) or error
        what_to_try = "check the path, its permissions and the space on the disk"
        raise ModelError(f"{doing}: {reason}; {what_to_try}") from error


def contents(path: AnyPath, most: int) -> bytes:
    """All bytes of a regular file or pipe, at most `most`.

    Raises Refused for more bytes and for a device, OSError where the system does not let it be
    read.
    """
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - "" is no folder
        found = os.fstat(file.fileno())
        if stat.S_ISREG(found.st_mode) and 0 < found.st_size <= most:
            return file.readall()
        return _drained(lambda: file.read(_PIECE), found, most)


def standard_input(most: int) -> bytes:
    """All bytes of standard input; arguments and errors as for `contents`."""
    if sys.stdin is None:
        raise Refused("it is closed; give a file, or send the file into it")
    stream: BufferedReader = sys.stdin.buffer  # type: ignore[assignment]  # what it is
    found = None
    if not sys.stdin.isatty():
        with contextlib.suppress(OSError):  # a stream in memory
            found = os.fstat(stream.fileno())
    return _drained(lambda: stream.read1(_PIECE), found, most)


def _drained(read: Callable[[], bytes], found: os.stat_result | None, most: int) -> bytes:
    size, pieces = found.st_size if found else 0, list[bytes]()
    is_device = found and (stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode))
    while size <= most and (piece := read()):
        if is_device:  # one that has nothing at all is an empty file
            raise Refused("it is a device, which may have no end; give a file or a pipe")
        pieces.append(piece)
        size += len(piece)
    if size > most:
        raise Refused(f"{size} bytes or more, and at most {most} are read; give a smaller file")
    return b"".join(pieces)
