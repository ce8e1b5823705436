"""What is known of a tensor's type: element type and sizes of its axes, and what is not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from onnx import TensorProto, ValueInfoProto

from onnxpad.geometry.size import Size, Symbol

_DTYPES: dict[int, str] = {
    TensorProto.FLOAT: "float32",
    TensorProto.DOUBLE: "float64",
    TensorProto.FLOAT16: "float16",
    TensorProto.BFLOAT16: "bfloat16",
    TensorProto.STRING: "string",
    TensorProto.BOOL: "bool",
} | {
    getattr(TensorProto, name.upper()): name
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
}
_CODES: dict[str, int] = {name: code for code, name in _DTYPES.items()}


class Type(NamedTuple):
    """Element type ('' unknown) and sizes (None: not even the rank is known)."""

    dtype: str = ""
    dims: tuple[Size | None, ...] | None = None


UNKNOWN = Type()


def dtype_name(code: int) -> str:
    """'float32' and so on; '' for types without a name here."""
    return _DTYPES.get(code, "")


def value_info(name: str, found: Type) -> ValueInfoProto:
    """The ValueInfoProto that declares this type for the tensor `name`."""
    value = ValueInfoProto(name=name)
    if found.dtype:
        value.type.tensor_type.elem_type = dtype_code(found.dtype)
    if found.dims is not None:
        write_sizes(value, (one.name if isinstance(one, Symbol) else one for one in found.dims))
    return value


def write_sizes(value: ValueInfoProto, sizes: Iterable[int | str | None]) -> None:
    """Declare these sizes of a tensor, in the place of what was declared; '' and None say none."""
    tensor = value.type.tensor_type
    tensor.ClearField("shape")
    tensor.shape.SetInParent()
    for size in sizes:
        dim = tensor.shape.dim.add()
        if isinstance(size, int):
            dim.dim_value = size
        elif size:
            dim.dim_param = size


def is_named(found: Type) -> bool:
    """Whether its element type has a name here."""
    return found.dtype in _CODES


def dtype_code(name: str) -> int:
    """The TensorProto constant of an element type."""
    return _CODES[name]
