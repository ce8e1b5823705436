"""External data files follow the model into another folder."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from onnxpad.errors import ModelError
from onnxpad.graph.storage.atomic import Together, explained
from onnxpad.graph.storage.copying import copy_bytes, same_bytes
from onnxpad.graph.storage.external import DataFile, locate

_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)


def carry(
    files: tuple[DataFile, ...], origin: Path, target: Path, together: Together, *, name: str
) -> None:
    """See to it that the data files of a model stand beside `target`, where it is to be written.

    In the folder they come from they are left alone and shared. Into another folder they are
    copied under the same relative names, as files of their own: runtimes refuse links. A file
    that is already there is kept if it holds the same bytes and is never overwritten.

    Args:
        files: what the model refers to.
        origin: the folder that the locations are relative to.
        target: where the model is to be written.
        together: stages the copies.
        name: what to call the model in messages.

    Raises:
        ModelError: a data file cannot be used or copied, the target is one of them, or another
            file has the name of one.
    """
    found = locate(files, origin, name=name)
    folder, real = target.parent.resolve(), target.resolve()
    pairs = {target.parent / location: source for location, source in found.items()}
    for destination, source in pairs.items():
        taken = destination.resolve()
        if real in (taken, *taken.parents) or _same_file(source, target):
            raise ModelError(
                f"cannot write '{target}': the model has its weights in '{source}', which would "
                "be overwritten; choose another name for the model"
            )
        if not taken.is_relative_to(folder):
            raise ModelError(
                f"cannot copy weights to '{destination}': a symbolic link leads outside the "
                "folder; write to another folder"
            )
        if not _same_file(source, destination):
            _copy(source, destination, together)


def _copy(source: Path, destination: Path, together: Together) -> None:
    with explained(f"cannot copy '{source}' to '{destination}'"), _opened(source) as original:
        if os.path.lexists(destination):
            if not _holds(destination, original):
                raise ModelError(
                    f"cannot copy weights to '{destination}': another file has that name; "
                    "remove it, or write to another folder"
                )
            return
        together.make_folders(destination.parent)
        with together.create(
            destination, replace=False, mode=os.fstat(original).st_mode & 0o777
        ) as copy:
            copy_bytes(original, copy)


def _holds(destination: Path, original: int) -> bool:
    """Whether a file, not a link or folder, has the bytes of the open one."""
    if destination.is_symlink() or not destination.is_file():
        return False
    with _opened(destination) as present:
        return same_bytes(original, present)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, _READ)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _same_file(one: Path, other: Path) -> bool:
    with contextlib.suppress(OSError):
        return one.samefile(other)
    return False
