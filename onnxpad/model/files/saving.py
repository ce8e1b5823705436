"""Writing a model into a file: edited around the bytes that were read, or byte for byte."""

from __future__ import annotations

from pathlib import Path

from google.protobuf.message import EncodeError  # type: ignore[import-untyped, unused-ignore]
from onnx import ModelProto

from onnxpad.errors import ModelError, RequestError
from onnxpad.model.files.contents import AnyPath, is_standard
from onnxpad.model.files.delivery import deliver
from onnxpad.model.files.external import data_files, origin_of
from onnxpad.model.files.onnx_file import A_PATH, LARGEST, TOO_LARGE, Source
from onnxpad.model.files.unread import Piece, Stretch, UnreadFile, size_of
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
    """Write a model with the weights that were left out, and its external data, as `deliver` does.

    source: where the model came from; None: external data is looked for beside `path`.
    Raises ModelError, and nothing has changed then, where the model is too large for one file, or
    it or its external data cannot be written.
    """
    searched, pieces = b"", list[Piece]()
    try:
        if source and source.left:
            searched, pieces = source.parsed or b"", source.left.whole(model)
        else:
            searched = model.SerializeToString()
            pieces = [searched]
    except EncodeError as error:
        raise ModelError(f"cannot write '{path}': {error}; {TOO_LARGE}") from error
    size = size_of(pieces)
    if size > LARGEST:
        raise ModelError(f"cannot write '{path}': {size} bytes; {TOO_LARGE}")
    files = data_files(model, searched, name=str(path))
    deliver(pieces, files, path, origin=source.folder if source else None)


def write_unchanged(source: Source, path: AnyPath) -> None:
    """Write the bytes that were read, byte for byte, and external data; errors as of `write`."""
    if source.data is None:
        raise ModelError(
            f"cannot write '{path}': a model made in memory has no original bytes; use write"
        )
    model, parsed = ModelProto(), source.parsed or b""
    if b"location" in parsed:
        model.ParseFromString(parsed)
    files = data_files(model, parsed, name=str(path))
    data = source.data
    whole = Stretch(data, 0, len(data)) if isinstance(data, UnreadFile) else data
    deliver([whole], files, path, origin=source.folder)
