"""Files where they are wanted, data files too: in a folder, a pipe, on standard output.

A model is written around the bytes that were read, or byte for byte.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from google.protobuf.message import EncodeError  # type: ignore[import-untyped, unused-ignore]
from onnx import ModelProto

from onnxpad.errors import ModelError, RequestError
from onnxpad.model.files.atomic import Together, holds, is_same_file, together
from onnxpad.model.files.contents import AnyPath, explained, is_standard
from onnxpad.model.files.external import DataFile, data_files, locate, origin_of
from onnxpad.model.files.onnx_file import A_PATH, LARGEST, TOO_LARGE, Source
from onnxpad.model.files.splicing import (
    Piece,
    Stretch,
    UnreadFile,
    blocks_of,
)
from onnxpad.verbs import is_path, refuse_unless

_PIECE = 1 << 20


def save(model: ModelProto, path: AnyPath, *, source: AnyPath | Source | None = None) -> None:
    """Write a model to a file ('-': standard output) so that it is there whole, or as before.

    `source` is where the model came from, or the path of that file, which tells where its external
    data is; not needed without, in the same folder, or of a model that `load` gave. Large weights
    that a source has left in its file are written as well. Raises ModelError where the model is too
    large for one file, or it or its external data cannot be written.
    """
    if not isinstance(model, ModelProto):
        raise RequestError(f"save takes a ModelProto, not {type(model).__name__}")
    refuse_unless(is_path, A_PATH, "path", path)
    if not isinstance(source, Source):
        if source is not None:
            refuse_unless(is_path, A_PATH, "source", source)
            source = None if is_standard(source) else Path(source).absolute()
        source = Source(source or origin_of(model), None)
    try:
        searched = source.light or model.SerializeToString()
        pieces = source.left.whole(model) if source.left else [searched]
    except EncodeError as error:
        raise ModelError(f"cannot write '{path}': {error}; {TOO_LARGE}") from error
    size = sum(map(len, pieces))
    if size > LARGEST:
        raise ModelError(f"cannot write '{path}': {size} bytes; {TOO_LARGE}")
    files = data_files(model, searched, name=str(path))
    deliver(pieces, files, path, origin=source.folder)


def write_unchanged(source: Source, path: AnyPath) -> None:
    """Write the bytes that were read, byte for byte, and external data; errors as of `save`."""
    parsed, data = source.parsed or b"", source.data or b""
    model = ModelProto.FromString(parsed) if b"location" in parsed else ModelProto()
    files = data_files(model, parsed, name=str(path))
    whole = Stretch(data, 0, len(data)) if isinstance(data, UnreadFile) else data
    deliver([whole], files, path, origin=source.folder)


def _carry(
    files: tuple[DataFile, ...], origin: Path, target: Path, staged: Together, *, name: str
) -> None:
    """See to it that the data files of the model `name` stand beside `target`.

    In the folder `origin`, which their locations are relative to, they are left alone and shared.
    Into another folder they are copied under the same relative names, as files of their own:
    runtimes refuse links. A file that is already there is kept if it holds the same bytes and is
    never overwritten. Raises ModelError where a data file cannot be used or copied, where the
    target is one of them, and where another file has the name of one.
    """
    folder, real = target.parent.resolve(), target.resolve()
    for location, source in locate(files, origin, name=name).items():
        destination = target.parent / location
        taken = destination.resolve()
        if real in (taken, *taken.parents) or is_same_file(source, target):
            raise ModelError(
                f"cannot write '{target}': the model has its weights in '{source}', which would "
                "be overwritten; choose another name for the model"
            )
        if not taken.is_relative_to(folder):
            raise ModelError(
                f"cannot copy weights to '{destination}': a symbolic link leads outside the "
                "folder; write to another folder"
            )
        if not is_same_file(source, destination):
            _copy(source, destination, staged)


def _copy(source: Path, destination: Path, staged: Together) -> None:
    with explained(f"cannot copy '{source}' to '{destination}'"), source.open("rb") as original:
        if os.path.lexists(destination):
            if not holds(destination, source):
                raise ModelError(
                    f"cannot copy weights to '{destination}': another file has that name; "
                    "remove it, or write to another folder"
                )
            return
        staged.make_folders(destination.parent)
        found = os.fstat(original.fileno())
        with staged.create(destination, replace=False, mode=found.st_mode & 0o777) as copy:
            shutil.copyfileobj(original, copy, _PIECE)
            if copy.tell() < found.st_size:
                raise OSError(errno.EIO, "the file became shorter while it was copied")


def check_target(path: AnyPath) -> None:
    """Find out whether a model could be written to `path`, before there is work to lose.

    Raises ModelError where `path` is a folder, or permissions forbid it. Folders that are not there
    yet stand in nobody's way: `deliver` makes them.
    """
    if is_standard(path) or _is_stream(Path(path)):
        return
    told = f"cannot write '{path}'"
    with explained(told):
        # A new file has nothing to look at; what else stops a look also stops writing.
        with contextlib.suppress(FileNotFoundError):
            Path(path).stat()
        target = Path(path).resolve()
        if target.is_dir():
            raise ModelError(f"{told}: it is a folder; name the file to write in it")
        folder = next((one for one in target.parents if one.is_dir()), target.parents[-1])
    for place in (target, folder):
        if place.exists() and not os.access(place, os.W_OK):
            raise ModelError(f"{told}: '{place}' is write-protected; write to another folder")


def deliver(
    data: Sequence[Piece], files: tuple[DataFile, ...], path: AnyPath, *, origin: Path | None
) -> None:
    """Write a serialised model, with the external data that it refers to, all or nothing.

    The bytes go to a temporary file in the same folder, which then takes the place of the target
    and its permission bits. Folders above `path` that are not there are made, and go again where
    something fails. A symbolic link stays and what it points to is replaced; a device or pipe is
    written to directly; '-' is standard output. `origin` is the folder of the external data; None:
    the folder of `path`. Raises ModelError where the model or its external data cannot be written;
    nothing has changed then.
    """
    check_target(path)
    if is_standard(path) or _is_stream(Path(path)):
        _stream(data, files, path)
        return
    target = Path(path).absolute()
    with together() as staged:
        staged.make_folders(target.resolve().parent)
        try:
            _carry(files, origin or target.parent, target, staged, name=str(path))
        except ModelError as error:
            if origin is not None:
                raise
            raise ModelError(
                f"{error!s}; or type onnxpad.save(model, path, source=PATH), with the "
                "path of the file that the model came from"
            ) from error
        with staged.create(target.resolve(), replace=True) as file:
            file.writelines(blocks_of(data))


def _stream(data: Sequence[Piece], files: tuple[DataFile, ...], path: AnyPath) -> None:
    told = "cannot write to standard output" if is_standard(path) else f"cannot write to '{path}'"
    if files:
        raise ModelError(
            f"{told}: the model has its weights in '{files[0].location}', which would stay behind; "
            "write to a file in a folder"
        )
    in_memory = b"".join(blocks_of(data))
    with explained(told):
        if is_standard(path):
            sys.stdout.flush()
            sys.stdout.buffer.write(in_memory)
            sys.stdout.buffer.flush()
        else:
            Path(path).write_bytes(in_memory)


def _is_stream(path: Path) -> bool:
    """Whether something stands there that cannot be replaced: a device, a pipe."""
    with contextlib.suppress(OSError, ValueError):  # what writing reports
        mode = path.stat().st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return False


def refuse_folder(folder: AnyPath, names: Collection[str] | None = None) -> None:
    """Refuse what is no folder, and one that holds anything but files of these names.

    Asked for before there is work to lose; without `names`, what it holds is not looked at.

    Raises RequestError with the first file that is in the way.
    """
    target = Path(folder)
    if is_standard(folder) or (target.exists() and not target.is_dir()):
        raise RequestError(f"'{folder}' is no folder, and several files are written: name a folder")
    for path in sorted(target.rglob("*")) if names is not None else ():
        name = path.relative_to(target).as_posix()
        if not path.is_dir() and name not in (names or ()):
            raise RequestError(
                f"'{folder}' holds '{name}', which is not written here: name a new folder, or "
                "remove it"
            )


def write_folder(folder: AnyPath, files: Mapping[str, bytes]) -> None:
    """Write files by their names in a folder, which is made where there is none.

    Files of these names are replaced. Raises RequestError where the folder holds another one, and
    ModelError where one cannot be written.
    """
    refuse_folder(folder, files)
    with together() as staged:
        for name, content in files.items():
            target = Path(folder).absolute() / name
            staged.make_folders(target.parent)
            with staged.create(target, replace=True) as file:
                file.write(content)
