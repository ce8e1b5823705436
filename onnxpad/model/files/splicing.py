"""Large weights stay where they are in a file while the rest of its model is parsed and edited.

Parsing and serialising copies every weight several times. A model is therefore read with references
in the place of large raw data (protobuf wire format, protobuf.dev/programming-guides/encoding): a
reference looks like one to external data, and says where in the model's own file the bytes stand.
So it goes along wherever a tensor is copied or renamed, and the bytes of the file, which stays
open, are put back around what was edited where the model is written, run, or a value is read.
"""

from __future__ import annotations

import os
import stat
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from onnx import ModelProto, TensorProto

from onnxpad.errors import ModelError
from onnxpad.model.files.external import OWN, is_own

SMALLEST = 1 << 22
"""Bytes from which on a file is left unread."""
_MOST_OPEN = 64
_PIECE = 1 << 18  # bytes that are copied at once: they stay in the processor's cache
_SETTLED = 2.1
"""Seconds since a file was written: some file systems keep times in steps of two."""
LARGE = 1 << 16
_VARINT, _BYTES = 0, 2
_LENGTHS = {_VARINT: 0, 1: 8, _BYTES: 0, 5: 4}
_HEADER = 20  # bytes of a tag and a size, at most
_GRAPH, _INITIALIZER, _RAW = (number << 3 | _BYTES for number in (7, 5, 9))
_CONTENT = {4, 5, 7, 9, 10, 11}  # float_data, int32_data, int64_data, raw, double, uint64
_BYTES_PER_FIELD = 20_000
_FEWEST_FIELDS = 2_000


class UnreadFile:
    """The bytes of a regular file, read where they are asked for, and weights that were left there.

    The file stays open as long as this is there: renaming or removing it changes nothing. Reading
    raises ModelError where somebody has written to it since it was opened. Copied or pickled, its
    bytes go along.
    """

    def __init__(self, descriptor: int, name: str) -> None:
        weakref.finalize(self, os.close, descriptor)
        self.descriptor, self.name = descriptor, name
        self._opened = self._state()
        self._size = os.fstat(descriptor).st_size
        _open.add(self)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> bytes:
        start, end, _ = part.indices(self._size)
        pieces: list[bytes] = []
        try:
            while start < end and (piece := os.pread(self.descriptor, end - start, start)):
                pieces.append(piece)
                start += len(piece)
        except OSError as error:
            raise ModelError(
                f"{self.name}: cannot be read: {error.strerror}; check the disk, or copy the file"
            ) from error
        self.refuse_changed(complete=start >= end)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def __reduce__(self) -> tuple[Callable[[bytes, str], UnreadFile], tuple[bytes, str]]:
        return _of_bytes, (self[:], self.name)

    def _state(self) -> tuple[int, ...]:
        found = os.fstat(self.descriptor)
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    def refuse_changed(self, *, complete: bool = True) -> None:
        """Raise ModelError where the file is not what it was when it was opened."""
        if not complete or self._state() != self._opened:
            raise ModelError(
                f"{self.name}: the file was changed while onnxpad worked on it, so nothing was "
                "taken from it; try again when whatever writes to it has finished"
            )

    def blocks(self, tensor: TensorProto) -> Iterator[bytes]:
        """The raw data of a tensor that was left, piece by piece."""
        return iter(Stretch(self, *_place(tensor)))

    def completed(self, tensor: TensorProto) -> TensorProto:
        """A tensor with its values, itself where it has them."""
        if not is_own(tensor):
            return tensor
        found = _without_reference(tensor)
        found.raw_data = b"".join(self.blocks(tensor))
        return found

    def serialised(self, model: ModelProto, more: bytes = b"") -> bytes:
        """The bytes of a model with all its weights, and `more` behind."""
        return b"".join(blocks_of([*self.whole(model), more]))

    def whole(self, model: ModelProto) -> list[Piece]:
        """The same as pieces that follow each other, of which those of the file are not read."""
        edited = model.SerializeToString()
        view = memoryview(edited)
        graph = next(one for one in _fields(edited, 0, len(edited)) if one.tag == _GRAPH)
        pieces: list[Piece] = []
        begin, tensors = graph.start, iter(model.graph.initializer)
        for field in _fields(edited, graph.start, graph.end):
            if field.tag == _INITIALIZER and is_own(tensor := next(tensors)):
                parts = self._spliced(tensor)
                size = sum(map(len, parts))
                pieces += [view[begin : field.begin], _header(_INITIALIZER, size), *parts]
                begin = field.end
        pieces.append(view[begin : graph.end])
        header = _header(_GRAPH, sum(map(len, pieces)))
        return [view[: graph.begin], header, *pieces, view[graph.end :]]

    def _spliced(self, tensor: TensorProto) -> list[Piece]:
        """The message of a tensor around its raw data, fields in the order of their numbers."""
        message = _without_reference(tensor).SerializeToString()
        behind = (one.begin for one in _fields(message, 0, len(message)) if one.tag > _RAW)
        place, raw = next(behind, len(message)), Stretch(self, *_place(tensor))
        return [message[:place], _header(_RAW, len(raw)), raw, message[place:]]


