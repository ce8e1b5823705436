"""Keras on the CPU, channels first, after onnx2keras has converted the model."""

import contextlib
import io
import os
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import onnx
from onnx2keras import onnx_to_keras


def load(model: str, inputs: Any, outputs: Any) -> Any:
    with contextlib.redirect_stdout(io.StringIO()):
        network = onnx_to_keras(onnx.load(model), list(inputs), verbose=False)

    def run(inputs: Any) -> Any:
        # Called eagerly, Keras adds the bias along the last axis of a channels-first layer.
        results = network.predict(list(inputs.values()), verbose=0)
        return list(results) if isinstance(results, (list, tuple)) else [results]

    return run
