"""Reading a model from a file and writing it back, exactly and all or nothing."""

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from google.protobuf.message import (  # type: ignore[import-untyped, unused-ignore]
    DecodeError,
    EncodeError,
)
from onnx import ModelProto

from onnxpad.errors import ModelError
from onnxpad.graph.storage.atomic import explained
from onnxpad.graph.storage.delivering import AnyPath, deliver, is_standard
from onnxpad.graph.storage.external import data_files, locate
from onnxpad.graph.storage.recognising import why_not_a_model
from onnxpad.graph.storage.splicing import Light, lighten, whole

_LARGEST = 2**31 - 1  # bytes in one protobuf message
_TOO_LARGE = (
    "protobuf holds less than 2 GiB: keep the weights in external data "
    "(onnx.save(..., save_as_external_data=True))"
)


@dataclass(frozen=True)
class Source:
    """Where a model came from.

    Attributes:
        path: the file, absolute; None for standard input or a model made in memory.
        data: the bytes that were read; None for a ModelProto made in memory.
        light: what was parsed, where large weights were left out of the model.
    """

    path: Path | None
    data: bytes | None = field(repr=False)
    light: Light | None = field(default=None, repr=False)

    @property
    def folder(self) -> Path | None:
        """The folder that locations of external data are relative to."""
        return None if self.path is None else self.path.parent


def load(path: AnyPath) -> ModelProto:
    """Read a model from a file; external data is kept as references and never read.

    Args:
        path: the .onnx file; '-' is standard input.

    Raises:
        ModelError: as `read`.
    """
    return read(path)[0]


def save(model: ModelProto, path: AnyPath, *, source: AnyPath | Source | None = None) -> None:
    """Write a model to a file so that it is there whole, or as it was before.

    Args:
        model: the model; external data as references.
        path: the file to write; '-' is standard output.
        source: the path of the file that the model came from, which tells where its external data
            is; not needed without external data, or if `path` is in the same folder.

    Raises:
        ModelError: as `write`.
    """
    if source is not None and not isinstance(source, Source):
        source = Source(None if is_standard(source) else Path(source).absolute(), None)
    write(model, path, source=source)


def read(path: AnyPath, *, light: bool = False) -> tuple[ModelProto, Source]:
    """Read a model; weights in external data stay there, unread.

    Args:
        path: the .onnx file; '-' is standard input ('./-' a file of that name).
        light: leave large weights out of the model, for `write` or `completed` to bring back.

    Raises:
        ModelError: the file cannot be read, is not a whole ONNX model, or its external data is
            missing, too short or outside its folder.
    """
    if is_standard(path):
        with explained("cannot read standard input"):
            data = sys.stdin.buffer.read()
        name, absolute, folder = "standard input", None, None
    else:
        data = _bytes_of(path)
        name, absolute = str(path), Path(path).absolute()
        folder = absolute.parent
    found = lighten(data) if light and not why_not_a_model(data) else None
    model = parse(found.data if found else data, name=name, folder=folder)
    return model, Source(absolute, data, found)


def completed(model: ModelProto, source: Source | None) -> ModelProto:
    """The model with the weights that `read` left out."""
    if source is None or source.light is None or source.data is None:
        return model
    complete = ModelProto()
    complete.ParseFromString(b"".join(whole(model, source.light, source.data)))
    return complete


def parse(data: bytes, *, name: str, folder: Path | None) -> ModelProto:
    """The model in these bytes, after a look at whether its external data is there.

    Args:
        data: a serialised ModelProto.
        name: what to call it in messages.
        folder: where external data is looked for; None where there is no such folder.

    Raises:
        ModelError: as `read`.
    """
    if len(data) > _LARGEST:
        raise ModelError(f"{name}: {len(data)} bytes; {_TOO_LARGE}")
    wrong = why_not_a_model(data)
    if wrong:
        raise ModelError(f"{name}: {wrong}")
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError as error:
        raise ModelError(
            f"{name}: damaged, or subgraphs nested deeper than protobuf reads ({error}); "
            "export, download or copy it again"
        ) from error
    files = data_files(model, data, name=name)
    if folder is not None:
        locate(files, folder, name=name)
    elif files:
        raise ModelError(
            f"{name}: the model has its weights in '{files[0].location}' and there is no folder "
            "to look for that in; give the path of the model's file"
        )
    return model


def write(model: ModelProto, path: AnyPath, *, source: Source | None = None) -> None:
    """Write a model so that the file is there whole, or as it was before.

    The bytes go to a temporary file in the same folder, which then takes the place of the target
    and its permission bits; a symbolic link stays and the file it points to is replaced. A device
    or pipe is written to directly. External data stays where it is if the folder is the one it
    came from, and is copied along otherwise; data files are never linked or overwritten.

    Args:
        model: the model; external data as references.
        path: the file to write; '-' is standard output.
        source: where the model came from; None: external data is looked for beside `path`.

    Raises:
        ModelError: the model is too large for one file, or the model or its external data cannot
            be written; nothing has changed then.
    """
    try:
        if source and source.light and source.data:
            pieces = whole(model, source.light, source.data)
        else:
            pieces = [memoryview(model.SerializeToString())]
    except EncodeError as error:
        raise ModelError(f"cannot write '{path}': {error}; {_TOO_LARGE}") from error
    size = sum(len(piece) for piece in pieces)
    if size > _LARGEST:
        raise ModelError(f"cannot write '{path}': {size} bytes; {_TOO_LARGE}")
    searched = source.light.data if source and source.light else bytes(pieces[0])
    files = data_files(model, searched, name=str(path))
    deliver(pieces, files, path, origin=source.folder if source else None)


def write_unchanged(source: Source, path: AnyPath) -> None:
    """Write the bytes that were read, byte for byte, and external data as `write` does.

    Raises:
        ModelError: as `write`, or the source has no bytes: it is a model made in memory.
    """
    if source.data is None:
        raise ModelError(
            f"cannot write '{path}': a model made in memory has no original bytes; use write"
        )
    model = ModelProto()
    if b"location" in source.data:
        model.ParseFromString(source.data)
    files = data_files(model, source.data, name=str(path))
    deliver([memoryview(source.data)], files, path, origin=source.folder)


def _bytes_of(path: AnyPath) -> bytes:
    try:
        with Path(path).open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if size > _LARGEST:
                raise ModelError(f"{path}: {size} bytes; {_TOO_LARGE}")
            return file.read()
    except FileNotFoundError:
        raise ModelError(
            f"{path}: there is no such file; check the name and the folder it is relative to"
        ) from None
    except IsADirectoryError:
        raise ModelError(f"{path}: it is a folder; name the .onnx file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(
            f"{path}: cannot be read: {reason}; check its permissions and name"
        ) from error
