"""Reading a model from a file, or saying what is there instead."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from google.protobuf.message import (  # type: ignore[import-untyped, unused-ignore]
    DecodeError,
)
from onnx import ModelProto, TensorProto, numpy_helper

from onnxpad.errors import ModelError
from onnxpad.model.files.contents import (
    AnyPath,
    Refused,
    contents,
    explained,
    is_standard,
    standard_input,
)
from onnxpad.model.files.external import OWN, data_files, locate, remember
from onnxpad.model.files.splicing import Original, UnreadFile, lighten, unread
from onnxpad.verbs import is_path, refuse_unless

LARGEST = 2**31 - 1  # bytes in one protobuf message
TOO_LARGE = (
    "protobuf holds less than 2 GiB: keep the weights in external data "
    "(onnx.save(..., save_as_external_data=True))"
)
A_PATH = "the path of a file, or '-'"
_FETCH_AGAIN = "name the .onnx file, or export, copy or download it again (git lfs pull)"
_BEGINNING = 16


@dataclass(frozen=True)
class Source:
    """Where a model came from.

    path: the file, absolute; None for standard input or a model made in memory.
    data: the bytes of the file, or the file itself, open, where its large weights were not read;
        None for a ModelProto made in memory.
    light: what was parsed, where large weights were left in the file.
    """

    path: Path | None
    data: Original | None = field(repr=False)
    light: bytes | None = field(default=None, repr=False)

    @property
    def folder(self) -> Path | None:
        """The folder that locations of external data are relative to."""
        return None if self.path is None else self.path.parent

    @property
    def parsed(self) -> bytes | None:
        """The bytes that were parsed: without the weights that were left out."""
        return self.data if isinstance(self.data, bytes) else self.light

    @property
    def left(self) -> UnreadFile | None:
        """The file with the weights that were not read; None if the model holds all of them."""
        return self.data if isinstance(self.data, UnreadFile) else None

    def array(self, tensor: TensorProto) -> np.ndarray:
        """The values of a tensor as the model holds it, left in its file or not.

        Raises ModelError where the contents cannot be read.
        """
        try:
            whole = self.left.completed(tensor) if self.left else tensor
            return numpy_helper.to_array(whole, str(self.folder or ""))
        except Exception as error:  # numpy_helper raises many kinds for damaged tensors
            raise ModelError(f"the constant '{tensor.name}' cannot be read: {error}") from error


def load(path: AnyPath) -> ModelProto:
    """Read a model from a file, '-' for standard input; external data stays unread references.

    Raises ModelError where it cannot be read, is not a whole ONNX model, or lacks external data.
    """
    model, source = read(path)
    if source.path is not None and source.parsed is not None:
        remember(model, source.path, source.parsed)
    return model


def read(path: AnyPath, *, light: bool = False) -> tuple[ModelProto, Source]:
    """Read a model ('-': standard input); weights in external data stay there, unread.

    light: large weights are left out of the model, for `save` or `completed` to bring back.
    Raises ModelError where the file cannot be read, is not a whole ONNX model, or its external data
    is missing, too short or outside its folder.
    """
    refuse_unless(is_path, A_PATH, "path", path)
    name = "standard input" if is_standard(path) else f"{path}" or "''"
    absolute = None if is_standard(path) else Path(path).absolute()
    folder = absolute.parent if absolute else None
    file = unread(path, LARGEST) if light and absolute else None
    if file is not None and (stubs := lighten(file)):
        model = parse(stubs, name=name, folder=folder, is_light=True)
        return model, Source(absolute, file, stubs)
    try:
        with explained(name):
            found = contents(path, LARGEST) if absolute else standard_input(LARGEST)
    except Refused as refused:
        raise ModelError(f"{name}: {refused}") from None
    return parse(found, name=name, folder=folder), Source(absolute, found)


def completed(model: ModelProto, source: Source | None) -> ModelProto:
    """The model with the weights that `read` left out."""
    if source is None or source.left is None:
        return model
    complete = ModelProto()
    complete.ParseFromString(source.left.serialised(model))
    return complete


def parse(data: bytes, *, name: str, folder: Path | None, is_light: bool = False) -> ModelProto:
    """The model in these bytes, called `name` in messages. Raises ModelError as `read` does.

    folder: the folder of its external data; None if it has none.
    is_light: whether large weights were left out of the bytes.
    """
    if len(data) > LARGEST:
        raise ModelError(f"{name}: {len(data)} bytes; {TOO_LARGE}")
    model = ModelProto()
    try:
        model.ParseFromString(data)
        is_whole = model.HasField("ir_version") and model.HasField("graph") and model.opset_import
    except DecodeError:
        is_whole = False
    if not is_whole:  # onnx.proto requires these three
        raise ModelError(
            f"{name}: no ONNX model with ir_version, graph and opset_import, or damaged, cut short "
            f"or nested too deep: {len(data)} bytes, {data[:_BEGINNING]!r}; {_FETCH_AGAIN}"
        )
    if not is_light and OWN.encode() in data:
        raise ModelError(f"{name}: tensors name bytes of the file itself ({OWN}); {_FETCH_AGAIN}")
    files = data_files(model, data, name=name)
    if folder is not None:
        locate(files, folder, name=name)
    elif files:
        raise ModelError(
            f"{name}: the model has its weights in '{files[0].location}' and there is no folder "
            "to look for that in; give the path of the model's file"
        )
    return model


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """SHA-256 of a model's file, and of each file with external data by its location."""

    file: str
    sha256: str
    data: Mapping[str, str] = field(default_factory=dict)


def fingerprint(path: AnyPath) -> Fingerprint:
    """The fingerprint of a model's file; files are read in blocks, not held.

    Raises ModelError where the model or its external data cannot be read.
    """
    model, _ = read(path, light=True)
    files = data_files(model, b"location", name=str(path))
    found = locate(files, Path(path).absolute().parent, name=str(path))
    data = {location: _hashed(file) for location, file in sorted(found.items())}
    return Fingerprint(Path(path).name, _hashed(Path(path)), data)


def _hashed(path: Path) -> str:
    with explained(f"cannot read '{path}'"), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
