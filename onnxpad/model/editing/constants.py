"""Constants of edit scripts as tensors, and the contents of those that the model has."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from onnx import GraphProto, TensorProto, helper, numpy_helper

from onnxpad.errors import InternalError, ModelError
from onnxpad.model.editing.script import GrownConstant, NewConstant, ReshapedConstant
from onnxpad.model.files.onnx_file import Source
from onnxpad.model.graph.scopes import Scope, quantisation_notes
from onnxpad.model.graph.types import dtype_code

Derived: TypeAlias = GrownConstant | ReshapedConstant
AnyConstant: TypeAlias = NewConstant | Derived


def constant_array(edit: NewConstant) -> np.ndarray:
    """The values of a new constant, in its element type and shape; 0 is the empty text."""
    if edit.dtype == "string":
        return np.full(edit.dims, "", object)
    dtype = helper.tensor_dtype_to_np_dtype(dtype_code(edit.dtype))
    values = np.array(edit.values).astype(dtype)
    return np.full(edit.dims, values[0]) if len(values) == 1 else values.reshape(edit.dims)


def constant_proto(edit: NewConstant) -> TensorProto:
    """The same as a tensor of the file format."""
    return numpy_helper.from_array(constant_array(edit), edit.name)


def constant_header(edit: NewConstant) -> TensorProto:
    """Type and shape of a new constant that nothing reads as numbers, and what tells it apart."""
    values = edit.values
    return TensorProto(
        name=edit.name,
        data_type=dtype_code(edit.dtype),
        dims=edit.dims,
        data_location=TensorProto.EXTERNAL,
        doc_string=repr(values[0]) if len(values) == 1 else str(hash(values)),
    )


def derived_array(edit: Derived, source: np.ndarray, zero_point: np.ndarray | None) -> np.ndarray:
    """The values of a constant that is made of another."""
    if isinstance(edit, ReshapedConstant):
        values = _turned(source, edit.groups) if edit.groups else source
        return values.reshape(edit.dims)
    grown = np.zeros(derived_dims(edit, source.shape), source.dtype)
    if zero_point is not None:
        along_first = (-1,) + (1,) * (source.ndim - 1)
        grown[:] = zero_point.astype(source.dtype).reshape(along_first)
    inside = tuple(
        slice(begin, size - end, step)
        for begin, end, size, step in zip(
            edit.begins, edit.ends, grown.shape, edit.steps or (1,) * source.ndim, strict=True
        )
    )
    grown[inside] = source
    return grown


def _turned(weight: np.ndarray, groups: int) -> np.ndarray:
    """The weight of a transposed convolution as that of a convolution."""
    channels, *rest = weight.shape
    parts = weight.reshape(groups, channels // groups, *rest).swapaxes(1, 2)
    joined = parts.reshape(-1, channels // groups, *rest[1:])
    return np.flip(joined, tuple(range(2, joined.ndim)))


def derived_dims(edit: Derived, source: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a constant that is made of one of shape `source`."""
    if isinstance(edit, ReshapedConstant):
        return edit.dims
    steps = edit.steps or (1,) * len(source)
    sides = zip(edit.begins, source, edit.ends, steps, strict=True)
    return tuple(begin + (size - 1) * step + 1 + end for begin, size, end, step in sides)


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


def derived_proto(edit: Derived, source: TensorProto, values: np.ndarray) -> TensorProto:
    """A derived constant with `values`, and with what else the file says of the original."""
    made = numpy_helper.from_array(values, edit.name)
    made.data_type = source.data_type
    made.doc_string = source.doc_string
    made.metadata_props.extend(source.metadata_props)
    return made


def annotate_like(scope: Scope, edit: Derived) -> None:
    """Say of a derived initializer of `scope` what is said of the original's quantisation."""
    owner = scope.owner(edit.source)
    found = [one for one in quantisation_notes(owner or scope) if one.tensor_name == edit.source]
    if isinstance(scope.proto, GraphProto):
        for entry in found:
            scope.proto.quantization_annotation.add().CopyFrom(entry)
            scope.proto.quantization_annotation[-1].tensor_name = edit.name


class Weights:
    """Reads whole constants of a model that came from `source`, or was made in memory."""

    def __init__(self, source: Source | None = None) -> None:
        self._left = source.left if source else None
        self._folder = source.folder if source else None

    def array(self, tensor: TensorProto) -> np.ndarray:
        """The values of a tensor as the model holds it, left in its file or not.

        Raises ModelError where the contents cannot be read.
        """
        try:
            whole = self._left.completed(tensor) if self._left else tensor
            return numpy_helper.to_array(whole, str(self._folder or ""))
        except Exception as error:  # numpy_helper raises many kinds for damaged tensors
            raise ModelError(f"the constant '{tensor.name}' cannot be read: {error}") from error
