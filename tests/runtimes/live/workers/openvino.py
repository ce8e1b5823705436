"""OpenVINO on the CPU in float32."""

from typing import Any

import numpy as np
import openvino

Array = np.ndarray[Any, Any]

CORE = openvino.Core()


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    settings = {"INFERENCE_PRECISION_HINT": "f32"}
    request = CORE.compile_model(CORE.read_model(model), "CPU", settings).create_infer_request()
    results = request.infer(inputs)
    return {name: results[name].copy() for name in outputs}
