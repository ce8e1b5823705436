"""jaxonnxruntime: the model as a JAX function."""

from typing import Any

import onnx
from jaxonnxruntime import call_onnx, config_class

# Pads may come from a Constant node or an input as well: the function is built for these inputs,
# and for no others.
config_class.config.update("jaxort_only_allow_initializers_as_static_args", False)


def load(model: str, inputs: Any, outputs: Any) -> Any:
    def run(inputs: Any) -> Any:
        function, parameters = call_onnx.call_onnx_model(onnx.load(model), inputs)
        return list(function(parameters, inputs))

    return run
