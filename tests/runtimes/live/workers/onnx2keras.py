"""Keras on the CPU, channels first, after onnx2keras has converted the model."""

import contextlib
import io
import os
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import onnx
from onnx2keras import onnx_to_keras

Array = np.ndarray[Any, Any]


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    with contextlib.redirect_stdout(io.StringIO()):
        converted = onnx_to_keras(onnx.load(model), list(inputs), verbose=False)
        # Called eagerly, Keras adds the bias along the last axis of a channels-first layer.
        results = converted.predict(list(inputs.values()), verbose=0)
    several = list(results) if isinstance(results, (list, tuple)) else [results]
    return dict(zip(outputs, several, strict=False))
