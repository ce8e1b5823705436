"""Writing a model into a file, exactly and all or nothing."""

from __future__ import annotations

from pathlib import Path

from google.protobuf.message import EncodeError  # type: ignore[import-untyped, unused-ignore]
from onnx import ModelProto

from onnxpad.errors import ModelError, RequestError
from onnxpad.model.files.contents import AnyPath, is_standard
from onnxpad.model.files.delivery import deliver
from onnxpad.model.files.external import data_files
from onnxpad.model.files.onnx_file import A_PATH, LARGEST, TOO_LARGE, Source
from onnxpad.model.files.origins import origin_of
from onnxpad.model.files.splicing import whole
from onnxpad.model.files.unread import Piece
from onnxpad.verbs import is_path, refuse_unless


def save(model: ModelProto, path: AnyPath, *, source: AnyPath | Source | None = None) -> None:
    """Write a model to a file ('-': standard output) so that it is there whole, or as before.

    `source` is the path of the file that the model came from, which tells where its external data
    is; not needed without, in the same folder, or of a model that `load` gave. Raises ModelError
    where it is too large for one file, or it or its external data cannot be written.
    """
    if not isinstance(model, ModelProto):
        raise RequestError(f"save takes a ModelProto, not {type(model).__name__}")
    refuse_unless(is_path, A_PATH, "path", path)
    if source is not None and not isinstance(source, Source):
        refuse_unless(is_path, A_PATH, "source", source)
        source = Source(None if is_standard(source) else Path(source).absolute(), None)
    elif source is None and (found := origin_of(model)):
        source = Source(found, None)
    write(model, path, source=source)


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
    searched, pieces = b"", list[Piece]()
    try:
        if source and source.light and source.data:
            searched, pieces = source.light.data, whole(model, source.light, source.data)
        else:
            searched = model.SerializeToString()
            pieces = [searched]
    except EncodeError as error:
        raise ModelError(f"cannot write '{path}': {error}; {TOO_LARGE}") from error
    size = sum(len(piece) for piece in pieces)
    if size > LARGEST:
        raise ModelError(f"cannot write '{path}': {size} bytes; {TOO_LARGE}")
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
    model, parsed = ModelProto(), source.parsed or b""
    if b"location" in parsed:
        model.ParseFromString(parsed)
    files = data_files(model, parsed, name=str(path))
    deliver([source.data[:]], files, path, origin=source.folder)
