"""Weights kept in files beside the model (onnx/docs/ExternalData.md): who refers to what.

Nothing here reads a weight: files are only asked for their kind and size. A ModelProto does not say
where it was loaded from: `remember` notes it for the last ones that `load` gave.
"""

from collections import deque
from collections.abc import Iterator
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import NamedTuple

from google.protobuf.message import Message  # type: ignore[import-untyped, unused-ignore]
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, TypeProto

from onnxpad.errors import ModelError
from onnxpad.model.files.contents import explained

OWN = "onnxpad.own"
"""The key of a reference to bytes of the model's own file (splicing.py), which is no other one."""
_NO_TENSORS = {"ValueInfoProto", "StringStringEntryProto", TypeProto.__name__}


class DataFile(NamedTuple):
    """What a model needs of one external data file.

    location: the path as the model writes it, relative to the model's folder.
    size: bytes that the file must have at least.
    owner: the tensor that reaches furthest into it.
    """

    location: str
    size: int
    owner: str


def data_files(model: ModelProto, data: bytes, *, name: str) -> tuple[DataFile, ...]:
    """The external data files that tensors of the model refer to, each location once.

    Covers initializers, sparse ones, tensor attributes, subgraphs, functions and training info.
    Looking at every attribute of a large graph costs more than parsing it, so that is done only
    where `data`, the same model serialised, says `location` at all. `name` is what to call it in
    messages. Raises ModelError where a tensor's entry is not one: no location, a location that is
    absolute or goes upwards, an offset or length that is not a whole number from 0.
    """
    holders = [model] if b"location" in data else model.graph.initializer
    files: dict[str, DataFile] = {}
    for owner, tensor in (pair for holder in holders for pair in external_tensors(holder)):
        found = _data_file(tensor, owner, name)
        known = files.get(found.location)
        if known is None or found.size > known.size:
            files[found.location] = found
    return tuple(files.values())


def locate(files: tuple[DataFile, ...], folder: Path, *, name: str) -> dict[str, Path]:
    """Where each data file is, by location, after one look at each of them.

    Raises ModelError where a file is missing, not a regular file, outside `folder` once symbolic
    links are followed, or too short for the tensors in it.
    """
    if not files:
        return {}
    real = folder.resolve()
    return {file.location: _located(file, folder, real, name) for file in files}


def refuse_lost_data(model: ModelProto, folder: Path | None) -> None:
    """ModelError where a model in memory is to be run, and its external data is not there.

    Without a `folder` it is looked for where onnxruntime does that: in the current one.
    """
    files = data_files(model, b"location", name="the model in memory")
    try:
        locate(files, folder or Path.cwd(), name="the model in memory")
    except ModelError as error:
        raise ModelError(
            f"{str(error).rpartition('; ')[0]}; give the path of the model's file, or load it with "
            "onnx.load(path, load_external_data=True)"
        ) from error


def _located(file: DataFile, folder: Path, real: Path, name: str) -> Path:
    path = folder / file.location
    told = f"{name}: {file.owner} has its weights in '{file.location}'"
    with explained(f"{told}, which cannot be looked at"):
        is_file = path.is_file() and path.resolve().is_relative_to(real)
        if is_file and path.stat().st_size >= file.size:
            return path
    raise ModelError(
        f"{told}, which is no file in '{folder}', or not one of {file.size} bytes; put the file "
        "itself, whole and not a link to another folder, beside the model"
    )


def _data_file(tensor: TensorProto, owner: str, name: str) -> DataFile:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    numbers = [entries.get(key, "0") for key in ("offset", "length")]
    # 19 digits hold every file size; int() of a very long text raises, and int(' 1_0 ') is 10.
    is_plain = all(one.isascii() and one.isdigit() and len(one) < 20 for one in numbers)
    if len(entries) < len(tensor.external_data) or not is_plain or not _is_below(location):
        shown = ", ".join(f"{entry.key}={entry.value!r}"[:60] for entry in tensor.external_data)
        raise ModelError(
            f"{name}: {owner} has external data at {shown or 'no location'}; it must be one file "
            "in or below the model's folder, with whole numbers from 0: export the model again"
        )
    return DataFile(location, sum(map(int, numbers)), owner)


def _is_below(location: object) -> bool:
    """Whether this names a file in or below a folder, on any system."""
    if not isinstance(location, str) or "\0" in location:  # bytes where the text is not UTF-8
        return False
    windows = PureWindowsPath(location)
    is_absolute = bool(windows.root or PurePath(location).drive)
    return not is_absolute and ".." not in windows.parts and bool(PurePosixPath(location).parts)


def is_own(tensor: TensorProto) -> bool:
    """Whether the values of a tensor are still in the file of its model, unread."""
    return bool(tensor.external_data) and tensor.external_data[0].key == OWN


def external_tensors(holder: Message, owner: str = "") -> Iterator[tuple[str, TensorProto]]:
    """Every external tensor of a model, wherever it stands, behind what to call it."""
    if isinstance(holder, TensorProto):
        if holder.data_location == TensorProto.EXTERNAL and not is_own(holder):
            yield owner or f"tensor '{holder.name}'", holder
        return
    if isinstance(holder, NodeProto):
        owner = f"{holder.op_type} '{holder.name or next(iter(holder.output), '')}'"
    elif isinstance(holder, AttributeProto):
        owner = f"attribute '{holder.name}' of {owner}"
    for field, value in holder.ListFields():
        if field.message_type is not None and field.message_type.name not in _NO_TENSORS:
            for part in (value,) if isinstance(value, Message) else value:
                yield from external_tensors(part, owner)


_LOADED: deque[tuple[ModelProto, Path]] = deque(maxlen=16)


def remember(model: ModelProto, path: Path, data: bytes) -> None:
    """Note the file that a model was loaded from, with the bytes `data`, where it needs others."""
    if data_files(model, data, name=str(path)):
        _LOADED.append((model, path))


def origin_of(model: ModelProto) -> Path | None:
    """The file that this very model was loaded from, where that is remembered."""
    return next((path for loaded, path in _LOADED if loaded is model), None)
