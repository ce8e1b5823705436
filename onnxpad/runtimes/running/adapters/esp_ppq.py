"""ESP-PPQ's executor on the CPU in float32, before it quantises anything."""

from functools import lru_cache
from typing import Any

import numpy as np
import torch
from esp_ppq.api import load_onnx_graph
from esp_ppq.executor import TorchExecutor

Array = np.ndarray[Any, Any]


@lru_cache(maxsize=1)
def _executor(model: str) -> Any:
    return TorchExecutor(load_onnx_graph(model), device="cpu")


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    executor = _executor(model)
    given = {name: torch.from_numpy(array) for name, array in inputs.items()}
    with torch.no_grad():
        results = executor.forward(given)
    return {name: one.numpy() for name, one in zip(outputs, results, strict=True)}
