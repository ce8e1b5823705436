"""Reading a model from a file, or saying what is there instead."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from google.protobuf.message import (  # type: ignore[import-untyped, unused-ignore]
    DecodeError,
)
from onnx import ModelProto

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
from onnxpad.model.files.splicing import BYTES, VARINT, LeftWeights, NoMessage, Wire, lighten
from onnxpad.model.files.unread import Original, UnreadFile, unread
from onnxpad.verbs import is_path, refuse_unless

_REQUIRED = {1: "ir_version", 7: "graph", 8: "opset_import"}
_MODEL_FIELDS = {1: VARINT, 5: VARINT, **dict.fromkeys((2, 3, 4, 6, 7, 8, 14, 20, 25, 26), BYTES)}
"""The wire types of a ModelProto's fields: its two versions are numbers (onnx.proto)."""
_GRAPH = 7
_START = 4096
_MOST_FIELDS = 1 << 16
"""Functions, opsets and metadata of a model together."""
LARGEST = 2**31 - 1  # bytes in one protobuf message
TOO_LARGE = (
    "protobuf holds less than 2 GiB: keep the weights in external data "
    "(onnx.save(..., save_as_external_data=True))"
)
A_PATH = "the path of a file, or '-'"
_FETCH_AGAIN = "export, download or copy it again"
_AS_DATA = "name the .onnx file, and give arrays to validate or diagnose, with --data or --inputs"
_SIGNATURES: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"version https://git-lfs", "a Git LFS pointer, not the file itself", "run git lfs pull"),
    (0, b"\x93NUMPY", "a NumPy array (.npy)", _AS_DATA),
    (0, b"PK\x03\x04", "a zip archive", "unpack it, or export the PyTorch or Keras model to ONNX"),
    (0, b"\x1f\x8b", "gzip data", "run gunzip on it first"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", "export the Keras model to ONNX"),
    (4, b"TFL3", "a TensorFlow Lite model", "convert it with tf2onnx"),
    (4, b"ORTM", "an onnxruntime ORT-format model", "use the .onnx file it was made from"),
    (8, b'{"', "a safetensors file", "export the model that uses these weights to ONNX"),
    (0, b"\x80\x02", "a Python pickle", "export the PyTorch model to ONNX"),
    (0, b"\x80\x04", "a Python pickle", "export the PyTorch model to ONNX"),
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image", "name the .onnx file"),
    (0, b"\xff\xd8\xff", "a JPEG image", "name the .onnx file"),
)


def why_not_a_model(data: Original) -> str | None:
    """What is wrong with `data` as an ONNX file and what to try, or None if it looks like one.

    Looks at the first bytes and the top-level fields only, whatever the size of the model
    (onnx.proto: ModelProto; ir_version, graph and opset_import are required).
    """
    if not data:
        return f"the file is empty (0 bytes); {_FETCH_AGAIN}"
    layout = _layout(data)
    fields, missing = layout or (set(), 0)
    absent = [label for number, label in _REQUIRED.items() if number not in fields]
    if layout and not missing and not absent:
        return None
    if foreign := _foreign(bytes(data[:_START])):
        return f"not an ONNX model but {foreign[0]}; {foreign[1]}"
    if layout is None:
        return f"not an ONNX model: no ModelProto starts like this; {_FETCH_AGAIN}"
    if missing:
        return (
            f"cut short: it has {len(data)} bytes and at least {missing} more belong to it; "
            f"{_FETCH_AGAIN}"
        )
    return (
        f"not a whole ONNX model: it has no {', no '.join(absent)}; it is another protobuf "
        f"message (a saved tensor?) or was cut short: name the .onnx file, or {_FETCH_AGAIN}"
    )


def _layout(data: Original) -> tuple[set[int], int] | None:
    """The top-level fields, and how many bytes of the last one are missing.

    None where they, or those of the graph, cannot be a model's.
    """
    fields: set[int] = set()
    wire, reached = Wire(data), 0
    try:
        for one in wire.entries(0, len(data), _MOST_FIELDS):
            if _MODEL_FIELDS.get(one.number, one.wire_type) != one.wire_type:
                return None
            fields.add(one.number)
            reached = one.end
            if one.number == _GRAPH and one.end <= len(data):
                next(Wire(data).entries(one.start, one.end), None)
    except NoMessage:
        return None
    except IndexError:  # the data ends in a number
        reached = len(data) + 1
    return fields, max(0, reached - len(data))


