"""Constants of edit scripts as tensors."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from onnxpad.errors import InternalError
from onnxpad.graph.editing.edits import GrownConstant, NewConstant, ReshapedConstant
from onnxpad.graph.reading.types import dtype_code

Derived: TypeAlias = GrownConstant | ReshapedConstant
AnyConstant: TypeAlias = NewConstant | Derived


def constant_array(edit: NewConstant) -> np.ndarray:
    """The values of a new constant, in its element type and shape."""
    dtype = helper.tensor_dtype_to_np_dtype(dtype_code(edit.dtype))
    values = np.array(edit.values).astype(dtype)
    return np.full(edit.dims, values[0]) if len(values) == 1 else values.reshape(edit.dims)


def constant_proto(edit: NewConstant) -> TensorProto:
    """The same as a tensor of the file format."""
    return numpy_helper.from_array(constant_array(edit), edit.name)


def derived_array(edit: Derived, source: np.ndarray, zero_point: np.ndarray | None) -> np.ndarray:
    """The values of a constant that is made of another."""
    if isinstance(edit, ReshapedConstant):
        return source.reshape(edit.dims)
    grown = np.zeros(derived_dims(edit, source.shape), source.dtype)
    if zero_point is not None:
        along_first = (-1,) + (1,) * (source.ndim - 1)
        grown[:] = zero_point.astype(source.dtype).reshape(along_first)
    inside = tuple(
        slice(begin, begin + size) for begin, size in zip(edit.begins, source.shape, strict=True)
    )
    grown[inside] = source
    return grown


def derived_dims(edit: Derived, source: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a constant that is made of one of shape `source`."""
    if isinstance(edit, ReshapedConstant):
        return edit.dims
    sides = zip(edit.begins, source, edit.ends, strict=True)
    return tuple(begin + size + end for begin, size, end in sides)


def derived_header(edit: Derived, source: TensorProto) -> TensorProto:
    """Type and shape of a derived constant, for a model whose weights are elsewhere."""
    if len(source.dims) == 0 and isinstance(edit, GrownConstant):
        raise InternalError(f"the constant '{edit.source}' has no axes to grow")
    return TensorProto(
        name=edit.name,
        data_type=source.data_type,
        dims=derived_dims(edit, tuple(source.dims)),
        data_location=TensorProto.EXTERNAL,
    )
