"""Contents of a model's constants, wherever they are kept; read only where an edit needs them."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, numpy_helper

from onnxpad.errors import ModelError
from onnxpad.graph.storage.files import Source


class Weights:
    """Reads whole constants of a model that came from `source`, or was made in memory."""

    def __init__(self, source: Source | None = None) -> None:
        self._source = source
        self._folder = source.folder if source is not None else None

    def array(self, tensor: TensorProto) -> np.ndarray:
        """The values of a tensor as the model holds it, with its contents left out or not.

        Raises ModelError where the contents cannot be read.
        """
        try:
            return numpy_helper.to_array(self._whole(tensor), str(self._folder or ""))
        except Exception as error:  # numpy_helper raises many kinds for damaged tensors
            raise ModelError(f"the constant '{tensor.name}' cannot be read: {error}") from error

    def _whole(self, tensor: TensorProto) -> TensorProto:
        light = self._source.light if self._source else None
        if self._source is None or light is None or self._source.data is None:
            return tensor
        stub, start, end = light.tensors.get(tensor.name, (b"", 0, 0))
        if stub != tensor.SerializeToString():
            return tensor
        whole: TensorProto = TensorProto.FromString(self._source.data[start:end])
        return whole
