"""Large weights stay where they are in the bytes of a file while the rest is parsed and edited.

Parsing and serialising copies every weight several times. A model is therefore read without the
contents of its large initializers, and written as what was edited around the original bytes of
those tensors (protobuf wire format, protobuf.dev/programming-guides/encoding).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from onnx import ModelProto, TensorProto

from onnxpad.errors import InternalError
from onnxpad.model.files.unread import Original, Piece, UnreadFile

LARGE = 1 << 16
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_LENGTHS = {VARINT: 0, FIXED64: 8, BYTES: 0, FIXED32: 4}
_BLOCK = 1 << 14
_LONGEST = 63  # bits of a number before its last byte
_HEADER = 20  # bytes of a tag and a size, at most
_GRAPH, _INITIALIZER, _NAME = 7, 5, 8
_RAW = 9
_CONTENT = {4, 5, 7, _RAW, 10, 11}  # float_data, int32_data, int64_data, raw, double, uint64
_BYTES_PER_FIELD = 20_000
_FEWEST_FIELDS = 2_000


class Light(NamedTuple):
    """A model's bytes without large weights; `tensors` says where each of those stands."""

    data: bytes
    tensors: dict[str, tuple[bytes, int, int]]

    def place(self, tensor: TensorProto, written: bytes) -> tuple[int, int] | None:
        """Where the message of an initializer that was left out stands; None for any other.

        Raises InternalError where it is `written` otherwise than it was read.
        """
        stub, start, end = self.tensors.get(tensor.name, (b"", 0, 0))
        if not end:
            return None
        if TensorProto.FromString(stub).SerializeToString() != written:
            raise InternalError("a weight was edited without being read")
        return start, end


