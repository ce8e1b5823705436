"""Bringing serialised models to where they are wanted: a file, a pipe or standard output."""

import contextlib
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from onnxpad.errors import ModelError
from onnxpad.graph.storage.atomic import Together, explained
from onnxpad.graph.storage.carrying import carry
from onnxpad.graph.storage.copying import write_all
from onnxpad.graph.storage.external import DataFile

AnyPath = str | os.PathLike[str]


def is_standard(path: AnyPath) -> bool:
    """Whether the path is '-', which stands for standard input or output."""
    return os.fspath(path) == "-"


def check_target(path: AnyPath) -> None:
    """Find out whether a model could be written to `path`, before there is work to lose.

    Raises:
        ModelError: the folder does not exist, `path` is a folder, or permissions forbid it.
    """
    if is_standard(path):
        return
    told = f"cannot write '{path}'"
    # A new file has nothing to look at; what else stops a look also stops writing.
    with explained(told), contextlib.suppress(FileNotFoundError):
        Path(path).stat()
    if _is_stream(Path(path)):
        return
    target = Path(path).resolve()
    if target.is_dir():
        raise ModelError(f"{told}: it is a folder; name the file to write in it")
    if not target.parent.is_dir():
        raise ModelError(f"{told}: there is no folder '{target.parent}'; make it first")
    if target.exists() and not os.access(target, os.W_OK):
        raise ModelError(f"{told}: it is write-protected; choose another name or allow writing")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise ModelError(
            f"{told}: the folder '{target.parent}' is write-protected; write to another folder"
        )


def deliver(
    data: Sequence[memoryview], files: tuple[DataFile, ...], path: AnyPath, *, origin: Path | None
) -> None:
    """Write a serialised model, with the external data that it refers to, all or nothing.

    Args:
        data: the bytes to write, in pieces.
        files: the external data files that the model refers to.
        path: a file; a symbolic link stays and what it points to is replaced; a device or pipe is
            written to directly; '-' is standard output.
        origin: the folder of the external data; None: the folder of `path`.

    Raises:
        ModelError: the model or its external data cannot be written; nothing has changed then.
    """
    check_target(path)
    if is_standard(path) or _is_stream(Path(path)):
        _stream(data, files, path)
        return
    target = Path(path).absolute()
    with Together() as together:
        try:
            carry(files, origin or target.parent, target, together, name=str(path))
        except ModelError as error:
            if origin is not None:
                raise
            raise ModelError(
                f"{error}; or pass source=, the path of the file that the model came from"
            ) from error
        with together.create(target.resolve(), replace=True) as descriptor:
            for piece in data:
                write_all(descriptor, piece)
        together.commit()


def _stream(data: Sequence[memoryview], files: tuple[DataFile, ...], path: AnyPath) -> None:
    told = "cannot write to standard output" if is_standard(path) else f"cannot write to '{path}'"
    if files:
        raise ModelError(
            f"{told}: the model has its weights in '{files[0].location}', which would stay behind; "
            "write to a file in a folder"
        )
    with explained(told):
        if is_standard(path):
            sys.stdout.flush()
            for piece in data:
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            return
        descriptor = os.open(path, os.O_WRONLY)
        try:
            for piece in data:
                write_all(descriptor, piece)
        finally:
            os.close(descriptor)


def _is_stream(path: Path) -> bool:
    """Whether something stands there that cannot be replaced: a device, a pipe."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
