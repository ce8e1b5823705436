"""jaxonnxruntime: the model as a JAX function."""

from typing import Any

import numpy as np
import onnx
from jaxonnxruntime import call_onnx, config_class

Array = np.ndarray[Any, Any]

# Pads may come from a Constant node or an input as well: the function is built for these inputs,
# and for no others.
config_class.config.update("jaxort_only_allow_initializers_as_static_args", False)


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    function, parameters = call_onnx.call_onnx_model(onnx.load(model), inputs)
    results = function(parameters, inputs)
    return {name: np.asarray(result) for name, result in zip(outputs, results, strict=False)}
