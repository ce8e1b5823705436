"""Files that appear under their names together, or not at all."""

import contextlib
import errno
import os
import platform
import re
import stat
import sys
import uuid
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import BinaryIO, Self

from onnxpad.errors import ModelError
from onnxpad.model.files.contents import explained

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_NAME = re.compile(r"\.([0-9a-f]{8})-(\d+)-[0-9a-f]{16}\.onnxpad\.tmp")
"""A temporary file: `_machine`, the process that writes it, and a word of its own."""
PIECE = 1 << 20
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


@dataclass
class _Staged:
    temporary: Path
    target: Path
    replace: bool
    identity: tuple[int, int] | None = None

    def is_placed(self) -> bool:
        """Whether the file that was written here stands under its name."""
        with contextlib.suppress(OSError):
            found = self.target.lstat()
            return self.identity == (found.st_dev, found.st_ino)
        return False


_changing = Lock()
"""Held while names appear or go, so that what ends the process never sees half of it."""
_open: "list[Together]" = []


class Together:
    """Stages files under temporary names beside their targets and renames them at the end.

    Use in a `with` block and call `commit` last. Leaving the block by any exception, an
    interrupt included, removes every temporary file, every new file already renamed and every
    folder made. The rename of the last file staged is what decides: before it nothing remains,
    after it everything stays. What a killed process left in a folder goes when the next one
    writes there.
    """

    def __init__(self) -> None:
        self._staged: list[_Staged] = []
        self._folders: list[Path] = []
        self._swept: set[Path] = set()

    def __enter__(self) -> Self:
        _open.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with _changing:
            if kind is not None:
                self.undo()
            _open.remove(self)

    def make_folders(self, folder: Path) -> None:
        """Make `folder` and those above it that do not exist yet; ModelError where it cannot."""
        if folder.is_dir():
            return
        self.make_folders(folder.parent)
        with explained(f"cannot make the folder '{folder}'"), _changing:
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
        with explained(f"cannot write '{target}'"):
            if target.parent not in self._swept:
                self._swept.add(target.parent)
                swept(target.parent)
            name = f".{_machine()}-{os.getpid()}-{os.urandom(8).hex()}.onnxpad.tmp"
            item = _Staged(target.with_name(name), target, replace)
            with _changing:
                self._staged.append(item)
                descriptor = os.open(item.temporary, _CREATE, mode)
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
                found = os.fstat(file.fileno())
                item.identity = (found.st_dev, found.st_ino)
                if replace:
                    _keep_permissions(target, file.fileno())
                yield file
                file.flush()
                os.fsync(file.fileno())

    def commit(self) -> None:
        """Rename every staged file to its target, in the order they were created.

        Raises ModelError where a rename failed, and where a file that is not to be replaced has
        appeared and holds other bytes.
        """
        with _changing:
            for item in self._staged:
                with explained(f"cannot write '{item.target}'"):
                    _place(item)
        for folder in {item.target.parent for item in self._staged}:
            _flush_folder(folder)

    def undo(self) -> None:
        """Remove whatever this block made, unless all of it stands under its name."""
        if self._staged and self._staged[-1].is_placed():
            return
        for item in self._staged:
            with contextlib.suppress(OSError):
                if item.is_placed() and not item.replace:
                    item.target.unlink(missing_ok=True)
                item.temporary.unlink(missing_ok=True)
        for folder in reversed(self._folders):
            with contextlib.suppress(OSError):
                folder.rmdir()


def abandon(patience: float) -> None:
    """Undo all that is not finished, for a process that ends now; nothing can follow.

    Waits up to `patience` seconds for renames that are under way.
    """
    if _changing.acquire(timeout=patience):  # never released
        for together in reversed(_open):
            together.undo()


def _forget() -> None:
    """In a fork: what the parent is writing is its own, and its threads release no lock here."""
    global _changing  # noqa: PLW0603 - nothing else has it
    _changing = Lock()
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def swept(folder: Path) -> None:
    """Remove what processes of this machine that are gone left in a folder."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _NAME.fullmatch(entry.name)
            if found is None or found[1] != _machine() or _is_alive(int(found[2])):
                continue
            with contextlib.suppress(OSError):
                Path(entry.path).unlink()


@cache
def _machine() -> str:
    """What tells the processes here from those of other machines and containers, in 8 digits."""
    namespace = ""
    with contextlib.suppress(OSError):
        namespace = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - no path
    return f"{zlib.crc32(repr((platform.node(), uuid.getnode(), namespace)).encode()):08x}"


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
    """Rename one file; one that is not to be replaced only where no other has its name."""
    if item.replace:
        item.temporary.replace(item.target)
        return
    try:
        os.link(item.temporary, item.target)
    except FileExistsError:
        _refuse_other(item)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(item.target):
            _refuse_other(item)
        else:
            item.temporary.replace(item.target)
            return
    item.temporary.unlink()


def _refuse_other(item: _Staged) -> None:
    """ModelError unless the file that took the name holds the same bytes."""
    if not holds(item.target, item.temporary):
        raise ModelError(
            f"cannot write '{item.target}': another file took this name meanwhile; "
            "write to another folder, or try again"
        )


def holds(path: Path, source: Path) -> bool:
    """Whether a file, not a link or folder, has the bytes of the other one."""
    if path.is_symlink() or not path.is_file():
        return False
    with source.open("rb") as first, path.open("rb") as second:
        if os.fstat(first.fileno()).st_size != os.fstat(second.fileno()).st_size:
            return False
        while piece := first.read(PIECE):
            if piece != second.read(PIECE):
                return False
    return True


def _keep_permissions(target: Path, descriptor: int) -> None:
    """Give the open file the permission bits of `target`, if that exists."""
    if not target.exists() or not hasattr(os, "fchmod"):
        return
    wanted = stat.S_IMODE(target.stat().st_mode)
    # Not every file system can change them: do not ask for what is already so.
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != wanted:
        os.fchmod(descriptor, wanted)


def _flush_folder(folder: Path) -> None:
    """Ask for the renames to reach the disk too; Windows and some file systems do not offer it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
