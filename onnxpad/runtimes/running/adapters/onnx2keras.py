"""Keras on the CPU, channels first, after onnx2keras has converted the model."""

import contextlib
import io
import os
from functools import lru_cache
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import onnx
from onnx2keras import onnx_to_keras

Array = np.ndarray[Any, Any]


@lru_cache(maxsize=1)
def _network(model: str, inputs: tuple[str, ...]) -> Any:
    return onnx_to_keras(onnx.load(model), list(inputs), verbose=False)


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    with contextlib.redirect_stdout(io.StringIO()):
        # Called eagerly, Keras adds the bias along the last axis of a channels-first layer.
        results = _network(model, tuple(inputs)).predict(list(inputs.values()), verbose=0)
    several = list(results) if isinstance(results, (list, tuple)) else [results]
    return dict(zip(outputs, several, strict=False))
