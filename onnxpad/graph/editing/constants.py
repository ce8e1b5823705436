"""Constants of edit scripts as tensors."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from onnxpad.graph.editing.edits import NewConstant
from onnxpad.graph.reading.types import dtype_code


def constant_array(edit: NewConstant) -> np.ndarray:
    """The values of a new constant, in its element type and shape."""
    dtype = helper.tensor_dtype_to_np_dtype(dtype_code(edit.dtype))
    return np.array(edit.values).astype(dtype).reshape(edit.dims)


def constant_proto(edit: NewConstant) -> TensorProto:
    """The same as a tensor of the file format."""
    return numpy_helper.from_array(constant_array(edit), edit.name)
