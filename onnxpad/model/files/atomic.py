"""Files that appear under their names together, or not at all."""

import contextlib
import filecmp
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from onnxpad.errors import ModelError
from onnxpad.model.files.contents import explained

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_TEMPORARY: set[Path] = set()
"""Temporary files that are there now, each with the number of its process in its name."""


@dataclass
class _Staged:
    """A file on its way; of one that is `placed` and has no temporary file any more, the target."""

    temporary: Path
    target: Path
    replace: bool
    placed: bool = False


class Together:
    """Stages files under temporary names beside their targets, for `together`."""

    def __init__(self) -> None:
        self._staged: list[_Staged] = []
        self._folders: list[Path] = []

    def make_folders(self, folder: Path) -> None:
        """Make `folder` and those above it that do not exist yet; ModelError where it cannot."""
        if folder.is_dir():
            return
        self.make_folders(folder.parent)
        with explained(f"cannot make the folder '{folder}'"):
            self._folders.append(folder)
            try:
                folder.mkdir()
            except FileExistsError:  # another process was faster: it is not ours to remove
                self._folders.remove(folder)
                if not folder.is_dir():
                    raise

    @contextlib.contextmanager
    def create(self, target: Path, *, replace: bool, mode: int = 0o666) -> Iterator[BinaryIO]:
        """Open the temporary file that becomes `target`, for writing.

        The bytes are on the disk when the block ends. Only the last file may be one to `replace`
        (a replaced file cannot be brought back); it passes on its permission bits. Those of a
        new file are `mode` less the umask. ModelError where it cannot be made or written.
        """
        name = f".{os.getpid()}-{os.urandom(8).hex()}.onnxpad.tmp"
        item = _Staged(target.with_name(name), target, replace)
        with explained(f"cannot write '{target}'"):
            _TEMPORARY.add(item.temporary)
            descriptor = os.open(item.temporary, _CREATE, mode)
            self._staged.append(item)
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
                if replace:
                    _keep_permissions(target, file.fileno())
                yield file
                file.flush()
                os.fsync(file.fileno())

    def commit(self) -> None:
        """Give every staged file its name, in the order they were created.

        Raises ModelError where that failed, and where a file that is not to be replaced has
        appeared and holds other bytes.
        """
        for item in self._staged:
            with explained(f"cannot write '{item.target}'"):
                if item.replace or not os.path.lexists(item.target):
                    item.placed = True
                    item.temporary.replace(item.target)
                elif not holds(item.target, item.temporary):
                    raise ModelError(
                        f"cannot write '{item.target}': another file took this name meanwhile; "
                        "write to another folder, or try again"
                    )

    def tidy(self) -> None:
        """Remove temporary files; without the last rename new files and folders as well."""
        is_done = bool(self._staged) and not self._staged[-1].temporary.exists()
        for item in self._staged:
            with contextlib.suppress(OSError):
                is_ours = item.placed and not item.replace and not item.temporary.exists()
                (item.target if is_ours and not is_done else item.temporary).unlink()
            _TEMPORARY.discard(item.temporary)
        for folder in reversed(self._folders) if not is_done else ():
            with contextlib.suppress(OSError):
                folder.rmdir()


@contextlib.contextmanager
def together() -> Iterator[Together]:
    """Files that get their names when the block ends.

    Leaving it by any exception, an interrupt included, removes every temporary file, every new
    file already renamed and every folder made. The rename of the last file staged is what decides:
    before it nothing remains, after it everything stays.
    """
    staged = Together()
    try:
        yield staged
        staged.commit()
    finally:
        staged.tidy()


def abandon() -> None:
    """Remove the temporary files of this process, which ends now, and not those of its parent."""
    for path in tuple(_TEMPORARY):
        if path.name.startswith(f".{os.getpid()}-"):
            with contextlib.suppress(OSError):
                path.unlink()


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two names lead to one file."""
    with contextlib.suppress(OSError):
        return one.samefile(other)
    return False


def holds(path: Path, source: Path) -> bool:
    """Whether a file, not a link or folder, has the bytes of the other one."""
    filecmp.clear_cache()
    return not path.is_symlink() and path.is_file() and filecmp.cmp(path, source, shallow=False)


def _keep_permissions(target: Path, descriptor: int) -> None:
    """Give the open file the permission bits of `target`, if that exists."""
    if not target.exists() or not hasattr(os, "fchmod"):
        return
    wanted = stat.S_IMODE(target.stat().st_mode)
    # Not every file system can change them: do not ask for what is already so.
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != wanted:
        os.fchmod(descriptor, wanted)
