"""OpenVINO on the CPU in float32."""

from functools import lru_cache
from typing import Any

import numpy as np
import openvino

Array = np.ndarray[Any, Any]

CORE = openvino.Core()


@lru_cache(maxsize=1)
def _compiled(model: str) -> Any:
    settings = {"INFERENCE_PRECISION_HINT": "f32"}
    return CORE.compile_model(CORE.read_model(model), "CPU", settings)


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    results = _compiled(model).create_infer_request().infer(inputs)
    return {name: results[name].copy() for name in outputs}