def _of_bytes(data: bytes, name: str) -> UnreadFile:
    """A file without a name that holds these bytes."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        return UnreadFile(os.dup(file.fileno()), name)


@dataclass(frozen=True)
class Stretch:
    """The bytes of an unread file from `start` up to `end`, which come in blocks."""

    file: UnreadFile
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def __iter__(self) -> Iterator[bytes]:
        for at in range(self.start, self.end, _PIECE):
            yield self.file[at : min(at + _PIECE, self.end)]


Original = bytes | UnreadFile
Piece = bytes | memoryview | Stretch
_open: weakref.WeakSet[UnreadFile] = weakref.WeakSet()


def unread(path: str | os.PathLike[str], most: int) -> UnreadFile | None:
    """A large regular file of up to `most` bytes, opened; None for what is better read at once.

    That is whatever else stands there or cannot be opened, a file in use on Windows (where it
    could not be replaced), one that was written to just now, so that its time would not tell
    whether that goes on, and one too many: open files are few.
    """
    if not hasattr(os, "pread") or len(_open) >= _MOST_OPEN:
        return None
    try:
        found = Path(path).stat()
        is_large = stat.S_ISREG(found.st_mode) and SMALLEST <= found.st_size <= most
        if is_large and time.time() - found.st_mtime > _SETTLED:
            return UnreadFile(os.open(path, os.O_RDONLY | os.O_NONBLOCK), os.fspath(path))
    except (OSError, ValueError):
        pass
    return None


def blocks_of(pieces: Iterable[Piece]) -> Iterator[bytes | memoryview]:
    """The bytes of pieces that follow each other."""
    for piece in pieces:
        yield from piece if isinstance(piece, Stretch) else (piece,)


def lighten(file: UnreadFile) -> bytes | None:
    """The bytes with references to large raw data, or None where that is not worth it or simple."""
    budget = max(_FEWEST_FIELDS, len(file) // _BYTES_PER_FIELD)
    pieces = list[bytes]()
    try:
        graphs = [one for one in _fields(file, 0, len(file), budget) if one.tag == _GRAPH]
        if len(graphs) != 1:
            return None
        graph = graphs[0]
        kept = graph.start
        for field in _fields(file, graph.start, graph.end, budget):
            if field.tag == _INITIALIZER and field.end - field.start > LARGE:
                stub = _with_reference(file, field)
                if stub is not None:
                    pieces += [file[kept : field.begin], _header(_INITIALIZER, len(stub)), stub]
                    kept = field.end
    except IndexError:
        return None
    if not pieces:
        return None
    body = b"".join([*pieces, file[kept : graph.end]])
    whole = file[: graph.begin] + _header(_GRAPH, len(body)) + body + file[graph.end :]
    # Of a file that has such references itself nobody knows what they mean.
    return whole if whole.count(OWN.encode()) == len(pieces) // 3 else None


def _with_reference(file: UnreadFile, tensor: _Field) -> bytes | None:
    """A tensor without its raw data; None where that is not all of its large content."""
    fields = _fields(file, tensor.start, tensor.end, _FEWEST_FIELDS)
    content = [one for one in fields if one.tag >> 3 in _CONTENT]
    if len(content) != 1 or content[0].tag != _RAW or content[0].end - content[0].start <= LARGE:
        return None
    (raw,) = content
    reference = TensorProto(data_location=TensorProto.EXTERNAL)
    reference.external_data.add(key=OWN, value=f"{raw.start} {raw.end}")
    written: bytes = reference.SerializeToString()
    return file[tensor.start : raw.begin] + file[raw.end : tensor.end] + written


def _place(tensor: TensorProto) -> tuple[int, int]:
    start, end = map(int, tensor.external_data[0].value.split())
    return start, end


def _without_reference(tensor: TensorProto) -> TensorProto:
    found = TensorProto()
    found.CopyFrom(tensor)
    found.ClearField("data_location")
    found.ClearField("external_data")
    return found


class _Field(NamedTuple):
    """A field of a message: its tag, where that begins, where its content starts and ends."""

    tag: int
    begin: int
    start: int
    end: int


def _fields(data: Original, position: int, end: int, most: int | None = None) -> Iterator[_Field]:
    """All fields of a message, in file order.

    Raises IndexError for what is no message, for one that does not end at `end`, and beyond `most`
    fields.
    """
    count = 0
    while position < end:
        count += 1
        header = data[position : position + _HEADER]
        tag, behind = _varint(header, 0)
        wire_type = tag & 7
        if wire_type not in _LENGTHS or (most and count > most):
            raise IndexError(position)
        length = _LENGTHS[wire_type]
        if wire_type == _VARINT:
            length = _varint(header, behind)[1] - behind
        elif wire_type == _BYTES:
            length, behind = _varint(header, behind)
        start = position + behind
        yield _Field(tag, position, start, start + length)
        position = start + length
    if position > end:
        raise IndexError(position)


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7


def _header(tag: int, size: int) -> bytes:
    written = bytearray([tag])
    while size >= 0x80:
        written.append(size & 0x7F | 0x80)
        size >>= 7
    written.append(size)
    return bytes(written)