def lighten(data: Original) -> Light | None:
    """The bytes without large weights, or None where that is not worth it or not simple."""
    budget = max(_FEWEST_FIELDS, len(data) // _BYTES_PER_FIELD)
    wire = Wire(data)
    try:
        graphs = [one for one in wire.fields(0, len(data), budget) if one.number == _GRAPH]
        if len(graphs) != 1:
            return None
        graph = graphs[0]
        pieces, tensors, kept = [], {}, graph.start
        for field in wire.fields(graph.start, graph.end, budget):
            if field.number != _INITIALIZER or field.end - field.start <= LARGE:
                continue
            name, stub = _without_content(wire, data, field)
            if name in tensors:
                return None
            tensors[name] = (stub, field.start, field.end)
            pieces += [bytes(data[kept : field.tag]), _field(_INITIALIZER, stub)]
            kept = field.end
    except (IndexError, UnicodeDecodeError):
        return None
    if not tensors:
        return None
    pieces.append(bytes(data[kept : graph.end]))
    before, behind = bytes(data[: graph.tag]), bytes(data[graph.end :])
    return Light(before + _field(_GRAPH, b"".join(pieces)) + behind, tensors)


def _without_content(wire: Wire, data: Original, tensor: Entry) -> tuple[str, bytes]:
    name, kept, pieces = "", tensor.start, []
    for field in wire.fields(tensor.start, tensor.end, _FEWEST_FIELDS):
        if field.number == _NAME:
            name = bytes(data[field.start : field.end]).decode()
        elif field.number in _CONTENT and field.end - field.start > LARGE:
            pieces.append(bytes(data[kept : field.tag]))
            kept = field.end
    return name, b"".join([*pieces, bytes(data[kept : tensor.end])])


def whole(model: ModelProto, light: Light, data: Original) -> list[Piece]:
    """The edited model with its large weights, as pieces that follow each other.

    `data` are the bytes that `light` was made from. Raises InternalError where a weight that
    was left out has been edited.
    """
    view = memoryview(data) if isinstance(data, bytes) else data

    def original(tensor: TensorProto, written: bytes) -> list[Piece] | None:
        place = light.place(tensor, written)
        return [view[place[0] : place[1]]] if place else None

    return spliced(model, original)


def spliced(
    model: ModelProto, instead: Callable[[TensorProto, bytes], list[Piece] | None]
) -> list[Piece]:
    """The model's bytes as pieces that follow each other.

    `instead` gives the pieces of an initializer's message, from the initializer and its own bytes;
    None leaves it as it is.
    """
    edited = model.SerializeToString()
    wire, view = Wire(edited), memoryview(edited)
    graph = next(one for one in wire.fields(0, len(edited)) if one.number == _GRAPH)
    pieces: list[Piece] = []
    kept, tensors = graph.start, iter(model.graph.initializer)
    for field in wire.fields(graph.start, graph.end):
        if field.number != _INITIALIZER:
            continue
        found = instead(next(tensors), edited[field.start : field.end])
        if found is not None:
            size = sum(map(len, found))
            pieces += [view[kept : field.tag], _header(_INITIALIZER, size), *found]
            kept = field.end
    pieces.append(view[kept : graph.end])
    size = sum(len(piece) for piece in pieces)
    return [view[: graph.tag], _header(_GRAPH, size), *pieces, view[graph.end :]]


def raw_data_of(data: Original, start: int, end: int) -> tuple[int, int] | None:
    """Where the raw data of the tensor between `start` and `end` stands.

    None where that is not all of its large content.
    """
    fields = [one for one in Wire(data).fields(start, end) if one.number in _CONTENT]
    if len(fields) != 1 or fields[0].number != _RAW:
        return None
    return fields[0].start, fields[0].end


def raw_data_header(size: int) -> memoryview:
    """What stands in front of the raw data of a tensor."""
    return _header(_RAW, size)


class NoMessage(IndexError):
    """Bytes that are no protobuf message, or have more fields than are looked at."""


class Entry(NamedTuple):
    """A field of any wire type: its number and type, its tag, its content and where that ends."""

    number: int
    wire_type: int
    tag: int
    start: int
    end: int


class Wire:
    """Walks through the fields of messages; of an unread file it reads what lies around tags."""

    def __init__(self, data: Original) -> None:
        self._file = data if isinstance(data, UnreadFile) else None
        self._block, self._first = (b"", 0) if isinstance(data, UnreadFile) else (data, 0)

    def entries(self, position: int, end: int, most: int | None = None) -> Iterator[Entry]:
        """All fields of a message, in file order; the last one may reach beyond its end.

        Raises NoMessage for what is no message, and beyond `most` fields, IndexError where the
        data ends in a number.
        """
        count = 0
        while position < end:
            count += 1
            if self._file is not None:
                self._reach(self._file, position)
            block, first = self._block, self._first
            key, behind = _varint(block, position - first)
            number, wire_type = key >> 3, key & 7
            if number == 0 or wire_type not in _LENGTHS or (most and count > most):
                raise NoMessage(position)
            length = _LENGTHS[wire_type]
            if wire_type == VARINT:
                length = _varint(block, behind)[1] - behind
            elif wire_type == BYTES:
                length, behind = _varint(block, behind)
            start = behind + first
            yield Entry(number, wire_type, position, start, start + length)
            position = start + length

    def fields(self, position: int, end: int, most: int | None = None) -> Iterator[Entry]:
        """The length-delimited fields of a message; raises IndexError where one is too long."""
        reached = position
        for one in self.entries(position, end, most):
            reached = one.end
            if one.wire_type == BYTES:
                yield one
        if reached > end:
            raise IndexError(reached)

    def _reach(self, file: UnreadFile, position: int) -> None:
        ends = self._first + len(self._block)
        if not self._first <= position < ends or ends - _HEADER < position < len(file) - _HEADER:
            self._block, self._first = bytes(file[position : position + _BLOCK]), position


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > _LONGEST:
            raise NoMessage(position)


def _field(number: int, content: bytes) -> bytes:
    return bytes(_header(number, len(content))) + content


def _header(number: int, size: int) -> memoryview:
    written = bytearray([number << 3 | 2])
    while size >= 0x80:
        written.append(size & 0x7F | 0x80)
        size >>= 7
    written.append(size)
    return memoryview(written)
