"""OpenVINO on the CPU in float32."""

from typing import Any

import openvino

CORE = openvino.Core()


def load(model: str, inputs: Any, outputs: Any) -> Any:
    settings = {"INFERENCE_PRECISION_HINT": "f32"}
    network = CORE.compile_model(CORE.read_model(model), "CPU", settings)

    def run(inputs: Any) -> Any:
        results = network.create_infer_request().infer(inputs)
        return [results[name].copy() for name in outputs]

    return run
