"""Sizes that the file states, written anew."""

from __future__ import annotations

from onnx import FunctionProto, GraphProto, ValueInfoProto

from onnxpad.graph.editing.edits import Resize


def resize(container: GraphProto | FunctionProto, edit: Resize) -> None:
    """Write the dims of `edit` wherever the container states the tensor's type."""
    values: list[ValueInfoProto] = list(container.value_info)
    if isinstance(container, GraphProto):
        values += container.output
    for value in values:
        if value.name == edit.tensor and value.type.HasField("tensor_type"):
            _write(value, edit.dims)


def _write(value: ValueInfoProto, dims: tuple[int | str, ...]) -> None:
    tensor = value.type.tensor_type
    tensor.ClearField("shape")
    tensor.shape.SetInParent()
    for size in dims:
        dim = tensor.shape.dim.add()
        if isinstance(size, int):
            dim.dim_value = size
        elif size:
            dim.dim_param = size
