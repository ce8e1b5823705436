"""Files that appear under their names together, or not at all."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from onnxpad.errors import ModelError

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
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


@contextlib.contextmanager
def explained(doing: str) -> Iterator[None]:
    """Turn what the system reports into a ModelError.

    Args:
        doing: what failed, with the file's name: "cannot write 'out.onnx'".

    Raises:
        ModelError: `doing`, the system's reason and what to try.
    """
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL character
        code, reason = getattr(error, "errno", None), getattr(error, "strerror", None)
        remedy = _REMEDIES.get(code or 0, "check the path and the disk")
        raise ModelError(f"{doing}: {reason or error}; {remedy}") from error


@dataclass(frozen=True)
class _Staged:
    temporary: Path
    target: Path
    replace: bool


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
        self._committing = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._undo()

    def make_folders(self, folder: Path) -> None:
        """Make `folder` and those above it that do not exist yet.

        Raises:
            ModelError: a folder cannot be made.
        """
        if folder.is_dir():
            return
        self.make_folders(folder.parent)
        with explained(f"cannot make the folder '{folder}'"):
            self._folders.append(folder)
            folder.mkdir()

    @contextlib.contextmanager
    def create(self, target: Path, *, replace: bool, mode: int = 0o666) -> Iterator[BinaryIO]:
        """Open the temporary file that becomes `target`, for writing.

        The bytes are on the disk when the block ends. Only the last file may be one to `replace`
        (a replaced file cannot be brought back); it passes on its permission bits. Those of a
        new file are `mode` less the umask.

        Raises:
            ModelError: the file cannot be made or written.
        """
        temporary = target.with_name(f".{os.urandom(8).hex()}.onnxpad.tmp")
        with explained(f"cannot write '{target}'"):
            self._staged.append(_Staged(temporary, target, replace))
            with open(os.open(temporary, _CREATE, mode), "wb") as file:  # noqa: PTH123 - a descriptor
                if replace:
                    _keep_permissions(target, file.fileno())
                yield file
                file.flush()
                os.fsync(file.fileno())

    def commit(self) -> None:
        """Rename every staged file to its target, in the order they were created.

        Raises:
            ModelError: a rename failed, or a file that is not to be replaced has appeared.
        """
        self._committing = True
        for item in self._staged:
            with explained(f"cannot write '{item.target}'"):
                if not item.replace and os.path.lexists(item.target):
                    raise ModelError(
                        f"cannot write '{item.target}': another file took this name meanwhile; "
                        "write to another folder, or try again"
                    )
                item.temporary.replace(item.target)
        for folder in {item.target.parent for item in self._staged}:
            _flush_folder(folder)

    def _undo(self) -> None:
        if self._committing and not self._staged[-1].temporary.exists():
            return
        for item in self._staged:
            with contextlib.suppress(OSError):
                if self._committing and not item.temporary.exists():
                    item.target.unlink(missing_ok=True)
                item.temporary.unlink(missing_ok=True)
        for folder in reversed(self._folders):
            with contextlib.suppress(OSError):
                folder.rmdir()


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
