"""ESP-PPQ's executor on the CPU in float32, before it quantises anything."""

from typing import Any

import torch
from esp_ppq.api import load_onnx_graph
from esp_ppq.executor import TorchExecutor


def load(model: str, inputs: Any, outputs: Any) -> Any:
    executor = TorchExecutor(load_onnx_graph(model), device="cpu")

    def run(inputs: Any) -> Any:
        given = {name: torch.from_numpy(array) for name, array in inputs.items()}
        with torch.no_grad():
            return [one.numpy() for one in executor.forward(given)]

    return run
