"""Files that appear under their names together, or not at all."""

import contextlib
import errno
import filecmp
import os
import platform
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from onnxpad.errors import ModelError
from onnxpad.model.files.contents import explained

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_NAME = re.compile(r"\.([0-9a-f]{8})-(\d+)-[0-9a-f]{16}\.onnxpad\.tmp")
"""A temporary file: the machine, the process that writes it, and a word of its own."""
_MACHINE = f"{zlib.crc32(platform.node().encode()):08x}"
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
_TEMPORARY: set[Path] = set()
"""Temporary files that are there now."""


@dataclass
class _Staged:
    """A file on its way; `moved` says that a rename, and no link, gave it its name."""

    temporary: Path
    target: Path
    replace: bool
    moved: bool = False


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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        is_done = kind is None or (self._staged and not self._staged[-1].temporary.exists())
        for item in self._staged:
            with contextlib.suppress(OSError):
                is_ours = item.moved or is_same_file(item.temporary, item.target)
                if is_ours and not item.replace and not is_done:
                    item.target.unlink()
            with contextlib.suppress(OSError):
                item.temporary.unlink()
            _TEMPORARY.discard(item.temporary)
        for folder in reversed(self._folders) if not is_done else ():
            with contextlib.suppress(OSError):
                folder.rmdir()

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
        name = f".{_MACHINE}-{os.getpid()}-{os.urandom(8).hex()}.onnxpad.tmp"
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
                _place(item)


def abandon() -> None:
    """Remove the temporary files of this process, which ends now, and not those of its parent."""
    for path in tuple(_TEMPORARY):
        if f"-{os.getpid()}-" in path.name:
            with contextlib.suppress(OSError):
                path.unlink()


def swept(folder: Path) -> None:
    """Remove what processes of this machine that are gone left in a folder."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            found = _NAME.fullmatch(path.name)
            if found and found[1] == _MACHINE and not _is_alive(int(found[2])):
                with contextlib.suppress(OSError):
                    path.unlink()


def _is_alive(process: int) -> bool:
    if sys.platform == "win32":  # where the same call would end it
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return True


def _place(item: _Staged) -> None:
    """Give one file its name; one that is not to be replaced only where no other has it."""
    if not item.replace:
        try:
            os.link(item.temporary, item.target)
        except OSError as error:
            if os.path.lexists(item.target):
                if holds(item.target, item.temporary):
                    return
                raise ModelError(
                    f"cannot write '{item.target}': another file took this name meanwhile; "
                    "write to another folder, or try again"
                ) from None
            if error.errno not in _NO_LINKS:
                raise
        else:
            return
        item.moved = True
    item.temporary.replace(item.target)


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
