"""Large weights that stay in the file of their model, which then refers to them.

A reference looks like one to external data: the name of the model's own file, where the bytes
stand in it and how many they are. So it goes along wherever a tensor is copied or renamed.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

from onnx import ModelProto, TensorProto

from onnxpad.model.files.external import external_tensors
from onnxpad.model.files.onnx_file import Source
from onnxpad.model.files.splicing import raw_data_header, raw_data_of, spliced
from onnxpad.model.files.unread import Piece, Stretch, UnreadFile, write_all

_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class LeftWeights:
    """The file whose weights a model refers to, under the name `location`."""

    file: UnreadFile
    location: str

    def holds(self, tensor: TensorProto) -> bool:
        """Whether the values of a tensor were left in the file."""
        return tensor.data_location == TensorProto.EXTERNAL

    def blocks(self, tensor: TensorProto) -> Iterator[bytes]:
        """The raw data of a tensor that was left, piece by piece.

        Raises ModelError where the file was changed since it was opened.
        """
        found = self._stretch(tensor)
        for start in range(found.start, found.end, _BLOCK):
            yield self.file.read(start, min(start + _BLOCK, found.end))

    def same_values(self, tensor: TensorProto, other: LeftWeights, theirs: TensorProto) -> bool:
        """Whether two tensors that were left have the same raw data; ModelError as above."""
        if len(self._stretch(tensor)) != len(other._stretch(theirs)):
            return False
        pairs = zip(self.blocks(tensor), other.blocks(theirs), strict=True)
        return all(one == another for one, another in pairs)

    def completed(self, tensor: TensorProto) -> TensorProto:
        """A tensor with its values, itself where it has them; ModelError as above."""
        if not self.holds(tensor):
            return tensor
        found = _without_reference(tensor)
        found.raw_data = bytes(self._stretch(tensor))
        return found

    def serialised(self, model: ModelProto, more: bytes = b"") -> bytes:
        """The bytes of a model with all its weights, and `more` behind; ModelError as above."""
        content = io.BytesIO()
        write_all([*spliced(model, self._original), more], content)
        return content.getvalue()

    def _original(self, tensor: TensorProto, _: bytes) -> list[Piece] | None:
        if not self.holds(tensor):
            return None
        values = self._stretch(tensor)
        rest = _without_reference(tensor).SerializeToString()
        return [rest, raw_data_header(len(values)), values]

    def _stretch(self, tensor: TensorProto) -> Stretch:
        told = {entry.key: entry.value for entry in tensor.external_data}
        start = int(told["offset"])
        return self.file[start : start + int(told["length"])]


def refer(model: ModelProto, source: Source) -> LeftWeights | None:
    """Let a model refer to the weights that were left in its file; it is changed in place.

    None, with the model as it was, where nothing was left in a file, where it has external data
    already, or two initializers of one name. Raises InternalError where a weight that was left has
    been edited.
    """
    held, file, light = model.graph.initializer, source.data, source.light
    if not isinstance(file, UnreadFile) or light is None or source.path is None:
        return None
    if any(external_tensors(model)) or len({tensor.name for tensor in held}) < len(held):
        return None
    location = source.path.name
    for tensor in held:
        found = light.place(tensor, tensor.SerializeToString())
        if found is None:
            continue
        place = raw_data_of(file, *found)
        if place is None or tensor.HasField("raw_data"):
            tensor.ParseFromString(file.read(*found))
            continue
        tensor.data_location = TensorProto.EXTERNAL
        told = {"location": location, "offset": place[0], "length": place[1] - place[0]}
        for key, value in told.items():
            tensor.external_data.add(key=key, value=str(value))
    return LeftWeights(file, location)


def _without_reference(tensor: TensorProto) -> TensorProto:
    found = TensorProto()
    found.CopyFrom(tensor)
    found.ClearField("data_location")
    found.ClearField("external_data")
    return found
