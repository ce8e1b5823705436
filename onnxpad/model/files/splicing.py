"""Large weights stay where they are in a file while the rest of its model is parsed and edited.

Parsing and serialising copies every weight several times. A model is therefore read with references
in the place of large raw data (protobuf wire format, protobuf.dev/programming-guides/encoding): a
reference looks like one to external data, and says where in the model's own file the bytes stand.
So it goes along wherever a tensor is copied or renamed, and the bytes of the file are put back
around what was edited where the model is written, run, or a value is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from onnx import ModelProto, TensorProto

from onnxpad.model.files.external import OWN, is_own
from onnxpad.model.files.unread import Original, Piece, UnreadFile, all_read

LARGE = 1 << 16
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_LENGTHS = {VARINT: 0, FIXED64: 8, BYTES: 0, FIXED32: 4}
_BLOCK = 1 << 14
_READ = 1 << 20
_LONGEST = 63  # bits of a number before its last byte
_HEADER = 20  # bytes of a tag and a size, at most
_GRAPH, _INITIALIZER, _RAW = 7, 5, 9
_CONTENT = {4, 5, 7, _RAW, 10, 11}  # float_data, int32_data, int64_data, raw, double, uint64
_BYTES_PER_FIELD = 20_000
_FEWEST_FIELDS = 2_000


def lighten(file: UnreadFile) -> bytes | None:
    """The bytes with references to large raw data, or None where that is not worth it or simple."""
    budget = max(_FEWEST_FIELDS, len(file) // _BYTES_PER_FIELD)
    wire = Wire(file)
    try:
        graphs = [one for one in wire.fields(0, len(file), budget) if one.number == _GRAPH]
        if len(graphs) != 1:
            return None
        graph = graphs[0]
        pieces, kept = list[bytes](), graph.start
        for field in wire.fields(graph.start, graph.end, budget):
            if field.number != _INITIALIZER or field.end - field.start <= LARGE:
                continue
            stub = _with_reference(wire, file, field)
            if stub is not None:
                pieces += [bytes(file[kept : field.tag]), _field(_INITIALIZER, stub)]
                kept = field.end
    except IndexError:
        return None
    if not pieces:
        return None
    body = b"".join([*pieces, bytes(file[kept : graph.end])])
    whole = bytes(file[: graph.tag]) + _field(_GRAPH, body) + bytes(file[graph.end :])
    # Of a file that has such references itself nobody knows what they mean.
    return whole if whole.count(OWN.encode()) == len(pieces) // 2 else None


def _with_reference(wire: Wire, file: UnreadFile, tensor: Entry) -> bytes | None:
    """A tensor without its raw data; None where that is not all of its large content."""
    fields = list(wire.fields(tensor.start, tensor.end, _FEWEST_FIELDS))
    content = [one for one in fields if one.number in _CONTENT]
    if len(content) != 1 or content[0].number != _RAW or content[0].end - content[0].start <= LARGE:
        return None
    (raw,) = content
    reference = TensorProto(data_location=TensorProto.EXTERNAL)
    reference.external_data.add(key=OWN, value=f"{raw.start} {raw.end}")
    written: bytes = reference.SerializeToString()
    return bytes(file[tensor.start : raw.tag]) + bytes(file[raw.end : tensor.end]) + written


@dataclass(frozen=True, eq=False)
class LeftWeights:
    """The file whose weights a model refers to; reading raises ModelError where it was changed."""

    file: UnreadFile

    def holds(self, tensor: TensorProto) -> bool:
        """Whether the values of a tensor were left in the file."""
        return is_own(tensor)

    def blocks(self, tensor: TensorProto) -> Iterator[bytes]:
        """The raw data of a tensor that was left, piece by piece."""
        begin, end = _place(tensor)
        for start in range(begin, end, _READ):
            yield bytes(self.file[start : min(start + _READ, end)])

    def same_values(self, tensor: TensorProto, other: LeftWeights, theirs: TensorProto) -> bool:
        """Whether two tensors that were left have the same raw data."""
        pairs = zip_longest(self.blocks(tensor), other.blocks(theirs))
        return all(one == another for one, another in pairs)

    def completed(self, tensor: TensorProto) -> TensorProto:
        """A tensor with its values, itself where it has them."""
        if not is_own(tensor):
            return tensor
        found = _without_reference(tensor)
        found.raw_data = b"".join(self.blocks(tensor))
        return found

    def serialised(self, model: ModelProto, more: bytes = b"") -> bytes:
        """The bytes of a model with all its weights, and `more` behind."""
        return b"".join(all_read([*self.whole(model), more]))

    def whole(self, model: ModelProto) -> list[Piece]:
        """The same as pieces that follow each other, of which those of the file are not read."""
        edited = model.SerializeToString()
        wire, view = Wire(edited), memoryview(edited)
        graph = next(one for one in wire.fields(0, len(edited)) if one.number == _GRAPH)
        pieces: list[Piece] = []
        kept, tensors = graph.start, iter(model.graph.initializer)
        for field in wire.fields(graph.start, graph.end):
            if field.number == _INITIALIZER and is_own(tensor := next(tensors)):
                found = self._spliced(tensor)
                size = sum(map(len, found))
                pieces += [view[kept : field.tag], _header(_INITIALIZER, size), *found]
                kept = field.end
        pieces.append(view[kept : graph.end])
        size = sum(len(piece) for piece in pieces)
        return [view[: graph.tag], _header(_GRAPH, size), *pieces, view[graph.end :]]

    def _spliced(self, tensor: TensorProto) -> list[Piece]:
        """The message of a tensor around its raw data, fields in the order of their numbers."""
        rest = _without_reference(tensor).SerializeToString()
        behind = (one.tag for one in Wire(rest).entries(0, len(rest)) if one.number > _RAW)
        place, (start, end) = next(behind, len(rest)), _place(tensor)
        return [rest[:place], _header(_RAW, end - start), self.file[start:end], rest[place:]]


def _place(tensor: TensorProto) -> tuple[int, int]:
    start, end = map(int, tensor.external_data[0].value.split())
    return start, end


def _without_reference(tensor: TensorProto) -> TensorProto:
    found = TensorProto()
    found.CopyFrom(tensor)
    found.ClearField("data_location")
    found.ClearField("external_data")
    return found


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