def _wrong_start(data: bytes) -> str | None:
    """Why no model starts like this, however it goes on; None where one may."""
    number, wire_type = data[0] >> 3, data[0] & 7
    is_field = number and _MODEL_FIELDS.get(number, wire_type) == wire_type
    if (data[0] < 0x80 and not is_field) or _foreign(data):
        return why_not_a_model(data)
    return None


def _foreign(data: bytes) -> tuple[str, str] | None:
    """What the data is instead of a model and what to try, where that can be told."""
    if data.startswith(b"PK\x03\x04"):  # APPNOTE.TXT of PKWARE, 4.3.7: the first member's name
        member = data[30 : 30 + int.from_bytes(data[26:28], "little")]
        if member.endswith(b".npy"):
            return "NumPy arrays (.npz)", _AS_DATA
        if member.endswith(b"data.pkl"):
            return "a PyTorch file (.pt)", "load it in PyTorch, and export with torch.onnx.export"
    for offset, magic, found, attempt in _SIGNATURES:
        if data.startswith(magic, offset):
            return found, attempt
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] in (b"{", b"["):
        return "JSON text", "onnx.load(..., format='json') and onnx.save convert ONNX JSON"
    if start[:1] == b"<":
        return "a web page or XML", "the download may have failed: fetch the .onnx file itself"
    if start.startswith((b"ir_version", b"graph {")):
        return "protobuf text", "onnx.load(..., format='textproto') and onnx.save convert it"
    if not any(byte < 9 or 13 < byte < 32 for byte in start):
        return "text", "name the .onnx file"
    return None


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
    def left(self) -> LeftWeights | None:
        """The weights that were left out; None where the model has them all."""
        return LeftWeights(self.data) if isinstance(self.data, UnreadFile) else None


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

    light: large weights are left out of the model, for `write` or `completed` to bring back.
    Raises ModelError where the file cannot be read, is not a whole ONNX model, or its external data
    is missing, too short or outside its folder.
    """
    refuse_unless(is_path, A_PATH, "path", path)
    if is_standard(path):
        data = _standard_bytes()
        name, absolute, folder = "standard input", None, None
    else:
        name, absolute = str(path), Path(path).absolute()
        folder = absolute.parent
        if light and (known := read_unread(path)):
            return known
        data = _bytes_of(path)
    return parse(data, name=name, folder=folder), Source(absolute, data)


def read_unread(path: AnyPath) -> tuple[ModelProto, Source] | None:
    """A large file that looks like a model with large weights, without them; errors as `read`.

    None for any other file, and where files are not left unread.
    """
    file = unread(path, LARGEST)
    light = lighten(file) if file else None
    if light is None or why_not_a_model(light):
        return None
    source = Source(Path(path).absolute(), file, light)
    return parse(light, name=str(path), folder=source.folder, is_light=True), source


def completed(model: ModelProto, source: Source | None) -> ModelProto:
    """The model with the weights that `read` left out."""
    if source is None or source.left is None:
        return model
    complete = ModelProto()
    complete.ParseFromString(source.left.serialised(model))
    return complete


def parse(data: bytes, *, name: str, folder: Path | None, is_light: bool = False) -> ModelProto:
    """The model in these bytes, called `name` in messages; errors as of `read`.

    folder: where external data is looked for; None where there is no such folder.
    is_light: large weights were left out of the bytes.
    """
    if len(data) > LARGEST:
        raise ModelError(f"{name}: {len(data)} bytes; {TOO_LARGE}")
    wrong = why_not_a_model(data)
    if not (wrong or is_light) and OWN.encode() in data:
        wrong = f"its tensors refer to bytes of the file itself ({OWN}); {_FETCH_AGAIN}"
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


def _bytes_of(path: AnyPath) -> bytes:
    file = unread(path, LARGEST)
    if file and (wrong := why_not_a_model(file)):
        raise ModelError(f"{path}: {wrong}")
    try:
        return contents(path, LARGEST, too_large=TOO_LARGE, wrong=_wrong_start)
    except Refused as refused:
        raise ModelError(f"{path}: {refused}") from None
    except FileNotFoundError:
        raise ModelError(
            f"{path or repr('')}: there is no such file; check the name and the folder that it is "
            "relative to"
        ) from None
    except IsADirectoryError:
        raise ModelError(f"{path}: it is a folder; name the .onnx file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(
            f"{path}: cannot be read: {reason}; check its permissions and name"
        ) from error


def _standard_bytes() -> bytes:
    try:
        with explained("cannot read standard input"):
            return standard_input(LARGEST, too_large=TOO_LARGE, wrong=_wrong_start)
    except Refused as refused:
        raise ModelError(f"standard input: {refused}") from None


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
