"""Constants and types of a graphsurgeon Graph in the file format, without loading weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from math import prod
from numbers import Integral
from typing import Any

import numpy as np
import onnx_graphsurgeon as gs
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper
from onnx_graphsurgeon.ir.tensor import LazyValues, SparseValues

from onnxpad.errors import ModelError
from onnxpad.graph.reading.context import MAX_CONSTANT


def constants_of(graph: gs.Graph) -> dict[str, gs.Constant]:
    """The constants that one graph reads or gives, by name."""
    found = {t.name: t for t in graph.inputs + graph.outputs if isinstance(t, gs.Constant)}
    for node in graph.nodes:
        for tensor in (*node.inputs, *node.outputs):
            if isinstance(tensor, gs.Constant):
                found[tensor.name] = tensor
    return found


def write_constant(proto: TensorProto, constant: gs.Constant) -> None:
    """Type and shape of a constant; its values where it is small and can be had without loading.

    Raises:
        ModelError: the constant holds no array.
    """
    values = constant._values  # noqa: SLF001  the property would load the weights for good
    if isinstance(values, SparseValues):
        _write_header(proto, values.tensor.dims, values.tensor.values.data_type)
    elif isinstance(values, LazyValues):
        tensor = values.tensor
        external = tensor.data_location == TensorProto.EXTERNAL
        if external or prod(tensor.dims) > MAX_CONSTANT:
            _write_header(proto, tensor.dims, tensor.data_type)
        else:
            proto.CopyFrom(tensor)
    elif isinstance(values, np.ndarray):
        code = dtype_code_of(constant.export_dtype)
        as_it_is = values.dtype.isbuiltin == 1 and code == dtype_code_of(values.dtype) != 0
        if as_it_is and values.dtype.kind in "biuf" and values.size <= MAX_CONSTANT:
            proto.CopyFrom(numpy_helper.from_array(values))
        else:
            _write_header(proto, values.shape, code)
    else:
        raise ModelError(
            f"Constant '{constant.name}' holds a {type(values).__name__}, not a numpy array"
        )
    proto.name = constant.name


def _write_header(proto: TensorProto, dims: Iterable[int], code: int) -> None:
    """Element type and shape; external data without a place is never read."""
    proto.dims.extend(dims)
    proto.data_type = code
    proto.data_location = TensorProto.EXTERNAL


def is_typed(tensor: gs.Tensor) -> bool:
    """Whether it is a Variable that says something of its type."""
    known = tensor.dtype is not None or tensor.shape is not None
    return isinstance(tensor, gs.Variable) and known


def declare(proto: ValueInfoProto, tensor: gs.Tensor) -> None:
    """The type that a Variable states; sequences and optionals have none that matters here."""
    proto.name = tensor.name
    kind = tensor.type if isinstance(tensor, gs.Variable) else "tensor_type"
    if kind != "tensor_type" or (tensor.dtype is None and tensor.shape is None):
        return
    proto.type.tensor_type.elem_type = dtype_code_of(tensor.dtype)
    if tensor.shape is None:
        return
    shape = proto.type.tensor_type.shape
    shape.SetInParent()
    for size in tensor.shape:
        dim = shape.dim.add()
        if isinstance(size, Integral):
            dim.dim_value = int(size)
        elif isinstance(size, str):
            dim.dim_param = size


@cache
def dtype_code_of(dtype: Any) -> int:  # noqa: ANN401
    """The TensorProto constant of a numpy type, its class or that constant; 0 for all else."""
    if dtype is None or isinstance(dtype, int):
        return dtype or 0
    try:
        return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    except (TypeError, ValueError):
        return 0


def forget_readers(tensor: gs.Tensor, gone: Counter[int]) -> None:
    """Take nodes, as often as `gone` counts them, out of the readers of a tensor."""
    kept = []
    for reader in tensor.outputs:
        if gone[id(reader)] > 0:
            gone[id(reader)] -= 1
        else:
            kept.append(reader)
    list.__setitem__(tensor.outputs, slice(None), kept)
